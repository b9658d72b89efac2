/** Removes secret values from texts, lines of JSON, and streams. */
import { cleanJson } from "./redact-json.ts";

export interface Redactor {
	/** The text with every secret replaced. */
	text(value: string): string;
	/** A line of JSON with every secret replaced, also in names of members. It stays JSON, and words of the protocol stay. */
	line(json: string): string;
	/** A filter for one text that comes in pieces. Absent when there are no secrets. */
	pieces(): TextFilter | undefined;
	/** A filter for one stream of UTF-8 bytes. */
	stream(): ByteFilter;
}

/** Takes pieces and returns the text that may be shown so far. `end` returns the rest that was held. */
export interface TextFilter {
	/** The number of pushed characters that are held back. */
	readonly held: number;
	push(piece: string): string;
	end(): string;
}

/** Takes chunks and returns what may be shown so far. `end` returns the rest. A returned buffer may be the one that was pushed. */
export interface ByteFilter {
	push(chunk: Buffer): Buffer;
	end(): Buffer;
}

const replacement = "[redacted]";
/** Shorter values are words, not secrets; redacting them would damage ordinary output. */
const shortestSecret = 8;
/** A run of overlapping secrets is replaced as one; past this length it is cut, so that memory stays bounded. */
const longestHold = 64 * 1024;

/** The first half of a longer secret is a secret too: texts are cut to size. */
const shortestStem = 16;

type Span = { start: number; end: number };

interface Needle<In = string> {
	secret: In;
	/** So much of it gives it away. */
	stem: In;
}

/** A text, or bytes. */
interface Searched<In> {
	readonly length: number;
	readonly [index: number]: unknown;
	indexOf(part: In, from?: number): number;
}

function spansIn(value: string, needles: readonly Needle[]): Span[] {
	const found = needles.filter(({ stem }) => value.includes(stem));
	return found.length === 0 ? [] : joined(found.flatMap((needle) => spansOf(needle, value)));
}

function replacedIn(value: string, needles: readonly Needle[]): string {
	const spans = spansIn(value, needles);
	if (spans.length === 0) return value;
	let result = "";
	let last = 0;
	for (const span of spans) {
		result += value.slice(last, span.start) + replacement;
		last = span.end;
	}
	return result + value.slice(last);
}

/**
 * Holds the end of the text while it may begin a secret. Nearly every piece contains none, and must cost next to nothing: V8 looks up the
 * members of a literal with a getter in a table, those of a class it does not.
 */
class PieceFilter implements TextFilter {
	#held = "";
	#needles: readonly Needle[];
	#secrets: readonly string[];
	/** By the low bits of a character: whether a secret may begin with it. */
	#isFirst = new Uint8Array(256);

