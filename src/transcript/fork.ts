/** New sessions from a branch of another. The old file is only read. */

import type { EntryOf } from "./entries.ts";
import type { SessionStore } from "./store.ts";
import type { Transcript } from "./transcript.ts";
import { labelsOf, ofType } from "./tree.ts";

/** A new session with the entries up to `id` (null: none), their labels and the name. It is on disk if there is a message in it. */
export function forkOf(store: SessionStore, from: Transcript, id: string | null, parent = from.file): Transcript {
	const fork = store.create(parent, { origin: { utcOffset: from.utcOffset, cacheKey: from.cacheKey } });
	fork.copy(from, id);
	const { branch } = fork;
	const copied = labelsOf(ofType(branch, "label"));
	const current = labelsOf(ofType(from.everything, "label"));
	for (let place = 0; place < branch.length && current.size + copied.size > 0; place++) {
		const targetId = branch.id(place);
		const label = current.get(targetId)?.label;
		if (label !== copied.get(targetId)?.label) fork.prepare({ type: "label", targetId, ...(label ? { label } : {}) });
	}
	for (const { targetId, replacement } of laterEdits(from, id)) fork.prepare({ type: "context_edit", targetId, replacement });
	if (from.name !== fork.name) fork.prepare({ type: "session_info", name: from.name });
	try {
		fork.store();
	} catch (error) {
		fork.close();
		throw error;
	}
	return fork;
}

/** Edits after the last copied entry whose targets were copied: what was removed from a conversation stays out of its forks. */
function laterEdits({ branch }: Transcript, id: string | null): EntryOf<"context_edit">[] {
	if (branch.lastOf("context_edit") < 0) return [];
	const copied = new Set<string>();
	const edits: EntryOf<"context_edit">[] = [];
	let isCopied = id !== null;
	for (let place = 0; place < branch.length; place++) {
		if (isCopied) copied.add(branch.id(place));
		else if (branch.kind(place) === "context_edit") edits.push(branch.entry(place) as EntryOf<"context_edit">);
		if (branch.id(place) === id) isCopied = false;
	}
	// The fork begins on another branch.
	return isCopied ? [] : edits.filter(({ targetId }) => copied.has(targetId));
}
