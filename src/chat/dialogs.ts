/** Questions that replace the input: a choice, yes or no, a text. One at a time; the others wait. */
import { Editor } from "./editor.ts";
import type { Key } from "./keys.ts";
import { type Line, plainLines, shortened, span, wrapped } from "./text.ts";

export interface Question {
	/** At most `height` rows. */
	frame(width: number, height: number): { rows: Line[]; cursor?: { row: number; column: number } };
	key(key: Key): void;
}

type Done<T> = (answer: T | undefined) => void;

/** An Enter that comes this soon was meant for what was shown before. */
const surpriseMs = 300;
/** So many options of a choice are in view, however long its title is. */
const leastOptions = 4;

export class Questions {
	#open: Question[] = [];
	/** When the current one appeared. */
	#since = 0;
	#onChange: () => void;

	constructor(onChange: () => void) {
		this.#onChange = onChange;
	}

	get current(): Question | undefined {
		return this.#open[0];
	}

	key(key: Key): void {
		if (key.name !== "enter" || performance.now() - this.#since > surpriseMs) this.current?.key(key);
	}

	/** Resolves with the answer; with nothing when the user gives none, or when the signal fires because no answer is needed any more. */
	ask<T>(make: (done: Done<T>) => Question, signal?: AbortSignal): Promise<T | undefined> {
		return new Promise((resolve) => {
			const close: Done<T> = (answer) => {
				this.#set(this.#open.filter((each) => each !== question));
				resolve(answer);
			};
			const question = make(close);
			this.#set([...this.#open, question]);
			signal?.addEventListener("abort", () => close(undefined), { once: true });
		});
	}

	/** One of several; `selected` is the one that is marked at first. */
	choose(
		title: string,
		options: readonly string[],
		{ signal, selected = 0 }: { signal?: AbortSignal; selected?: number } = {},
	): Promise<number | undefined> {
		return this.ask<number>((done) => new Choice(title, options, selected, done), signal);
	}

	#set(open: Question[]): void {
		if (open[0] !== this.current) this.#since = performance.now();
		this.#open = open;
		this.#onChange();
	}
}

class Choice implements Question {
	#title: string;
	#options: { label: string; index: number }[];
	#done: Done<number>;
	#filter = "";
	#selected: number;

	constructor(title: string, options: readonly string[], selected: number, done: Done<number>) {
		this.#title = title;
		this.#selected = Math.max(0, selected);
		this.#options = options.map((text, index) => ({ label: plainLines(text).join(" "), index }));
		this.#done = done;
	}

