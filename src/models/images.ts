/** Which images to leave out after a provider refused a request because of one. Pure. */
import type { ModelMessage } from "../agent/contracts.ts";
import type { Image } from "../protocol/content.ts";
import { imagesIn } from "./api.ts";
import { type Json, list, object, text } from "./json.ts";

/** `messages.2.content.1`, `input[2].content[1]`: where in the request the provider found the problem. */
const place = /\b(messages|input|contents)[.[]+(\d+)\]?\.(?:content|parts|output)[.[]+(\d+)/;

/** The images at the place that the error names, else all that were sent. None when the error is not about an image. */
export function suspectImages(error: string, body: Json, messages: readonly ModelMessage[]): Image[] {
	if (!/\bimage/i.test(error)) return [];
	const json = JSON.stringify(body);
	const sent = imagesOf(messages).filter((image) => json.includes(image.data));
	for (const part of partsAt(error, body)) {
		const here = sent.filter((image) => part.includes(image.data));
		if (here.length > 0) return here;
	}
	return sent;
}

function imagesOf(messages: readonly ModelMessage[]): Image[] {
	return messages.flatMap((message) => {
		if (message.role === "assistant" || typeof message.content === "string") return [];
		return imagesIn(message.content ?? []).filter(({ data }) => data !== "");
	});
}

/** The text of what the error names. A gateway may have counted without the system prompt, so the part of the next message may be meant. */
function partsAt(error: string, body: Json): string[] {
	const match = place.exec(error);
	if (!match) return [];
	const [, key = "", message, part] = match;
	const all = list(body[key]).map(object);
	const candidates = /^(?:system|developer)$/.test(text(all[0]?.role)) ? [0, 1] : [0];
	return candidates.flatMap((offset) => {
		const said = all[Number(message) + offset];
		const found = list(said?.content ?? said?.parts ?? said?.output)[Number(part)];
		return found === undefined ? [] : [JSON.stringify(found)];
	});
}
