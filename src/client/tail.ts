/** The end of a text that may grow without bounds. */
const kept = 64 * 1024;

export class Tail {
	#text = "";

	get text(): string {
		return this.#text.length <= kept ? this.#text : this.#cut();
	}

	add(text: string): void {
		this.#text += text;
		if (this.#text.length > 2 * kept) this.#text = this.#cut();
	}

	/** Whole lines, unless a single one is longer. */
	#cut(): string {
		const end = this.#text.slice(-kept);
		const start = end.indexOf("\n") + 1;
		return start < end.length ? end.slice(start) : end;
	}
}
