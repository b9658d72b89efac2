/** Splits an agent's output into lines. Most of them are deltas, which the server does not parse: neighbours stay together, as bytes. */
import { RecordReader } from "../lib/jsonl.ts";

const lf = 0x0a;
const closingBrace = 0x7d;

/** Lines of `message_update` that came together. */
export interface DeltaRun {
	/** With their line ends. */
	bytes: Buffer;
	seqs: readonly number[];
	/** Where each line ends, after its line end. */
	ends: readonly number[];
}

export interface AgentLinesListener {
	line(text: string): void;
	/** False when they are wanted as lines. */
	deltas(run: DeltaRun): boolean;
	tooLong(): void;
}

export class AgentLines {
	#listener: AgentLinesListener;
	#reader: RecordReader;
	/** A line began, and its end is not here yet. */
	#isOpen = false;

	constructor(listener: AgentLinesListener, most: number) {
		this.#listener = listener;
		this.#reader = new RecordReader({ record: (text) => listener.line(text), tooLong: () => listener.tooLong() }, most);
	}

	push(chunk: Buffer): void {
		let start = 0;
		if (this.#isOpen) {
			start = chunk.indexOf(lf) + 1;
			if (start === 0) return this.#reader.push(chunk);
			this.#reader.push(chunk.subarray(0, start));
		}
		let seqs: number[] = [];
		let ends: number[] = [];
		let first = start;
		for (let end = chunk.indexOf(lf, start); end >= 0; end = chunk.indexOf(lf, start)) {
			const seq = deltaSeq(chunk, start, end);
			if (seq >= 0) {
				seqs.push(seq);
				ends.push(end + 1 - first);
			} else {
				if (seqs.length > 0) this.#give({ bytes: chunk.subarray(first, start), seqs, ends });
				this.#reader.push(chunk.subarray(start, end + 1));
				[seqs, ends, first] = [[], [], end + 1];
			}
			start = end + 1;
		}
		if (seqs.length > 0) this.#give({ bytes: chunk.subarray(first, start), seqs, ends });
		this.#isOpen = start < chunk.length;
		if (this.#isOpen) this.#reader.push(chunk.subarray(start));
	}

	/** End of input: a rest without LF is a last line. */
	end(): void {
		this.#reader.end();
	}

	#give(run: DeltaRun): void {
		if (!this.#listener.deltas(run)) this.#reader.push(run.bytes);
	}
}

const seqHead = Buffer.from('{"seq":');
const typeHead = Buffer.from(',"type":"message_update"');

/** The number of a delta; -1 for another line. */
function deltaSeq(chunk: Buffer, start: number, end: number): number {
	if (chunk[end - 1] !== closingBrace) return -1;
	for (let index = 0; index < seqHead.length; index++) if (chunk[start + index] !== seqHead[index]) return -1;
	let at = start + seqHead.length;
	let seq = 0;
	for (let digit = (chunk[at] as number) - 48; digit >= 0 && digit <= 9; digit = (chunk[++at] as number) - 48) seq = seq * 10 + digit;
	for (let index = 0; index < typeHead.length; index++) if (chunk[at + index] !== typeHead[index]) return -1;
	return at === start + seqHead.length ? -1 : seq;
}
