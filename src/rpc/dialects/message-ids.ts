/** Gives every message an id that all its events share. */
import { uuid } from "../../lib/ids.ts";
import type { EventOf } from "../../protocol/events.ts";

export class MessageIds {
	/** The id of what is being said: messages follow one another, and one that begins is the one that ends next. */
	#current = "";

	of({ type }: EventOf<"message_start" | "message_update" | "message_end">): string {
		if (type === "message_start") this.#current = uuid(Date.now());
		return this.#current;
	}
}
