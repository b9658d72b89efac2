/** What a call of edit or write would change, as a unified diff. Changes nothing. */
import { readRegular } from "../lib/bounded-file.ts";
import { plannedEdit } from "./edit.ts";
import { editDiff } from "./edit-diff.ts";
import { resolvePath } from "./paths.ts";

const maxFileBytes = 4 * 1024 * 1024;

/** Nothing when there is nothing to compare: the call would fail, or the file is not a text that a person can read. */
export async function changePreview(cwd: string, tool: string, args: Record<string, unknown>): Promise<string | undefined> {
	const { path, before, after } = await plannedChange(cwd, tool, args);
	return (await editDiff(path, before, after)).patch;
}

/** The text of the file before and after; before it is made it is empty. */
export function plannedChange(cwd: string, tool: string, args: Record<string, unknown>): Promise<{ path: string; before: string; after: string }> {
	return tool === "edit" ? plannedEdit(cwd, args) : plannedWrite(cwd, args);
}

async function plannedWrite(cwd: string, args: Record<string, unknown>): Promise<{ path: string; before: string; after: string }> {
	const path = String(args.path);
	const { signal } = new AbortController();
	const before = await readRegular(resolvePath(cwd, path), maxFileBytes, signal).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return Buffer.alloc(0);
		throw error;
	});
	return { path, before: before.toString(), after: String(args.content ?? "") };
}
