/** A message in the making: the text, the menu that belongs to what is being typed, and the images that go with it. */
import type { Image } from "../protocol/content.ts";
import type { Level } from "./conversation.ts";
import { Editor } from "./editor.ts";
import { Files, matchingFiles } from "./files.ts";
import { Images, imageIn, imageInClipboard, imageNamed, isImagePath } from "./images.ts";
import type { Key } from "./keys.ts";
import { Menu, type MenuEntry, type Token, tokenAt } from "./menu.ts";
import { plainLines } from "./text.ts";

/** More files than a person looks through in a menu. */
const mostFiles = 50;

export interface KnownCommand {
	name: string;
	/** The arguments that may follow. */
	usage?: string;
	description?: string;
}

export interface ComposerParts {
	/** Where paths begin. */
	cwd: () => string;
	commands: () => readonly KnownCommand[];
	say: (level: Level, text: string) => void;
	onChange: () => void;
}

export class Composer {
	readonly editor = new Editor();
	menu: Menu | undefined;
	#parts: ComposerParts;
	#files = new Files();
	#images = new Images();
	/** The text for which the user has closed the menu. */
	#closedFor: string | undefined;

	constructor(parts: ComposerParts) {
		this.#parts = parts;
	}

	/** The images whose marks are in a message. */
	imagesIn(message: string): Image[] {
		return this.#images.in(message);
	}

	/** Keys of the open menu. Says what became of it: `send` when a command was chosen that runs at once; nothing when the key is not for the menu. */
	menuKey(key: Key): "send" | "taken" | undefined {
		const { menu, editor } = this;
		if (!menu) return undefined;
		if (key.name === "escape") {
			this.#closedFor = editor.text;
			this.menu = undefined;
			return "taken";
		}
		if (key.name !== "tab" && key.name !== "enter") return menu.key(key) ? "taken" : undefined;
		this.#take(menu);
		return key.name === "enter" && menu.token.kind === "command" ? "send" : "taken";
	}

	/** Keys of the text, and what is pasted. */
	key(key: Key): void {
		if (key.name === "ctrl+v" || (key.isPaste && key.text === "")) return void this.#attachClipboard();
		if (key.name === "up" || key.name === "down") {
			// What was sent before comes without a menu, so that the next key goes on in the history.
			this.editor.key(key);
			this.menu = undefined;
			this.#closedFor = this.editor.text;
			return;
		}
		if (!(key.isPaste && this.#attach(() => imageNamed(key.text ?? "", this.#parts.cwd())))) this.editor.key(key);
		this.#updateMenu();
	}

	set text(text: string) {
		this.editor.text = text;
		this.menu = undefined;
		this.#closedFor = text;
	}

	/** Puts the mark of an image at the cursor, in place of what begins at `from`. False when there is none. */
	#attach(find: () => Image | undefined, from = this.editor.beforeCursor.length): boolean {
		try {
			const image = find();
			if (image) this.editor.complete(from, `${this.#images.add(image)} `);
			return image !== undefined;
		} catch (error) {
			this.#parts.say("warning", (error as Error).message);
			return false;
		}
	}

	/** A terminal pastes nothing when only an image is in the clipboard. */
	async #attachClipboard(): Promise<void> {
		try {
			const image = await imageInClipboard();
			this.#attach(() => image);
		} catch (error) {
			this.#parts.say("warning", (error as Error).message);
		}
		this.#parts.onChange();
	}

	#take({ token, selected }: Menu): void {
		const { insert } = selected;
		this.menu = undefined;
		if (token.kind === "command") return this.editor.complete(token.from, `/${insert} `);
		if (isImagePath(insert) && this.#attach(() => imageIn(insert, this.#parts.cwd()), token.from)) return;
		this.editor.complete(token.from, /\s/.test(insert) ? `"${insert}" ` : `@${insert} `);
	}

	/** Opens a menu of commands at once: the next key may have come with this one. */
	#updateMenu(): void {
		const { editor } = this;
		const { text } = editor;
		if (text !== this.#closedFor) this.#closedFor = undefined;
		const token = this.#closedFor === undefined ? tokenAt(editor.beforeCursor, editor.afterCursor) : undefined;
		const entries = token ? this.#entriesFor(token) : [];
		if (Array.isArray(entries)) return this.#show(token, entries);
		// Finding files takes a moment, and every key asks again.
		void entries.then((found) => editor.text === text && this.#show(token, found));
	}

	#show(token: Token | undefined, entries: readonly MenuEntry[]): void {
		this.menu = token && entries.length ? new Menu(token, entries) : undefined;
		this.#parts.onChange();
	}

	#entriesFor({ kind, query }: Token): MenuEntry[] | Promise<MenuEntry[]> {
		if (kind === "command") return commandEntries(this.#parts.commands(), query);
		const files = this.#files.list(this.#parts.cwd(), Date.now());
		return files.then((all) => matchingFiles(all, query, mostFiles).map((path) => ({ label: oneLine(path), insert: path })));
	}
}

function commandEntries(commands: readonly KnownCommand[], query: string): MenuEntry[] {
	return commands
		.filter(({ name }) => name.startsWith(query))
		.sort((a, b) => Number(b.name === query) - Number(a.name === query))
		.map(({ name, usage, description = "" }) => ({ label: `/${name}${usage ? ` ${usage}` : ""}`, about: oneLine(description), insert: name }));
}

const oneLine = (text: string) => plainLines(text).join(" ");
