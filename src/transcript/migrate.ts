/** Brings session files of older formats to version 3: v1 had no tree, v2 another name for custom messages. */
import { chmodSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { toLine } from "../lib/jsonl.ts";
import { CommandError } from "../protocol/command-error.ts";

type Old = Record<string, unknown> & { message?: Record<string, unknown> };

interface OldLine {
	text: string;
	/** Absent when the line is not JSON: it stays as it is. */
	entry: Old | undefined;
}

/** The text of the file in version 3. */
export function migrated(bytes: Buffer, newId: () => string): string {
	const lines: OldLine[] = bytes
		.toString("utf8")
		.replace(/^\uFEFF/, "")
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "")
		.map((text) => ({ text, entry: parsed(text) }));
	const header = lines[0]?.entry;
	if (((header?.version as number | undefined) ?? 1) < 2) plantTree(lines.filter(({ entry }) => entry));
	if (header) header.version = 3;
	for (const { entry } of lines) if (entry?.message?.role === "hookMessage") entry.message.role = "custom";
	return `${lines.map(({ text, entry }) => (entry ? toLine(entry) : text)).join("\n")}\n`;

	/** Every entry becomes the child of the one before it. Places in the list, in which the header has place 0, become ids. */
	function plantTree(all: OldLine[]): void {
		const ids: string[] = [""];
		const taken = new Set(ids);
		for (const line of all.slice(1)) {
			let id = newId();
			while (taken.has(id)) id = newId();
			taken.add(id);
			const { type, timestamp, ...rest } = line.entry as Old;
			line.entry = { type, id, parentId: ids.at(-1) || null, timestamp: timestamp ?? "", ...rest };
			ids.push(id);
		}
		for (const { entry } of all) {
			if (entry?.type !== "compaction" || typeof entry.firstKeptEntryIndex !== "number") continue;
			entry.firstKeptEntryId = ids[entry.firstKeptEntryIndex] ?? "";
			delete entry.firstKeptEntryIndex;
		}
	}
}

function parsed(line: string): Old | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Old) : undefined;
	} catch {
		return undefined;
	}
}

/** Whole or not at all: written to a file next to it, then renamed. Returns the facts of the new file. */
export function replaceFile(path: string, text: string): Stats {
	const temporary = `${path}.tmp`;
	try {
		// Left by a process that was killed: the lock is ours, so no other process gets here.
		rmSync(temporary, { force: true });
		try {
			writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
			chmodSync(temporary, statSync(path).mode & 0o777);
			renameSync(temporary, path);
			return statSync(path);
		} catch (error) {
			rmSync(temporary, { force: true });
			throw error;
		}
	} catch (error) {
		throw new CommandError("not_stored", `Session file could not be written: ${(error as NodeJS.ErrnoException).code} ${path}`);
	}
}
