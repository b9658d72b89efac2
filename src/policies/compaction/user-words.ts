/** Keeps the user's words verbatim at the end of a summary. Pure. */
import type { Branch } from "../../transcript/entries.ts";
import { messageOf } from "../../transcript/projection.ts";
import { middleCut, textOf } from "./serialize.ts";

const charactersPerToken = 4;
const opening = "\n\n<user-messages>\nWhat the user said before the messages that follow, word for word, oldest first.\n";
const closing = "</user-messages>";
const wrapped = (text: string) => `<message>\n${text}\n</message>\n`;
/** Less of a long message tells nobody anything. */
const smallestPart = 400;

/**
 * Returns a section with the messages of the user before a place of the branch, compacted earlier or now. The newest come first when not all of
 * them fit. A long one may take half of the room that is left: text that was pasted must not push out the wishes.
 */
export function userWords(branch: Branch, end: number, tokens: number): string {
	let room = tokens * charactersPerToken - opening.length - closing.length;
	const kept: string[] = [];
	let leftOut = 0;
	for (let place = end - 1; place >= 0; place--) {
		if (branch.kind(place) !== "message:user") continue;
		const limit = Math.floor(room / 2) - wrapped("").length;
		// From here on they are counted only: a long session need not be read.
		if (leftOut > 0 || limit <= 0) {
			leftOut++;
			continue;
		}
		const message = messageOf(branch.peek(place));
		const text = message?.role === "user" ? textOf(message.content).trim() : "";
		if (text === "") continue;
		if (text.length > limit && limit < smallestPart) {
			leftOut++;
			continue;
		}
		const shown = wrapped(middleCut(text, limit, Math.floor(limit / 2)));
		kept.unshift(shown);
		room -= shown.length;
	}
	if (kept.length === 0) return "";
	const note = leftOut > 0 ? `[Older messages that are left out: ${leftOut}]\n` : "";
	return `${opening}${note}${kept.join("")}${closing}`;
}
