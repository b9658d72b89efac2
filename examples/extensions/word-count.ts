/** A tool of your own: counts the words of a file. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Extension } from "bowline";
import { Type } from "typebox";

const wordCount: Extension = (api) => {
	api.registerTool<{ path: string }>({
		name: "word_count",
		label: "Word count",
		description: "Count the words of a text file.",
		parameters: Type.Object({ path: Type.String({ description: "The file, relative to the working directory." }) }),
		// It changes nothing, so several calls may run side by side.
		parallel: true,
		async execute(_toolCallId, { path }, signal, _onUpdate, context) {
			const text = await readFile(resolve(context.cwd, path), { encoding: "utf8", signal });
			const words = text.split(/\s+/).filter(Boolean).length;
			return { content: [{ type: "text", text: `${path} has ${words} words.` }], details: { words } };
		},
	});
};

export default wordCount;
