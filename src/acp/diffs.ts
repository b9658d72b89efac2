/** Changes of a file as the editor shows them. */
import type { ToolCallContent } from "@agentclientprotocol/sdk";

export interface Change {
	/** Absent when there was no file. */
	before?: string;
	after: string;
}

/** A longer side is not shown whole. */
const longestSide = 1024 * 1024;

/** Whole texts; nothing when one of them is too long. */
export function diffOf(path: string, { before, after }: Change): ToolCallContent | undefined {
	if (after.length > longestSide || (before?.length ?? 0) > longestSide) return undefined;
	return { type: "diff", path, ...(before === undefined ? {} : { oldText: before }), newText: after };
}

/** Each hunk of a unified diff, with the lines around it. */
export function patchDiffs(path: string, patch: string): ToolCallContent[] {
	const diffs: ToolCallContent[] = [];
	let before: string[] = [];
	let after: string[] = [];
	const close = () => {
		if (before.length + after.length > 0) {
			const diff = diffOf(path, { before: before.join("\n"), after: after.join("\n") });
			if (diff) diffs.push(diff);
		}
		before = [];
		after = [];
	};
	for (const line of patch.split("\n").slice(2)) {
		if (line.startsWith("@@")) close();
		else if (line.startsWith("-")) before.push(line.slice(1));
		else if (line.startsWith("+")) after.push(line.slice(1));
		else if (line.startsWith(" ")) {
			before.push(line.slice(1));
			after.push(line.slice(1));
		}
	}
	close();
	return diffs;
}
