/** Text as a terminal shows it: how wide it is, where it breaks, and which characters must not get there. */
import { controlStripper } from "../lib/shell/controls.ts";
import { visible } from "../lib/visible.ts";

export type Style = "bold" | "dim" | "italic" | "underline" | "strike" | "reverse" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

export interface Span {
	text: string;
	styles: readonly Style[];
}

/** One row, at most as wide as it was made for. */
export type Line = Span[];

export const span = (text: string, ...styles: Style[]): Span => ({ text, styles });

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const isPlain = /^[\x20-\x7e]*$/;
/** Every unit is a single character: nothing combines, nothing needs two. True for most text, and much faster. */
const isSimple =
	/^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25ff\u3001-\u3029\u3030-\u3098\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;
const wide =
	/^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** The characters as a person perceives them. */
export function characters(text: string): string[] {
	return isSimple.test(text) ? text.split("") : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns of a single character. */
function columns(character: string): number {
	const code = character.charCodeAt(0);
	if (character.length === 1 && code >= 0x20 && code <= 0x7e) return 1;
	if (character.length === 1 && code >= 0x3400 && code <= 0x9fff) return 2;
	if (invisible.test(character)) return 0;
	return wide.test(character) || character.includes("\ufe0f") ? 2 : 1;
}

export function widthOf(text: string): number {
	return isPlain.test(text) ? text.length : characters(text).reduce((sum, character) => sum + columns(character), 0);
}

export const lineWidth = (line: Line) => line.reduce((sum, { text }) => sum + widthOf(text), 0);

/** Removes everything that can act on the terminal: line ends and tabs are the only controls left. What would make a text look like another one is shown. */
export function harmless(text: string): string {
	const cleaned = controlStripper()
		.push(Buffer.from(text.replace(/\r\n?/g, "\n")))
		.toString();
	return visible(cleaned);
}

/** The same, in lines that can be measured. */
export const plainLines = (text: string) => harmless(text).replace(/\t/g, "    ").split("\n");

/** Cut to a width, with a sign that something is missing. */
export function shortened(text: string, width: number): string {
	if (widthOf(text) <= width) return text;
	let result = "";
	let used = 1;
	for (const character of characters(text)) {
		used += columns(character);
		if (used > width) break;
		result += character;
	}
	return width > 0 ? `${result}…` : "";
}

/** Breaks at any character. Spaces stay: for code and for what is being typed. */
export function broken(spans: Line, width: number): Line[] {
	const rows = new Rows(width, [], []);
	for (const { text, styles } of spans) for (const character of characters(text)) rows.add(character, columns(character), styles);
	return rows.all();
}

/** Breaks between words, and inside those that are too long. `first` and `rest` are put at the beginning of the rows. */
export function wrapped(spans: Line, width: number, first: Line = [], rest: Line = first): Line[] {
	const rows = new Rows(width, first, rest);
	for (const word of wordsOf(spans)) {
		const wordWidth = lineWidth(word);
		if (word[0]?.text.startsWith(" ")) rows.space(wordWidth, word);
		else {
			if (!rows.hasRoom(wordWidth) && wordWidth <= rows.room) rows.next();
			if (rows.hasRoom(wordWidth)) for (const { text, styles } of word) rows.add(text, widthOf(text), styles);
			else for (const { text, styles } of word) for (const character of characters(text)) rows.add(character, columns(character), styles);
		}
	}
	return rows.all();
}

/** Runs of spaces and runs of other characters; a word may change its style in the middle. */
function wordsOf(spans: Line): Line[] {
	const words: Line[] = [];
	let isSpace: boolean | undefined;
	for (const { text, styles } of spans) {
		for (const piece of text.match(/ +|[^ ]+/g) ?? []) {
			if (piece.startsWith(" ") === isSpace) words.at(-1)?.push({ text: piece, styles });
			else words.push([{ text: piece, styles }]);
			isSpace = piece.startsWith(" ");
		}
	}
	return words;
}

/** Rows that are being filled. */
class Rows {
	#rows: Line[] = [];
	#row: Line;
	#used: number;
	#rest: Line;
	#width: number;
	/** The span that grows. */
	#last: Span | undefined;
	/** Spaces that only count when something follows on the same row. */
	#pending: Line = [];
	#pendingWidth = 0;

	constructor(width: number, first: Line, rest: Line) {
		this.#width = Math.max(1, width);
		this.#rest = rest;
		this.#row = [...first];
		this.#used = lineWidth(first);
	}

	/** What a whole row holds. */
	get room(): number {
		return this.#width - lineWidth(this.#rest);
	}

	hasRoom(columns: number): boolean {
		return this.#used + this.#pendingWidth + columns <= this.#width;
	}

	space(columns: number, word: Line): void {
		if (!this.hasRoom(columns)) return this.next();
		this.#pending = word;
		this.#pendingWidth = columns;
	}

	add(text: string, columns: number, styles: readonly Style[]): void {
		if (!this.hasRoom(columns)) this.next();
		for (const { text: space, styles: own } of this.#pending) this.#put(space, space.length, own);
		this.#forgetSpace();
		this.#put(text, columns, styles);
	}

	next(): void {
		this.#rows.push(this.#row);
		this.#row = [...this.#rest];
		this.#used = lineWidth(this.#rest);
		this.#last = undefined;
		this.#forgetSpace();
	}

	all(): Line[] {
		return [...this.#rows, this.#row];
	}

	#put(text: string, columns: number, styles: readonly Style[]): void {
		if (this.#last?.styles === styles) this.#last.text += text;
		else {
			this.#last = { text, styles };
			this.#row.push(this.#last);
		}
		this.#used += columns;
	}

	#forgetSpace(): void {
		this.#pending = [];
		this.#pendingWidth = 0;
	}
}
