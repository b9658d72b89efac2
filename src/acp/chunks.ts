/** Text that a model streams, as chunks: deltas that come faster than an editor can use are joined, and long ones are cut. */
import { toLine } from "../lib/jsonl.ts";
import type { TextFilter } from "../lib/redact.ts";

const intervalMs = 16;
const longestChunk = 16 * 1024;

export type ChunkKind = "agent_message_chunk" | "agent_thought_chunk";

export interface ChunksParts {
	sessionId: string;
	/** Writes a line that holds no credentials. */
	write: (line: string) => void;
	/** Whether the client takes bytes now. */
	isAccepting: () => boolean;
	/** Counts bytes that wait here. */
	hold: (bytes: number) => void;
	/** A filter that removes credentials from a text that comes in pieces; nothing when there are none. */
	filter: () => TextFilter | undefined;
	now: () => number;
}

interface Stream {
	kind: ChunkKind;
	messageId: string;
	contentIndex: number;
	filter: TextFilter | undefined;
	head: string;
}

export class Chunks {
	#parts: ChunksParts;
	#stream: Stream | undefined;
	#pending = "";
	#nextAt = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(parts: ChunksParts) {
		this.#parts = parts;
	}

	add(kind: ChunkKind, messageId: string, contentIndex: number, delta: string): void {
		const stream = this.#streamOf(kind, messageId, contentIndex);
		this.#append(stream.filter ? stream.filter.push(delta) : delta);
	}

	/** Writes everything that waits. Called before anything else of the session is written. */
	flush(): void {
		this.#append(this.#stream?.filter?.end() ?? "");
		this.#write();
		this.#stream = undefined;
	}

	/** The client takes bytes again. */
	drained(): void {
		if (this.#pending !== "" && this.#parts.now() >= this.#nextAt) this.#write();
	}

	#streamOf(kind: ChunkKind, messageId: string, contentIndex: number): Stream {
		const current = this.#stream;
		if (current?.kind === kind && current.messageId === messageId && current.contentIndex === contentIndex) return current;
		this.flush();
		const { sessionId, filter } = this.#parts;
		const head = toLine({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: { sessionUpdate: kind, messageId, content: {} } } });
		this.#stream = { kind, messageId, contentIndex, filter: filter(), head: `${head.slice(0, -4)}"type":"text","text":` };
		return this.#stream;
	}

	#append(text: string): void {
		if (text === "") return;
		this.#pending += text;
		this.#parts.hold(text.length);
		const wait = this.#nextAt - this.#parts.now();
		if (wait <= 0 && this.#parts.isAccepting()) this.#write();
		else this.#timer ??= setTimeout(() => this.#due(), Math.max(wait, 1));
	}

	#due(): void {
		this.#timer = undefined;
		if (this.#parts.isAccepting()) this.#write();
	}

	#write(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const text = this.#pending;
		const { write, hold, now } = this.#parts;
		if (text === "" || !this.#stream) return;
		this.#pending = "";
		hold(-text.length);
		this.#nextAt = now() + intervalMs;
		for (const piece of pieces(text)) write(`${this.#stream.head}${toLine(piece)}}}}}`);
	}
}

/** Pieces of bounded length that keep characters whole. */
export function* pieces(text: string): Generator<string> {
	for (let start = 0; start < text.length; ) {
		let end = Math.min(start + longestChunk, text.length);
		const code = text.charCodeAt(end - 1);
		if (end < text.length && code >= 0xd800 && code < 0xdc00) end--;
		yield text.slice(start, end);
		start = end;
	}
}
