/** The result of a finished call, for the model and the host. */
import { truncateHead } from "../lib/truncate.ts";
import type { SingleResult, TaskDetails } from "../protocol/subagents.ts";
import type { Merged } from "./contracts.ts";
import { summed } from "./usage.ts";

/** Longer answers are shown in part, with the file that has all of it. */
const previewCharacters = 5000;
const mostBytes = 500_000;
const mostLines = 5000;

/** The part of an answer that fits into a result; the limits can be set in the environment. */
export function shownOutput(output: string, environment: Readonly<Record<string, string | undefined>>): { text: string; isTruncated: boolean } {
	const limit = (name: string, usual: number) => {
		const given = Number(environment[name]);
		return given > 0 ? given : usual;
	};
	const limits = { maxBytes: limit("BOWLINE_TASK_MAX_OUTPUT_BYTES", mostBytes), maxLines: limit("BOWLINE_TASK_MAX_OUTPUT_LINES", mostLines) };
	const { text, truncation } = truncateHead(output, limits);
	// A first line that exceeds the limit alone is cut, too.
	const shown = truncation.firstLineExceedsLimit ? output.slice(0, limits.maxBytes) : text;
	return { text: shown, isTruncated: truncation.truncated };
}

export function detailsOf(projectAgentsDir: string | null, results: SingleResult[], totalDurationMs: number): TaskDetails {
	const outputPaths = results.flatMap(({ outputPath }) => outputPath ?? []);
	const toolCalls = results.reduce((sum, result) => sum + (result.toolCalls ?? 0), 0);
	return { projectAgentsDir, results, totalDurationMs, usage: summed(results.map(({ usage }) => usage)), toolCalls, outputPaths };
}

export function reportOf(results: readonly SingleResult[], merged: readonly Merged[], totalDurationMs: number): string {
	const succeeded = results.filter(({ exitCode }) => exitCode === 0).length;
	const head = `${succeeded} of ${results.length} ${results.length === 1 ? "task" : "tasks"} succeeded in ${seconds(totalDurationMs)}.`;
	const fates = new Map(merged.map(({ id, text }) => [id, text]));
	return [head, ...results.map((result) => section(result, fates.get(result.id)))].join("\n\n");
}

function section(result: SingleResult, fate: string | undefined): string {
	const { id, agent, exitCode, aborted, durationMs, error, output, patchPath } = result;
	const status = exitCode === 0 ? "completed" : aborted ? "aborted" : `failed with exit code ${exitCode}`;
	const lines = [`## ${id} (${agent}): ${status}, ${seconds(durationMs)}`];
	if (error !== undefined && error !== fate) lines.push(`Error: ${error}`);
	const checks = checksOf(result);
	if (checks) lines.push(checks);
	if (fate !== undefined) lines.push(fate);
	else if (patchPath !== undefined) lines.push(`Its changes were not merged. They are in ${patchPath}.`);
	const text = preview(result, output);
	return text === "" ? lines.join("\n") : `${lines.join("\n")}\n\n${text}`;
}

function checksOf({ verification }: SingleResult): string | undefined {
	if (!verification) return undefined;
	const { status, retriesUsed, attempts } = verification;
	const names = attempts.at(-1)?.commandResults.map(({ name, exitCode }) => `${name} ${exitCode === 0 ? "passed" : `failed with ${exitCode}`}`) ?? [];
	const list = names.length === 0 ? "" : ` (${names.join(", ")})`;
	return `Verification ${status}${list}${retriesUsed > 0 ? ", after one repair" : ""}.`;
}

function preview({ outputPath, truncated }: SingleResult, output: string): string {
	if (output.length <= previewCharacters && !truncated) return output;
	const rest = outputPath === undefined ? "" : ` All of it is in ${outputPath}; read it there.`;
	return `${Array.from(output.slice(0, previewCharacters)).join("")}\n\n[This is the beginning of ${output.length} characters.${rest}]`;
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
