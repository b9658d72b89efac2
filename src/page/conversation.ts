/** The items one below the other, drawn in slices as they come near. A session may have any length. */
import { h } from "./dom.ts";
import type { Item } from "./items.ts";
import { drawItem } from "./messages.ts";
import type { Pen } from "./parts.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, textOf } from "./values.ts";

interface Slice {
	element: HTMLElement;
	from: number;
	to: number;
	isDrawn: boolean;
}

const itemsPerSlice = 24;
/** How far ahead of the reader slices are drawn. */
const ahead = "1500px 0px";
/** Heights above the target settle while slices are drawn; so long it is held in place. */
const holdFrames = 20;

export class Conversation {
	readonly element = h("div", { class: "conversation" });
	/** Called when a slice has been drawn. */
	onDraw: (element: HTMLElement) => void = () => undefined;
	#pen: Pen;
	#items: readonly Item[] = [];
	#slices: Slice[] = [];
	#positions = new Map<Entry, number>();
	#elements = new Map<Entry, HTMLElement>();
	#observer: IntersectionObserver;
	#hold = 0;

	constructor(pen: Omit<Pen, "register">) {
		this.#pen = { ...pen, register: (entry, element) => this.#register(entry, element) };
		this.#observer = new IntersectionObserver((seen) => this.#onSeen(seen), { rootMargin: ahead });
		for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"]) {
			window.addEventListener(moved, () => this.#release(), { passive: true });
		}
	}

	show(items: readonly Item[]): void {
		this.#observer.disconnect();
		this.#items = items;
		this.#slices = [];
		this.#elements = new Map();
		this.#positions = new Map();
		for (const [position, { node, results, folded }] of items.entries()) {
			for (const shown of [node, ...results.values(), ...(folded ?? [])]) this.#positions.set(shown, position);
		}
		for (let from = 0; from < items.length; from += itemsPerSlice) {
			const to = Math.min(items.length, from + itemsPerSlice);
			const element = h("section", { class: "slice waiting" });
			element.style.height = `${items.slice(from, to).reduce((sum, item) => sum + likelyHeight(item), 0)}px`;
			this.#slices.push({ element, from, to, isDrawn: false });
		}
		this.element.replaceChildren(...this.#slices.map(({ element }) => element));
		for (const { element } of this.#slices) this.#observer.observe(element);
	}

	has(entry: Entry): boolean {
		return this.#positions.has(entry);
	}

	/** The element of an entry on this path, drawn now if need be. */
	elementOf(entry: Entry): HTMLElement | undefined {
		const position = this.#positions.get(entry);
		if (position === undefined) return undefined;
		const slice = this.#slices[Math.floor(position / itemsPerSlice)];
		if (slice) this.#draw(slice);
		return this.#elements.get(entry) ?? this.#elements.get((this.#items[position] as Item).node);
	}

	/** The article that shows an entry: a result is in the article of the reply that called for it. */
	articleOf(entry: Entry): HTMLElement | undefined {
		return this.elementOf(entry)?.closest<HTMLElement>("article") ?? undefined;
	}

	entryOf(element: Element): Entry | undefined {
		const position = Number(element.closest<HTMLElement>("[data-position]")?.dataset.position ?? Number.NaN);
		return this.#items[position]?.node;
	}

	/** Brings an element into view and keeps it there while its surroundings are drawn. */
	scrollTo(element: HTMLElement, place: "start" | "center"): void {
		this.#release();
		element.scrollIntoView({ block: place });
		const wanted = element.getBoundingClientRect().top;
		let frames = holdFrames;
		const hold = () => {
			const off = element.getBoundingClientRect().top - wanted;
			if (Math.abs(off) > 1) window.scrollBy({ top: off, behavior: "instant" });
			frames -= 1;
			if (frames > 0) this.#hold = requestAnimationFrame(hold);
		};
		this.#hold = requestAnimationFrame(hold);
	}

	/** For paper nothing may be missing. */
	drawAll(): void {
		for (const slice of this.#slices) this.#draw(slice);
	}

	#release(): void {
		cancelAnimationFrame(this.#hold);
	}

	#onSeen(seen: readonly IntersectionObserverEntry[]): void {
		const near = new Set(seen.filter((found) => found.isIntersecting).map((found) => found.target));
		if (near.size) for (const slice of this.#slices) if (near.has(slice.element)) this.#draw(slice);
	}

	#draw(slice: Slice): void {
		if (slice.isDrawn) return;
		slice.isDrawn = true;
		this.#observer.unobserve(slice.element);
		const drawn = document.createDocumentFragment();
		for (let position = slice.from; position < slice.to; position++) {
			const item = this.#items[position] as Item;
			const above = this.#items[position - 1];
			const article = drawItem(this.#pen, item, above);
			article.dataset.position = String(position);
			drawn.append(article);
		}
		slice.element.append(drawn);
		slice.element.classList.remove("waiting");
		slice.element.style.containIntrinsicSize = `auto ${slice.element.style.height}`;
		slice.element.style.height = "";
		this.onDraw(slice.element);
	}

	#register(entry: Entry, element: HTMLElement): void {
		this.#elements.set(entry, element);
	}
}

/** Good enough that the scroll bar does not jump; the truth is known once a slice is drawn. */
function likelyHeight({ node: { type, message }, results }: Item): number {
	if (type !== "message") return 50;
	let height = 50 + results.size * 60;
	for (const block of blocksOf(message.content ?? textOf(message.output))) {
		if (block.type === "text") height += Math.min(4000, 24 * Math.ceil(textOf(block.text).length / 80));
		else height += 40;
	}
	return height;
}
