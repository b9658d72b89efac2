/** From frames to the lines of an event log and back: bodies that the session file has are named, and put in again when a reader needs them. */
import { toLine } from "../lib/jsonl.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import type { AgentMessage, ToolResultMessage } from "../protocol/messages.ts";
import type { Gap } from "../protocol/sequence.ts";
import { lostResultText } from "../protocol/texts.ts";
import type { EventLog, KeptFrame, Missing } from "./event-log.ts";
import type { Transcript } from "./transcript.ts";

/** What a log has in place of a body. */
type Reference = { $entry: string } | { $call: string; $after: string | null };

/** Finds the entry that holds a message. */
export type EntryIdOf = (message: AgentMessage) => string | undefined;

/** The JSON of a frame for the log. `lastId`: the entry that was added last. */
export function frameText(frame: OutboundFrame, idOf: EntryIdOf, lastId: string | null): { text: string; isInline: boolean } {
	let named = 0;
	const body = (message: AgentMessage): AgentMessage | Reference => {
		const id = idOf(message);
		if (id === undefined) return message;
		named++;
		return { $entry: id };
	};
	const text = toLine(withReferences(frame, body, lastId, () => named++));
	if (named === 0) return { text, isInline: mayLookNamed(text) };
	// A body that looks like a reference and is none: then nothing is named.
	const count = text.split(/\{"\$(?:entry|call)":/).length - 1;
	return count === named ? { text, isInline: false } : { text: toLine(frame), isInline: true };
}

const mayLookNamed = (text: string) => text.includes('{"$entry":') || text.includes('{"$call":');

function withReferences(frame: OutboundFrame, body: (message: AgentMessage) => unknown, lastId: string | null, name: () => void): unknown {
	switch (frame.type) {
		case "message_start":
		case "message_end":
			return { ...frame, message: body(frame.message) };
		case "turn_end":
			return { ...frame, message: body(frame.message), toolResults: frame.toolResults.map(body) };
		case "agent_end":
			return { ...frame, messages: frame.messages.map(body) };
		case "tool_execution_end": {
			const { content: _, details: __, ...more } = frame.result as unknown as Record<string, unknown>;
			if (Object.keys(more).length > 0) return frame;
			// Its message is stored later.
			name();
			return { ...frame, result: { $call: frame.toolCallId, $after: lastId } };
		}
		default:
			return frame;
	}
}

/** The bodies of a session. */
export interface Bodies {
	has(id: string): boolean;
	/** The message of an entry as JSON. */
	message(id: string): string | undefined;
	/** `content` and `details` of the result of a call, as JSON. `after`: the entry that was last when the call ended. */
	result(toolCallId: string, after: string | null): string | undefined;
}

/** The frame as it was sent, as a line. Undefined when the session file lacks a body. */
export function frameLine({ seq, text, isInline }: KeptFrame, bodies: Bodies): string | undefined {
	const head = `{"seq":${seq},`;
	if (isInline || !mayLookNamed(text)) return head + text.slice(1);
	let isWhole = true;
	const whole = text.replace(reference, (_, entry: string | undefined, call: string | undefined, after: string | undefined) => {
		if (entry !== undefined) {
			const json = bodies.message(entry);
			if (json === undefined) isWhole = false;
			return json ?? "null";
		}
		const id = JSON.parse(`"${call}"`) as string;
		return bodies.result(id, after === undefined ? null : after) ?? lostBody;
	});
	return isWhole ? head + whole.slice(1) : undefined;
}

/** The worst reason first. */
const severity: readonly Missing["reason"][] = ["log_missing", "log_trimmed", "hole", "restart"];

/** What a reader that has seen everything up to `after` misses besides the kept frames. `usual`: the reason when only unkept frames are missing. */
export function gapOf(log: EventLog, bodies: Bodies, after: number, to: number, usual: "ephemeral" | "slow_reader" = "ephemeral"): Gap | undefined {
	const { missing, count } = log.missing(after, to);
	for (const frame of log.frames(after, to)) if (!isWhole(frame, bodies)) missing.push({ reason: "hole", from: frame.seq, to: frame.seq });
	const [worst] = missing.sort((a, b) => severity.indexOf(a.reason) - severity.indexOf(b.reason));
	if (!worst) return count === to - after ? undefined : { type: "gap", from: after + 1, to, reason: usual, durableLost: false };
	const durableLost = worst.reason !== "restart";
	const last = Math.max(...missing.filter(({ reason }) => reason === worst.reason).map((each) => each.to));
	return { type: "gap", from: after + 1, to: durableLost ? last : to, reason: worst.reason, durableLost };
}

/** Kept frames as they were sent. `exact`: lines by number that are known otherwise. */
export function* linesOfLog(log: EventLog, bodies: Bodies, after: number, to: number, exact?: ReadonlyMap<number, string>): Generator<ReplayedLine> {
	for (const frame of log.frames(after, to)) {
		const line = exact?.get(frame.seq) ?? frameLine(frame, bodies);
		if (line !== undefined) yield { seq: frame.seq, type: /"type":"(\w+)"/.exec(frame.text)?.[1] ?? "", line };
	}
}

export interface ReplayedLine {
	seq: number;
	type: string;
	line: string;
}

/** Whether the session file has every message that a frame names. */
export function isWhole({ text, isInline }: KeptFrame, bodies: Bodies): boolean {
	if (isInline || !text.includes('{"$entry":')) return true;
	for (const [, id] of text.matchAll(/\{"\$entry":"([^"\\]*)"\}/g)) if (!bodies.has(id as string)) return false;
	return true;
}

/** The same, and the results of the calls that it names. */
export function isStored(frame: KeptFrame, bodies: Bodies): boolean {
	if (!isWhole(frame, bodies)) return false;
	if (frame.isInline || !frame.text.includes('{"$call":')) return true;
	for (const [, , call, after] of frame.text.matchAll(reference))
		if (call !== undefined && bodies.result(JSON.parse(`"${call}"`) as string, after ?? null) === undefined) return false;
	return true;
}

const reference = /\{"\$entry":"([^"\\]*)"\}|\{"\$call":"((?:[^"\\]|\\.)*)","\$after":(?:null|"([^"\\]*)")\}/g;
const lostBody = JSON.stringify({ content: [{ type: "text", text: lostResultText }], details: {} });

const cacheBytes = 16 * 1024 * 1024;

/** The bodies of a transcript, which may grow meanwhile. `pending`: results of calls whose messages are not stored yet. */
export class TranscriptBodies implements Bodies {
	#transcript: Transcript;
	#pending: ReadonlyMap<string, unknown> | undefined;
	#places = new Map<string, number>();
	#numbered = 0;
	#made = new Map<string, string>();
	#madeBytes = 0;

	constructor(transcript: Transcript, pending?: ReadonlyMap<string, unknown>) {
		this.#transcript = transcript;
		this.#pending = pending;
	}

	has(id: string): boolean {
		return this.#place(id) !== undefined;
	}

	message(id: string): string | undefined {
		const known = this.#made.get(id);
		if (known !== undefined) return known;
		const place = this.#place(id);
		if (place === undefined) return undefined;
		const { everything } = this.#transcript;
		const bytes = everything.messageBytes(place);
		const json = bytes ? Buffer.from(bytes).toString("utf8") : this.#lineOf(place);
		if (json === undefined) return undefined;
		if (this.#madeBytes > cacheBytes) {
			this.#made.clear();
			this.#madeBytes = 0;
		}
		this.#made.set(id, json);
		this.#madeBytes += json.length;
		return json;
	}

	result(toolCallId: string, after: string | null): string | undefined {
		const { everything } = this.#transcript;
		const start = after === null ? 0 : (this.#place(after) ?? -1) + 1;
		for (let place = start; place < everything.length; place++) {
			if (everything.kind(place) !== "message:toolResult") continue;
			const entry = everything.entry(place);
			if (entry.type !== "message") continue;
			const message = entry.message as ToolResultMessage;
			if (message.toolCallId === toolCallId) return toLine({ content: message.content, details: message.details });
		}
		const pending = this.#pending?.get(toolCallId);
		return pending === undefined ? undefined : toLine(pending);
	}

	#lineOf(place: number): string | undefined {
		const entry = this.#transcript.everything.entry(place);
		return entry.type === "message" ? toLine(entry.message) : undefined;
	}

	#place(id: string): number | undefined {
		const { everything } = this.#transcript;
		for (; this.#numbered < everything.length; this.#numbered++) this.#places.set(everything.id(this.#numbered), this.#numbered);
		return this.#places.get(id);
	}
}
