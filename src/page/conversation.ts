/** The items one below the other, drawn in slices as they come near. A session may have any length, and may grow at both ends. */
import { h } from "./dom.ts";
import { type Item, isSameItem } from "./items.ts";
import { drawItem } from "./messages.ts";
import type { Pen } from "./parts.ts";
import { callCard } from "./tools.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, textOf } from "./values.ts";

interface Slice {
	element: HTMLElement;
	items: Item[];
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
	#places = new Map<Entry, { item: Item; slice: Slice }>();
	#elements = new Map<Entry, HTMLElement>();
	#shownBy = new WeakMap<Element, Entry>();
	#observer: IntersectionObserver;
	#hold = 0;

	constructor(pen: Omit<Pen, "register">) {
		this.#pen = { ...pen, register: (entry, element) => this.#register(entry, element) };
		this.#observer = new IntersectionObserver((seen) => this.#onSeen(seen), { rootMargin: ahead });
		for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"]) {
			window.addEventListener(moved, () => this.#release(), { passive: true });
		}
	}

	/** Another conversation, or another branch of it. */
	show(items: readonly Item[]): void {
		this.#observer.disconnect();
		this.#elements = new Map();
		this.#places = new Map();
		this.#items = items;
		this.#slices = sliced(items);
		for (const slice of this.#slices) this.#place(slice);
		this.element.replaceChildren(...this.#slices.map(({ element }) => element));
		for (const { element } of this.#slices) this.#observer.observe(element);
	}

	/** The same conversation with more at either end, or with results that came. Everything else keeps its elements. */
	update(items: readonly Item[]): void {
		const before = this.#items;
		const most = Math.min(before.length, items.length);
		let head = 0;
		while (head < most && isSameItem(before[head] as Item, items[head] as Item)) head++;
		let tail = 0;
		while (tail < most - head && isSameItem(before[before.length - 1 - tail] as Item, items[items.length - 1 - tail] as Item)) tail++;
		if (head === before.length && head === items.length) return;
		this.#items = items;
		const lead = this.#slicesWithin(head, tail, before.length);
		const kept = { first: this.#slices.slice(0, lead.first), last: this.#slices.slice(this.#slices.length - lead.last) };
		const from = count(kept.first);
		const to = items.length - count(kept.last);
		const gone = this.#slices.slice(lead.first, this.#slices.length - lead.last);
		const made = sliced(items.slice(from, to));
		const drawn = new Map(gone.filter(({ isDrawn }) => isDrawn).flatMap((slice) => slice.items.map((item) => [item.node, item] as const)));
		this.#slices = [...kept.first, ...made, ...kept.last];
		for (const slice of gone) this.#observer.unobserve(slice.element);
		for (const slice of made) {
			this.#place(slice);
			// What has been drawn stays drawn: it is in view, or was.
			if (slice.items.some(({ node }) => drawn.has(node))) this.#draw(slice, drawn);
			else this.#observer.observe(slice.element);
		}
		const anchor = gone[0]?.element ?? kept.last[0]?.element ?? null;
		for (const { element } of made) this.element.insertBefore(element, anchor);
		for (const { element } of gone) element.remove();
	}

	/** How many whole slices at either end have only items that stayed. The slice at the end is left open for what comes. */
	#slicesWithin(head: number, tail: number, length: number): { first: number; last: number } {
		let first = 0;
		for (let position = 0; first < this.#slices.length; first++) {
			position += (this.#slices[first] as Slice).items.length;
			const isOpen = position === length && (this.#slices[first] as Slice).items.length < itemsPerSlice;
			if (position > head || isOpen) break;
		}
		let last = 0;
		for (let position = 0; first + last < this.#slices.length; last++) {
			position += (this.#slices[this.#slices.length - 1 - last] as Slice).items.length;
			if (position > tail) break;
		}
		return { first, last };
	}

	has(entry: Entry): boolean {
		return this.#places.has(entry);
	}

	get items(): readonly Item[] {
		return this.#items;
	}

	/** The element of an entry on this path, drawn now if need be. */
	elementOf(entry: Entry): HTMLElement | undefined {
		const place = this.#places.get(entry);
		if (!place) return undefined;
		this.#draw(place.slice);
		return this.#elements.get(entry) ?? this.#elements.get(place.item.node);
	}

	/** The article that shows an entry: a result is in the article of the reply that called for it. */
	articleOf(entry: Entry): HTMLElement | undefined {
		return this.elementOf(entry)?.closest<HTMLElement>("article") ?? undefined;
	}

	entryOf(element: Element): Entry | undefined {
		const article = element.closest("article.item");
		// Conversations of subagents are inside an article of this one.
		return article ? (this.#shownBy.get(article) ?? (article.parentElement ? this.entryOf(article.parentElement) : undefined)) : undefined;
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

	#place(slice: Slice): void {
		for (const item of slice.items) {
			for (const shown of [item.node, ...item.results.values(), ...(item.folded ?? [])]) this.#places.set(shown, { item, slice });
		}
	}

	#onSeen(seen: readonly IntersectionObserverEntry[]): void {
		const near = new Set(seen.filter((found) => found.isIntersecting).map((found) => found.target));
		if (near.size) for (const slice of this.#slices) if (near.has(slice.element)) this.#draw(slice);
	}

	/** `drawn`: items that have articles already. An article is taken over when it still says the same. */
	#draw(slice: Slice, drawn?: ReadonlyMap<Entry, Item>): void {
		if (slice.isDrawn) return;
		slice.isDrawn = true;
		this.#observer.unobserve(slice.element);
		const articles = document.createDocumentFragment();
		const start = this.#items.indexOf(slice.items[0] as Item);
		for (const [offset, item] of slice.items.entries()) {
			const old = drawn?.get(item.node);
			const known = old && this.#elements.get(item.node)?.closest<HTMLElement>("article.item");
			const article = old && known && this.#takeOver(known, old, item) ? known : drawItem(this.#pen, item, this.#items[start + offset - 1]);
			this.#shownBy.set(article, item.node);
			articles.append(article);
		}
		slice.element.append(articles);
		slice.element.classList.remove("waiting");
		slice.element.style.containIntrinsicSize = `auto ${slice.element.style.height}`;
		slice.element.style.height = "";
		this.onDraw(slice.element);
	}

	/** Whether an article can stay. Results that came since are put into it, and what was opened stays open. */
	#takeOver(article: HTMLElement, before: Item, now: Item): boolean {
		if (isSameItem(before, now)) return true;
		if (!isSameItem({ ...before, results: now.results }, now)) return false;
		const blocks = blocksOf(now.node.message.content);
		for (const [position, result] of now.results) {
			if (before.results.get(position) === result) continue;
			const card = article.querySelector<HTMLDetailsElement>(`:scope > details.tool[data-block="${position}"]`);
			const block = blocks[position];
			if (!card || !block) return false;
			const next = callCard(this.#pen, block, result);
			next.dataset.block = String(position);
			if (card.dataset.touched !== undefined) {
				if (card.open) this.#pen.folds.open(next);
				else next.open = false;
			}
			card.replaceWith(next);
		}
		return true;
	}

	#register(entry: Entry, element: HTMLElement): void {
		this.#elements.set(entry, element);
	}
}

const count = (slices: readonly Slice[]) => slices.reduce((sum, { items }) => sum + items.length, 0);

function sliced(items: readonly Item[]): Slice[] {
	const slices: Slice[] = [];
	for (let from = 0; from < items.length; from += itemsPerSlice) {
		const own = items.slice(from, from + itemsPerSlice);
		const element = h("section", { class: "slice waiting" });
		element.style.height = `${own.reduce((sum, item) => sum + likelyHeight(item), 0)}px`;
		slices.push({ element, items: own, isDrawn: false });
	}
	return slices;
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
