/** What happened between two states, for people and hosts. */
import { entries, below as joined, toText } from "../snapshots/paths.ts";
import type { State, TreeStore } from "./tree-store.ts";

export interface FileChange {
	path: string;
	status: "added" | "modified" | "deleted";
	/** Lines; absent for files that are not text. */
	added?: number;
	removed?: number;
}

export interface Changes {
	files: FileChange[];
	diff: string;
	/** The difference is longer than what is given. */
	truncated: boolean;
}

const longestDiff = 1024 * 1024;

export async function changesBetween(store: TreeStore, from: State, to: State): Promise<Changes> {
	const files: FileChange[] = [];
	let diff = "";
	for (const { at, before, after, changes } of await store.changes(from, to)) {
		const git = store.shadow.git();
		const lines = linesOf(await git.run(["diff-tree", "-r", "-z", "--numstat", "--no-renames", before, after]));
		for (const { path, from: old, to: next } of changes) {
			const status = !old ? "added" : next ? "modified" : "deleted";
			files.push({ path: toText(joined(at, path)), status, ...lines.get(path) });
		}
		if (diff.length > longestDiff) continue;
		const prefix = at === "" ? "" : `${at}/`;
		const shown = ["--no-ext-diff", "--no-textconv", `--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`];
		diff += toText(await git.run(["diff-tree", "-r", "-p", "--no-renames", ...shown, before, after]));
	}
	files.sort((one, two) => (one.path < two.path ? -1 : 1));
	return { files, diff: diff.slice(0, longestDiff), truncated: diff.length > longestDiff };
}

function linesOf(output: string): Map<string, { added: number; removed: number }> {
	const found = new Map<string, { added: number; removed: number }>();
	for (const line of entries(output)) {
		const [added = "-", removed = "-", ...path] = line.split("\t");
		if (added !== "-") found.set(path.join("\t"), { added: Number(added), removed: Number(removed) });
	}
	return found;
}
