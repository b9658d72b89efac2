/** Every script and every snippet of the docs page is one that the loader takes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScript } from "../../../src/models/scripted/load.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/scripted-model.md"), "utf8");
const snippets = [...page.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, text = ""]) => text);

/** A snippet is a whole script, a reply, or one block per line. */
function asScript(snippet: string): string {
	if (snippet.includes('"replies"')) return snippet;
	const isBlocks = snippet.trim().split("\n").length > 1;
	return isBlocks ? `{"replies":[{"blocks":[${snippet.trim().split("\n").join(",")}]}]}` : `{"replies":[${snippet}]}`;
}

test.each(snippets)("%s", (snippet) => {
	expect(parseScript(asScript(snippet), "docs")).toEqual({ script: expect.anything(), source: "docs" });
});
