/** The tool that creates and replaces files. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import Type, { type Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import { atomicWrite } from "./atomic-write.ts";
import type { MutationQueue } from "./mutation-queue.ts";
import { refuseIfAborted, textResult } from "./options.ts";
import { requireDirectory, resolvePath } from "./paths.ts";

const parameters = Type.Object({
	path: Type.String({ description: "The file, absolute or relative to the working directory." }),
	content: Type.String({ description: "Everything the file shall contain." }),
});

export function writeTool(options: { cwd: string }, queue: MutationQueue): Tool {
	return {
		name: "write",
		label: "Write",
		description:
			"Create a file with the given content, or replace all of an existing one. Missing directories are created. To change parts of a file use edit instead.",
		hint: "Create a file or replace it completely",
		parameters: { ...parameters },
		concurrency: "exclusive",
		async execute({ args, signal }) {
			const { path, content } = args as Static<typeof parameters>;
			const target = resolvePath(options.cwd, path);
			return queue.run(target, async () => {
				refuseIfAborted(signal);
				await requireDirectory(options.cwd);
				await mkdir(dirname(target), { recursive: true });
				const bytes = Buffer.from(content);
				await atomicWrite(target, bytes);
				return textResult(`Wrote ${bytes.length} bytes to ${path}`);
			});
		},
	};
}
