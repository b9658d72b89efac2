/** Answers that are too long to be made as a whole: they are written in parts, straight from the bytes of the session file. */
import type { Override } from "../live/live-session.ts";
import type { LongFrame } from "./stdio.ts";

/** Shorter answers are made as a whole. */
const longFrom = 256 * 1024;

/** The data of a response with one member, as JSON in parts. */
export class LongAnswer {
	readonly member: string;
	readonly json: LongFrame;

	constructor(member: string, json: LongFrame) {
		this.member = member;
		this.json = json;
	}
}

/** For dialects that write frames as they are. */
export const longAnswers: Override = (handlers, { session }) => ({
	get_messages(params, call) {
		const { json } = session.conversation;
		if (json.size <= longFrom) return handlers.get_messages(params, call);
		// Only the server sees the answer, and it knows this shape.
		return new LongAnswer("messages", json) as never;
	},
});
