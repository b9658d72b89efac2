/** Finds where edits belong in a file and puts them there, leaving every other character as it is. Reads and writes nothing. */

export interface Edit {
	oldText: string;
	newText: string;
}

/** Characters `start` to `end` of the file become `text`. */
export interface Replacement {
	start: number;
	end: number;
	text: string;
}

/** A form of the file in which text is looked for, with the way back. */
interface View {
	text: string;
	/** The span of the file for `length` characters at `at`; nothing when they begin or end inside something that cannot be divided. */
	span(at: number, length: number): { start: number; end: number } | undefined;
}

/** A file larger than this is searched for the exact text only: the other forms of it would take much memory and time. */
const maxFuzzyLength = 2 * 1024 * 1024;
/** Characters that are searched in one go. */
const searchStep = 4 * 1024 * 1024;
/** The number of occurrences that are counted. */
const mostCounted = 1000;

/** Yields to other work, and throws when the call was aborted. */
export type Breathe = () => Promise<void>;

/** Every edit is looked for in the file as it is, not in what earlier ones made of it. Throws what the model should know. */
export async function planEdits(file: string, edits: readonly Edit[], path: string, isText: boolean, breathe: Breathe): Promise<Replacement[]> {
	const views = [lineFeedView(file)];
	const usualEnding = lineEnding(file) ?? "\n";
	const planned: (Replacement & { index: number })[] = [];
	let searched = 0;
	for (const [index, edit] of edits.entries()) {
		const name = edits.length === 1 ? "oldText" : `edits[${index}].oldText`;
		const { start, end } = await locate(edit.oldText, name);
		planned.push({ index, start, end, text: withLineEnding(edit.newText, lineEnding(file.slice(start, end)) ?? usualEnding) });
	}
	planned.sort((a, b) => a.start - b.start);
	for (const [position, next] of planned.entries()) {
		const previous = planned[position - 1];
		if (previous && next.start < previous.end) {
			const [first, second] = [previous.index, next.index].sort((a, b) => a - b);
			throw new Error(`edits[${first}] and edits[${second}] overlap in ${path}. Merge them into one edit.`);
		}
	}
	return planned.map(({ start, end, text }) => ({ start, end, text }));

	async function locate(oldText: string, name: string): Promise<{ start: number; end: number }> {
		if (oldText === "") throw new Error(`${name} is empty. Give the text to replace; to fill a new or empty file use write.`);
		const canBeFuzzy = isText && file.length <= maxFuzzyLength && oldText.length <= maxFuzzyLength;
		for (const isFuzzy of canBeFuzzy ? [false, true] : [false]) {
			if (isFuzzy && views.length === 1) views.push(fuzzyView(views[0] as View));
			const view = views[isFuzzy ? 1 : 0] as View;
			const wanted = isFuzzy ? fuzzyView(lineFeedView(oldText)).text : lineFeedView(oldText).text;
			const found = await occurrences(view, wanted, pause);
			const times = found.length > mostCounted ? `more than ${mostCounted}` : found.length;
			if (found.length > 1) throw new Error(`${name} occurs ${times} times in ${path}. Add lines around it until it is unique.`);
			if (found[0]) return found[0];
		}
		throw new Error(`${name} was not found in ${path}. It must match the file exactly, including whitespace and newlines.`);
	}

	async function pause(characters: number): Promise<void> {
		searched += characters;
		if (searched < searchStep) return;
		searched = 0;
		await breathe();
	}
}

export function applyReplacements(file: string, replacements: readonly Replacement[]): string {
	let result = "";
	let last = 0;
	for (const { start, end, text } of replacements) {
		result += file.slice(last, start) + text;
		last = end;
	}
	return result + file.slice(last);
}

/** Overlapping ones count too: there is no way to know which of them is meant. */
async function occurrences(
	{ text, span }: View,
	wanted: string,
	pause: (characters: number) => Promise<void>,
): Promise<{ start: number; end: number }[]> {
	const found: { start: number; end: number }[] = [];
	if (wanted === "") return found;
	for (let from = 0; from + wanted.length <= text.length; from += searchStep) {
		// The end overlaps the next part, so that a text between the two is found, and found once.
		const part = text.slice(from, from + searchStep + wanted.length - 1);
		for (let at = part.indexOf(wanted); at >= 0; at = part.indexOf(wanted, at + 1)) {
			const place = span(from + at, wanted.length);
			if (place) found.push(place);
			if (found.length > mostCounted) return found;
		}
		await pause(part.length);
	}
	return found;
}

/** CRLF read as LF. */
function lineFeedView(file: string): View {
	if (!file.includes("\r\n")) return { text: file, span: (at, length) => ({ start: at, end: at + length }) };
	/** Where, in the view, the newlines are that replace two characters. */
	const pairs: number[] = [];
	for (let at = file.indexOf("\r\n"); at >= 0; at = file.indexOf("\r\n", at + 2)) pairs.push(at - pairs.length);
	const back = (at: number) => at + countBelow(pairs, at);
	return { text: file.replaceAll("\r\n", "\n"), span: (at, length) => ({ start: back(at), end: back(at + length) }) };
}

function countBelow(sorted: readonly number[], limit: number): number {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((sorted[middle] as number) < limit) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** What composes into one character under NFKC, so that it must be normalised, and replaced, as a whole. */
const piece = /[\u1100-\u115f\uac00-\ud7a3][\u1160-\u11ff]*[\p{M}\uff9e\uff9f]*|[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*|[\p{M}\uff9e\uff9f]+/gu;
const isAscii = (text: string) => !/[^\0-\x7f]/.test(text);

/** Compatibility forms, typographic quotes, dashes and spaces made plain; whitespace at line ends left out. */
function fuzzyView(exact: View): View {
	let text = "";
	/** For each character of the view: where its piece starts and ends in the exact view. */
	const starts: number[] = [];
	const ends: number[] = [];
	const add = (plain: string, start: number, end: number) => {
		text += plain;
		for (let unit = 0; unit < plain.length; unit += 1) {
			starts.push(start);
			ends.push(end);
		}
	};
	let lineStart = 0;
	for (const line of exact.text.split("\n")) {
		if (lineStart > 0) add("\n", lineStart - 1, lineStart);
		const content = line.trimEnd();
		let start = lineStart;
		for (const part of isAscii(content) ? content : (content.match(piece) ?? [])) {
			add(isAscii(part) ? part : plainForm(part), start, start + part.length);
			start += part.length;
		}
		lineStart += line.length + 1;
	}
	return {
		text,
		span(at, length) {
			const last = at + length - 1;
			const beginsInside = at > 0 && starts[at] === starts[at - 1];
			const endsInside = starts[last + 1] === starts[last];
			return beginsInside || endsInside ? undefined : exact.span(starts[at] as number, (ends[last] as number) - (starts[at] as number));
		},
	};
}

function plainForm(part: string): string {
	return part
		.normalize("NFKC")
		.replace(/[\u2018\u2019\u201a\u201b]/g, "'")
		.replace(/[\u201c\u201d\u201e\u201f]/g, '"')
		.replace(/[\u2010-\u2015\u2212]/g, "-")
		.replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

function lineEnding(text: string): "\r\n" | "\n" | undefined {
	const newline = text.indexOf("\n");
	if (newline < 0) return undefined;
	return text[newline - 1] === "\r" ? "\r\n" : "\n";
}

function withLineEnding(text: string, ending: "\r\n" | "\n"): string {
	const plain = text.replaceAll("\r\n", "\n");
	return ending === "\n" ? plain : plain.replaceAll("\n", ending);
}
