/**
 * A process was killed: every frame that opened something gets its end, and every run that was accepted its result. An agent does this when it
 * opens such a log; a server does the same for an agent that died.
 */
import { emptyReply } from "../protocol/empty-reply.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import { lostResultText } from "../protocol/texts.ts";
import type { Entry } from "./entries.ts";
import { type EntryIdOf, frameText } from "./event-frames.ts";
import { EventLog, type EventLogOptions, eventLogPath, type KeptFrame } from "./event-log.ts";
import type { Transcript } from "./transcript.ts";

const cutReply = "The agent ended before this reply was complete.";

/** Adds to a log what is missing at its end. Gives the frames that it added, numbered. */
export function balance(log: EventLog, transcript: Transcript, now: () => number): OutboundFrame[] {
	const { frames, runs } = log.unfinished;
	if (frames.length === 0 && runs.length === 0) return [];
	const open = new OpenFrames(log.unfinished.closed);
	const idOf = entryIds(transcript);
	for (const frame of frames) open.hear(revived(frame, transcript));
	const closings = [...open.endings(runs, unheard(transcript, open.lastEntry), { now: now(), transcript })];
	const numbered: OutboundFrame[] = [];
	for (const frame of closings) {
		const seq = log.next();
		// The log cannot be written: the process that can does this.
		if (seq === undefined) return numbered;
		const { text, isInline } = frameText(frame, idOf.find, transcript.leafId);
		log.keep(seq, text, isInline);
		numbered.push({ ...frame, seq } as OutboundFrame);
	}
	log.unfinished.frames.length = 0;
	log.unfinished.runs.length = 0;
	log.idle();
	log.flush();
	return numbered;
}

/** Does that for a session whose agent has died, and ends the log. Its caller holds the session's lock. */
export function balanceClosedLog(transcript: Transcript, options: Pick<EventLogOptions, "now" | "redact">): OutboundFrame[] {
	if (transcript.file === undefined) return [];
	const log = new EventLog({ ...options, sessionId: transcript.sessionId, path: eventLogPath(transcript.file), hasHistory: true });
	try {
		return balance(log, transcript, options.now);
	} finally {
		log.end();
	}
}

/** With the id of the entry that a message comes from. */
type Heard = OutboundFrame & { $id?: string };

/** A frame whose message is the one of the transcript. */
function revived({ text, isInline }: KeptFrame, transcript: Transcript): Heard {
	const frame = JSON.parse(text) as OutboundFrame;
	const id = isInline || !("message" in frame) ? undefined : (frame.message as { $entry?: string } | undefined)?.$entry;
	const entry = id === undefined ? undefined : transcript.find(id);
	return entry?.type === "message" ? ({ ...frame, message: entry.message, $id: id } as Heard) : frame;
}

/** Messages by identity. */
function entryIds(transcript: Transcript): { find: EntryIdOf } {
	let ids: Map<unknown, string> | undefined;
	return {
		find(message) {
			ids ??= new Map(transcript.entries.flatMap((entry) => (entry.type === "message" ? [[entry.message, entry.id] as const] : [])));
			return ids.get(message);
		},
	};
}

/** Messages that were stored and that no frame had told of when the process died. */
function unheard(transcript: Transcript, lastHeard: string | undefined): AgentMessage[] {
	if (lastHeard === undefined) return [];
	const { entries } = transcript;
	const at = entries.findLastIndex(({ id }) => id === lastHeard);
	const isMessage = (entry: Entry): entry is Extract<Entry, { type: "message" }> => entry.type === "message";
	// Results that were made up when the file was opened are not in it yet.
	return at < 0
		? []
		: entries
				.slice(at + 1)
				.filter(isMessage)
				.map(({ message }) => message as AgentMessage)
				.filter((message) => !isRepaired(message));
}

function isRepaired(message: AgentMessage): boolean {
	const [first] = message.role === "toolResult" ? message.content : [];
	return first?.type === "text" && first.text === lostResultText;
}

const nothing: Usage = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

interface Place {
	now: number;
	transcript: Transcript;
}

class OpenFrames {
	/** The entry that a frame named last. */
	lastEntry: string | undefined;
	#closed: ReadonlySet<string>;
	#hasAgent = false;
	#isUnsettled = false;
	#turnIndex: number | undefined;
	#reply: AssistantMessage | undefined;
	#turnReply: AssistantMessage | undefined;
	#results: ToolResultMessage[] = [];
	#messages: AgentMessage[] = [];
	#tools = new Map<string, string>();
	#dialogs = new Set<string>();
	#questions = new Map<string, { toolCallId: string; digest: string }>();
	#isCompacting: "auto" | "manual" | undefined;
	#subagents = new Map<string, { taskId?: string; agent: string }>();
	#currentRun: string | undefined;
	#usage = new Map<string, Usage>();
	#done = new Set<string>();

	constructor(closed: ReadonlySet<string>) {
		this.#closed = closed;
	}

