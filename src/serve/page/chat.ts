/** The middle of the page: the conversation, what is being written, the questions that wait, and the composer. */
import { readFiles } from "../../lib/read-diff.ts";
import { colouring } from "../../page/code.ts";
import { Conversation } from "../../page/conversation.ts";
import { diffView } from "../../page/diff.ts";
import { button, type Child, fill, h, icon, setAttribute, setText } from "../../page/dom.ts";
import { Folds } from "../../page/folds.ts";
import { rangesOf } from "../../page/highlight.ts";
import { itemsOf, leafFor } from "../../page/items.ts";
import { drawItem } from "../../page/messages.ts";
import { type OpenCall, output, type Pen } from "../../page/parts.ts";
import { duration } from "../../page/stats.ts";
import { type Node as Entry, treeOf } from "../../page/tree.ts";
import { fieldsOf, listOf, oneLine, plainText, textOf } from "../../page/values.ts";
import { Asks } from "./asks.ts";
import { Composer, type Picture, type SendAs } from "./composer.ts";
import { Find } from "./find.ts";
import type { Frame } from "./link.ts";
import type { Change, SessionModel } from "./model.ts";
import { OpenReply } from "./open-reply.ts";

export interface ChatInput {
	mayDrive(): boolean;
	send(how: SendAs, text: string, pictures: readonly Picture[]): Promise<string | undefined>;
	stop(): void;
	answer(id: string, frame: Frame): void;
	fork(prompt: Entry): void;
	openSubagent(id: string): void;
	/** Fetches all of the conversation. */
	readAll(): Promise<void>;
	/** Asks for a frame of the page to be drawn. */
	schedule(): void;
}

/** So near the end counts as the end. */
const endMargin = 80;
/** Lines of a running call that are shown. */
const lastLines = 200;

export class Chat {
	readonly element = h("div", { class: "chat" });
	readonly composer: Composer;
	readonly asks: Asks;
	readonly find: Find;
	#input: ChatInput;
	#banner = h("div", { class: "banners" });
	#older = h("div", { class: "older" });
	#log = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": "Conversation" });
	#conversation: Conversation;
	#reply: OpenReply;
	#jump = button("jump", "Go to the end", () => this.toEnd(), icon("down"), h("span", { class: "jump-text" }));
	#folds = new Folds();
	#pen: Pen;
	#model: SessionModel | undefined;
	#openCalls = new Map<string, OpenCall>();
	#changes = new Set<Change>();
	#isAtEnd = true;
	#seen = 0;
	/** What the button that leads to the end says. */
	#jumpCount = -1;
	#isReading = false;

