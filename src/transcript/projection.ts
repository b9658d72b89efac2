/** From a branch to what is live: messages, model, thinking level, todos. Pure; reads only the entries it needs. */
import { toLine } from "../lib/jsonl.ts";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.ts";
import { type Branch, droppedReply, type Entry, type EntryOf, isSpoken } from "./entries.ts";

/** The live context: the newest summary, what was kept before it, everything after it. */
export function contextMessages(branch: Branch, places: readonly number[] = contextPlaces(branch)): AgentMessage[] {
	const messages: AgentMessage[] = [];
	for (const place of places) {
		const message = messageOf(branch.entry(place));
		if (message) messages.push(message);
	}
	return messages;
}

/** The live context as a JSON array, in parts that are made one by one. */
export interface ContextJson {
	/** Nearly the bytes of all parts. */
	size: number;
	parts: Iterable<Uint8Array>;
}

/** What `contextMessages` gives, as JSON. Messages that were never looked at go from the file's bytes to the parts and are not kept as objects. */
export function contextJson(branch: Branch, places: readonly number[] = contextPlaces(branch)): ContextJson {
	return { size: places.reduce((sum, place) => sum + branch.size(place), 0), parts: jsonParts(branch, places) };
}

/** Large enough for one write to be efficient. */
const partSize = 256 * 1024;
const comma = 0x2c;

function* jsonParts(branch: Branch, places: readonly number[]): Generator<Uint8Array> {
	let part = Buffer.allocUnsafeSlow(partSize);
	let length = part.write("[");
	let isFirst = true;
	for (const place of places) {
		const bytes = branch.messageBytes(place) ?? serialized(branch.peek(place));
		if (!bytes) continue;
		if (length + bytes.length + 1 > part.length) {
			yield part.subarray(0, length);
			part = Buffer.allocUnsafeSlow(Math.max(partSize, bytes.length + 2));
			length = 0;
		}
		if (!isFirst) part[length++] = comma;
		isFirst = false;
		part.set(bytes, length);
		length += bytes.length;
	}
	yield part.subarray(0, length);
	yield Buffer.from("]");
}

function serialized(entry: Entry): Uint8Array | undefined {
	const message = messageOf(entry);
	return message && Buffer.from(toLine(message));
}

/** The message that an entry represents; nothing when it is not part of the conversation. */
export function messageOf(entry: Entry): AgentMessage | undefined {
	// Nearly all entries are messages, and have a time of their own.
	if (entry.type === "message") return entry.message ?? undefined;
	const timestamp = Date.parse(entry.timestamp) || 0;
	switch (entry.type) {
		case "compaction": {
			const { summary, tokensBefore, shortSummary } = entry;
			return { role: "compactionSummary", summary, tokensBefore, ...(shortSummary === undefined ? {} : { shortSummary }), timestamp };
		}
		case "branch_summary":
			return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
		case "custom_message": {
			const { customType, content, display, details } = entry;
			return { role: "custom", customType, content, display, ...(details === undefined ? {} : { details }), timestamp } as AgentMessage;
		}
		default:
			return undefined;
	}
}

/** The places of the live context's messages in the branch, in order. */
export function contextPlaces(branch: Branch): number[] {
	const compaction = branch.lastOf("compaction");
	let start = 0;
	if (compaction >= 0) {
		const { firstKeptEntryId } = branch.entry(compaction) as EntryOf<"compaction">;
		// Nothing is kept when the entry is not on this branch: it may have been left behind by branching.
		start = compaction;
		for (let place = compaction - 1; place >= 0; place--) if (branch.id(place) === firstKeptEntryId) start = place;
	}
	const places: number[] = [];
	let mayDrop = branch.mayHoldAnywhere(failedReply);
	for (let place = start; place < branch.length; place++) {
		const kind = branch.kind(place);
		if (kind === "custom") mayDrop = true;
		else if (!isSpoken(kind)) continue;
		places.push(place);
	}
	const live = mayDrop ? withoutDropped(branch, places) : places;
	return compaction < 0 ? live : [compaction, ...live];
}

/**
 * Replies leave the context with their results when an entry says so; and, in files of others, when they failed and were followed by another attempt:
 * only that follows a reply without any other message in between.
 */
