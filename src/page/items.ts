/** A path through the tree as a list of items: results are shown with their calls. */
import { viewOf } from "../lib/tool-facts.ts";
import { endOf, type Node, pathTo, type Tree } from "./tree.ts";
import { blocksOf, fieldsOf, textOf } from "./values.ts";

export interface Item {
	node: Node;
	/** Results of the calls in this message, by position of the call among its blocks. */
	results: Map<number, Node>;
	/** Of a model or a thinking level in front of the first prompt: the ones that follow it. All of them are shown folded, in one line. */
	folded: Node[] | undefined;
	/** Where the way parts just above this item: the branches one can take, and which one this is. */
	fork: { branches: Node[]; taken: number } | undefined;
}

/** Whether two items look the same. */
export function isSameItem(a: Item, b: Item): boolean {
	if (a === b) return true;
	if (a.node !== b.node || a.results.size !== b.results.size) return false;
	for (const [position, result] of a.results) if (b.results.get(position) !== result) return false;
	return isSameList(a.folded, b.folded) && isSameList(a.fork?.branches, b.fork?.branches) && a.fork?.taken === b.fork?.taken;
}

const isSameList = (a: readonly Node[] | undefined, b: readonly Node[] | undefined) =>
	a === b || (a?.length === b?.length && (a ?? []).every((node, index) => node === b?.[index]));

/** Entries that are not shown in the conversation: their effect is seen elsewhere. */
const silent = new Set(["label", "session_info", "session", "session_init"]);

/** Notes of the program to itself, among the entries of extensions. */
const bookkeeping = new Set(["accepted"]);

export function isShown({ type, entry }: Node): boolean {
	return !silent.has(type) && !(type === "custom" && bookkeeping.has(textOf(entry.customType)));
}

export function itemsOf(tree: Tree, leaf: Node | undefined): Item[] {
	const items: Item[] = [];
	const waiting = new Map<string, { item: Item; position: number }>();
	const alive = withContent(tree);
	let fork: Item["fork"];
	let isBegun = false;
	for (const node of pathTo(leaf)) {
		const branches = (node.parent?.children ?? tree.roots).filter((sibling) => sibling === node || alive.has(sibling));
		if (branches.length > 1) fork = { branches, taken: branches.indexOf(node) };
		if (!isShown(node)) continue;
		if (node.message.role === "toolResult") {
			const call = waiting.get(textOf(node.message.toolCallId));
			if (call) {
				call.item.results.set(call.position, node);
				waiting.delete(textOf(node.message.toolCallId));
				// Its fork is offered by whatever comes next.
				continue;
			}
		}
		const isFolded = !isBegun && isSetting(node);
		const before = items.at(-1)?.folded;
		if (isFolded && before && !fork) {
			before.push(node);
			continue;
		}
		isBegun ||= node.message.role === "user";
		const item: Item = { node, results: new Map(), folded: isFolded ? [] : undefined, fork };
		fork = undefined;
		items.push(item);
		if (node.message.role !== "assistant") continue;
		for (const [position, block] of blocksOf(node.message.content).entries()) {
			if (block.type === "toolCall") waiting.set(textOf(block.id), { item, position });
		}
	}
	return items;
}

/** An entry that says what the conversation goes on with. */
const isSetting = ({ type }: Node) => type === "model_change" || type === "thinking_level_change";

/** The nodes with something to show at or below them. */
function withContent(tree: Tree): Set<Node> {
	const alive = new Set<Node>();
	for (const node of tree.nodes) {
		if (!isShown(node)) continue;
		for (let current: Node | undefined = node; current && !alive.has(current); current = current.parent) alive.add(current);
	}
	return alive;
}

/** The entry to show when a branch is chosen: the end of the session if the branch leads to it, else the latest. */
export function leafFor(node: Node, leaf: Node | undefined): Node {
	return leaf && pathTo(leaf).includes(node) ? leaf : endOf(node);
}

export type Kind = "prompt" | "reply" | "calls" | "result" | "shell" | "summary" | "aside" | "change";

/** What an entry is to a reader; colours and filters depend on it. */
export function kindOf({ type, message }: Node): Kind {
	if (type === "compaction" || type === "branch_summary") return "summary";
	if (type === "custom_message") return "aside";
	if (type !== "message") return "change";
	switch (message.role) {
		case "user":
			return "prompt";
		case "assistant":
			return blocksOf(message.content).some((block) => block.type === "text" && textOf(block.text).trim()) || message.errorMessage
				? "reply"
				: "calls";
		case "toolResult":
			return "result";
		case "bashExecution":
			return "shell";
		case "compactionSummary":
		case "branchSummary":
			return "summary";
		default:
			return "aside";
	}
}

/** The one argument that says most about a call. */
export function callSummary(name: string, given: unknown): string {
	const args = fieldsOf(given);
	const range =
		args.offset || args.limit ? `:${textOf(args.offset || 1)}${args.limit ? `-${Number(args.offset || 1) + Number(args.limit) - 1}` : ""}` : "";
	const view = viewOf(name);
	if (view?.pattern) return [textOf(args.pattern), textOf(args.path) && `in ${textOf(args.path)}`].filter(Boolean).join(" ");
	if (view?.answer) return textOf(fieldsOf(args.result).data ?? fieldsOf(args.result).error ?? args.result);
	if (Array.isArray(args.tasks)) {
		const tasks = args.tasks.map(fieldsOf);
		return tasks.map((task) => textOf(task.description) || textOf(task.id)).join(" · ");
	}
	for (const key of ["command", "path", "file_path", "pattern", "query", "url", "description", "assignment", "task", "prompt"]) {
		if (typeof args[key] === "string" && args[key]) return `${args[key]}${key === "path" ? range : ""}`;
	}
	return Object.keys(args).length ? textOf(args) : "";
}
