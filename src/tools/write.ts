/** The tool that creates and replaces files. */
import { isUtf8 } from "node:buffer";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Static } from "typebox";
import type { FileCall, Files, PlannedChange, Tool } from "../agent/contracts.ts";
import { readRegular } from "../lib/bounded-file.ts";
import Type from "../protocol/plain-schema.ts";
import { atomicWrite } from "./atomic-write.ts";
import type { MutationQueue } from "./mutation-queue.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { pathArgument, requireDirectory, resolvePath } from "./paths.ts";

const parameters = Type.Object({
	path: Type.String({ description: "The file, absolute or relative to the working directory." }),
	content: Type.String({ description: "Everything the file shall contain." }),
});

export function writeTool(options: Pick<ToolOptions, "cwd" | "files" | "confined">, queue: MutationQueue): Tool {
	return {
		name: "write",
		label: "Write",
		effect: { kind: "write", paths: pathArgument, reach: "file", replaces: true, plan: (args) => plannedWrite(options.cwd, args) },
		offered: "default",
		view: { kind: "edit", glyph: "✚", path: "file", content: true },
		description:
			"Create a file with the given content, or replace all of an existing one. Missing directories are created. To change parts of a file use edit instead.",
		hint: "Create a file or replace it completely",
		parameters: { ...parameters },
		concurrency: "exclusive",
		async execute({ args, signal, toolCallId }) {
			const { path, content } = args as Static<typeof parameters>;
			const target = resolvePath(options.cwd, path);
			return queue.run(target, async () => {
				refuseIfAborted(signal);
				await requireDirectory(options.cwd);
				const bytes = Buffer.from(content);
				const { files, confined } = options;
				const said = `Wrote ${bytes.length} bytes to ${path}`;
				if (confined) {
					const note = await confined.write(target, bytes);
					files?.changed(toolCallId, { before: undefined, after: content });
					return textResult(note === undefined ? said : `${said}. ${note}`);
				}
				await mkdir(dirname(target), { recursive: true });
				const before = files && (await textBefore(files, target, { signal, toolCallId }));
				if (!(await files?.write(target, content, { signal, toolCallId }))) await atomicWrite(target, bytes);
				files?.changed(toolCallId, { before, after: content });
				return textResult(said);
			});
		},
	};
}

const maxPlannedBytes = 4 * 1024 * 1024;

/** The file before and after the call, without making it. */
async function plannedWrite(cwd: string, args: Record<string, unknown>): Promise<PlannedChange> {
	const path = String(args.path);
	const { signal } = new AbortController();
	const before = await readRegular(resolvePath(cwd, path), maxPlannedBytes, signal).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return Buffer.alloc(0);
		throw error;
	});
	return { path, before: before.toString(), after: String(args.content ?? "") };
}

const longestBefore = 1024 * 1024;

/** The text that is about to be replaced; nothing for a file that is new, long or not text. */
async function textBefore(files: Files, target: string, call: FileCall): Promise<string | undefined> {
	const open = await files.read(target, call);
	if (open !== undefined) return open;
	const [bytes] = await Promise.allSettled([readRegular(target, longestBefore, call.signal)]);
	return bytes.status === "fulfilled" && isUtf8(bytes.value) ? bytes.value.toString() : undefined;
}
