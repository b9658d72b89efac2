/** Takes secret values out of text and of byte streams. */

export interface Redactor {
	/** The text with every secret replaced. */
	text(value: string): string;
	/** A filter for one stream of UTF-8 bytes. */
	stream(): ByteFilter;
}

/** Takes chunks and gives what may be shown so far. `end` gives what was held back. A given buffer may be the one that was pushed. */
export interface ByteFilter {
	push(chunk: Buffer): Buffer;
	end(): Buffer;
}

const replacement = "[redacted]";
/** Shorter values are not secrets but words, and would tear holes in ordinary output. */
const shortestSecret = 8;
/** A run of overlapping secrets is replaced as one; past this length it is cut, so that nothing grows without end. */
const longestHold = 64 * 1024;

/** Of a longer secret its first half is one too: texts are cut to size. */
const shortestStem = 16;

type Span = { start: number; end: number };

/** Made from a function because credentials come and go while a session lives. */
export function redactor(secrets: () => readonly string[]): Redactor {
	return {
		text(value) {
			const found = spelled(usable(secrets())).filter((secret) => value.includes(stemOf(secret)));
			if (found.length === 0) return value;
			const spans = joined(found.flatMap((secret) => spansOf(secret, value)));
			let result = "";
			let last = 0;
			for (const span of spans) {
				result += value.slice(last, span.start) + replacement;
				last = span.end;
			}
			return result + value.slice(last);
		},
		stream() {
			const needles = usable(secrets()).map((secret) => Buffer.from(secret));
			return needles.length === 0 ? passThrough() : byteRedaction(needles);
		},
	};
}

const usable = (secrets: readonly string[]) => [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret);

/** Also as they stand in JSON, where quotes and backslashes have another spelling. */
const spelled = (secrets: readonly string[]) => [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))];

const stemOf = (secret: string) => secret.slice(0, Math.max(shortestStem, Math.ceil(secret.length / 2)));

/** Where the secret stands in a text, or so much of it that it would be given away. */
function spansOf(secret: string, text: string): Span[] {
	const stem = stemOf(secret);
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

function byteRedaction(needles: Buffer[]): ByteFilter {
	let held = Buffer.alloc(0);
	return {
		push(chunk) {
			const data = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
			const spans = occurrences(needles, (needle, from) => data.indexOf(needle, from));
			let cut = beginningOfUnfinished(data, needles);
			const last = spans.at(-1);
			// What follows may overlap the last secret: keep the whole of it until that is known.
			if (last && last.end > cut) cut = data.length - last.start <= longestHold ? last.start : last.end;
			const clear = replaced(data, spans, cut);
			// A copy: the chunk's memory belongs to whoever pushed it.
			held = Buffer.from(data.subarray(cut));
			return clear;
		},
		end() {
			const spans = occurrences(needles, (needle, from) => held.indexOf(needle, from));
			return replaced(held, spans, held.length);
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

/** Where every needle occurs, in order, overlapping occurrences joined. */
function occurrences<Needle extends { length: number }>(needles: Needle[], find: (needle: Needle, from: number) => number): Span[] {
	const found: Span[] = [];
	for (const needle of needles) {
		for (let at = find(needle, 0); at >= 0; at = find(needle, at + 1)) found.push({ start: at, end: at + needle.length });
	}
	return joined(found);
}

/** In order, those that overlap as one. */
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
