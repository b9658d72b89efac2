/**
 * One session as the page knows it: the entries of its file, the messages that came since, and what is going on. The file has the last word:
 * messages that came as frames are shown at once, and become the file's entries as soon as those are read.
 */

import type { RunsLater } from "../../lib/runs-later.ts";
import { type Item, itemsOf } from "../../page/items.ts";
import { growTree, type Node, pathTo, provisionalNode, settleNode, type Tree, treeOf } from "../../page/tree.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../../page/values.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import { closed, idleState, type LiveState, nextState } from "../../protocol/live.ts";
import type { ServedSession } from "../../protocol/serve.ts";
import type { Api } from "./api.ts";
import type { Frame } from "./link.ts";
import { SubagentBoard } from "./subagent-board.ts";

interface EntriesPage {
	entries: unknown[];
	leafId: string | null;
	total: number;
	before: boolean;
	after: boolean;
	asOf: number;
}

/** What has changed, so that views draw no more than that. */
export type Change = "conversation" | "live" | "session" | "calls";

const firstPage = 200;
const olderPage = 500;
/** Entries are read again after a turn; several turns in quick succession are one reading. */
const settleMs = 250;

export interface Resolution {
	outcome: string;
	by: string;
}

export class SessionModel {
	readonly id: string;
	session: ServedSession;
	live: LiveState = idleState;
	tree: Tree = treeOf([]);
	/** There are older entries than those that were read. */
	hasOlder = false;
	/** How many entries the file has. */
	total = 0;
	/** Since when calls run, and how long calls took, by their ids: milliseconds. */
	readonly startedAt = new Map<string, number>();
	readonly durations = new Map<string, number>();
	readonly subagents = new SubagentBoard();
	/** How questions that were open here have ended. */
	readonly resolutions = new Map<string, Resolution>();
	/** Files that run later, which the last run changed. */
	runsLater: readonly RunsLater[] = [];
	/** When the run began, and when the open reply did. */
	runStartedAt: number | undefined;
	replyStartedAt: number | undefined;
	onChange: (change: Change) => void = () => undefined;
	onFrame: (frame: Frame) => void = () => undefined;
	#api: Api;
	#leaf: Node | undefined;
	#provisional: Node[] = [];
	/** The branch that the reader chose; without it the one that goes on. */
	#chosen: Node | undefined;
	#timer = 0;
	#isReading = false;
	#mustReadAgain = false;
	#isOver = false;

	constructor(api: Api, session: ServedSession) {
		this.#api = api;
		this.session = session;
		this.id = session.id;
	}

	/** Reads the end of the conversation. Gives the number after which frames are to come. */
	async open(): Promise<number> {
		const page = await this.#read(`tail=${firstPage}`);
		this.tree = treeOf(page.entries);
		this.#leaf = this.#leafOf(page);
		this.#provisional = [];
		this.hasOlder = page.before;
		this.total = page.total;
		this.onChange("conversation");
		return page.asOf;
	}

	close(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
	}

	/** Older entries, put in front. */
	async readOlder(count = olderPage): Promise<void> {
		const first = this.tree.nodes.find(({ id }) => id !== "");
		if (!first || !this.hasOlder) return;
		const page = await this.#read(`before=${encodeURIComponent(first.id)}&limit=${count}`);
		if (this.#isOver) return;
		growTree(this.tree, page.entries, "front");
		this.hasOlder = page.before && page.entries.length > 0;
		this.onChange("conversation");
	}

	/** The end of the branch that goes on. */
	get leaf(): Node | undefined {
		return this.#provisional.at(-1) ?? this.#leaf;
	}

	/** The end of the branch that is shown. */
	get shownLeaf(): Node | undefined {
		return this.#chosen ?? this.leaf;
	}

	get isElsewhere(): boolean {
		return this.#chosen !== undefined;
	}

	/** Shows another branch, or with nothing the one that goes on. */
	choose(leaf: Node | undefined): void {
		this.#chosen = leaf && !pathTo(this.leaf).includes(leaf) ? leaf : undefined;
		this.onChange("conversation");
	}

	get items(): Item[] {
		return itemsOf(this.tree, this.shownLeaf);
	}

	get isBusy(): boolean {
		return this.live.phase !== "idle";
	}

	/** There is no process: whatever went on is over. */
	rest(): void {
		this.live = { ...idleState, todoPhases: this.live.todoPhases };
		this.runStartedAt = undefined;
		this.onChange("live");
		this.readNewSoon();
	}

	/** A question was answered here. Nothing is said about answers to extensions. */
	answered(id: string): void {
		this.live = closed(this.live, id);
		this.onChange("live");
	}

	take(frame: Frame): void {
		const before = this.live;
		const { version } = this.subagents;
		this.live = nextState(this.live, frame as unknown as OutboundFrame);
		this.subagents.take(frame);
		this.#note(frame);
		if (before !== this.live || this.subagents.version !== version) this.onChange("live");
		this.onFrame(frame);
	}

	#note(frame: Frame): void {
		switch (frame.type) {
			case "message_end":
				this.#addMessage(fieldsOf(frame.message));
				break;
			case "message_start":
				if (fieldsOf(frame.message).role === "assistant") this.replyStartedAt = Date.now();
				break;
			case "agent_start":
				this.runStartedAt = Date.now();
				break;
			case "snapshot":
				if (this.live.phase === "idle") this.runStartedAt = undefined;
				else this.runStartedAt ??= this.session.run?.startedAt ?? Date.now();
				this.onChange("calls");
				break;
			case "tool_execution_start":
				this.startedAt.set(textOf(frame.toolCallId), Date.now());
				this.onChange("calls");
				break;
			case "tool_execution_update":
				this.onChange("calls");
				break;
			case "tool_execution_end":
				if (frame.durationMs !== undefined) this.durations.set(textOf(frame.toolCallId), numberOf(frame.durationMs));
				this.onChange("calls");
				break;
			case "permission_resolved":
				this.resolutions.set(textOf(frame.id), { outcome: textOf(frame.outcome), by: textOf(frame.by) });
				break;
			case "extension_ui_request":
				if (frame.method === "cancel") this.resolutions.set(textOf(frame.targetId), { outcome: "closed", by: textOf(frame.by) });
				break;
			case "agent_settled":
				this.runStartedAt = undefined;
				this.readNewSoon();
				this.onChange("calls");
				break;
			case "turn_end":
			case "auto_compaction_end":
			case "compaction_end":
			case "session_info_changed":
			case "entry_appended":
				this.readNewSoon();
				break;
			case "gap":
				if (frame.durableLost === true) void this.readAgain();
				break;
			default:
		}
	}

