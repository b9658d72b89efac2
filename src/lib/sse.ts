/** Reads server-sent events from bytes cut anywhere. Does not interpret the events. */
import { StringDecoder } from "node:string_decoder";

/** More than any provider sends in one event; a line that never ends is stopped here. */
const defaultLimit = 64 * 1024 * 1024;

/** Called for each event: its `data` lines joined by line feeds, and its `event` name or an empty string. */
export type OnSseEvent = (data: string, name: string) => void;
/** Called for each line `error: …`: not part of the standard, but model servers report failures that way. */
export type OnSseError = (text: string) => void;

export class SseReader {
	#decoder = new StringDecoder("utf8");
	#onEvent: OnSseEvent;
	#onError: OnSseError | undefined;
	#limit: number;
	/** The beginning of a line whose end is still to come. Grows as a rope and is searched only once. */
	#tail = "";
	#data: string | undefined;
	#name = "";
	#isFirst = true;
	/** The last character was a carriage return; a line feed directly after it is part of the same line end. */
	#isAfterReturn = false;
	#events = 0;
	/** The `id` of the last event that had one. */
	lastId: string | undefined;
	/** How long to wait before connecting again, as the server asks. */
	retryMs: number | undefined;

	constructor(onEvent: OnSseEvent, limit = defaultLimit, onError?: OnSseError) {
		this.#onEvent = onEvent;
		this.#onError = onError;
		this.#limit = limit;
	}

	/** How many events were delivered so far. */
	get events(): number {
		return this.#events;
	}

	/** Takes the next bytes and delivers every event that they complete. Throws a RangeError past the size limit of one event. */
	push(chunk: Uint8Array): void {
		let text = this.#decoder.write(chunk as Buffer);
		if (this.#isFirst && text !== "") {
			this.#isFirst = false;
			if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
		}
		if (text === "") return;
		let from = this.#isAfterReturn && text.charCodeAt(0) === 10 ? 1 : 0;
		this.#isAfterReturn = text.charCodeAt(text.length - 1) === 13;
		let feed = text.indexOf("\n", from);
		let back = text.indexOf("\r", from);
		while (feed !== -1 || back !== -1) {
			const end = back === -1 || (feed !== -1 && feed < back) ? feed : back;
			const begin = from;
			from = end === back && feed === end + 1 ? end + 2 : end + 1;
			if (feed !== -1 && feed < from) feed = text.indexOf("\n", from);
			if (back !== -1 && back < from) back = text.indexOf("\r", from);
			if (this.#tail !== "") {
				const line = this.#tail + text.slice(begin, end);
				this.#tail = "";
				this.#line(line);
			} else if (begin === end) this.#dispatch();
			else if (this.#data === undefined && text.startsWith("data: ", begin)) this.#data = text.slice(begin + 6, end);
			else if (text.startsWith("event: ", begin)) this.#name = text.slice(begin + 7, end);
			else this.#line(text.slice(begin, end));
		}
		if (from < text.length) this.#tail += from === 0 ? text : text.slice(from);
		if (this.#tail.length + (this.#data?.length ?? 0) > this.#limit) throw new RangeError(`An event is larger than ${this.#limit} characters`);
	}

	/** End of the bytes: an event without its closing blank line is delivered too. */
	end(): void {
		const rest = this.#tail + this.#decoder.end();
		this.#tail = "";
		if (rest !== "") this.#line(rest);
		this.#dispatch();
	}

	/** Any line. `push` reads the usual ones itself, without cutting them out first: a stream has three lines for each event. */
	#line(line: string): void {
		if (line === "") this.#dispatch();
		else if (line.startsWith("data:")) {
			const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
			this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
		} else if (line.startsWith("event:")) this.#name = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
		else if (line.startsWith("error:")) this.#onError?.(line.slice(6).trim());
		else if (line.startsWith("id:")) this.lastId = line.slice(line.charCodeAt(3) === 32 ? 4 : 3);
		else if (line.startsWith("retry:")) this.retryMs = /^ ?\d{1,7}$/.test(line.slice(6)) ? Number(line.slice(6)) : this.retryMs;
		else if (line === "data") this.#data = this.#data === undefined ? "" : `${this.#data}\n`;
	}

	#dispatch(): void {
		const data = this.#data;
		const name = this.#name;
		this.#data = undefined;
		this.#name = "";
		if (data === undefined) return;
		this.#events += 1;
		this.#onEvent(data, name);
	}
}
