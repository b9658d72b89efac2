/** Ways to look at the entries of a session. The entries themselves are described in `protocol/entries.ts`. */
import { type Entry, type Header, kindOf } from "../protocol/entries.ts";

export * from "../protocol/entries.ts";

/** The part of a transcript that others may see. */
export interface TranscriptView {
	readonly sessionId: string;
	readonly header: Header;
	readonly file: string | undefined;
	/** All entries in the order in which they were written. */
	readonly entries: readonly Entry[];
	/** The current entry; null before the first. */
	readonly leafId: string | null;
	/** The entries from the root to the current one. */
	path(): readonly Entry[];
}

/** A branch, root first, that knows what its entries are without reading them: opening a long session must not parse all of it. */
export interface Branch {
	readonly length: number;
	id(index: number): string;
	/** As `kindOf`. */
	kind(index: number): string;
	/** The last entry of a kind, -1 when there is none. */
	lastOf(kind: string): number;
	entry(index: number): Entry;
	/** Returns an entry without keeping it in memory, for callers that look once at a long session. */
	peek(index: number): Entry;
	/** Returns false only if the entry surely does not contain this JSON string, which is given with its quotes. */
	mayHold(index: number, json: string): boolean;
	/** Returns false only if surely no entry of the session does. */
	mayHoldAnywhere(json: string): boolean;
	/** Returns the message of an entry as JSON if the file has it in a form that can be sent as it is; undefined otherwise. */
	messageBytes(index: number): Uint8Array | undefined;
	/** Whether the entry has been read. */
	isRead(index: number): boolean;
	/** Bytes of the entry in the file, 0 when it is not known. */
	size(index: number): number;
}

/** A branch of entries that are in memory. */
export function branchOf(entries: readonly Entry[]): Branch {
	const at = (index: number) => entries[index] as Entry;
	return {
		length: entries.length,
		id: (index) => at(index).id,
		kind: (index) => kindOf(at(index)),
		lastOf: (kind) => entries.findLastIndex((entry) => kindOf(entry) === kind),
		entry: at,
		peek: at,
		mayHold: () => true,
		mayHoldAnywhere: () => true,
		messageBytes: () => undefined,
		isRead: () => true,
		size: () => 0,
	};
}
