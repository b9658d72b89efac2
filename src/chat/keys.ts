/** From the bytes of a terminal to keys. */
import { StringDecoder } from "node:string_decoder";

/** `text` is typed or pasted; other keys have a name such as `enter`, `alt+enter`, `ctrl+c`, `pageup`. */
export interface Key {
	name: string;
	text?: string;
	/** The text was pasted as a whole. */
	isPaste?: true;
}

/** An escape with nothing after it for this long is the key itself, not the beginning of a sequence. */
const escapeMs = 40;
const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

const letters: Record<string, string> = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift+tab", P: "f1" };
const numbers: Record<string, string> = { 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end" };
const codes: Record<string, string> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };
const controls: Record<string, string> = { "\r": "enter", "\t": "tab", "\x7f": "backspace", "\b": "backspace", "\x1b": "escape" };
/** What follows an escape: parameters, then a letter or ~. */
const sequence = /^(?:\[([0-9;:]*)([A-Za-z~])|O([A-Za-z]))/;
const unfinished = /^(?:\[[0-9;:]*|O)?$/;

export class Keys {
	#decoder = new StringDecoder("utf8");
	#waiting = "";
	#timer: NodeJS.Timeout | undefined;
	#onKey: (key: Key) => void;

	constructor(onKey: (key: Key) => void) {
		this.#onKey = onKey;
	}

	push(chunk: Buffer): void {
		clearTimeout(this.#timer);
		this.#waiting += this.#decoder.write(chunk);
		while (this.#waiting !== "" && this.#take());
		// If a sequence stops in the middle, only the escape remains.
		if (this.#waiting.startsWith("\x1b") && !this.#waiting.startsWith(pasteStart)) this.#timer = setTimeout(() => this.#giveUp(), escapeMs);
	}

	close(): void {
		clearTimeout(this.#timer);
	}

	#giveUp(): void {
		this.#consume(1, { name: "escape" });
		while (this.#waiting !== "" && this.#take());
	}

	/** Takes one key; false when it is not complete yet. */
	#take(): boolean {
		const text = this.#waiting;
		if (text.startsWith(pasteStart)) return this.#paste();
		if (!text.startsWith("\x1b")) return this.#plain();
		const rest = text.slice(1);
		if (unfinished.test(rest)) return false;
		const found = sequence.exec(rest);
		if (found) {
			const [whole, parameters = "", final = "", application] = found;
			return this.#consume(1 + whole.length, { name: application ? (letters[application] ?? "unknown") : nameOf(parameters, final) });
		}
		const next = [...rest][0] as string;
		if (next === "\x1b") return this.#consume(1, { name: "escape" });
		return this.#consume(1 + next.length, { name: `alt+${controls[next] ?? next.toLowerCase()}` });
	}

	#plain(): boolean {
		const typed = /^[^\p{Cc}]+/u.exec(this.#waiting)?.[0];
		if (typed) return this.#consume(typed.length, { name: "text", text: typed });
		const control = this.#waiting[0] as string;
		const letter = String.fromCharCode(control.charCodeAt(0) + 96);
		return this.#consume(1, { name: controls[control] ?? (letter >= "a" && letter <= "z" ? `ctrl+${letter}` : "unknown") });
	}

	#paste(): boolean {
		const end = this.#waiting.indexOf(pasteEnd);
		if (end < 0) return false;
		const text = this.#waiting.slice(pasteStart.length, end).replace(/\r\n?/g, "\n");
		return this.#consume(end + pasteEnd.length, { name: "text", text, isPaste: true });
	}

	#consume(length: number, key: Key): true {
		this.#waiting = this.#waiting.slice(length);
		this.#onKey(key);
		return true;
	}
}

function nameOf(parameters: string, final: string): string {
	const [first = "", second = "", third = ""] = parameters.split(/[;:]/);
	// `27;modifier;code~` and `code;modifier u` are two ways to say the same.
	if (final === "~" && first === "27") return modified(codes[third], second);
	if (final === "u") return modified(codes[first], second);
	return modified(final === "~" ? numbers[first] : letters[final], second);
}

function modified(name: string | undefined, modifier: string): string {
	if (name === undefined) return "unknown";
	const bits = Math.max(0, Number(modifier || 1) - 1);
	return `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}${name}`;
}
