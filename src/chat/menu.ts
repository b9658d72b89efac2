/** What can be chosen while something is being typed: commands after `/`, files after `@`. */
import type { Key } from "./keys.ts";
import { type Line, shortened, span, widthOf } from "./text.ts";

export interface MenuEntry {
	/** What is shown, and what it is about. */
	label: string;
	about?: string;
	/** What takes the place of what was typed. */
	insert: string;
}

/** The word at the cursor that a menu belongs to. */
export interface Token {
	kind: "command" | "file";
	/** Where it begins in the text. */
	from: number;
	/** What was typed after the sign. */
	query: string;
}

/** Nothing when no menu belongs here. A command is the first word of a message. */
export function tokenAt(before: string, after: string): Token | undefined {
	const command = /^\/([\w:-]*)$/.exec(before);
	if (command && after.trim() === "") return { kind: "command", from: 0, query: command[1] as string };
	const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
	return file ? { kind: "file", from: before.length - (file[1] as string).length - 1, query: file[1] as string } : undefined;
}

const mostRows = 8;

export class Menu {
	readonly token: Token;
	readonly entries: readonly MenuEntry[];
	#selected = 0;

	constructor(token: Token, entries: readonly MenuEntry[]) {
		this.token = token;
		this.entries = entries;
	}

	get selected(): MenuEntry {
		return this.entries[this.#selected] as MenuEntry;
	}

	/** False when the key has no meaning here. */
	key({ name }: Key): boolean {
		const step = { up: -1, "ctrl+p": -1, down: 1, "ctrl+n": 1 }[name];
		if (step === undefined) return false;
		this.#selected = (this.#selected + step + this.entries.length) % this.entries.length;
		return true;
	}

	rows(width: number, height: number): Line[] {
		// One row says how many more there are.
		const room = Math.max(1, Math.min(mostRows, height - 1));
		const first = Math.max(0, Math.min(this.#selected - Math.floor(room / 2), this.entries.length - room));
		const shown = this.entries.slice(first, first + room);
		const column = Math.min(Math.max(...shown.map(({ label }) => widthOf(label))), Math.floor(width / 2));
		const rows = shown.map(({ label, about }, index): Line => {
			const isSelected = first + index === this.#selected;
			const name = shortened(label, about ? column : width - 3);
			const head = `${isSelected ? "▸" : " "} ${name}${about ? " ".repeat(Math.max(0, column - widthOf(name))) : ""} `;
			const rest = about ? shortened(about, Math.max(0, width - widthOf(head) - 2)) : "";
			return [isSelected ? span(head, "reverse") : span(head), ...(rest ? [span(` ${rest}`, "dim")] : [])];
		});
		const more = this.entries.length - first - shown.length;
		return more > 0 ? [...rows, [span(`  ↓ ${more} more`, "dim")]] : rows;
	}
}
