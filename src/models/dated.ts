/** Says in the messages which day it is. In the system prompt a new day would cost the whole cache. Pure. */
import type { ModelMessage, ModelRequest } from "../agent/contracts.ts";
import type { UserMessage } from "../protocol/messages.ts";

const minute = 60_000;

/** Adds the date to the first message of the user, and to the first one of each later day. The same messages always get the same dates. */
export function dated({ messages, utcOffset }: Pick<ModelRequest, "messages" | "utcOffset">): readonly ModelMessage[] {
	if (utcOffset === undefined) return messages;
	let today = "";
	return messages.map((message) => {
		if (message.role !== "user") return message;
		const time = new Date(message.timestamp + utcOffset * minute);
		// Files of other programs may hold any number.
		const day = Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, 10);
		// A summary is newer than the messages that follow it.
		if (day <= today) return message;
		today = day;
		return withText(message, `Date: ${day}`);
	});
}

function withText(message: UserMessage, text: string): UserMessage {
	const content = typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
	return { ...message, content: [{ type: "text", text }, ...(content ?? [])] };
}
