/** The tool that changes parts of a file. */
import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Static } from "typebox";
import type { PlannedChange, Tool } from "../agent/contracts.ts";
import { readOpened, readRegular, UnsuitableFile } from "../lib/bounded-file.ts";
import Type from "../protocol/plain-schema.ts";
import { atomicWrite } from "./atomic-write.ts";
import { editDiff } from "./edit-diff.ts";
import { applyReplacements, type Edit, planEdits } from "./edit-match.ts";
import { find } from "./locate.ts";
import type { MutationQueue } from "./mutation-queue.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { type ConfinedFiles, pathArgument, resolveExisting } from "./paths.ts";

const parameters = Type.Object({
	path: Type.String({ description: "The file, absolute or relative to the working directory." }),
	edits: Type.Array(
		Type.Object({
			oldText: Type.String({ description: "Text to replace, exactly as it is in the file and long enough to occur only once." }),
			newText: Type.String({ description: "What it becomes. Empty removes it." }),
		}),
		{ minItems: 1, description: "Replacements. All refer to the file as it is before the call and must not overlap." },
	),
});

const maxFileBytes = 64 * 1024 * 1024;

export function editTool(options: Pick<ToolOptions, "cwd" | "files" | "confined">, queue: MutationQueue): Tool {
	return {
		name: "edit",
		label: "Edit",
		effect: { kind: "write", paths: pathArgument, reach: "file", plan: (args) => plannedEdit(options.cwd, args) },
		offered: "default",
		view: { kind: "edit", glyph: "✎", path: "file", edits: true },
		description:
			"Replace pieces of text in a file. Each oldText must match the file exactly, whitespace included, and occur only once; nothing else in the file changes. Put several changes of one file into one call.",
		hint: "Change parts of a file by exact text replacement",
		parameters: { ...parameters },
		concurrency: "exclusive",
		adapt,
		async execute({ args, signal, toolCallId }) {
			const { path, edits } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const { files, confined } = options;
			const call = { signal, toolCallId };
			const { target } = await find(options, path, call);
			return queue.run(target, async () => {
				refuseIfAborted(signal);
				// Another call may have changed the text while this one waited.
				const open = await files?.read(target, call);
				const before = open === undefined ? await contentOf(target, path, signal, confined) : Buffer.from(open);
				const after = await edited(before, edits, path, signal);
				if (after.equals(before)) throw new Error(`Nothing would change in ${path}: the new text is the same as the old.`);
				// Nothing may fail after the file has changed: the result would deny the change.
				const details = await editDiff(path, before.toString(), after.toString());
				refuseIfAborted(signal);
				const isText = isUtf8(before) && isUtf8(after);
				const isWritten = isText && (await files?.write(target, after.toString(), call));
				const note = isWritten ? undefined : await (confined ? confined.write(target, after) : atomicWrite(target, after));
				if (isText) files?.changed(toolCallId, { before: before.toString(), after: after.toString() });
				const said = `Edited ${path}: ${edits.length === 1 ? "1 replacement" : `${edits.length} replacements`}`;
				return textResult(note ? `${said}. ${note}` : said, details);
			});
		},
	};
}

/** The file before and after the edits, without changing it. Throws what the call would fail with. */
async function plannedEdit(cwd: string, args: Record<string, unknown>): Promise<PlannedChange> {
	const { path, edits } = args as Static<typeof parameters>;
	const { signal } = new AbortController();
	const before = await contentOf(await resolveExisting(cwd, path), path, signal);
	const after = await edited(before, edits, path, signal);
	return { path, before: before.toString(), after: after.toString() };
}

const byteOrderMark = "\ufeff";

async function contentOf(target: string, path: string, signal: AbortSignal, confined?: ConfinedFiles): Promise<Buffer> {
	try {
		return await (confined ? readOpened(await confined.open(target), maxFileBytes, signal) : readRegular(target, maxFileBytes, signal));
	} catch (error) {
		if (error instanceof UnsuitableFile) throw new Error(`${path} cannot be edited: ${error.message}.`, { cause: error });
		throw error;
	}
}

/** A file that is not UTF-8 is handled byte by byte, so that what we cannot read survives. */
async function edited(before: Buffer, edits: readonly Edit[], path: string, signal: AbortSignal): Promise<Buffer> {
	const isText = isUtf8(before);
	const content = before.toString(isText ? "utf8" : "latin1");
	const mark = content.startsWith(byteOrderMark) ? byteOrderMark : "";
	const file = content.slice(mark.length);
	const wanted = edits.map(({ oldText, newText }) => {
		const [from, to] = [withoutMark(oldText), mark ? withoutMark(newText) : newText];
		return isText ? { oldText: from, newText: to } : { oldText: asBytes(from), newText: asBytes(to) };
	});
	const breathe = async () => {
		await nextTurn();
		refuseIfAborted(signal);
	};
	return Buffer.from(mark + applyReplacements(file, await planEdits(file, wanted, path, isText, breathe)), isText ? "utf8" : "latin1");
}

const withoutMark = (text: string) => (text.startsWith(byteOrderMark) ? text.slice(1) : text);
const asBytes = (text: string) => Buffer.from(text).toString("latin1");

/** Models also send one edit as an object, the edits as JSON text, or the old pair `oldText` and `newText` next to the path. */
function adapt(args: Record<string, unknown>): Record<string, unknown> {
	const { oldText, newText, ...rest } = args;
	const given = typeof rest.edits === "string" ? parsed(rest.edits) : rest.edits;
	const edits = given === undefined ? [] : Array.isArray(given) ? [...given] : [given];
	if (oldText !== undefined || newText !== undefined) edits.push({ oldText, newText });
	return edits.length === 0 && rest.edits === undefined ? rest : { ...rest, edits };
}

/** Text that is not JSON is left to the validation, which reports the mistake to the model. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
