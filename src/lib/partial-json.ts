/**
 * Reads a JSON object that arrives in pieces. Each reading is a value of its own: finished parts are shared between readings, the open
 * path is copied, and copies of wide containers are spaced out, so that the whole costs a time linear in the text.
 */

type Json = unknown;
type Container = Record<string, Json> | Json[];

interface Frame {
	container: Container;
	/** The key whose value comes next; only in objects. */
	key: string | undefined;
	size: number;
}

/** What may come next. */
type State = "value" | "key" | "colon" | "after" | "string" | "escape" | "unicode" | "literal" | "end" | "broken";

const literals: Record<string, Json> = { true: true, false: false, null: null };
const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", '"': '"', "\\": "\\", "/": "/" };
/** A reading is due when the open string has grown by one part in so many. */
const finestGrowth = 256;
const number = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

export class PartialJsonReader {
	#stack: Frame[] = [];
	#state: State = "value";
	#isKey = false;
	/** The open string or literal, decoded as far as it came. */
	#open = "";
	#code = "";
	#root: Json;
	#reading: Record<string, Json> = {};
	#text = "";
	#work = 0;
	/** Something was opened or closed since the last reading. */
	#hasMoved = true;
	/** How long the open string was in the last reading. */
	#shown = 0;
	#maxNesting: number;

	/** Deeper nesting is not read. */
	constructor(maxNesting = Number.POSITIVE_INFINITY) {
		this.#maxNesting = maxNesting;
	}

	/** Everything received, as raw text. */
	get text(): string {
		return this.#text;
	}

	/** Whether the outermost value is closed. */
	get isComplete(): boolean {
		return this.#state === "end";
	}

