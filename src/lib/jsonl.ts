/**
 * Cuts a byte stream into records at LF only. Not `readline`: some versions of it also cut at U+2028, which is data inside JSON.
 * Bytes are decoded a record at a time, so a character may be split over any number of chunks.
 */
const lf = 0x0a;
const cr = 0x0d;

export interface RecordSink {
	/** One record without its line ending; never empty or only whitespace. */
	record(text: string): void;
	/** A record was longer than the limit and has been discarded. */
	tooLong(limit: number): void;
}

export class RecordReader {
	#sink: RecordSink;
	#limit: number;
	#parts: Buffer[] = [];
	#length = 0;
	#discarding = false;
	#isFirst = true;

	constructor(sink: RecordSink, limit: number) {
		this.#sink = sink;
		this.#limit = limit;
	}

	push(chunk: Buffer): void {
		const last = chunk.lastIndexOf(lf);
		let start = 0;
		if (last >= 0 && (this.#length > 0 || this.#discarding)) {
			start = chunk.indexOf(lf) + 1;
			this.#add(chunk, 0, start - 1);
			this.#finish();
		}
		if (chunk.length <= this.#limit && start <= last) {
			this.#pushWhole(chunk.toString("utf8", start, last + 1));
			start = last + 1;
		}
		while (start <= last) {
			const end = chunk.indexOf(lf, start);
			this.#add(chunk, start, end);
			this.#finish();
			start = end + 1;
		}
		this.#add(chunk, start, chunk.length);
	}

	/** Takes records with their line ends. Many short ones are decoded at once, which is cheaper: LF is never a part of another character. */
	#pushWhole(text: string): void {
		for (let start = 0; start < text.length; ) {
			const end = text.indexOf("\n", start);
			this.#give(text.slice(start, end > start && text.charCodeAt(end - 1) === cr ? end - 1 : end));
			start = end + 1;
		}
	}

	/** End of input: a rest without LF is a last record. */
	end(): void {
		this.#finish();
	}

	#add(chunk: Buffer, start: number, end: number): void {
		if (start === end || this.#discarding) return;
		this.#length += end - start;
		if (this.#length > this.#limit) {
			this.#discarding = true;
			this.#parts = [];
			this.#sink.tooLong(this.#limit);
			return;
		}
		this.#parts.push(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end));
	}

	#finish(): void {
		const parts = this.#parts;
		const wasDiscarding = this.#discarding;
		this.#parts = [];
		this.#length = 0;
		this.#discarding = false;
		if (wasDiscarding) {
			this.#isFirst = false;
			return;
		}
		const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
		this.#give(bytes.toString("utf8", 0, bytes[bytes.length - 1] === cr ? bytes.length - 1 : bytes.length));
	}

	#give(text: string): void {
		if (this.#isFirst) {
			this.#isFirst = false;
			if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
		}
		if (text.trim() !== "") this.#sink.record(text);
	}
}

const separators = /[\u2028\u2029]/;

/** JSON on one line. U+2028 and U+2029 are escaped for readers that treat them as line ends. */
export function toLine(value: unknown): string {
	const json = JSON.stringify(value);
	// The search is many times cheaper than a replace that finds nothing.
	if (json.search(separators) < 0) return json;
	return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
