/** Runs the tool calls of one reply: start in order, in parallel where allowed, results in call order. Every call gets a result. */

import { linkedController, settleWithin } from "../lib/abort.ts";
import { isToolFailure } from "../lib/tool-failure.ts";
import type { ToolCall } from "../protocol/content.ts";
import type { ToolResult, ToolResultMessage } from "../protocol/messages.ts";
import type { Doors } from "./doors.ts";
import type { Emit, PendingCall } from "./policy.ts";
import type { Flow } from "./stream.ts";
import type { Tool, ValidateArguments } from "./tool.ts";

export interface Batch {
	tools: readonly Tool[];
	validate: ValidateArguments;
	/** Read after each finished call: steering waits and may skip the rest. */
	isInterrupted: () => boolean;
	/** Removes credentials from what tools return. */
	redact: (text: string) => string;
	doors: Doors;
	flow: Flow;
	signal: AbortSignal;
	emit: Emit;
	now: () => number;
}

/** A call whose streamed arguments were not complete JSON carries the reason. */
type Call = ToolCall & { argumentsError?: string };

const skipText = "Skipped due to queued user message.";
const abortText = "Operation aborted";
/** How long a tool may take to end after an abort; then the call ends without it. */
const abortGraceMs = 1800;

export async function runToolCalls(calls: readonly Call[], batch: Batch): Promise<ToolResultMessage[]> {
	const report = reporter(calls, batch);
	const { controller: stop, release } = linkedController(batch.signal);
	const signal = stop.signal;
	const running = new Set<Promise<void>>();
	let exclusive: Promise<void> | undefined;

	const run = async (call: Call, index: number, tool: Tool | undefined): Promise<void> => {
		report.start(call);
		const outcome = await execute(call, tool, {
			...batch,
			signal,
			place: { index, count: calls.length },
			onUpdate: (partial) => report.update(call, index, partial),
		});
		const wasSkipped = outcome.isError && signal.aborted && !batch.signal.aborted;
		report.end(call, index, wasSkipped ? failed(skipText, outcome.result.details) : outcome);
		if (batch.isInterrupted()) stop.abort("steer");
	};

	for (const [index, call] of calls.entries()) {
		const tool = batch.tools.find((candidate) => candidate.name === call.name);
		const isExclusive = tool?.concurrency !== "shared";
		// Await nothing that need not be awaited: calls that may run in parallel all start before the first of them ends.
		if (isExclusive && running.size) await Promise.all(running);
		else if (exclusive) await exclusive;
		if (!signal.aborted && !batch.flow.isOpen) await batch.flow.whenOpen(signal);
		if (signal.aborted) {
			report.start(call);
			report.end(call, index, failed(batch.signal.aborted ? abortText : skipText));
			continue;
		}
		const done: Promise<void> = run(call, index, tool).finally(() => {
			running.delete(done);
			if (exclusive === done) exclusive = undefined;
		});
		running.add(done);
		if (isExclusive) exclusive = done;
	}
	await Promise.all(running);
	release();
	return report.results();
}

/** Reports calls that are not run at all, each with the same text. */
export function refuseToolCalls(calls: readonly Call[], text: string, batch: Reported): ToolResultMessage[] {
	const report = reporter(calls, batch);
	for (const [index, call] of calls.entries()) {
		report.start(call);
		report.end(call, index, failed(text));
	}
	return report.results();
}

type Reported = Pick<Batch, "emit" | "now" | "redact">;

interface CallOutcome {
	result: ToolResult;
	isError: boolean;
}

function failed(text: string, details: unknown = {}): CallOutcome {
	return { result: { content: [{ type: "text", text }], details }, isError: true };
}

type Updating = Batch & { place: { index: number; count: number }; onUpdate: (partial: ToolResult) => void };

