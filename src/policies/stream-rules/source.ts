/** The text so far of one block of a reply, as far as rules look back. */

/** Rules look at the last part of a long block. */
const longest = 64 * 1024;
/** Up to this length every piece triggers a check of everything. */
const short = 4 * 1024;
/** Beyond it, every piece triggers a check of the end only, and of everything once this much has been added. */
const step = 512;
const window = 2 * 1024;

export class Source {
	/** Total length received, in characters. */
	length = 0;
	#chunks: string[] = [];
	#held = 0;
	#tail = "";
	#lookedAt = 0;

	add(piece: string): void {
		this.length += piece.length;
		this.#held += piece.length;
		this.#chunks.push(piece);
		if (this.#held > 2 * longest) this.whole();
		this.#tail = `${this.#tail}${piece}`;
		if (this.#tail.length > 2 * window) this.#tail = this.#tail.slice(-window);
	}

	/** The end of the text: enough to decide whether a full check pays. */
	get tail(): string {
		return this.#tail;
	}

	/** The last 64 KB. Joined only now, because joining with every piece would cost the square of the length. */
	whole(): string {
		const text = this.#chunks.join("").slice(-longest);
		this.#chunks = [text];
		this.#held = text.length;
		return text;
	}

	/** Whether a full check is due. */
	isDue(isEnd: boolean): boolean {
		const isDue = isEnd ? this.length > this.#lookedAt : this.length <= short || this.length - this.#lookedAt >= step;
		if (isDue) this.#lookedAt = this.length;
		return isDue;
	}
}

/** The texts inside a call's arguments, the newest first, as far as rules look back. */
export function textsIn(args: unknown): string[] {
	const found: string[] = [];
	let room = longest;
	const collect = (value: unknown): void => {
		if (room <= 0) return;
		if (typeof value === "string") {
			const text = value.slice(-room);
			room -= text.length + 1;
			found.push(text);
		} else if (typeof value === "object" && value !== null) for (const inner of Object.values(value).reverse()) collect(inner);
	};
	collect(args);
	return found;
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Raw JSON as it would read inside a string. Good enough for a first check. */
export function unescaped(json: string): string {
	return json.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_whole, code?: string, character?: string) =>
		code === undefined ? (escapes[character as string] ?? (character as string)) : String.fromCharCode(Number.parseInt(code, 16)),
	);
}

/** The files that a call names. The last argument may still be growing, and `a.js` may become `a.json`. */
export function pathsIn(args: Record<string, unknown>, isEnd: boolean): string[] {
	const entries = Object.entries(args);
	const finished = isEnd ? entries : entries.slice(0, -1);
	return finished.flatMap(([key, value]) => {
		if (!/^(?:paths?|file.*)$/i.test(key)) return [];
		return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");
	});
}
