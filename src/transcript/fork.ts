/** New sessions from a branch of another. The old file is only read. */
import type { SessionStore } from "./store.ts";
import type { Transcript } from "./transcript.ts";
import { labelsOf, ofType } from "./tree.ts";

/** A new session with the entries up to `id` (null: none), their labels and the name. It is on disk if there is a message in it. */
export function forkOf(store: SessionStore, from: Transcript, id: string | null, parent = from.file): Transcript {
	const fork = store.create(parent);
	fork.copy(from, id);
	const { branch } = fork;
	const copied = labelsOf(ofType(branch, "label"));
	const current = labelsOf(ofType(from.everything, "label"));
	for (let place = 0; place < branch.length && current.size + copied.size > 0; place++) {
		const targetId = branch.id(place);
		const label = current.get(targetId)?.label;
		if (label !== copied.get(targetId)?.label) fork.prepare({ type: "label", targetId, ...(label ? { label } : {}) });
	}
	if (from.name !== fork.name) fork.prepare({ type: "session_info", name: from.name });
	try {
		fork.store();
	} catch (error) {
		fork.close();
		throw error;
	}
	return fork;
}
