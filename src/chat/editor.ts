/** A text that is being written: several lines, a cursor, and a history. */
import type { Key } from "./keys.ts";
import { broken, characters, harmless, type Line, span, widthOf } from "./text.ts";

export class Editor {
	#text = "";
	/** Index in the text; always between two characters. */
	#cursor = 0;
	#history: string[] = [];
	/** Which entry of the history is shown; its length means none. */
	#at = 0;
	/** The draft at the time the user went back in the history. */
	#draft = "";

	get text(): string {
		return this.#text;
	}

	set text(text: string) {
		this.#text = harmless(text);
		this.#cursor = this.#text.length;
	}

	get beforeCursor(): string {
		return this.#text.slice(0, this.#cursor);
	}

	get afterCursor(): string {
		return this.#text.slice(this.#cursor);
	}

	/** Puts a text in the place of what is between a position and the cursor. */
	complete(from: number, text: string): void {
		this.#replace(from, this.#cursor, harmless(text));
	}

	/** Returns the text, remembers it and starts with an empty one. */
	take(): string {
		const text = this.#text;
		this.remember(text);
		this.text = "";
		return text;
	}

	remember(text: string): void {
		if (text.trim() !== "" && text !== this.#history.at(-1)) this.#history.push(text);
		this.#at = this.#history.length;
	}

	forget(): void {
		this.#history = [];
		this.#at = 0;
	}

	insert(text: string): void {
		this.#replace(this.#cursor, this.#cursor, harmless(text));
	}

	/** False when the key has no meaning here. */
	key({ name, text }: Key): boolean {
		const [start, end] = this.#line();
		switch (name) {
			case "text":
				this.insert(text as string);
				return true;
			case "ctrl+j":
			case "shift+enter":
				this.insert("\n");
				return true;
			case "left":
			case "ctrl+b":
				return this.#move(this.#before());
			case "right":
			case "ctrl+f":
				return this.#move(this.#after());
			case "ctrl+left":
			case "alt+left":
			case "alt+b":
				return this.#move(this.#wordBefore());
			case "ctrl+right":
			case "alt+right":
			case "alt+f":
				return this.#move(this.#wordAfter());
			case "home":
			case "ctrl+a":
				return this.#move(start);
			case "end":
			case "ctrl+e":
				return this.#move(end);
			case "backspace":
				return this.#replace(this.#before(), this.#cursor);
			case "delete":
			case "ctrl+d":
				return this.#replace(this.#cursor, this.#after());
			case "ctrl+w":
			case "alt+backspace":
				return this.#replace(this.#wordBefore(), this.#cursor);
			case "ctrl+u":
				return this.#replace(start, this.#cursor);
			case "ctrl+k":
				return this.#replace(this.#cursor, end === this.#cursor ? this.#after() : end);
			case "up":
				return start > 0 ? this.#move(this.#columnIn(start - 1)) : this.#recall(this.#at - 1);
			case "down":
				return end < this.#text.length ? this.#move(this.#columnIn(end + 1)) : this.#recall(this.#at + 1);
			default:
				return false;
		}
	}

	/** The text in rows of a width, and the position of the cursor in them. */
	rows(width: number): { rows: Line[]; row: number; column: number } {
		const rows: Line[] = [];
		let [row, column, from] = [0, 0, 0];
		// A tab takes one column here, so that the cursor is easy to find.
		for (const line of this.#text.replace(/\t/g, " ").split("\n")) {
			const offset = this.#cursor - from;
			if (offset >= 0 && offset <= line.length) {
				// A character after the cursor shows where it goes when a row is exactly full.
				const before = broken([span(`${line.slice(0, offset)}x`)], width);
				row = rows.length + before.length - 1;
				column = widthOf((before.at(-1) as Line).map(({ text }) => text).join("")) - 1;
			}
			rows.push(...broken([span(line)], width));
			from += line.length + 1;
		}
		while (rows.length <= row) rows.push([]);
		return { rows, row, column };
	}

	#replace(from: number, to: number, text = ""): true {
		this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
		return this.#move(from + text.length);
	}

	#move(to: number): true {
		this.#cursor = to;
		return true;
	}

	/** Where the cursor's line begins and ends. */
	#line(): [number, number] {
		const end = this.#text.indexOf("\n", this.#cursor);
		return [this.#text.slice(0, this.#cursor).lastIndexOf("\n") + 1, end < 0 ? this.#text.length : end];
	}

	/** The position in the line at `position` that is below or above the cursor. */
	#columnIn(position: number): number {
		const start = this.#text.slice(0, position).lastIndexOf("\n") + 1;
		const [line = ""] = this.#text.slice(start).split("\n", 1);
		const [own] = this.#line();
		const column = characters(this.#text.slice(own, this.#cursor)).length;
		return start + characters(line).slice(0, column).join("").length;
	}

	#before(): number {
		// No character is that long; scanning all of a long text would be slow.
		const near = this.#text.slice(Math.max(0, this.#cursor - 64), this.#cursor);
		return this.#cursor - (characters(near).at(-1)?.length ?? 0);
	}

	#after(): number {
		return this.#cursor + (characters(this.#text.slice(this.#cursor, this.#cursor + 64))[0]?.length ?? 0);
	}

	#wordBefore(): number {
		return this.#cursor - (/\S*\s*$/.exec(this.#text.slice(0, this.#cursor))?.[0].length ?? 0);
	}

	#wordAfter(): number {
		return this.#cursor + (/^\s*\S*/.exec(this.#text.slice(this.#cursor))?.[0].length ?? 0);
	}

	#recall(at: number): boolean {
		if (at < 0 || at > this.#history.length) return true;
		if (this.#at === this.#history.length) this.#draft = this.#text;
		this.#at = at;
		this.text = this.#history[at] ?? this.#draft;
		return true;
	}
}
