/** The tool that shows files. */
import { type FileHandle, stat } from "node:fs/promises";
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import { openRegular, readWhole } from "../lib/bounded-file.ts";
import { type ImageType, imageType } from "../lib/image-format.ts";
import { formatSize, outputLimits, truncateHead } from "../lib/truncate.ts";
import type { ToolResult } from "../protocol/messages.ts";
import Type from "../protocol/plain-schema.ts";
import { binaryKind } from "./binary-kind.ts";
import { fitImage, loadSharp } from "./image-fit.ts";
import { inMemory, type ReadableBytes, readLines } from "./line-window.ts";
import { locate } from "./locate.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { pathArgument } from "./paths.ts";

const parameters = Type.Object({
	path: Type.String({ description: "The file, absolute or relative to the working directory." }),
	offset: Type.Optional(Type.Integer({ minimum: 1, description: "First line to show, counted from 1." })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most lines to show." })),
});

type ReadOptions = Pick<ToolOptions, "cwd" | "settings" | "acceptsImages" | "files" | "confined">;

const probeSize = 8 * 1024;
const largestImageFile = 100 * 1024 * 1024;

export function readTool(options: ReadOptions): Tool {
	return {
		name: "read",
		label: "Read",
		effect: { kind: "read", paths: pathArgument, reach: "file" },
		offered: "default",
		view: { kind: "read", glyph: "≡", path: "file", lines: true },
		description:
			"Show a text file, or look at an image (jpg, png, gif, webp). At most 2000 lines or 50KB are shown at once; continue a longer file with offset. Use this instead of cat or sed.",
		hint: "Show the content of files",
		parameters: { ...parameters },
		concurrency: "shared",
		async execute({ args, signal, toolCallId }) {
			const { path, offset = 1, limit } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const { target, text } = await locate(options, path, { signal, toolCallId });
			if (text !== undefined) return readText(inMemory(text), path, offset, limit, signal);
			const facts = await stat(target);
			if (facts.isDirectory()) throw new Error(`${path} is a directory. List it with ls.`);
			// A pipe or a device may never end, or block the process that opens it.
			if (!facts.isFile()) throw new Error(`${path} is not a regular file.`);
			const file = options.confined ? await options.confined.open(target) : await openRegular(target);
			try {
				const { bytesRead, buffer } = await file.read(Buffer.alloc(probeSize), 0, probeSize, 0);
				const probe = buffer.subarray(0, bytesRead);
				const image = imageType(probe);
				if (image) return await readImage(file, path, facts.size, image, options);
				if (probe.includes(0)) throw new Error(`${path} is not text but ${binaryKind(probe)}, ${formatSize(facts.size)}.`);
				return await readText(file, path, offset, limit, signal);
			} finally {
				await file.close();
			}
		},
	};
}

async function readText(file: ReadableBytes, path: string, offset: number, limit: number | undefined, signal: AbortSignal): Promise<ToolResult> {
	const window = await readLines(file, { first: offset, count: limit ?? Number.POSITIVE_INFINITY, enough: outputLimits.maxBytes + 1, signal });
	const { totalLines } = window;
	if (offset > Math.max(totalLines, 1)) throw new Error(`Offset ${offset} is beyond the end of ${path}, which has ${totalLines} lines.`);
	const asked = window.bytes.toString().replace(/^\ufeff/, "");
	const { text, truncation } = truncateHead(asked, outputLimits, { lines: window.lines, bytes: window.size });
	if (truncation.firstLineExceedsLimit) {
		const size = `${formatSize(window.firstLineSize)}, more than the ${formatSize(truncation.maxBytes)} that can be shown`;
		const quoted = `'${path.replaceAll("'", "'\\''")}'`;
		return textResult(
			`[Line ${offset} has ${size}. Look at a part of it with bash: sed -n '${offset}p' ${quoted} | head -c ${truncation.maxBytes}]`,
			{ truncation },
		);
	}
	const last = offset + truncation.outputLines - 1;
	const next = `Continue with offset=${last + 1}.`;
	if (truncation.truncated) {
		const limitNote = truncation.truncatedBy === "bytes" ? `, cut at the ${formatSize(truncation.maxBytes)} limit` : "";
		return textResult(`${text}\n\n[Lines ${offset}-${last} of ${totalLines}${limitNote}. ${next}]`, { truncation });
	}
	if (last >= totalLines) return textResult(text);
	const remaining = totalLines - last;
	return textResult(`${text.replace(/\n$/, "")}\n\n[${remaining} more ${remaining === 1 ? "line" : "lines"}. ${next}]`);
}

async function readImage(file: FileHandle, path: string, size: number, type: ImageType, options: ReadOptions): Promise<ToolResult> {
	const title = `Read image file [${type}]`;
	if (!options.acceptsImages()) return textResult(`${title}\n[Image not shown: the current model cannot look at images.]`);
	if (size > largestImageFile) throw new Error(`${path} is an image of ${formatSize(size)}, too large to be looked at.`);
	const { image, note } = await fitImage(await readWhole(file, largestImageFile), type, options.settings.autoResizeImages(), loadSharp);
	const text = note ? `${title}\n${note}` : title;
	return image
		? {
				content: [
					{ type: "text", text },
					{ type: "image", ...image },
				],
			}
		: textResult(text);
}