	hear(frame: Heard): void {
		if (frame.type === "message_end" || frame.type === "message_start") this.lastEntry = frame.$id ?? this.lastEntry;
		switch (frame.type) {
			case "agent_start":
				this.#hasAgent = true;
				this.#isUnsettled = true;
				this.#messages = [];
				this.#currentRun = frame.runId ?? this.#currentRun;
				break;
			case "agent_end":
				this.#hasAgent = false;
				break;
			case "agent_settled":
				this.#isUnsettled = false;
				break;
			case "run_result":
				this.#done.add(frame.runId);
				break;
			case "turn_start":
				this.#turnIndex = frame.turnIndex ?? 0;
				this.#turnReply = undefined;
				this.#results = [];
				break;
			case "turn_end":
				this.#turnIndex = undefined;
				break;
			case "message_start":
				if (frame.message.role === "assistant") this.#reply = frame.message as AssistantMessage;
				break;
			case "message_end":
				this.#end(frame.message as AgentMessage);
				break;
			case "tool_execution_start":
				this.#tools.set(frame.toolCallId, frame.toolName);
				break;
			case "tool_execution_end":
				this.#tools.delete(frame.toolCallId);
				break;
			case "auto_compaction_start":
				this.#isCompacting = "auto";
				break;
			case "compaction_start":
				this.#isCompacting = "manual";
				break;
			case "auto_compaction_end":
			case "compaction_end":
				this.#isCompacting = undefined;
				break;
			case "subagent_start":
				this.#subagents.set(frame.id, { ...(frame.taskId !== undefined && { taskId: frame.taskId }), agent: frame.agent });
				break;
			case "subagent_end":
				this.#subagents.delete(frame.id);
				break;
			case "permission_request":
				this.#questions.set(frame.id, frame);
				break;
			case "permission_resolved":
				this.#questions.delete(frame.id);
				break;
			case "extension_ui_request":
				if (frame.method === "cancel") this.#dialogs.delete(frame.targetId);
				else if ("title" in frame && frame.method !== "setTitle" && !this.#closed.has(frame.id)) this.#dialogs.add(frame.id);
				break;
		}
	}

	/** The frames that are missing, in their order. */
	*endings(runs: readonly { runId: string; key?: string }[], stored: readonly AgentMessage[], { now, transcript }: Place): Generator<OutboundFrame> {
		for (const targetId of this.#dialogs) yield { type: "extension_ui_request", id: targetId, method: "cancel", targetId };
		for (const [id, { toolCallId, digest }] of this.#questions)
			yield { type: "permission_resolved", id, toolCallId, digest, outcome: "cancelled", by: "gone", waitedMs: 0 };
		for (const [id, subagent] of this.#subagents) yield { type: "subagent_end", id, ...subagent, exitCode: 1 };
		const content = [{ type: "text" as const, text: lostResultText }];
		for (const [toolCallId, toolName] of this.#tools)
			yield { type: "tool_execution_end", toolCallId, toolName, result: { content, details: {} }, isError: true };
		if (this.#hasAgent) yield* this.#runEndings(stored, now, transcript);
		if (this.#isCompacting === "auto") yield { type: "auto_compaction_end", result: null, aborted: true, willRetry: false };
		if (this.#isCompacting === "manual") yield { type: "compaction_end", reason: "manual", aborted: true, willRetry: false };
		if (this.#isUnsettled) yield { type: "agent_settled", aborted: true };
		for (const { runId, key } of runs) {
			if (this.#done.has(runId)) continue;
			this.#done.add(runId);
			yield { type: "run_result", runId, ...(key !== undefined && { key }), status: "interrupted", usage: this.#usage.get(runId) ?? nothing };
		}
	}

	*#runEndings(stored: readonly AgentMessage[], now: number, transcript: Transcript): Generator<OutboundFrame> {
		for (const message of stored) {
			if (message.role !== "assistant" || !this.#reply) yield { type: "message_start", message };
			yield { type: "message_end", message };
			this.#end(message);
		}
		if (this.#reply) {
			const message: AssistantMessage = { ...this.#reply, stopReason: "error", errorMessage: cutReply };
			yield { type: "message_end", message };
			this.#end(message);
		}
		if (this.#turnIndex !== undefined) {
			if (!this.#turnReply) {
				const shell = emptyReply({ api: "", provider: "", id: "" }, now);
				const message: AssistantMessage = { ...shell, stopReason: "error", errorMessage: cutReply };
				yield { type: "message_start", message: shell };
				yield { type: "message_end", message };
				this.#end(message);
			}
			yield { type: "turn_end", message: this.#turnReply as unknown as AssistantMessage, toolResults: this.#results, turnIndex: this.#turnIndex };
		}
		const { sessionId, file: sessionFile } = transcript;
		yield { type: "agent_end", messages: this.#messages, willRetry: false, sessionId, ...(sessionFile !== undefined && { sessionFile }) };
	}

	#end(message: AgentMessage): void {
		this.#messages.push(message);
		if (message.role === "toolResult") this.#results.push(message);
		if (message.role !== "assistant") return;
		this.#reply = undefined;
		this.#turnReply = message;
		if (this.#currentRun !== undefined) this.#usage.set(this.#currentRun, sum(this.#usage.get(this.#currentRun) ?? nothing, message.usage));
	}
}

/** What two replies used together. */
export function sum(one: Usage, other: Usage | undefined): Usage {
	if (!other) return one;
	const add = (name: "input" | "output" | "cacheRead" | "cacheWrite") => (one[name] ?? 0) + (other[name] ?? 0);
	const cost = (name: "input" | "output" | "cacheRead" | "cacheWrite" | "total") => (one.cost?.[name] ?? 0) + (other.cost?.[name] ?? 0);
	return {
		input: add("input"),
		output: add("output"),
		cacheRead: add("cacheRead"),
		cacheWrite: add("cacheWrite"),
		totalTokens: (one.totalTokens ?? 0) + (other.totalTokens ?? 0),
		cost: { input: cost("input"), output: cost("output"), cacheRead: cost("cacheRead"), cacheWrite: cost("cacheWrite"), total: cost("total") },
	};
}

export { nothing as noUsage };