	frame(width: number, height: number): { rows: Line[] } {
		const found = this.#found();
		const title = plainLines(this.#title.trimEnd()).flatMap((line, index) =>
			wrapped([span(line, ...(index === 0 ? (["bold"] as const) : []))], width),
		);
		// What is asked about may be long; some options stay in view.
		const mostTitle = Math.max(1, height - 1 - Math.min(found.length, leastOptions));
		const head = title.length > mostTitle ? [...title.slice(0, mostTitle - 1), [span("…", "dim")]] : title;
		const room = Math.max(1, height - head.length - 1);
		const first = Math.max(0, Math.min(this.#selected - Math.floor(room / 2), found.length - room));
		const rows = found.slice(first, first + room).map(({ label }, index): Line => {
			const isSelected = first + index === this.#selected;
			return [span(`${isSelected ? "▸" : " "} ${shortened(label, width - 2)}`, ...(isSelected ? (["reverse"] as const) : []))];
		});
		const hint = this.#filter ? `search: ${this.#filter}` : "↑↓ choose, Enter takes it, Esc leaves, letters search";
		return {
			rows: [...head, ...(rows.length ? rows : [[span("  nothing fits", "dim")]]), [span(shortened(hint, width), "dim")]],
		};
	}

	key({ name, text }: Key): void {
		const found = this.#found();
		const move = (by: number) => {
			this.#selected = Math.max(0, Math.min(found.length - 1, this.#selected + by));
		};
		if (name === "escape" || name === "ctrl+c") this.#done(undefined);
		else if (name === "enter" && found[this.#selected]) this.#done(found[this.#selected]?.index);
		else if (name === "up") move(-1);
		else if (name === "down") move(1);
		else if (name === "pageup") move(-10);
		else if (name === "pagedown") move(10);
		else if (name === "text") this.#search(this.#filter + text);
		else if (name === "backspace") this.#search(this.#filter.slice(0, -1));
	}

	#search(filter: string): void {
		this.#filter = filter;
		this.#selected = 0;
	}

	#found(): { label: string; index: number }[] {
		const words = this.#filter.toLowerCase().split(/\s+/);
		return this.#options.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
	}
}

/** A letter and Enter: neither alone allows anything, because either may have been meant for something else. */
export class YesOrNo implements Question {
	#text: string;
	#done: Done<boolean>;
	#answer: boolean | undefined;

	constructor(title: string, message: string, done: Done<boolean>) {
		this.#text = [title, message].filter(Boolean).join("\n");
		this.#done = done;
	}

	frame(width: number, height: number): { rows: Line[] } {
		const rows = plainLines(this.#text).flatMap((line, index) => wrapped([span(line, ...(index === 0 ? (["bold"] as const) : []))], width));
		const hint = this.#answer === undefined ? "y yes, n no, Esc leaves" : `${this.#answer ? "Yes" : "No"}: Enter takes it, Esc leaves`;
		return { rows: [...rows.slice(0, Math.max(1, height - 1)), [span(shortened(hint, width), "dim")]] };
	}

	key({ name, text }: Key): void {
		if (name === "text") this.#answer = ({ y: true, n: false } as Record<string, boolean>)[text?.toLowerCase() ?? ""];
		else if (name === "enter" && this.#answer !== undefined) this.#done(this.#answer);
		else if (name === "escape" || name === "ctrl+c") this.#done(undefined);
	}
}

export class Writing implements Question {
	#title: string;
	#placeholder: string;
	#isLong: boolean;
	#editor = new Editor();
	#done: Done<string>;

	constructor(
		title: string,
		{ text = "", placeholder = "", isLong = false }: { text?: string; placeholder?: string; isLong?: boolean },
		done: Done<string>,
	) {
		this.#title = title;
		this.#placeholder = placeholder;
		this.#isLong = isLong;
		this.#editor.text = text;
		this.#done = done;
	}

	frame(width: number, height: number): { rows: Line[]; cursor: { row: number; column: number } } {
		const { rows, row, column } = editorRows(this.#editor, width, Math.max(1, height - 2));
		const shown = this.#editor.text === "" && this.#placeholder ? [[span("> "), span(shortened(this.#placeholder, width - 3), "dim")]] : rows;
		const hint = this.#isLong ? "Enter takes it, Ctrl+J begins a new line, Esc leaves" : "Enter takes it, Esc leaves";
		const title = plainLines(this.#title).join(" ");
		return { rows: [[span(shortened(title, width), "bold")], ...shown, [span(shortened(hint, width), "dim")]], cursor: { row: row + 1, column } };
	}

	key(key: Key): void {
		if (key.name === "enter") this.#done(this.#editor.text);
		else if (key.name === "escape" || key.name === "ctrl+c") this.#done(undefined);
		else if (this.#isLong || (key.name !== "ctrl+j" && key.name !== "shift+enter")) this.#editor.key(key);
	}
}

/** The rows around the cursor, with a mark in front of the first. */
export function editorRows(editor: Editor, width: number, height: number): { rows: Line[]; row: number; column: number } {
	const { rows, row, column } = editor.rows(width - 3);
	const first = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height));
	const shown = rows.slice(first, first + height).map((line, index): Line => [span(first + index === 0 ? "> " : "  ", "green"), ...line]);
	return { rows: shown, row: row - first, column: column + 2 };
}