async function execute(call: Call, tool: Tool | undefined, batch: Updating): Promise<CallOutcome> {
	if (!tool) return failed(unknownTool(call.name, batch.tools));
	if (call.argumentsError)
		return failed(`The arguments of ${call.name} are not complete JSON and were not used: ${call.argumentsError}. Send the call again.`);
	const { doors, signal } = batch;
	try {
		const held = tool.accepted ? { ...tool, parameters: tool.accepted } : tool;
		const checked = await batch.validate(held, tool.adapt ? tool.adapt(structuredClone(call.arguments)) : call.arguments);
		if ("problems" in checked) return failed(badArguments(`The arguments of ${call.name}`, call.arguments, checked.problems));
		if (signal.aborted) return failed(abortText);
		const pending: PendingCall = { toolName: call.name, toolCallId: call.id, input: checked.args, batch: batch.place };
		if (doors.beforeTool) {
			const decision = await doors.beforeTool(pending, signal, async (input) => {
				const again = await batch.validate(held, input);
				if ("problems" in again) throw new Error(badArguments(`The arguments of ${call.name}, as an extension changed them,`, input, again.problems));
				return again.args;
			});
			if ("denied" in decision) return failed(decision.denied, decision.details);
			if (signal.aborted) return failed(abortText);
			pending.input = decision.input;
		}
		const outcome = await called(tool, call.id, pending.input, batch);
		if (!doors.afterTool || signal.aborted) return outcome;
		const given = { content: outcome.result.content, details: outcome.result.details, isError: outcome.isError };
		const { isError, ...result } = await doors.afterTool(pending, given, signal);
		return { result: filled(result), isError };
	} catch (error) {
		return failed(error instanceof Error ? error.message : String(error));
	}
}

async function called(tool: Tool, toolCallId: string, args: Record<string, unknown>, { signal, onUpdate }: Updating): Promise<CallOutcome> {
	try {
		const work = tool.execute({ toolCallId, args, signal, onUpdate });
		const result = await settleWithin(work, signal, tool.abortPatienceMs ?? abortGraceMs, () => {
			throw new Error(abortText);
		});
		return { result: filled(result), isError: false };
	} catch (error) {
		if (isToolFailure(error)) return { result: error.result as ToolResult, isError: true };
		return failed(error instanceof Error ? error.message : String(error));
	}
}

/** Providers refuse a result without content. */
function filled(result: ToolResult): ToolResult {
	return result.content.length ? result : { ...result, content: [{ type: "text", text: "" }] };
}

function unknownTool(name: string, tools: readonly Tool[]): string {
	const known = tools.map((tool) => tool.name);
	return `Tool ${name} not found.${known.length ? ` Available tools: ${known.join(", ")}.` : ""}`;
}

function badArguments(what: string, args: object, problems: { path: string; message: string }[]): string {
	const lines = problems.map(({ path, message }) => `  - ${path}: ${message}`);
	return `${what} do not fit its schema:\n${lines.join("\n")}\n\nReceived:\n${JSON.stringify(args, null, 2)}`;
}

/** The result without credentials, wherever in it they were. */
function clean(result: ToolResult, redact: (text: string) => string): ToolResult {
	const json = JSON.stringify(result);
	const redacted = redact(json);
	return redacted === json ? result : JSON.parse(redacted);
}

/** Emits the events of a batch; holds result messages back until all earlier calls have theirs. */
function reporter(calls: readonly Call[], { emit, now, redact }: Reported) {
	const messages: (ToolResultMessage | undefined)[] = calls.map(() => undefined);
	const startedAt = new Map<Call, number>();
	let released = 0;
	return {
		start(call: Call): void {
			startedAt.set(call, now());
			emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args: call.arguments });
		},
		update(call: Call, index: number, partialResult: ToolResult): void {
			if (messages[index]) return;
			emit({
				type: "tool_execution_update",
				toolCallId: call.id,
				toolName: call.name,
				args: call.arguments,
				partialResult: clean(partialResult, redact),
			});
		},
		end(call: Call, index: number, { result: given, isError }: CallOutcome): void {
			const result = clean(given, redact);
			const durationMs = now() - (startedAt.get(call) ?? now());
			emit({ type: "tool_execution_end", toolCallId: call.id, toolName: call.name, result, isError, durationMs });
			messages[index] = {
				role: "toolResult",
				toolCallId: call.id,
				toolName: call.name,
				content: result.content,
				details: result.details,
				isError,
				timestamp: now(),
			};
			for (let message = messages[released]; message; message = messages[++released]) {
				emit({ type: "message_start", message });
				emit({ type: "message_end", message });
			}
		},
		results: () => messages.filter((message) => message !== undefined),
	};
}