function withoutDropped(branch: Branch, places: number[]): number[] {
	const live: number[] = [];
	for (const place of places) {
		if (branch.kind(place) === "custom") {
			const id = droppedBy(branch, place);
			const at = id === undefined ? -1 : live.findLastIndex((other) => branch.id(other) === id);
			let end = at + 1;
			while (end < live.length && branch.kind(live[end] as number) === "message:toolResult") end++;
			if (at >= 0) live.splice(at, end - at);
			continue;
		}
		if (branch.kind(place) === "message:assistant") {
			let end = live.length;
			while (end > 0 && branch.kind(live[end - 1] as number) === "message:toolResult") end--;
			const before = live[end - 1];
			if (before !== undefined && hasFailed(branch, before)) live.length = end - 1;
		}
		live.push(place);
	}
	return live;
}

/** The reply that an entry takes out of the context, if it does. */
function droppedBy(branch: Branch, place: number): string | undefined {
	if (branch.kind(place) !== "custom" || !branch.mayHold(place, `"${droppedReply}"`)) return undefined;
	const { customType, data } = branch.entry(place) as EntryOf<"custom">;
	return customType === droppedReply ? (data as { entryId?: string } | null | undefined)?.entryId : undefined;
}

/** The value alone: programs differ in the spaces around a colon. */
const failedReply = '"error"';

function hasFailed(branch: Branch, place: number): boolean {
	if (branch.kind(place) !== "message:assistant" || !branch.mayHold(place, failedReply)) return false;
	const message = messageOf(branch.entry(place));
	return message?.role === "assistant" && message.stopReason === "error";
}

/** The model that was used or chosen last. */
export function modelOf(branch: Branch): { provider: string; id: string } | undefined {
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		if (kind !== "model_change" && kind !== "message:assistant") continue;
		const found = modelIn(branch.entry(place));
		if (found) return found;
	}
	return undefined;
}

function modelIn(entry: Entry): { provider: string; id: string } | undefined {
	if (entry.type === "message") {
		const { provider, model } = entry.message as AssistantMessage;
		return provider && model ? { provider, id: model } : undefined;
	}
	const { provider, modelId, model } = entry as { provider?: string; modelId?: string; model?: string };
	if (provider && modelId) return { provider, id: modelId };
	// Another spelling in the family: one word for both.
	const slash = model?.indexOf("/") ?? -1;
	return model && slash > 0 ? { provider: model.slice(0, slash), id: model.slice(slash + 1) } : undefined;
}

/** The thinking level that was chosen last. */
export function levelOf(branch: Branch): string | undefined {
	const place = branch.lastOf("thinking_level_change");
	return place < 0 ? undefined : (branch.entry(place) as EntryOf<"thinking_level_change">).thinkingLevel;
}

/** The entry that contains the newest todo list: our own `custom` entry `todos`, or a `todo_write` that succeeded. */
export function todosEntry(branch: Branch): EntryOf<"custom"> | EntryOf<"message"> | undefined {
	// Says at once that there is none, as in most sessions: one search in the bytes costs less than a question about each entry.
	if (branch.lastOf("custom") < 0 && !branch.mayHoldAnywhere('"todo_write"')) return undefined;
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		if (kind === "custom") {
			const entry = branch.entry(place) as EntryOf<"custom">;
			if (entry.customType === "todos") return entry;
		} else if (kind === "message:toolResult" && branch.mayHold(place, '"todo_write"')) {
			const entry = branch.entry(place) as EntryOf<"message">;
			const message = messageOf(entry);
			if (message?.role === "toolResult" && message.toolName === "todo_write" && !message.isError) return entry;
		}
	}
	return undefined;
}

/** The calls of the last reply that have no result: the process died, or the result could not be stored. */
export function openCalls(branch: Branch): { id: string; name: string }[] {
	const answered = new Set<string>();
	const dropped = new Set<string>();
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		if (kind === "message:toolResult") {
			const message = messageOf(branch.entry(place));
			if (message?.role === "toolResult") answered.add(message.toolCallId);
		} else if (kind === "message:assistant") {
			if (dropped.has(branch.id(place))) return [];
			const message = messageOf(branch.entry(place));
			// A line that is broken further on.
			if (message?.role !== "assistant") continue;
			return message.content.flatMap((block) => (block.type === "toolCall" && !answered.has(block.id) ? [{ id: block.id, name: block.name }] : []));
		} else if (kind === "custom") {
			const id = droppedBy(branch, place);
			if (id !== undefined) dropped.add(id);
		} else if (isSpoken(kind) || kind === "compaction") return [];
	}
	return [];
}
