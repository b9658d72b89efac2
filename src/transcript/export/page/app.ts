/** Puts the page together: bar, tree, conversation; and moves between entries, branches and finds. */
import { colouring } from "../../../page/code.ts";
import { Conversation } from "../../../page/conversation.ts";
import { button, h, icon, setAttribute, setText } from "../../../page/dom.ts";
import { Folds } from "../../../page/folds.ts";
import { rangesOf, showRanges } from "../../../page/highlight.ts";
import { type Item, itemsOf, leafFor } from "../../../page/items.ts";
import { drawItem } from "../../../page/messages.ts";
import type { Pen } from "../../../page/parts.ts";
import { type Hit, SearchIndex, sayingOf } from "../../../page/search.ts";
import { conversationIds } from "../../../page/subagents.ts";
import { themeSwitch } from "../../../page/theme.ts";
import { type Node as Entry, pathTo, type Tree, treeOf } from "../../../page/tree.ts";
import { fieldsOf, listOf, textOf } from "../../../page/values.ts";
import { overview, type PageData } from "./overview.ts";
import { Sidebar } from "./sidebar.ts";

const prefix = "#e-";
/** A search waits for the next letter. */
const pauseMs = 120;
/** So many conversations of subagents can be opened. */
const mostConversations = 2000;

export class App {
	#tree: Tree;
	/** The current entry of the session. */
	#leaf: Entry | undefined;
	/** Where the shown branch ends. */
	#shown: Entry | undefined;
	#folds = new Folds();
	#conversation: Conversation;
	#sidebar: Sidebar;
	/** Conversations of subagents, by id. */
	#subagents: Map<string, readonly Item[]>;
	#index = new SearchIndex((entry) => subagentTexts(entry, this.#subagents, new Set()).join("\n"));
	#search = h("input", { class: "search", type: "search", "aria-label": "Search the whole session" });
	#count = h("span", { class: "count", role: "status" });
	#hits: readonly Hit[] = [];
	#hit = -1;
	#wanted = "";
	#timer = 0;
	#frame = 0;
	/** A place was chosen, and the reader has not moved since. */
	#isPlaced = false;

