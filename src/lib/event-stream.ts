/** Reads messages of `application/vnd.amazon.eventstream` from bytes cut anywhere, and checks both checksums of each. */
import { crc32 } from "node:zlib";

export interface EventStreamMessage {
	/** Headers whose value is a text; Amazon sends no others that matter. */
	headers: Readonly<Record<string, string>>;
	payload: Buffer;
}

/** Length of the message, length of its headers, checksum of these two. */
const preludeSize = 12;
const checksumSize = 4;
/** More than Amazon allows for one message. */
const largestMessage = 24 * 1024 * 1024;

export class EventStreamReader {
	#onMessage: (message: EventStreamMessage) => void;
	/** Bytes that do not yet make a whole message. They are joined only when there are enough of them. */
	#waiting: Buffer[] = [];
	#size = 0;
	#wanted = preludeSize;
	#events = 0;
	#isForeign = false;

	constructor(onMessage: (message: EventStreamMessage) => void) {
		this.#onMessage = onMessage;
	}

	/** How many messages were delivered so far. */
	get events(): number {
		return this.#events;
	}

	/**
	 * Takes the next bytes and delivers every message that they complete. Throws a SyntaxError when a checksum is wrong. An answer
	 * that does not even begin as an event stream, such as a proxy's page, is ignored: `events` stays 0.
	 */
	push(chunk: Uint8Array): void {
		if (this.#isForeign) return;
		this.#waiting.push(chunk as Buffer);
		this.#size += chunk.length;
		while (this.#size >= this.#wanted && !this.#isForeign) {
			const bytes = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting, this.#size);
			const rest = bytes.subarray(this.#read(bytes));
			this.#waiting = rest.length === 0 ? [] : [rest];
			this.#size = rest.length;
		}
	}

	/** End of the bytes. An incomplete message is discarded. */
	end(): void {
		this.#waiting = [];
		this.#size = 0;
	}

	/** Reads one message if it is whole. Returns how many bytes it took. */
	#read(bytes: Buffer): number {
		const length = bytes.readUInt32BE(0);
		const headersLength = bytes.readUInt32BE(4);
		const isPrelude = crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8);
		if (!isPrelude && this.#events === 0) {
			this.#isForeign = true;
			return bytes.length;
		}
		if (!isPrelude) throw new SyntaxError("the checksum of a message's head is wrong");
		if (length > largestMessage) throw new RangeError(`A message is larger than ${largestMessage} bytes`);
		if (length < preludeSize + headersLength + checksumSize) throw new SyntaxError("the lengths of a message contradict each other");
		this.#wanted = length;
		if (bytes.length < length) return 0;
		this.#wanted = preludeSize;
		const end = length - checksumSize;
		if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw new SyntaxError("the checksum of a message is wrong");
		const headers = readHeaders(bytes.subarray(preludeSize, preludeSize + headersLength));
		this.#events += 1;
		this.#onMessage({ headers, payload: bytes.subarray(preludeSize + headersLength, end) });
		return length;
	}
}

/** Bytes that a value takes, by its type; 6 and 7 begin with their own length. */
const sizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

function readHeaders(bytes: Buffer): Record<string, string> {
	const headers: Record<string, string> = {};
	let at = 0;
	const take = (count: number): Buffer => {
		if (at + count > bytes.length) throw new SyntaxError("a header of a message is cut off");
		at += count;
		return bytes.subarray(at - count, at);
	};
	while (at < bytes.length) {
		const name = take(take(1).readUInt8(0)).toString("utf8");
		const type = take(1).readUInt8(0);
		if (type === 6 || type === 7) {
			const value = take(take(2).readUInt16BE(0));
			if (type === 7) headers[name] = value.toString("utf8");
			continue;
		}
		const size = sizes[type];
		if (size === undefined) throw new SyntaxError(`a header of a message has the unknown type ${type}`);
		take(size);
	}
	return headers;
}