	/** Takes the next piece. Returns a new reading, or nothing when the last one is still good enough. */
	push(piece: string): Record<string, Json> | undefined {
		this.#text += piece;
		if (this.#state === "broken" || this.#state === "end") return undefined;
		this.#work += piece.length + 8;
		if (this.#state === "string" && !piece.includes('"') && !piece.includes("\\")) {
			// The middle of a string, which most pieces of long arguments are.
			this.#open += piece;
			if (this.#isLittleNew()) return undefined;
		} else this.#read(piece);
		return this.#newReading();
	}

	#newReading(): Record<string, Json> | undefined {
		if (!this.isComplete && !this.#isWorthReading()) return undefined;
		this.#work = 0;
		this.#hasMoved = false;
		this.#shown = this.#open.length;
		const reading = this.#snapshot();
		if (reading) this.#reading = reading;
		return reading;
	}

	/** The open string has hardly grown since the last reading, and nothing else has changed. */
	#isLittleNew(): boolean {
		return !this.#hasMoved && (this.#open.length - this.#shown) * finestGrowth < this.#open.length;
	}

	/** A long string that has hardly grown, or wide containers that would be copied for little gain, can wait. */
	#isWorthReading(): boolean {
		if (this.#isLittleNew()) return false;
		let cost = 0;
		for (const frame of this.#stack) cost += frame.size;
		return cost <= this.#work;
	}

	/** The best reading so far. */
	get reading(): Record<string, Json> {
		return this.#snapshot() ?? this.#reading;
	}

	#snapshot(): Record<string, Json> | undefined {
		if (this.#state === "end") return isObject(this.#root) ? this.#root : undefined;
		let value: Json = this.#isOpenString() && !this.#isKey ? this.#open : undefined;
		for (let index = this.#stack.length - 1; index >= 0; index -= 1) {
			const { container, key } = this.#stack[index] as Frame;
			if (Array.isArray(container)) value = value === undefined ? container.slice() : [...container, value];
			else {
				const copy = { ...container };
				if (value !== undefined && key !== undefined && key !== "__proto__") copy[key] = value;
				value = copy;
			}
		}
		return isObject(value) ? value : undefined;
	}

	#isOpenString(): boolean {
		return this.#state === "string" || this.#state === "escape" || this.#state === "unicode";
	}

	#read(piece: string): void {
		let at = 0;
		while (at < piece.length) {
			if (this.#state === "string") {
				at = this.#readString(piece, at);
				continue;
			}
			const character = piece.charAt(at);
			if (this.#state === "literal" && /[\w.+-]/.test(character)) this.#open += character;
			else {
				if (this.#state === "literal") this.#closeLiteral();
				this.#step(character);
			}
			if (this.#state === "broken" || this.#state === "end") return;
			at += 1;
		}
	}

	/** Runs to the next quote or backslash and returns the position after it. */
	#readString(piece: string, from: number): number {
		let at = from;
		for (; at < piece.length; at += 1) {
			const code = piece.charCodeAt(at);
			if (code !== 34 && code !== 92) continue;
			this.#open += piece.slice(from, at);
			if (code === 92) this.#state = "escape";
			else this.#closeString();
			return at + 1;
		}
		this.#open += from === 0 ? piece : piece.slice(from);
		return at;
	}

	#step(character: string): void {
		if (this.#state !== "escape" && this.#state !== "unicode") this.#hasMoved = true;
		if (this.#state === "escape") {
			this.#state = character === "u" ? "unicode" : "string";
			this.#code = "";
			if (character !== "u") this.#open += escapes[character] ?? `\\${character}`;
		} else if (this.#state === "unicode") {
			this.#code += character;
			if (this.#code.length < 4) return;
			this.#open += /^[0-9a-f]{4}$/i.test(this.#code) ? String.fromCharCode(Number.parseInt(this.#code, 16)) : `\\u${this.#code}`;
			this.#state = "string";
		} else if (character === " " || character === "\n" || character === "\t" || character === "\r") return;
		else if (character === "}" || character === "]") this.#closeContainer(character);
		else if (this.#state === "colon") this.#state = character === ":" ? "value" : "broken";
		else if (this.#state === "after") this.#state = character === "," ? this.#afterComma() : "broken";
		else if (character === '"') {
			this.#isKey = this.#state === "key";
			this.#open = "";
			this.#state = "string";
		} else if (this.#state === "key") this.#state = "broken";
		else if (character === "{" || character === "[") {
			this.#stack.push({ container: character === "{" ? {} : [], key: undefined, size: 1 });
			this.#state = this.#stack.length > this.#maxNesting ? "broken" : character === "{" ? "key" : "value";
		} else {
			this.#open = character;
			this.#state = "literal";
		}
	}

	#afterComma(): State {
		return Array.isArray(this.#stack.at(-1)?.container) ? "value" : "key";
	}

	#closeString(): void {
		this.#hasMoved = true;
		if (!this.#isKey) {
			this.#put(this.#open);
			return;
		}
		const frame = this.#stack.at(-1);
		if (frame) frame.key = this.#open;
		this.#isKey = false;
		this.#state = "colon";
	}

	#closeLiteral(): void {
		if (Object.hasOwn(literals, this.#open)) this.#put(literals[this.#open]);
		else if (number.test(this.#open)) this.#put(Number(this.#open));
		else this.#state = "broken";
	}

	#closeContainer(character: string): void {
		const frame = this.#stack.pop();
		if (!frame || Array.isArray(frame.container) !== (character === "]")) this.#state = "broken";
		else this.#put(frame.container);
	}

	#put(value: Json): void {
		const frame = this.#stack.at(-1);
		if (!frame) {
			this.#root = value;
			this.#state = "end";
			return;
		}
		frame.size += 1;
		if (Array.isArray(frame.container)) frame.container.push(value);
		else if (frame.key !== undefined && frame.key !== "__proto__") frame.container[frame.key] = value;
		frame.key = undefined;
		this.#state = "after";
	}
}

function isObject(value: Json): value is Record<string, Json> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of the finished text: the object, or why it cannot be trusted. Only blanks give an empty object. */
export function parseObject(text: string): { value: Record<string, unknown> } | { problem: string } {
	if (text.trim() === "") return { value: {} };
	const strict = tryParse(text);
	const read = "value" in strict ? strict : tryParse(repairStrings(text));
	if ("problem" in read) return read;
	return isObject(read.value) ? { value: read.value } : { problem: "not a JSON object" };
}

function tryParse(text: string): { value: Json } | { problem: string } {
	try {
		return { value: JSON.parse(text) as Json };
	} catch (error) {
		return { problem: (error as Error).message };
	}
}

/** Repairs common mistakes of models inside strings: raw control characters and unknown escapes. Closes nothing and adds nothing. */
export function repairStrings(text: string): string {
	return text.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (literal) =>
		literal
			// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not stay
			.replace(/[\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1))
			.replace(/\\(u[0-9a-fA-F]{4}|["\\/bfnrt])|\\/g, (whole, known?: string) => (known === undefined ? "\\\\" : whole)),
	);
}
