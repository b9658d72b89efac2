/** The tool that runs shell commands. */
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import type { Shell, ShellResult, ShellUpdate } from "../lib/shell/index.ts";
import { ToolFailure } from "../lib/tool-failure.ts";
import { formatSize } from "../lib/truncate.ts";
import type { ToolResult } from "../protocol/messages.ts";
import Type from "../protocol/plain-schema.ts";
import { type OutsideShell, refuseIfAborted, type SandboxFacts, textResult } from "./options.ts";

const longestTimeout = 2147483;

const parameters = Type.Object({
	command: Type.String({ description: "The command line, as you would type it in bash." }),
	timeout: Type.Optional(Type.Number({ description: "Seconds after which the command is killed. Without it there is no limit." })),
});

const escalatedParameters = Type.Object({
	...parameters.properties,
	outsideSandbox: Type.Optional(
		Type.String({
			description:
				"Why this command must run outside the sandbox. A person is asked each time; give it only after the command has failed inside because of the sandbox.",
		}),
	),
});

export function bashTool(shell: Shell, sandbox?: SandboxFacts, outside?: OutsideShell): Tool {
	return {
		name: "bash",
		label: "Bash",
		effect: { kind: "run", command: ({ command }) => String(command ?? "") },
		offered: "default",
		view: { kind: "execute", glyph: "❯", command: true },
		description:
			"Run a bash command in the working directory and get its stdout and stderr together. Long output is cut to its last 2000 lines or 50KB, and all of it is kept in a file whose path is in the result. There is no terminal and no input: use options that avoid questions, pagers and editors. Processes started with & keep running after the call.",
		hint: "Run shell commands: builds, tests, git, listing and searching files",
		// Whether a person can be asked changes while the session lives.
		get parameters() {
			return outside?.isPossible() ? shown.escalated : shown.usual;
		},
		concurrency: "exclusive",
		async execute({ toolCallId, args, signal, onUpdate }) {
			const { command, timeout, outsideSandbox } = args as Static<typeof escalatedParameters>;
			refuseIfAborted(signal);
			const isOutside = sandbox !== undefined && outsideSandbox !== undefined;
			if (isOutside && !outside?.isPossible())
				throw new Error("No command can be run outside the sandbox here. Call bash again without outsideSandbox.");
			if (timeout !== undefined && !(timeout > 0 && timeout <= longestTimeout)) {
				throw new Error(`timeout must be more than 0 and at most ${longestTimeout} seconds; got ${timeout}.`);
			}
			const runner = isOutside ? await (outside as OutsideShell).shell() : shell;
			const result = await runner.run({
				command,
				callId: toolCallId,
				timeoutMs: timeout === undefined ? undefined : timeout * 1000,
				signal,
				stripControls: true,
				onUpdate: (update) => onUpdate(textResult(update.output, details(update))),
			});
			const problem = result.inside?.breach ?? problemOf(result, timeout);
			if (isOutside) {
				const facts = { ...details(result), sandbox: { applied: false } };
				if (problem === undefined) return textResult(shownOutput(result) || "(no output)", facts);
				throw new ToolFailure(textResult(withParagraph(shownOutput(result), problem), facts));
			}
			if (!result.inside || !sandbox) {
				if (problem !== undefined) throw new Error(withParagraph(shownOutput(result), problem));
				return finished(result);
			}
			const { breach, denied, undone } = result.inside;
			const use = sandbox.facts(denied);
			const failure = problem === undefined ? undefined : sandbox.note(result.output);
			const notes = [breach, undone, breach === undefined ? failure : undefined].filter((each) => each !== undefined);
			const facts = { ...details(result), sandbox: { ...use, ...(notes.length > 0 && { note: notes.join(" ") }) } };
			const shownNotes = [problem, undone && `[${undone}]`, failure].filter((each) => each !== undefined);
			const text = shownNotes.reduce(withParagraph, shownOutput(result));
			if (problem === undefined) return textResult(text || "(no output)", facts);
			throw new ToolFailure(textResult(text, facts));
		},
	};
}

/** The same two objects each time: checks of arguments are kept by the schema. */
const shown = { usual: { ...parameters }, escalated: { ...escalatedParameters } };

function finished(result: ShellResult): ToolResult {
	return textResult(shownOutput(result) || "(no output)", details(result));
}

/** Both keys are always there, so that a host can read them without asking. */
function details({ truncation, fullOutputPath }: ShellUpdate) {
	return { truncation: truncation.truncated ? truncation : null, fullOutputPath: fullOutputPath ?? null };
}

function problemOf({ aborted, timedOut, exitCode }: ShellResult, timeout: number | undefined): string | undefined {
	if (aborted) return "Command aborted";
	if (timedOut) return `Command timed out after ${timeout} seconds`;
	if (exitCode !== 0) return `Command exited with code ${exitCode}`;
	return undefined;
}

/** The output, and where the rest of it is. */
function shownOutput({ output, truncation, fullOutputPath, fullOutputProblem }: ShellResult): string {
	if (!truncation.truncated) return output;
	const { totalLines, totalBytes, outputLines, outputBytes, lastLinePartial, truncatedBy, maxBytes } = truncation;
	const range = lastLinePartial
		? `Last ${formatSize(outputBytes)} of line ${totalLines}`
		: `Lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}${truncatedBy === "bytes" ? `, cut at the ${formatSize(maxBytes)} limit` : ""}`;
	const rest = fullOutputPath ? `Full output: ${fullOutputPath}` : `The full output could not be kept: ${fullOutputProblem}`;
	return withParagraph(output, `[${range} (${formatSize(totalBytes)} in all). ${rest}]`);
}

function withParagraph(text: string, paragraph: string): string {
	if (text === "") return paragraph;
	return `${text}${text.endsWith("\n") ? "\n" : "\n\n"}${paragraph}`;
}
