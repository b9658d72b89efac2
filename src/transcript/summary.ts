/** A session in a line, for lists. Goes through the file piece by piece and parses only the lines that matter. */
import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { firstLine } from "./first-line.ts";
import { entryOf } from "./parse.ts";
import { nonBlocking } from "./place.ts";
import { totalsOf } from "./stats.ts";
import type { SessionSummary } from "./store.ts";

const fewPrompts = 8;
const systemMessage = /"message": ?\{"role": ?"system"/;

/** Nothing when the file is not a session. */
export function summaryOf(path: string): SessionSummary | undefined {
	const first = firstLine(path);
	if (!first) return undefined;
	const summary: SessionSummary = {
		path,
		id: first.header.id,
		modified: statSync(path).mtimeMs,
		name: undefined,
		firstPrompt: undefined,
		messages: 0,
		cost: 0,
	};
	/** The first ones by id: a later entry may have removed some, or changed them. */
	const prompts = new Map<string, string | undefined>();
	forEachLine(path, (line) => {
		const isMessage = hasMember(line, '"type":"message"') && !systemMessage.test(line);
		if (isMessage) summary.messages++;
		const isPrompt = isMessage && prompts.size < fewPrompts && hasMember(line, '"role":"user"');
		if (!isPrompt && !hasMember(line, '"usage":{') && !hasMember(line, '"type":"session_info"') && !hasMember(line, '"type":"context_edit"')) return;
		const entry = entryOf(line);
		if (!entry) return;
		if (entry.type === "session_info") summary.name = entry.name?.trim() || undefined;
		if (isPrompt && entry.type === "message" && entry.message?.role === "user" && !prompts.has(entry.id))
			prompts.set(entry.id, textOf(entry.message.content));
		if (entry.type === "context_edit" && prompts.has(entry.targetId)) prompts.set(entry.targetId, textOf(entry.replacement));
		summary.cost += totalsOf([entry]).cost;
	});
	summary.firstPrompt = [...prompts.values()].find((text) => text !== undefined);
	return summary;
}

/** Some programs put a space after a colon. */
function hasMember(line: string, json: string): boolean {
	return line.includes(json) || line.includes(json.replace('":', '": '));
}

function textOf(content: unknown): string | undefined {
	if (typeof content === "string") return content || undefined;
	if (!Array.isArray(content)) return undefined;
	return content.map((block) => (block?.type === "text" ? block.text : "")).join("") || undefined;
}

function forEachLine(path: string, then: (line: string) => void): void {
	const descriptor = openSync(path, constants.O_RDONLY | nonBlocking);
	try {
		let piece = Buffer.allocUnsafe(1024 * 1024);
		let held = 0;
		for (;;) {
			const count = readSync(descriptor, piece, held, piece.length - held, null);
			const end = held + count;
			let start = 0;
			for (let at = piece.subarray(0, end).indexOf(0x0a); at >= 0; at = piece.subarray(0, end).indexOf(0x0a, start)) {
				then(piece.toString("utf8", start, at));
				start = at + 1;
			}
			if (count === 0) return start < end ? then(piece.toString("utf8", start, end)) : undefined;
			// The beginning of a line goes to the front; one that is longer than the piece gets more room.
			const larger = end - start > piece.length / 2 ? Buffer.allocUnsafe(piece.length * 2) : piece;
			piece.copy(larger, 0, start, end);
			piece = larger;
			held = end - start;
		}
	} finally {
		closeSync(descriptor);
	}
}
