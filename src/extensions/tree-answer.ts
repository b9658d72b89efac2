/** Reads the answers of `session_before_tree` handlers; throws on invalid ones. */
import { jsonIn, objectIn, objectOf, textIn } from "./answers.ts";
import type { SessionBeforeTreeResult } from "./events.ts";

/** Omits absent members. */
export function treeAnswerOf(answer: unknown): SessionBeforeTreeResult {
	const given = objectOf(answer) ?? {};
	const customInstructions = textIn(given, "customInstructions");
	const label = textIn(given, "label");
	const made = objectIn(given, "summary");
	const summary = made && textIn(made, "summary");
	if (made && !summary?.trim()) throw new TypeError("summary.summary must be a text");
	return {
		...(given.cancel === true ? { cancel: true } : {}),
		...(summary === undefined ? {} : { summary: { summary, ...jsonIn(made ?? {}, "details") } }),
		...(customInstructions === undefined ? {} : { customInstructions }),
		...(label === undefined ? {} : { label }),
	};
}