	constructor(input: ChatInput) {
		this.#input = input;
		const colour = colouring();
		this.#pen = {
			folds: this.#folds,
			colour,
			register: () => undefined,
			addressOf: () => undefined,
			labelOf: (entry) => this.#model?.tree.labels.get(entry.id),
			visit: (entry) => this.#model?.choose(leafFor(entry, this.#model.leaf)),
			conversationOf: () => undefined,
			drawConversation: () => h("div"),
			openConversation: (id) => input.openSubagent(id),
			openCall: (id, call) => {
				this.#openCalls.set(id, call);
				this.#changes.add("calls");
				input.schedule();
			},
			durationOf: (id) => this.#model?.durations.get(id),
			actionsOf: (entry) => this.#actionsOf(entry),
		};
		this.#conversation = new Conversation(this.#pen);
		this.#reply = new OpenReply(colour);
		this.asks = new Asks({
			pen: this.#pen,
			mayAnswer: input.mayDrive,
			answer: input.answer,
			resolutionOf: (id) => this.#model?.resolutions.get(id),
		});
		this.find = new Find({
			entries: () => this.#conversation.items.flatMap(({ node, results, folded }) => [node, ...(folded ?? []), ...results.values()]),
			readAll: () => input.readAll(),
			entryInView: () => this.#entryInView(),
			reveal: (entry, wanted) => this.#revealFound(entry, wanted),
			leave: () => this.composer.focus(),
		});
		this.composer = new Composer({ send: input.send, stop: input.stop });
		const dock = h("div", { class: "dock" }, this.#jump, this.asks.element, this.composer.element);
		this.#log.append(this.#conversation.element, this.#reply.element);
		this.element.append(this.find.element, this.#banner, this.#older, this.#log, h("div", { class: "log-end" }), dock);
		window.addEventListener("scroll", () => this.#onScroll(), { passive: true });
		new ResizeObserver(() => this.#isAtEnd && this.#scrollToEnd()).observe(this.#log);
	}

	open(model: SessionModel): void {
		this.#model = model;
		this.#openCalls.clear();
		this.#isAtEnd = true;
		this.#seen = 0;
		this.#conversation.show([]);
		this.#reply.show(undefined);
		this.asks.clear();
		this.find.forget();
		this.composer.open(model.id);
		this.setBanner([]);
		this.changed("conversation");
		this.changed("live");
	}

	changed(change: Change): void {
		this.#changes.add(change);
		this.#input.schedule();
	}

	/** Once per animation frame, when something has changed. */
	draw(): void {
		const model = this.#model;
		if (!model) return;
		const changes = this.#changes;
		this.#changes = new Set();
		if (changes.has("conversation")) this.#drawConversation(model);
		if (changes.has("live")) {
			this.#reply.show(model.live.message ? fieldsOf(model.live.message) : undefined);
			this.asks.show(model.live.dialogs);
			this.composer.isBusy = model.isBusy;
		}
		if (changes.has("calls") || changes.has("live") || changes.has("conversation")) this.#drawCalls(model);
		this.#keepEnd(model);
	}

	/** Once a second. */
	tick(): void {
		this.asks.tick();
		if (this.#model && this.#openCalls.size > 0) this.#drawCalls(this.#model);
	}

	setBanner(children: readonly Child[]): void {
		fill(this.#banner, ...children);
	}

	toEnd(): void {
		this.#isAtEnd = true;
		this.#scrollToEnd();
		this.#drawJump(0);
	}

	/** The message after or before the one that has the focus or is at the top. */
	step(by: 1 | -1): void {
		const articles = [...this.#log.querySelectorAll<HTMLElement>(".slice > article.item")];
		const focused = document.activeElement?.closest<HTMLElement>("article.item");
		const at = focused ? articles.indexOf(focused) : articles.findIndex((article) => article.getBoundingClientRect().bottom > 80) - (by > 0 ? 1 : 0);
		const next = articles[Math.max(0, Math.min(articles.length - 1, at + by))];
		if (!next) return;
		next.tabIndex = -1;
		next.focus({ preventScroll: true });
		this.#conversation.scrollTo(next, "start");
	}

	/** Opens or closes the calls of the message that has the focus, else of the last one. */
	toggleCalls(): void {
		const article =
			document.activeElement?.closest<HTMLElement>("article.item") ?? [...this.#log.querySelectorAll<HTMLElement>(".slice > article.item")].at(-1);
		const cards = [...(article?.querySelectorAll<HTMLDetailsElement>("details.tool") ?? [])];
		const isOpen = cards.some((card) => !card.open);
		for (const card of cards) {
			card.dataset.touched = "";
			if (isOpen) this.#folds.open(card);
			else card.open = false;
		}
	}

	reveal(entry: Entry): void {
		const element = this.#conversation.elementOf(entry);
		if (!element) return;
		this.#isAtEnd = false;
		this.#conversation.scrollTo(element.closest<HTMLElement>("article") ?? element, "start");
	}

	/** Opens what an entry says about a text, and shows the place. */
	#revealFound(entry: Entry, wanted: string): HTMLElement | undefined {
		const element = this.#conversation.elementOf(entry);
		if (!element) return undefined;
		this.#isAtEnd = false;
		for (let outer: Element | null = element; outer && !outer.matches("article.item"); outer = outer.parentElement) {
			if (outer instanceof HTMLDetailsElement) this.#folds.open(outer);
		}
		this.#folds.reveal(element, wanted);
		const inner = rangesOf(element, wanted)[0]?.startContainer.parentElement;
		this.#conversation.scrollTo(inner ?? element, inner ? "center" : "start");
		return element;
	}

	#entryInView(): Entry | undefined {
		const articles = [...this.#log.querySelectorAll<HTMLElement>(".slice > article.item")];
		const first = articles.find((article) => article.getBoundingClientRect().bottom > 120);
		return first && this.#conversation.entryOf(first);
	}

	/** A conversation that is not this session's own: that of a subagent. */
	drawOther(entries: readonly unknown[]): HTMLElement {
		const tree = treeOf(entries);
		const items = itemsOf(tree, tree.nodes.at(-1)).map((item) => ({ ...item, fork: undefined }));
		const { openCall: _, actionsOf: __, ...rest } = this.#pen;
		const pen: Pen = { ...rest, labelOf: () => undefined };
		return h("div", { class: "inner" }, ...items.map((item, index) => drawItem(pen, item, items[index - 1])));
	}

	/** Draws a unified difference. */
	drawDiff(diff: string): HTMLElement {
		return diffView(this.#pen, readFiles(diff));
	}

	#drawConversation(model: SessionModel): void {
		const { items } = model;
		const isFirst = this.#conversation.items.length === 0;
		// With nothing above it, the browser would show what is put in front instead of what is being read.
		const anchor = !this.#isAtEnd && window.scrollY < 2 ? this.#log.querySelector("article.item") : null;
		const top = anchor?.getBoundingClientRect().top ?? 0;
		if (isFirst) this.#conversation.show(items);
		else this.#conversation.update(items);
		if (anchor?.isConnected) window.scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
		this.#drawOlder(model);
		this.find.refresh();
	}

	#drawOlder(model: SessionModel): void {
		const more =
			model.hasOlder && button("more", "Show earlier messages", () => void this.#readOlder(), this.#isReading ? "Reading…" : "Earlier messages");
		this.#older.replaceChildren(...(more ? [more] : []));
		const isEmpty = this.#conversation.items.length === 0 && !model.hasOlder && !model.live.message;
		this.#log.classList.toggle("empty", isEmpty);
	}

	async #readOlder(): Promise<void> {
		const model = this.#model;
		if (!model || this.#isReading) return;
		this.#isReading = true;
		try {
			await model.readOlder();
		} catch (error) {
			console.warn("Earlier messages could not be read:", error);
		} finally {
			this.#isReading = false;
		}
	}

	#drawCalls({ live, startedAt, session }: SessionModel): void {
		const running = new Map(live.tools.map((tool) => [tool.toolCallId, tool]));
		const asked = new Set(live.dialogs.map((dialog) => textOf(fieldsOf(dialog).toolCallId)));
		for (const [id, call] of this.#openCalls) {
			if (!call.card.isConnected && !this.#log.contains(call.card)) {
				this.#openCalls.delete(id);
				continue;
			}
			const tool = running.get(id);
			const since = startedAt.get(id);
			const words = asked.has(id)
				? "waits for you"
				: tool
					? since === undefined
						? "runs"
						: `runs ${duration(Date.now() - since)}`
					: session.state === "busy"
						? "waits"
						: "no result";
			call.state.className = `state ${asked.has(id) ? "asked" : tool ? "running" : "open"}`;
			setAttribute(call.state, "title", words);
			setText(call.tag, words);
			call.tag.classList.toggle("live", tool !== undefined);
			if (tool) this.#drawOutput(call, tool.toolName, fieldsOf(tool.partialResult));
		}
	}

	#drawOutput({ output: place }: OpenCall, name: string, partial: Record<string, unknown>): void {
		const progress = listOf(fieldsOf(partial.details).progress).map(fieldsOf);
		const text =
			name === "task" && progress.length
				? progress
						.map((task) =>
							`${textOf(task.id)}: ${textOf(task.status)} ${oneLine(`${textOf(task.currentTool)} ${textOf(task.currentToolArgs)}`, 100)}`.trim(),
						)
						.join("\n")
				: tailOf(plainText(partial.content));
		if (place.dataset.shown === text) return;
		place.dataset.shown = text;
		place.replaceChildren(...(text ? [output(this.#pen, text, { lines: lastLines + 10, characters: 60_000 })] : []));
	}

	#actionsOf(entry: Entry): Child[] {
		if (entry.message.role !== "user" || entry.message.synthetic === true || !this.#input.mayDrive()) return [];
		return [button("fork-here", "Fork here: a new session from before this prompt", () => this.#input.fork(entry), "Fork here")];
	}

	#onScroll(): void {
		const { scrollHeight } = document.documentElement;
		const isAtEnd = window.scrollY + window.innerHeight >= scrollHeight - endMargin;
		if (isAtEnd !== this.#isAtEnd) {
			this.#isAtEnd = isAtEnd;
			this.#seen = this.#conversation.items.length;
			this.#drawJump(0);
		}
		if (window.scrollY < 600 && !isAtEnd && this.#model?.hasOlder) void this.#readOlder();
	}

	#keepEnd(model: SessionModel): void {
		if (this.#isAtEnd) {
			this.#seen = this.#conversation.items.length;
			this.#scrollToEnd();
			this.#drawJump(0);
		} else this.#drawJump(Math.max(0, this.#conversation.items.length - this.#seen) + (model.live.message ? 1 : 0));
	}

	#drawJump(count: number): void {
		this.#jump.hidden = this.#isAtEnd;
		const text = this.#jump.querySelector(".jump-text");
		// Once per frame while a reply streams: mostly nothing changes.
		if (!text || this.#jumpCount === count) return;
		this.#jumpCount = count;
		setText(text, count > 0 ? `${count} new` : "");
		setAttribute(this.#jump, "aria-label", count > 0 ? `${count} new, go to the end` : "Go to the end");
	}

	#scrollToEnd(): void {
		window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
	}
}

function tailOf(text: string): string {
	let at = text.length;
	for (let lines = 0; lines < lastLines && at > 0; lines++) at = text.lastIndexOf("\n", at - 1);
	return at > 0 ? `…${text.slice(at)}` : text;
}
