/** The output of a command: its end in memory, all of it in a private file once it is too long to show. */
import { type Limits, outputLimits, type Truncated, truncateTail } from "../truncate.ts";
import { countNewlines } from "./scan.ts";
import { type OutputLog, temporaryLog } from "./temp-log.ts";

export interface OutputView extends Truncated {
	/** Set exactly when the text was cut and the whole could be kept. */
	fullOutputPath?: string;
	/** Why the whole could not be kept. */
	fullOutputProblem?: string;
}

/** Twice the maximum shown, so that the beginning of the shown part is always available. */
const keep = 100 * 1024;
const largest = 256 * 1024;
const smallest = 4 * 1024;

export class Output {
	readonly #tempDir: string;
	readonly #limits: Limits;
	#buffer = Buffer.alloc(0);
	#length = 0;
	#totalBytes = 0;
	#newlines = 0;
	#endsInNewline = true;
	#log: OutputLog | undefined;

	constructor(tempDir: string, limits: Limits = outputLimits, log?: OutputLog) {
		this.#tempDir = tempDir;
		this.#limits = limits;
		this.#log = log;
	}

	append(chunk: Buffer): void {
		if (chunk.length === 0) return;
		this.#totalBytes += chunk.length;
		this.#newlines += countNewlines(chunk);
		this.#endsInNewline = chunk[chunk.length - 1] === 0x0a;
		if (this.#log) this.#log.write(chunk);
		else if (this.#totalBytes > this.#limits.maxBytes || this.#lines() > this.#limits.maxLines) this.#startLog([this.#kept(), chunk]);
		this.#remember(chunk);
	}

	/** The text as it is now. A character that is still incomplete is omitted unless this `isFinal`. */
	view(isFinal: boolean): OutputView {
		const kept = this.#kept();
		const text = kept.toString("utf8", firstCharacter(kept, this.#totalBytes > kept.length), isFinal ? kept.length : lastCharacterEnd(kept));
		// Broken bytes become three-byte replacement signs, so text can be longer than what was printed.
		const bytes = this.#totalBytes > kept.length ? this.#totalBytes : Buffer.byteLength(text);
		const shown = truncateTail(text, this.#limits, { lines: this.#lines(), bytes });
		if (!shown.truncation.truncated) return shown;
		if (!this.#log) this.#startLog([kept]);
		return { ...shown, fullOutputPath: this.#log?.path, fullOutputProblem: this.#log?.problem };
	}

	/** Closes the file. */
	close(): void {
		this.#log?.close();
	}

	#lines(): number {
		return this.#newlines + (this.#endsInNewline ? 0 : 1);
	}

	#kept(): Buffer {
		return this.#buffer.subarray(0, this.#length);
	}

	#startLog(parts: Buffer[]): void {
		this.#log = temporaryLog(this.#tempDir);
		for (const part of parts) this.#log.write(part);
	}

	#remember(chunk: Buffer): void {
		if (chunk.length > largest - keep) {
			this.#length = 0;
			chunk = chunk.subarray(chunk.length - (largest - keep));
		}
		const needed = this.#length + chunk.length;
		if (needed > this.#buffer.length) {
			if (needed > largest) {
				this.#buffer.copyWithin(0, this.#length - keep, this.#length);
				this.#length = keep;
			}
			if (this.#length + chunk.length > this.#buffer.length) this.#grow(this.#length + chunk.length);
		}
		chunk.copy(this.#buffer, this.#length);
		this.#length += chunk.length;
	}

	#grow(needed: number): void {
		const grown = Buffer.allocUnsafeSlow(Math.min(largest, Math.max(smallest, this.#buffer.length * 2, needed)));
		this.#buffer.copy(grown, 0, 0, this.#length);
		this.#buffer = grown;
	}
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** After bytes were dropped from the front, the kept bytes may begin inside a character. */
function firstCharacter(bytes: Buffer, isCut: boolean): number {
	let at = 0;
	while (isCut && at < 3 && isContinuation(bytes[at])) at += 1;
	return at;
}

function lastCharacterEnd(bytes: Buffer): number {
	let lead = bytes.length - 1;
	while (lead >= 0 && bytes.length - lead < 4 && isContinuation(bytes[lead])) lead -= 1;
	const byte = bytes[lead] ?? 0;
	const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
	return lead >= 0 && lead + size > bytes.length ? lead : bytes.length;
}
