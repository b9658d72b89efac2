/**
 * What people removed from the context with other programs of the family, or changed in it. Such an entry (`context_edit`) leaves its target in
 * the file; whoever reads a branch sees the target as edited. The last edit on the branch counts.
 */
import { type Branch, type Entry, isSpoken } from "./entries.ts";

/** The edits of a branch, by the places of their targets. */
export type Edits = ReadonlyMap<number, Edit>;

interface Edit {
	/** The new content; null: the target is left out. */
	replacement: unknown[] | null;
	/** The target as edited, always the same object. */
	made?: Entry;
}

/** An entry in the place of one that was removed. */
export const removed = "removed";

export function editsOf(branch: Branch): Edits {
	const edits = new Map<number, Edit>();
	const wanted = new Map<string, Edit | "applied">();
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		if (kind === "context_edit") {
			const entry = branch.entry(place);
			if (entry.type === "context_edit" && !wanted.has(entry.targetId)) wanted.set(entry.targetId, { replacement: entry.replacement });
			continue;
		}
		const id = branch.id(place);
		const edit = wanted.get(id);
		if (edit === undefined || edit === "applied" || !isSpoken(kind)) continue;
		edits.set(place, edit);
		wanted.set(id, "applied");
	}
	return edits;
}

/** A branch with its edits applied. */
export class EditedBranch implements Branch {
	readonly length: number;
	#branch: Branch;
	#edits: Edits;

	constructor(branch: Branch, edits: Edits) {
		this.length = branch.length;
		this.#branch = branch;
		this.#edits = edits;
	}

	id(index: number): string {
		return this.#branch.id(index);
	}

	kind(index: number): string {
		return this.#edits.get(index)?.replacement === null ? removed : this.#branch.kind(index);
	}

	lastOf(kind: string): number {
		let place = this.length - 1;
		while (place >= 0 && this.kind(place) !== kind) place--;
		return place;
	}

	entry(index: number): Entry {
		const edit = this.#edits.get(index);
		if (!edit) return this.#branch.entry(index);
		edit.made ??= edited(this.#branch.entry(index), edit.replacement);
		return edit.made;
	}

	peek(index: number): Entry {
		return this.#edits.has(index) ? this.entry(index) : this.#branch.peek(index);
	}

	mayHold(index: number, json: string): boolean {
		return this.#edits.has(index) || this.#branch.mayHold(index, json);
	}

	mayHoldAnywhere(): boolean {
		return true;
	}

	messageBytes(index: number): Uint8Array | undefined {
		return this.#edits.has(index) ? undefined : this.#branch.messageBytes(index);
	}

	isRead(index: number): boolean {
		return this.#edits.has(index) || this.#branch.isRead(index);
	}

	size(index: number): number {
		return this.#branch.size(index);
	}
}

/** Only the content changes; role and the rest stay. */
function edited(entry: Entry, content: unknown[] | null): Entry {
	const { id, parentId, timestamp } = entry;
	if (content === null) return { type: removed, id, parentId, timestamp } as unknown as Entry;
	if (entry.type === "custom_message") return { ...entry, content };
	if (entry.type !== "message" || !("content" in entry.message)) return entry;
	return { ...entry, message: { ...entry.message, content } as typeof entry.message };
}

/** All entries of a file, those of the current branch as edited. Edits are without the content that they gave. */
export function editedEntries({ entries, branch }: { entries: readonly Entry[]; branch: Branch }): readonly Entry[] {
	if (branch.lastOf("context_edit") < 0) return entries;
	const shown = new Map(Array.from({ length: branch.length }, (_, place) => [branch.id(place), branch.entry(place)]));
	return entries.map((entry) => {
		const found = shown.get(entry.id) ?? entry;
		return found.type === "context_edit" ? { ...found, replacement: found.replacement && [] } : found;
	});
}
