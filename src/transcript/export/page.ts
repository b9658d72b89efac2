/** A session as one HTML page that needs nothing else: no network, no other file. The page renders itself from the data in it. */
import type { Entry } from "../entries.ts";
import { dataChunks, type PageInput } from "./data.ts";
import script from "./page/main.browser.ts?bundle";
import style from "./page/style.css?bundle";
import { frame } from "./template.ts";

const longestTitle = 80;

/** The page in pieces, for writing without one string that contains it all. */
export function* pageChunks(input: PageInput): Generator<string> {
	const title = titleOf(input.entries);
	const { before, after } = frame({ title: input.redact?.(title) ?? title, style, script });
	yield before;
	yield* dataChunks(input);
	yield after;
}

export function exportPage(input: PageInput): string {
	return [...pageChunks(input)].join("");
}

/** The name of the session, else its first prompt. */
function titleOf(entries: readonly Entry[]): string {
	const named = entries.findLast((entry) => entry?.type === "session_info");
	const name = named?.type === "session_info" && typeof named.name === "string" ? named.name : "";
	const title = (name || firstPrompt(entries))
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim()
		.toWellFormed();
	const characters = Array.from(title.slice(0, 2 * longestTitle + 2));
	const short = characters.length > longestTitle ? `${characters.slice(0, longestTitle - 1).join("")}…` : characters.join("");
	return short ? `${short} · Bowline` : "Bowline session";
}

function firstPrompt(entries: readonly Entry[]): string {
	const first = entries.find((entry) => entry?.type === "message" && entry.message?.role === "user");
	if (first?.type !== "message" || first.message.role !== "user") return "";
	const { content } = first.message;
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	const block = content.find((found) => found?.type === "text");
	return block?.type === "text" && typeof block.text === "string" ? block.text : "";
}