	#addMessage(message: Fields): void {
		const key = keyOf(message);
		const isKnown = [...this.#provisional, ...this.tree.nodes.slice(-50)].some((node) => node.type === "message" && keyOf(node.message) === key);
		if (isKnown) return;
		this.#provisional.push(provisionalNode(message, this.leaf));
		this.onChange("conversation");
	}

	readNewSoon(): void {
		if (this.#isOver) return;
		clearTimeout(this.#timer);
		this.#timer = window.setTimeout(() => void this.#readNew(), settleMs);
	}

	/** Frames that should have been kept are lost: the file has everything. */
	async readAgain(): Promise<void> {
		try {
			await this.open();
		} catch (error) {
			console.warn("The entries could not be read again:", error);
			this.readNewSoon();
		}
	}

	async #readNew(): Promise<void> {
		if (this.#isReading) {
			this.#mustReadAgain = true;
			return;
		}
		this.#isReading = true;
		try {
			for (let isMore = true; isMore && !this.#isOver; ) {
				const last = this.tree.nodes.at(-1)?.id ?? "";
				const page = await this.#read(last ? `since=${encodeURIComponent(last)}` : "limit=1000");
				if (this.#isOver) return;
				this.#settle(page);
				isMore = page.after && page.entries.length > 0;
			}
		} catch (error) {
			// The frames are shown meanwhile, and the next turn reads again.
			console.warn("The entries could not be read:", error);
		} finally {
			this.#isReading = false;
		}
		if (this.#mustReadAgain) {
			this.#mustReadAgain = false;
			this.readNewSoon();
		}
	}

	/** Entries that were written since. Messages that are shown already become them. */
	#settle(page: EntriesPage): void {
		for (const value of page.entries) {
			const entry = fieldsOf(value);
			if (textOf(entry.id) !== "" && this.tree.byId.has(textOf(entry.id))) continue;
			const key = entry.type === "message" ? keyOf(fieldsOf(entry.message)) : "";
			const at = key ? this.#provisional.findIndex((node) => keyOf(node.message) === key) : -1;
			if (at >= 0) settleNode(this.tree, this.#provisional.splice(at, 1)[0] as Node, entry);
			else growTree(this.tree, [entry], "end");
		}
		this.total = page.total;
		this.#leaf = this.#leafOf(page);
		let parent = this.#leaf;
		for (const node of this.#provisional) {
			node.parent = parent;
			parent = node;
		}
		this.onChange("conversation");
	}

	#leafOf({ leafId }: EntriesPage): Node | undefined {
		return (leafId === null ? undefined : this.tree.byId.get(leafId)) ?? this.tree.nodes.at(-1);
	}

	#read(query: string): Promise<EntriesPage> {
		return this.#api.get<EntriesPage>(`/v1/sessions/${encodeURIComponent(this.id)}/entries?${query}`).then((page) => ({
			...page,
			entries: listOf(page.entries),
		}));
	}
}

/** Messages have no ids in frames. Role, time, call and size together are one. */
function keyOf(message: Fields): string {
	return [textOf(message.role), textOf(message.timestamp), textOf(message.toolCallId), JSON.stringify(message.content ?? message).length].join(" ");
}
