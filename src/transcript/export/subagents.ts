/** The conversations of subagents, from the files next to the session's file. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Header } from "../entries.ts";

export interface Conversation {
	header: Header;
	entries: readonly Entry[];
}

/** Together; what is beyond that stays out of the page. */
const mostBytes = 64 * 1024 * 1024;
/** No page needs more, and a hostile file may name any number. */
const mostConversations = 500;
/** The name of a subagent, which is also the name of its file. */
const plainId = /^[\w-][\w.-]{0,200}$/;

/**
 * By id; a repair has the id of its task and `-repair`. Subagents of subagents have their files in the same directory.
 * `read` gives nothing for a file that is not a session. Only files of this very session are read: a session file may come from anywhere
 * and name any path.
 */
export function subagentsOf(
	sessionFile: string,
	entries: readonly Entry[],
	read: (file: string) => Conversation | undefined,
): Map<string, Conversation> {
	const directory = artifactsOf(sessionFile);
	const found = new Map<string, Conversation>();
	if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return found;
	const tried = new Set<string>();
	let room = mostBytes;
	const all = [...entries];
	// The list grows while it is read: subagents have subagents of their own.
	for (let index = 0; index < all.length && tried.size < mostConversations; index++) {
		for (const id of idsIn(all[index] as Entry).flatMap((each) => [each, `${each}-repair`])) {
			if (tried.has(id)) continue;
			tried.add(id);
			const file = join(directory, `${id}.jsonl`);
			const facts = lstatSync(file, { throwIfNoEntry: false });
			if (!facts?.isFile() || facts.size > room) continue;
			const conversation = read(file);
			if (!conversation) continue;
			room -= facts.size;
			found.set(id, conversation);
			for (const entry of conversation.entries) all.push(entry);
		}
	}
	return found;
}

function artifactsOf(sessionFile: string): string {
	const bare = sessionFile.replace(/\.jsonl$/, "");
	return bare === sessionFile ? `${sessionFile}.artifacts` : bare;
}

/** The subagents that a result of `task` names. Nothing is certain about what a file contains. */
function idsIn(entry: Entry): string[] {
	if (entry?.type !== "message" || entry.message?.role !== "toolResult" || entry.message.toolName !== "task") return [];
	const { results } = (entry.message.details ?? {}) as { results?: unknown };
	if (!Array.isArray(results)) return [];
	return results.flatMap((result) => (typeof result?.id === "string" && plainId.test(result.id) ? [result.id] : []));
}
