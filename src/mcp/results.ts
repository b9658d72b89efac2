/** What a call gave, as blocks for the model and details for hosts. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatSize, outputLimits, truncateHead } from "../lib/truncate.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { ToolResult } from "../protocol/messages.ts";
import { isObject } from "./config.ts";
import type { Json } from "./peer.ts";

const mostImages = 8;
/** Characters of base64 that every provider takes. */
const largestImage = 4.5 * 1024 * 1024;
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const largestStructure = 64 * 1024;

export interface ResultInput {
	server: string;
	tool: string;
	/** Where long outputs are kept. */
	tempDir: string;
	/** Removes credentials: the whole output goes to a file that no other exit cleans. */
	redact: (text: string) => string;
}

/** The result of `tools/call`, or the contents of a resource or a prompt. */
export function toolResult(result: Json, input: ResultInput): ToolResult {
	const { structuredContent } = result;
	const shown = new Blocks();
	const forUser = new Blocks();
	for (const block of Array.isArray(result.content) ? result.content : []) {
		if (!isObject(block)) continue;
		const { audience } = isObject(block.annotations) ? block.annotations : {};
		const isForUser = Array.isArray(audience) && audience.length > 0 && !audience.includes("assistant");
		(isForUser ? forUser : shown).add(block);
	}
	const structure = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
	if (structure !== undefined && !shown.hasText) shown.text(structure);
	const { content, details } = limited(shown, input);
	return {
		content,
		details: {
			server: input.server,
			tool: input.tool,
			...(structure === undefined ? {} : { structuredContent: structure.length > largestStructure ? null : structuredContent }),
			...(forUser.isEmpty ? {} : { forUser: forUser.content().slice(0, 20) }),
			...details,
		},
	};
}

/** Contents of a resource, within the same limits. */
export function resourceResult(contents: unknown, input: ResultInput): ToolResult {
	const shown = new Blocks();
	for (const resource of Array.isArray(contents) ? contents : []) shown.add({ type: "resource", resource });
	const { content, details } = limited(shown, input);
	return { content, details: { server: input.server, ...details } };
}

/** A text within the limits. */
export function textResult(text: string, input: ResultInput): ToolResult {
	const shown = new Blocks();
	shown.text(text);
	const { content, details } = limited(shown, input);
	return { content, details: { server: input.server, ...details } };
}

/** The blocks of MCP as ours. */
export class Blocks {
	#content: UserContent = [];
	#images = 0;

	get isEmpty(): boolean {
		return this.#content.length === 0;
	}

	get hasText(): boolean {
		return this.#content.some((block) => block.type === "text" && block.text !== "");
	}

	content(): UserContent {
		return this.#content;
	}

	text(text: string): void {
		this.#content.push({ type: "text", text });
	}

	add(block: Json): void {
		const { type, text, data, mimeType, uri, name, description, size } = block;
		if (type === "text") this.text(String(text ?? ""));
		else if (type === "image") this.#image(data, mimeType);
		else if (type === "audio") this.text(`[audio, ${facts(mimeType, sizeOf(data))}: not shown]`);
		else if (type === "resource_link") {
			const known = facts(mimeType, typeof size === "number" ? formatSize(size) : undefined);
			const about = [name ?? "", uri].filter(Boolean).join(": ");
			this.text(`[resource ${about}${known && `, ${known}`}]${description ? ` ${description}` : ""}`);
		} else if (type === "resource" && isObject(block.resource)) this.#resource(block.resource);
		else this.text(`[${String(type)}: not shown]`);
	}

	#resource({ uri, text, blob, mimeType }: Json): void {
		if (typeof text === "string") this.text(`[resource ${uri}]\n${text}`);
		else if (typeof mimeType === "string" && imageTypes.includes(mimeType)) {
			this.text(`[resource ${uri}]`);
			this.#image(blob, mimeType);
		} else this.text(`[resource ${uri}, ${facts(mimeType, sizeOf(blob))}: not shown]`);
	}

	#image(data: unknown, mimeType: unknown): void {
		const plain = typeof data === "string" ? data.replace(/^data:[^,]*,/, "") : "";
		const known = facts(mimeType, sizeOf(plain));
		if (!imageTypes.includes(mimeType as string)) return this.text(`[image, ${known}: not shown]`);
		if (plain.length > largestImage) return this.text(`[image, ${known}: not shown, it is too large]`);
		if (this.#images >= mostImages) return this.text(`[image, ${known}: not shown, a result has at most ${mostImages}]`);
		this.#images += 1;
		this.#content.push({ type: "image", data: plain, mimeType: mimeType as string } satisfies Image);
	}
}

/** Text up to the limits of every tool; the whole goes to a file. */
function limited(blocks: Blocks, input: ResultInput): { content: UserContent; details: object } {
	const content = blocks.content();
	const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
	if (texts.join("").trim() === "" && texts.length === content.length) return { content: [{ type: "text", text: "(no output)" }], details: {} };
	const total = texts.reduce((sum, text) => sum + text.length, 0);
	if (total <= outputLimits.maxBytes / 3 && texts.length <= outputLimits.maxLines / 2 && !isLong(texts)) return { content, details: {} };
	const whole = texts.join("\n");
	const { text, truncation } = truncateHead(whole);
	if (!truncation.truncated) return { content, details: {} };
	// One line that is too long on its own is shown as far as it goes.
	const kept = truncation.firstLineExceedsLimit ? firstBytes(whole, outputLimits.maxBytes) : text;
	const file = keep(whole, input);
	const range = truncation.firstLineExceedsLimit
		? `First ${formatSize(Buffer.byteLength(kept))} of line 1`
		: `Lines 1-${truncation.outputLines} of ${truncation.totalLines}`;
	const rest = "path" in file ? `Full output: ${file.path}` : `The full output could not be kept: ${file.problem}`;
	const notice = `[${range} (${formatSize(truncation.totalBytes)} in all). ${rest}]`;
	return {
		content: [{ type: "text", text: `${kept}\n\n${notice}` }, ...content.filter((block) => block.type !== "text")],
		details: { truncation, ...("path" in file ? { fullOutputPath: file.path } : {}) },
	};
}

/** Whether the texts have more lines than are shown. */
function isLong(texts: readonly string[]): boolean {
	let lines = texts.length;
	for (const text of texts)
		for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) if (++lines > outputLimits.maxLines) return true;
	return false;
}

function firstBytes(text: string, count: number): string {
	const bytes = Buffer.from(text.slice(0, count)).subarray(0, count);
	let end = bytes.length;
	while (end > 0 && end > bytes.length - 4 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end -= 1;
	// A lead byte at the cut belongs to a character that is not whole.
	if (end > 0 && (bytes[end - 1] as number) >= 0xc0) end -= 1;
	return bytes.toString("utf8", 0, end);
}

/** Only the user may read it. A full disk loses the file, never the result. */
function keep(text: string, { tempDir, redact }: ResultInput): { path: string } | { problem: string } {
	const path = join(tempDir, `bowline-mcp-${randomBytes(8).toString("hex")}.log`);
	try {
		writeFileSync(path, redact(text), { flag: "wx", mode: 0o600 });
		return { path };
	} catch (error) {
		return { problem: (error as Error).message };
	}
}

const facts = (...known: unknown[]) => known.filter((each) => typeof each === "string" && each !== "").join(", ");
const sizeOf = (data: unknown) => (typeof data === "string" ? formatSize(Math.floor((data.length * 3) / 4)) : undefined);
