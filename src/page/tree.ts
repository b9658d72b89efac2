/** The entries as a tree, whatever a file contains: missing parents, duplicate ids, cycles. */
import { type Fields, fieldsOf, textOf } from "./values.ts";

export interface Node {
	entry: Fields;
	/** Empty where the file gives none; such an entry cannot be linked to. */
	id: string;
	type: string;
	/** The message of an entry that is one. */
	message: Fields;
	parent: Node | undefined;
	children: Node[];
}

export interface Tree {
	/** In the order of the file. */
	nodes: Node[];
	roots: Node[];
	byId: Map<string, Node>;
	/** The latest label of an entry, by its id. */
	labels: Map<string, string>;
}

export function treeOf(entries: readonly unknown[]): Tree {
	const nodes = entries.map(nodeOf);
	const byId = new Map(nodes.filter(({ id }) => id !== "").map((node) => [node.id, node]));
	const roots: Node[] = [];
	for (const node of nodes) {
		const parent = byId.get(textOf(node.entry.parentId));
		if (parent && parent !== node) {
			node.parent = parent;
			parent.children.push(node);
		} else roots.push(node);
	}
	breakCircles(nodes, roots);
	return { nodes, roots, byId, labels: labelsOf(nodes) };
}

/**
 * More entries of the same file: later ones, or earlier ones that had not been read. Nodes that were there stay the same objects. A root whose
 * parent comes with the earlier entries moves below it.
 */
export function growTree(tree: Tree, entries: readonly unknown[], where: "end" | "front"): Node[] {
	const added = entries.map(nodeOf);
	const orphans = new Map<string, Node[]>();
	if (where === "front") {
		for (const root of tree.roots) {
			const parentId = textOf(root.entry.parentId);
			if (parentId) orphans.set(parentId, [...(orphans.get(parentId) ?? []), root]);
		}
	}
	for (const node of added) {
		if (node.id !== "" && !(where === "front" && tree.byId.has(node.id))) tree.byId.set(node.id, node);
		link(tree, node);
	}
	for (const node of added) {
		for (const root of orphans.get(node.id) ?? []) {
			if (tree.byId.get(node.id) !== node || pathTo(node).includes(root)) continue;
			tree.roots.splice(tree.roots.indexOf(root), 1);
			root.parent = node;
			node.children.push(root);
		}
	}
	if (where === "end") tree.nodes.push(...added);
	else tree.nodes.unshift(...added);
	tree.labels = labelsOf(tree.nodes);
	return added;
}

/** Puts a node below its parent, or among the roots when that is not known. */
function link(tree: Tree, node: Node): void {
	const parent = tree.byId.get(textOf(node.entry.parentId));
	if (parent && parent !== node) {
		node.parent = parent;
		parent.children.push(node);
	} else tree.roots.push(node);
}

/** A node that is not in the file yet, below the given one. */
export function provisionalNode(message: Fields, parent: Node | undefined): Node {
	return { entry: { type: "message", message }, id: "", type: "message", message, parent, children: [] };
}

/** What a provisional node has become in the file. The object stays, and so does what shows it. */
export function settleNode(tree: Tree, node: Node, entry: Fields): void {
	node.entry = entry;
	node.id = textOf(entry.id);
	node.message = fieldsOf(entry.message);
	node.parent = undefined;
	if (node.id !== "") tree.byId.set(node.id, node);
	link(tree, node);
	tree.nodes.push(node);
}

function nodeOf(value: unknown): Node {
	const entry = fieldsOf(value);
	return { entry, id: textOf(entry.id), type: textOf(entry.type), message: fieldsOf(entry.message), parent: undefined, children: [] };
}

/** Entries that no root leads to belong to a cycle or hang on one; its first entry becomes a root. */
function breakCircles(nodes: readonly Node[], roots: Node[]): void {
	const seen = new Set<Node>();
	const visit = (from: Node) => {
		for (const stack = [from]; stack.length; ) {
			const node = stack.pop() as Node;
			if (seen.has(node)) continue;
			seen.add(node);
			for (const child of node.children) stack.push(child);
		}
	};
	roots.forEach(visit);
	for (const node of nodes) {
		if (seen.has(node)) continue;
		const { parent } = node;
		if (parent) parent.children = parent.children.filter((child) => child !== node);
		node.parent = undefined;
		roots.push(node);
		visit(node);
	}
}

function labelsOf(nodes: readonly Node[]): Map<string, string> {
	const labels = new Map<string, string>();
	for (const { type, entry } of nodes) {
		if (type !== "label") continue;
		if (textOf(entry.label)) labels.set(textOf(entry.targetId), textOf(entry.label));
		else labels.delete(textOf(entry.targetId));
	}
	return labels;
}

/** From the root to the node. */
export function pathTo(node: Node | undefined): Node[] {
	const path: Node[] = [];
	for (let current = node; current; current = current.parent) path.push(current);
	return path.reverse();
}

/** Where a branch ends when one always takes the latest turn. */
export function endOf(node: Node): Node {
	let end = node;
	for (let next = end.children.at(-1); next; next = end.children.at(-1)) end = next;
	return end;
}

export interface Row {
	node: Node;
	/** How many forks lie above it. */
	depth: number;
	/** It is the first of a branch. */
	startsBranch: boolean;
}

/** The tree as lines. Only a fork moves its branches in, so a long conversation stays a straight list. */
export function rowsOf(tree: Tree, isShown: (node: Node) => boolean): Row[] {
	const shownUnder = shownChildren(tree, isShown);
	const rows: Row[] = [];
	const stack: Row[] = [];
	const push = (children: readonly Node[], depth: number) => {
		const isFork = children.length > 1;
		for (let index = children.length - 1; index >= 0; index--) {
			stack.push({ node: children[index] as Node, depth: depth + (isFork ? 1 : 0), startsBranch: isFork });
		}
	};
	push(shownUnder.get(undefined) ?? [], 0);
	for (let row = stack.pop(); row; row = stack.pop()) {
		rows.push(row);
		push(shownUnder.get(row.node) ?? [], row.depth);
	}
	return rows;
}

/** Each shown node by its nearest shown ancestor. */
function shownChildren(tree: Tree, isShown: (node: Node) => boolean): Map<Node | undefined, Node[]> {
	const found = new Map<Node | undefined, Node[]>();
	const stack = tree.roots.map((node) => ({ node, above: undefined as Node | undefined })).reverse();
	for (let next = stack.pop(); next; next = stack.pop()) {
		const { node, above } = next;
		const shown = isShown(node);
		if (shown) {
			const siblings = found.get(above);
			if (siblings) siblings.push(node);
			else found.set(above, [node]);
		}
		const nearest = shown ? node : above;
		for (let index = node.children.length - 1; index >= 0; index--) stack.push({ node: node.children[index] as Node, above: nearest });
	}
	return found;
}