	constructor(needles: readonly Needle[]) {
		this.#needles = needles;
		this.#secrets = needles.map(({ secret }) => secret);
		for (const secret of this.#secrets) this.#isFirst[secret.charCodeAt(0) & 0xff] = 1;
	}

	get held(): number {
		return this.#held.length;
	}

	push(piece: string): string {
		if (this.#held !== "") return this.#hold(this.#held + piece);
		const isFirst = this.#isFirst;
		for (let at = 0; at < piece.length; at++) {
			if (isFirst[piece.charCodeAt(at) & 0xff] === 1 && mayBegin(this.#secrets, piece, at)) return this.#hold(piece);
		}
		return piece;
	}

	end(): string {
		const rest = replacedIn(this.#held, this.#needles);
		this.#held = "";
		return rest;
	}

	#hold(text: string): string {
		let cut = beginningOfSecret(text, this.#needles);
		// Two secrets may overlap: the first is held until it is clear where the second ends.
		if (cut < text.length) cut = spansIn(text, this.#needles).find(({ start, end }) => start < cut && cut < end)?.start ?? cut;
		this.#held = text.slice(cut);
		return replacedIn(text.slice(0, cut), this.#needles);
	}
}

/** Whether the text from here on matches the first characters of a secret, as far as it goes. */
function mayBegin(secrets: readonly string[], text: string, from: number): boolean {
	for (const secret of secrets) {
		const length = Math.min(4, text.length - from);
		let same = 0;
		while (same < length && text.charCodeAt(from + same) === secret.charCodeAt(same)) same++;
		if (same === length) return true;
	}
	return false;
}

/** Where the rest of the text begins that is the beginning of a secret; the end of the text when there is none. */
function beginningOfSecret(text: string, needles: readonly Needle[]): number {
	let earliest = text.length;
	for (const { secret } of needles) {
		const first = secret[0] as string;
		const from = Math.max(0, text.length - secret.length + 1);
		for (let at = text.indexOf(first, from); at >= 0 && at < earliest; at = text.indexOf(first, at + 1)) {
			if (secret.startsWith(text.slice(at))) earliest = at;
		}
	}
	return earliest;
}

/**
 * Made from a function because credentials come and go while a session lives. It is called for every line, and returns undefined until
 * credentials have been read.
 */
export function redactor(secrets: () => readonly string[] | undefined): Redactor {
	let list: readonly string[] | undefined;
	let needles: readonly Needle[] = [];
	const current = (): readonly Needle[] => {
		const asked = secrets();
		if (!asked || asked === list) return needles;
		if (!list || asked.length !== list.length || asked.some((secret, index) => secret !== list?.[index])) {
			list = asked;
			needles = spelled(usable(asked)).map((secret) => ({ secret, stem: stemOf(secret) }));
		}
		return needles;
	};
	return {
		text: (value) => replacedIn(value, current()),
		line(json) {
			const known = current();
			return known.length > 0 && known.some(({ stem }) => json.includes(stem)) ? cleanJson(json, (value) => replacedIn(value, known)) : json;
		},
		pieces() {
			const known = current();
			return known.length === 0 ? undefined : new PieceFilter(known);
		},
		stream() {
			const needles = spelled(usable(secrets() ?? [])).map((secret) => ({ secret: Buffer.from(secret), stem: Buffer.from(stemOf(secret)) }));
			return needles.length === 0 ? passThrough() : byteRedaction(needles);
		},
	};
}

const usable = (secrets: readonly string[]) => [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret);

/** Also in the spelling of JSON, where quotes and backslashes are escaped. */
const spelled = (secrets: readonly string[]) => [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))];

const stemOf = (secret: string) => secret.slice(0, Math.max(shortestStem, Math.ceil(secret.length / 2)));

/** Where the secret is in a text, or so much of it that it would be given away. */
function spansOf<In extends Searched<In>>({ secret, stem }: Needle<In>, text: In): Span[] {
	const spans: Span[] = [];
	for (let start = text.indexOf(stem); start >= 0; start = text.indexOf(stem, start + 1)) {
		let length = stem.length;
		while (length < secret.length && text[start + length] === secret[length]) length += 1;
		spans.push({ start, end: start + length });
	}
	return spans;
}

function passThrough(): ByteFilter {
	return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };
}

function byteRedaction(needles: readonly Needle<Buffer>[]): ByteFilter {
	let held = Buffer.alloc(0);
	const spansIn = (data: Buffer) => joined(needles.flatMap((needle) => spansOf(needle, data)));
	const secrets = needles.map(({ secret }) => secret);
	return {
		push(chunk) {
			const data = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
			const spans = spansIn(data);
			let cut = beginningOfUnfinished(data, secrets);
			const last = spans.at(-1);
			// The next bytes may overlap the last secret: keep all of it until that is known.
			if (last && last.end > cut) cut = data.length - last.start <= longestHold ? last.start : last.end;
			const clear = replaced(data, spans, cut);
			// A copy: the chunk's memory belongs to the caller that pushed it.
			held = Buffer.from(data.subarray(cut));
			return clear;
		},
		end() {
			return replaced(held, spansIn(held), held.length);
		},
	};
}

/** `data` up to `cut`, with the spans that start before it replaced. */
function replaced(data: Buffer, spans: Span[], cut: number): Buffer {
	if (spans.length === 0 || (spans[0] as Span).start >= cut) return data.subarray(0, cut);
	const mark = Buffer.from(replacement);
	const parts: Buffer[] = [];
	let last = 0;
	for (const span of spans) {
		if (span.start >= cut) break;
		parts.push(data.subarray(last, span.start), mark);
		last = span.end;
	}
	if (last < cut) parts.push(data.subarray(last, cut));
	return Buffer.concat(parts);
}

/** In order, with overlapping ones merged. */
function joined(spans: Span[]): Span[] {
	if (spans.length < 2) return spans;
	spans.sort((a, b) => a.start - b.start);
	const result: Span[] = [];
	for (const span of spans) {
		const last = result.at(-1);
		if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
		else result.push(span);
	}
	return result;
}

/** The first position from which the rest of `data` could be the beginning of a needle. */
function beginningOfUnfinished(data: Buffer, needles: Buffer[]): number {
	let earliest = data.length;
	for (const needle of needles) {
		const first = needle[0] as number;
		let at = data.indexOf(first, Math.max(0, data.length - needle.length + 1));
		while (at >= 0 && at < earliest) {
			if (data.subarray(at).equals(needle.subarray(0, data.length - at))) earliest = at;
			else at = data.indexOf(first, at + 1);
		}
	}
	return earliest;
}
