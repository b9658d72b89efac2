/** The tree next to the conversation: every branch, by kind of entry, or the matches of a search. Only visible lines are in the document. */
import { h, setAttribute, setText } from "../../../page/dom.ts";
import { isShown, type Kind, kindOf } from "../../../page/items.ts";
import { type Hit, titleOf } from "../../../page/search.ts";
import { type Node as Entry, type Row, rowsOf, type Tree } from "../../../page/tree.ts";

type Filter = "prompts" | "chat" | "tools" | "all";

const filters: Record<Filter, { label: string; title: string; kinds: readonly Kind[] | undefined }> = {
	prompts: { label: "Prompts", title: "Prompts and summaries", kinds: ["prompt", "summary"] },
	chat: { label: "Chat", title: "Prompts, replies, commands", kinds: ["prompt", "reply", "shell", "summary", "aside"] },
	tools: { label: "Tools", title: "All of that, and tool calls", kinds: ["prompt", "reply", "calls", "shell", "summary", "aside"] },
	all: { label: "All", title: "Every entry of the file", kinds: undefined },
};

const marks: Record<Kind, string> = { prompt: "›", reply: "•", calls: "⚙", result: "↳", shell: "$", summary: "≡", aside: "◦", change: "·" };
const kindNames: Record<Kind, string> = {
	prompt: "Prompt",
	reply: "Reply",
	calls: "Tool calls",
	result: "Tool result",
	shell: "Command by the host",
	summary: "Summary",
	aside: "Aside",
	change: "Change",
};

const deepestIndent = 12;
/** Lines above and below the visible ones. */
const margin = 12;

interface Line extends Row {
	text: string;
}

export interface SidebarInput {
	tree: Tree;
	addressOf(entry: Entry): string;
	onChoose(entry: Entry): void;
}

export class Sidebar {
	readonly element = h("aside", { class: "sidebar", "aria-label": "Entries" });
	#input: SidebarInput;
	#list = h("div", { class: "lines" });
	#room = h("div", { class: "lines-room" });
	#caption = h("p", { class: "caption", role: "status" });
	#chips = new Map<Filter, HTMLButtonElement>();
	#filter: Filter = "chat";
	#hits: readonly Hit[] | undefined;
	#lines: Line[] = [];
	#path: ReadonlySet<Entry> = new Set();
	#current: Entry | undefined;

	constructor(input: SidebarInput) {
		this.#input = input;
		const chips = h("div", { class: "chips", role: "group", "aria-label": "Show in the tree" });
		for (const [name, { label, title }] of Object.entries(filters) as [Filter, (typeof filters)[Filter]][]) {
			const chip = h("button", { class: "chip", type: "button", title, onclick: () => this.#choose(name) }, label);
			this.#chips.set(name, chip);
			chips.append(chip);
		}
		this.#list.append(this.#room);
		this.#list.addEventListener("scroll", () => this.#draw(), { passive: true });
		new ResizeObserver(() => this.#draw()).observe(this.#list);
		this.element.append(chips, this.#caption, this.#list);
		this.#choose("chat");
	}

	/** What a search found; without it, the tree. */
	showHits(hits: readonly Hit[] | undefined): void {
		this.#hits = hits;
		this.element.classList.toggle("searching", hits !== undefined);
		this.#fill();
		this.#list.scrollTop = 0;
	}

	set path(path: readonly Entry[]) {
		this.#path = new Set(path);
		this.#draw();
	}

	/** Marks the entry that is being read. */
	mark(entry: Entry | undefined, follow: boolean): void {
		if (entry === this.#current) return;
		this.#current = entry;
		const at = this.#lines.findIndex((line) => line.node === entry);
		if (follow && at >= 0) {
			const { clientHeight, scrollTop } = this.#list;
			const top = at * this.#lineHeight;
			if (top < scrollTop || top + this.#lineHeight > scrollTop + clientHeight) this.#list.scrollTop = top - clientHeight / 3;
		}
		this.#draw();
	}

	#choose(filter: Filter): void {
		this.#filter = filter;
		for (const [name, chip] of this.#chips) setAttribute(chip, "aria-pressed", String(name === filter));
		this.#fill();
	}

	#fill(): void {
		const { kinds } = filters[this.#filter];
		const { tree } = this.#input;
		if (this.#hits) this.#lines = this.#hits.map(({ node, snippet }) => ({ node, depth: 0, startsBranch: false, text: snippet }));
		else {
			const shown = (entry: Entry) => (kinds ? isShown(entry) && kinds.includes(kindOf(entry)) : true);
			this.#lines = rowsOf(tree, shown).map((row) => ({ ...row, text: "" }));
		}
		const count = this.#lines.length;
		setText(
			this.#caption,
			this.#hits ? `${count.toLocaleString("en")} found` : `${count.toLocaleString("en")} of ${tree.nodes.length.toLocaleString("en")} entries`,
		);
		this.#draw();
	}

	get #lineHeight(): number {
		return Number.parseFloat(getComputedStyle(this.element).getPropertyValue("--line")) || 28;
	}

	#draw(): void {
		const height = this.#lineHeight;
		const { scrollTop, clientHeight } = this.#list;
		this.#room.style.height = `${this.#lines.length * height}px`;
		const from = Math.max(0, Math.floor(scrollTop / height) - margin);
		const to = Math.min(this.#lines.length, Math.ceil((scrollTop + clientHeight) / height) + margin);
		const drawn = document.createDocumentFragment();
		for (let index = from; index < to; index++) drawn.append(this.#line(this.#lines[index] as Line, index * height));
		this.#room.replaceChildren(drawn);
	}

	#line({ node, depth, startsBranch, text }: Line, top: number): HTMLElement {
		const kind = kindOf(node);
		const label = this.#input.tree.labels.get(node.id);
		const line = h(
			"a",
			{
				class: `entry-line ${kind}${this.#path.has(node) ? "" : " elsewhere"}${startsBranch ? " starts" : ""}`,
				href: this.#input.addressOf(node),
				title: kindNames[kind],
				onclick: (event) => {
					if (event.metaKey || event.ctrlKey || event.shiftKey) return;
					event.preventDefault();
					this.#input.onChoose(node);
				},
			},
			h("span", { class: "mark", "aria-hidden": "true" }, startsBranch ? "┗" : marks[kind]),
			label !== undefined && h("bdi", { class: "tag label" }, label),
			h("bdi", { class: "entry-text" }, text || titleOf(node)),
		);
		if (node === this.#current) setAttribute(line, "aria-current", "true");
		line.style.transform = `translateY(${top}px)`;
		line.style.paddingInlineStart = `${10 + Math.min(depth, deepestIndent) * 14}px`;
		return line;
	}
}
