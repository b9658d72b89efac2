/** Searches the open conversation: a field above it, how many entries match, and the way from one to the next. */
import { button, h, icon, setText } from "../../page/dom.ts";
import { rangesOf, showRanges } from "../../page/highlight.ts";
import { SearchIndex } from "../../page/search.ts";
import type { Node as Entry } from "../../page/tree.ts";

export interface FindInput {
	/** The entries of the conversation, in the order in which they are shown. */
	entries(): readonly Entry[];
	/** Fetches what is not there yet, so that nothing is missed. */
	readAll(): Promise<void>;
	/** The entry that is at the top of the window. */
	entryInView(): Entry | undefined;
	/** Brings an entry into view with what it says about `wanted` open. Gives its element. */
	reveal(entry: Entry, wanted: string): HTMLElement | undefined;
	/** Where the focus goes when the search is over. */
	leave(): void;
}

export class Find {
	readonly element: HTMLElement;
	#input: FindInput;
	#field = h("input", { class: "search", type: "search", "aria-label": "Search this conversation", placeholder: "Search this conversation" });
	#count = h("span", { class: "find-count", role: "status" });
	#index = new SearchIndex();
	#hits: Entry[] = [];
	#current: Entry | undefined;

	constructor(input: FindInput) {
		this.#input = input;
		this.#field.autocomplete = "off";
		this.#field.addEventListener("input", () => this.#search());
		this.#field.addEventListener("keydown", (event) => {
			if (event.key === "Escape") this.close();
			else if (event.key === "Enter" && !event.isComposing) this.#step(event.shiftKey ? -1 : 1);
			else return;
			event.preventDefault();
		});
		this.element = h(
			"div",
			{ class: "find", role: "search", "aria-label": "This conversation" },
			h("div", { class: "search-box" }, icon("search"), this.#field),
			this.#count,
			button("tool-button", "Previous match (Shift+Enter)", () => this.#step(-1), icon("up")),
			button("tool-button", "Next match (Enter)", () => this.#step(1), icon("down")),
			button("tool-button", "Close the search", () => this.close(), icon("close")),
		);
		this.element.hidden = true;
	}

	open(): void {
		this.element.hidden = false;
		this.#field.focus();
		this.#field.select();
		this.#search();
		this.#input.readAll().catch((error) => console.warn("Earlier messages could not be read:", error));
	}

	close(): void {
		if (this.element.hidden) return;
		const hadFocus = this.element.contains(document.activeElement);
		this.forget();
		if (hadFocus) this.#input.leave();
	}

	/** Another conversation is shown. */
	forget(): void {
		this.element.hidden = true;
		this.#field.value = "";
		this.#hits = [];
		this.#current = undefined;
		this.#index = new SearchIndex();
		showRanges("found-now", []);
	}

	/** The conversation has grown. The place in it stays. */
	refresh(): void {
		if (this.element.hidden) return;
		this.#hits = this.#wanted === "" ? [] : this.#index.find(this.#input.entries(), this.#wanted).map(({ node }) => node);
		this.#say();
	}

	get #wanted(): string {
		return this.#field.value.trim().toLowerCase();
	}

	#search(): void {
		this.#current = undefined;
		showRanges("found-now", []);
		this.refresh();
	}

	#step(by: 1 | -1): void {
		const count = this.#hits.length;
		if (count === 0) return;
		const at = this.#current ? this.#hits.indexOf(this.#current) : -1;
		const next = this.#hits[at < 0 ? this.#first(by) : (at + by + count) % count] as Entry;
		this.#current = next;
		this.#say();
		const element = this.#input.reveal(next, this.#wanted);
		const [found] = element ? rangesOf(element, this.#wanted) : [];
		showRanges("found-now", found ? [found] : []);
	}

	/** The nearest match from what is being read, else the one at the other end. */
	#first(by: 1 | -1): number {
		const order = new Map(this.#input.entries().map((entry, index) => [entry, index]));
		const here = order.get(this.#input.entryInView() as Entry) ?? 0;
		const places = this.#hits.map((hit) => order.get(hit) ?? 0);
		const found = by > 0 ? places.findIndex((place) => place >= here) : places.findLastIndex((place) => place < here);
		return found >= 0 ? found : by > 0 ? 0 : places.length - 1;
	}

	#say(): void {
		const at = this.#current ? this.#hits.indexOf(this.#current) : -1;
		const count = this.#hits.length;
		setText(this.#count, this.#wanted === "" ? "" : count === 0 ? "none" : at >= 0 ? `${at + 1} of ${count}` : `${count} found`);
	}
}