	constructor(root: HTMLElement, data: PageData) {
		this.#tree = treeOf(listOf(data.entries));
		this.#leaf = this.#tree.byId.get(textOf(data.leafId)) ?? this.#tree.nodes.at(-1);
		this.#subagents = subagentItems(data.subagents);
		const left = { conversations: mostConversations };
		const pen: Pen = {
			folds: this.#folds,
			colour: colouring(),
			register: () => undefined,
			addressOf,
			labelOf: (entry) => this.#tree.labels.get(entry.id),
			visit: (entry) => this.#goTo(entry),
			conversationOf: (id) => this.#subagents.get(id),
			drawConversation: (id) => drawConversation(pen, id, left),
		};
		this.#conversation = new Conversation(pen);
		this.#sidebar = new Sidebar({
			tree: this.#tree,
			addressOf,
			onChoose: (entry) => {
				closeDrawer();
				this.#hit = this.#hits.findIndex((hit) => hit.node === entry);
				this.#goTo(entry);
			},
		});
		const backdrop = h("div", { class: "backdrop", onclick: closeDrawer });
		const main = h("main", {}, overview(pen, this.#tree, data), this.#conversation.element, h("footer", { class: "end" }, "End of this branch"));
		root.replaceChildren(this.#bar(), h("div", { class: "columns" }, this.#sidebar.element, backdrop, main));
		this.#showBranch(this.#leaf);
		this.#listen();
		this.#followAddress();
	}

	#bar(): HTMLElement {
		setAttribute(this.#search, "placeholder", "Search");
		this.#search.autocomplete = "off";
		this.#search.spellcheck = false;
		const unfold = button(
			"tool-button unfold",
			"Unfold everything",
			() => {
				const isOpen = !this.#folds.areAllOpen;
				this.#folds.setAll(document.body, isOpen);
				setAttribute(unfold, "aria-pressed", String(isOpen));
			},
			icon("unfold"),
		);
		setAttribute(unfold, "aria-pressed", "false");
		return h(
			"div",
			{ class: "bar" },
			button("tool-button menu", "Entries", toggleDrawer, icon("menu")),
			h("div", { class: "search-box", role: "search" }, icon("search"), this.#search, this.#count),
			button("tool-button step", "Previous find", () => this.#step(-1), icon("up")),
			button("tool-button step", "Next find", () => this.#step(1), icon("down")),
			unfold,
			themeSwitch(),
		);
	}

	#listen(): void {
		window.addEventListener("hashchange", () => this.#followAddress());
		window.addEventListener("beforeprint", () => this.#conversation.drawAll());
		window.addEventListener("scroll", () => this.#onScroll(), { passive: true });
		for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) {
			window.addEventListener(
				moved,
				() => {
					this.#isPlaced = false;
				},
				{ passive: true },
			);
		}
		this.#conversation.onDraw = () => this.#wanted && this.#onScroll();
		this.#search.addEventListener("input", () => {
			clearTimeout(this.#timer);
			this.#timer = window.setTimeout(() => this.#find(), pauseMs);
		});
		this.#search.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" || event.isComposing) return;
			event.preventDefault();
			if (this.#search.value.trim().toLowerCase() !== this.#wanted) this.#find();
			this.#step(event.shiftKey ? -1 : 1);
		});
		document.addEventListener("keydown", (event) => {
			const isTyping = event.target instanceof HTMLInputElement;
			if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
				event.preventDefault();
				this.#search.focus();
				this.#search.select();
			}
			if (event.key !== "Escape") return;
			closeDrawer();
			if (!isTyping) return;
			this.#search.value = "";
			this.#find();
			this.#search.blur();
		});
	}

	#followAddress(): void {
		if (!location.hash.startsWith(prefix)) {
			// Back to where the page was opened.
			if (this.#shown !== this.#leaf) this.#showBranch(this.#leaf);
			return;
		}
		const entry = this.#tree.byId.get(decoded(location.hash.slice(prefix.length)));
		if (entry) this.#reveal(entry);
	}

	/** Through the address, so that going back works and the place can be passed on. */
	#goTo(entry: Entry): void {
		const address = addressOf(entry);
		if (entry.id !== "" && this.#tree.byId.get(entry.id) === entry && location.hash !== address) location.hash = address;
		else this.#reveal(entry);
	}

	#reveal(entry: Entry): void {
		if (!pathTo(this.#shown).includes(entry)) this.#showBranch(leafFor(entry, this.#leaf));
		const element = this.#elementNear(entry);
		if (!element) return;
		const article = element.closest<HTMLElement>("article") ?? element;
		for (let outer: Element | null = element; outer && outer !== article; outer = outer.parentElement) {
			if (outer instanceof HTMLDetailsElement) this.#folds.open(outer);
		}
		for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
		element.classList.add("target");
		const isHit = this.#wanted !== "" && this.#hits[this.#hit]?.node === entry;
		if (isHit) this.#folds.reveal(element, this.#wanted);
		const [found] = isHit ? rangesOf(element, this.#wanted) : [];
		showRanges("found-now", found ? [found] : []);
		const inner = found?.startContainer.parentElement;
		const isTall = element.getBoundingClientRect().height > window.innerHeight / 2;
		this.#conversation.scrollTo(isTall && inner ? inner : element, isTall && inner ? "center" : "start");
		this.#sidebar.mark(entry, true);
		this.#isPlaced = true;
		this.#onScroll();
	}

	/** An entry that is not shown is represented by the next one above it. */
	#elementNear(entry: Entry): HTMLElement | undefined {
		for (let near: Entry | undefined = entry; near; near = near.parent) {
			if (this.#conversation.has(near)) return this.#conversation.elementOf(near);
		}
		return undefined;
	}

	#showBranch(leaf: Entry | undefined): void {
		this.#shown = leaf;
		this.#conversation.show(itemsOf(this.#tree, leaf));
		this.#sidebar.path = pathTo(leaf);
	}

	#find(): void {
		clearTimeout(this.#timer);
		this.#wanted = this.#search.value.trim().toLowerCase();
		this.#hits = this.#wanted ? this.#index.find(this.#tree.nodes, this.#wanted) : [];
		this.#hit = -1;
		this.#sidebar.showHits(this.#wanted ? this.#hits : undefined);
		setText(this.#count, this.#wanted ? (this.#hits.length ? String(this.#hits.length) : "none") : "");
		document.body.classList.toggle("finding", this.#wanted !== "");
		showRanges("found-now", []);
		this.#onScroll();
	}

	#step(by: number): void {
		const count = this.#hits.length;
		if (!count) return;
		this.#hit = this.#hit < 0 ? (by > 0 ? 0 : count - 1) : (this.#hit + by + count) % count;
		setText(this.#count, `${this.#hit + 1} / ${count}`);
		this.#goTo((this.#hits[this.#hit] as Hit).node);
	}

	/** Once per frame: which entry is being read, and what of the finds is in view. */
	#onScroll(): void {
		cancelAnimationFrame(this.#frame);
		this.#frame = requestAnimationFrame(() => {
			const column = this.#conversation.element.getBoundingClientRect();
			const at = document.elementFromPoint(column.left + column.width / 2, 110);
			const entry = at && this.#conversation.entryOf(at);
			if (entry && !this.#isPlaced) this.#sidebar.mark(entry, !this.#wanted);
			showRanges("found", this.#wanted ? this.#slicesInView().flatMap((slice) => rangesOf(slice, this.#wanted)) : []);
		});
	}

	#slicesInView(): Element[] {
		return [...this.#conversation.element.querySelectorAll(".slice:not(.waiting)")].filter((slice) => {
			const { top, bottom } = slice.getBoundingClientRect();
			return bottom > -500 && top < window.innerHeight + 500;
		});
	}
}

/** The conversation of a subagent. Inside it, it is not there again: a file may name itself, and files may name each other in any number of ways. */
function drawConversation(pen: Pen, id: string, left: { conversations: number }): HTMLElement {
	if (left.conversations-- <= 0) return h("p", { class: "missing" }, "This page shows too many conversations already.");
	const inner: Pen = {
		...pen,
		register: () => undefined,
		addressOf: () => undefined,
		labelOf: () => undefined,
		conversationOf: (other) => (other === id ? undefined : pen.conversationOf(other)),
		drawConversation: (other) => drawConversation(inner, other, left),
	};
	const items = pen.conversationOf(id) ?? [];
	return h("div", { class: "inner" }, ...items.map((item, index) => drawItem(inner, item, items[index - 1])));
}

/** What the subagents of a result say, and theirs. */
function subagentTexts(result: Entry, subagents: ReadonlyMap<string, readonly Item[]>, seen: Set<string>): string[] {
	return conversationIds(result).flatMap((id) => {
		if (seen.has(id)) return [];
		seen.add(id);
		const nodes = (subagents.get(id) ?? []).flatMap(({ node, results }) => [node, ...results.values()]);
		return nodes.flatMap((node) => [sayingOf(node), ...subagentTexts(node, subagents, seen)]);
	});
}

/** A subagent has one branch: the one that its last entry is on. */
function subagentItems(given: unknown): Map<string, readonly Item[]> {
	return new Map(
		Object.entries(fieldsOf(given)).map(([id, conversation]) => {
			const tree = treeOf(listOf(fieldsOf(conversation).entries));
			return [id, itemsOf(tree, tree.nodes.at(-1)).map((item) => ({ ...item, fork: undefined }))];
		}),
	);
}

const addressOf = (entry: Entry) => `${prefix}${encodeURIComponent(entry.id.replace(/\p{Surrogate}/gu, "\ufffd"))}`;

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		// An address that was typed by hand.
		return text;
	}
}

/** On a wide screen the tree is there until it is put away, on a narrow one it comes over the page. */
const toggleDrawer = () => void document.body.classList.toggle(isNarrow() ? "drawer" : "no-tree");
const closeDrawer = () => document.body.classList.remove("drawer");
const isNarrow = () => matchMedia("(max-width: 900px)").matches;
