/** Which checks failed, for the result and for the repair run. */
import { outputLimits } from "../lib/truncate.ts";
import type { VerificationAttempt, VerificationCommandResult } from "../protocol/subagents.ts";
import { readTail } from "./log.ts";

/** The checks that failed an attempt. */
export const failedChecks = ({ commandResults }: Pick<VerificationAttempt, "commandResults">) =>
	commandResults.filter(({ optional, exitCode }) => !optional && exitCode !== 0);

/** The failed checks with their exit codes and the ends of their logs, for the prompt of the repair run. */
export async function repairContext(attempt: VerificationAttempt, lineLimit: number): Promise<string> {
	const parts = await Promise.all(failedChecks(attempt).map((check) => describe(check, Math.max(0, Math.floor(lineLimit)))));
	return parts.join("\n\n");
}

async function describe(check: VerificationCommandResult, maxLines: number): Promise<string> {
	const { name, command, exitCode, timedOut, durationMs } = check;
	const how = timedOut ? `timed out after ${durationMs} ms (exit code ${exitCode})` : `failed with exit code ${exitCode}`;
	const output = maxLines === 0 ? "" : (await lastLines(check, maxLines)).trimEnd();
	const rest = output === "" ? "" : `\nThe end of its output:\n${output}`;
	return `Check ${JSON.stringify(name)} ${how}.\nCommand: ${command}${rest}`;
}

async function lastLines({ artifactPath, outputPreview = "" }: VerificationCommandResult, maxLines: number): Promise<string> {
	if (artifactPath === undefined) return outputPreview;
	try {
		return await readTail(artifactPath, { ...outputLimits, maxLines });
	} catch {
		// The log is gone; what was shown of it is still here.
		return outputPreview;
	}
}
