/** A host's command that an extension answered or runs elsewhere, in the form of the result that the host expects. */
import { tmpdir } from "node:os";
import { Output, type OutputView } from "../lib/shell/output.ts";
import type { BashResult } from "../protocol/commands/bash.ts";
import { type Answer, objectIn, objectOf, textIn } from "./answers.ts";
import type { BashOperations } from "./events.ts";

export type BashAnswer = { result: BashResult } | { operations: BashOperations };

/** The answer, checked; nothing when the handler leaves the command to others. */
export function bashAnswerOf(given: unknown): BashAnswer | undefined {
	const answer = objectOf(given);
	const result = answer && objectIn(answer, "result");
	if (result) return { result: suppliedResult(result) };
	const operations = answer && objectIn(answer, "operations");
	if (!operations) return undefined;
	if (typeof operations.exec !== "function") throw new TypeError("operations.exec must be a function");
	return { operations: operations as unknown as BashOperations };
}

/** Runs the command with the extension's own operations. Its output is kept and truncated like that of any command. */
export async function runElsewhere(operations: BashOperations, command: string, cwd: string, signal: AbortSignal): Promise<BashResult> {
	const output = new Output(tmpdir());
	let isOpen = true;
	try {
		const onData = (data: Uint8Array | string) => {
			if (isOpen) output.append(Buffer.from(data as string));
		};
		const ended = await operations.exec(command, cwd, { onData, signal });
		const exitCode = ended?.exitCode;
		return { ...shown(output.view(true)), ...(typeof exitCode === "number" && !signal.aborted ? { exitCode } : {}), cancelled: signal.aborted };
	} finally {
		isOpen = false;
		output.close();
	}
}

export function cancelledResult(): BashResult {
	return { ...shown(new Output(tmpdir()).view(true)), cancelled: true };
}

function suppliedResult(result: Answer): BashResult {
	const output = new Output(tmpdir());
	output.append(Buffer.from(textIn(result, "output") ?? ""));
	const whole = shown(output.view(true));
	output.close();
	const fullOutputPath = textIn(result, "fullOutputPath") ?? whole.fullOutputPath;
	return {
		...whole,
		...(typeof result.exitCode === "number" ? { exitCode: result.exitCode } : {}),
		cancelled: result.cancelled === true,
		truncated: whole.truncated || (result.truncated === true && fullOutputPath !== undefined),
		fullOutputPath,
	};
}

function shown({ text, truncation, fullOutputPath }: OutputView): Omit<BashResult, "cancelled"> {
	const { truncated, totalLines, totalBytes, outputLines, outputBytes } = truncation;
	return { output: text, truncated, fullOutputPath, totalLines, totalBytes, outputLines, outputBytes };
}
