/** The entries of a session as a tree, for callers that draw it. */
import { CommandError } from "../protocol/command-error.ts";
import type { Branch, Entry, EntryOf } from "./entries.ts";

export interface TreeNode extends Record<string, unknown> {
	entry: Entry;
	children: TreeNode[];
	label?: string;
	labelTimestamp?: string;
}

/** JSON that is nested deeper than this cannot be written, or not be read by many hosts. */
const maxDepth = 1000;

export function treeOf(entries: readonly Entry[]): TreeNode[] {
	const roots: TreeNode[] = [];
	const labels = labelsOf(entries.filter((entry) => entry.type === "label"));
	const nodes = new Map<string, { node: TreeNode; depth: number }>();
	for (const entry of entries) {
		const label = labels.get(entry.id);
		const node: TreeNode = { entry, children: [], ...(label ? { label: label.label as string, labelTimestamp: label.timestamp } : {}) };
		const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
		const depth = (parent?.depth ?? 0) + 1;
		if (depth > maxDepth)
			throw new CommandError("frame_too_large", `The tree is more than ${maxDepth} entries deep. Use get_entries and follow parentId.`);
		(parent?.node.children ?? roots).push(node);
		nodes.set(entry.id, { node, depth });
	}
	return roots;
}

/** The label of each entry that has one: the last word counts, and an empty one takes it away. */
export function labelsOf(entries: readonly EntryOf<"label">[]): Map<string, EntryOf<"label">> {
	const labels = new Map<string, EntryOf<"label">>();
	for (const entry of entries) {
		if (entry.label) labels.set(entry.targetId, entry);
		else labels.delete(entry.targetId);
	}
	return labels;
}

/** The entries of a branch that are of one type. */
export function ofType<Type extends Entry["type"]>(branch: Branch, type: Type): EntryOf<Type>[] {
	const found: EntryOf<Type>[] = [];
	for (let place = 0; place < branch.length; place++) if (branch.kind(place) === type) found.push(branch.entry(place) as EntryOf<Type>);
	return found;
}
