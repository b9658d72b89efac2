/** Removes credentials from everything that leaves the process: frames, deltas and stderr. */
import { redactor } from "../lib/redact.ts";
import type { EventWriter } from "./event-writer.ts";
import type { FrameWriter } from "./stdio.ts";

export interface Exits {
	writer: FrameWriter;
	events: EventWriter;
	/** Receives how to clean stderr, where it belongs to the session alone. */
	redactStderr?: (redact: (text: string) => string) => void;
}

/** `isText`: the writer prints text, not frames. */
export function redactExits({ writer, events, redactStderr }: Exits, knownSecrets: () => readonly string[] | undefined, isText = false): void {
	const exits = redactor(knownSecrets);
	writer.redact = isText ? exits.text : exits.line;
	writer.redactParts = exits.stream;
	events.filterDeltas = exits.pieces;
	redactStderr?.(exits.text);
}
