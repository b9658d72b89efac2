/** Content blocks of a prompt become one message and its images; and back, when a stored prompt is shown again. */
import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Image, UserContent } from "../protocol/content.ts";
import { invalid } from "./errors.ts";

export interface PromptContent {
	message: string;
	images: Image[];
}

/** A resource that the client sent along is cut at this length. */
const longestContext = 256 * 1024;

type Block = Record<string, unknown>;

/** Throws an RpcError for content that we do not take. */
export function promptContent(prompt: unknown, cwd: string): PromptContent {
	if (!Array.isArray(prompt)) throw invalid("prompt must be a list of content blocks");
	const texts: string[] = [];
	const contexts: string[] = [];
	const images: Image[] = [];
	for (const [index, block] of (prompt as Block[]).entries()) {
		const text = (name: string, of: Block = block) => textIn(of, name, `prompt[${index}]`);
		switch (block?.type) {
			case "text":
				texts.push(text("text"));
				break;
			case "image":
				images.push(imageOf(text("data"), text("mimeType"), `prompt[${index}]`));
				break;
			case "resource_link":
				texts.push(linkText(text("uri"), text("name"), cwd));
				break;
			case "resource": {
				const resource = block.resource as Block | undefined;
				if (typeof resource !== "object" || resource === null) throw invalid(`prompt[${index}]: resource must be an object`);
				const uri = text("uri", resource);
				const kind = typeof resource.mimeType === "string" ? resource.mimeType : undefined;
				if (typeof resource.text === "string") {
					texts.push(linkText(uri, nameOf(uri), cwd));
					contexts.push(contextOf(uri, resource.text));
				} else {
					const blob = text("blob", resource);
					if (kind?.startsWith("image/")) images.push(imageOf(blob, kind, `prompt[${index}]`));
					else texts.push(`[resource ${uri}, ${kind ?? "unknown type"}, ${Math.floor((blob.length * 3) / 4)} bytes: not shown]`);
				}
				break;
			}
			case "audio":
				throw invalid(`prompt[${index}]: audio is not supported`);
			default:
				throw invalid(`prompt[${index}]: unknown content type ${JSON.stringify(block?.type)}`);
		}
	}
	const message = joined(texts);
	if (message.trim() === "" && images.length === 0 && contexts.length === 0) throw invalid("The prompt is empty");
	return { message: [message, ...contexts].join("\n\n").replace(/^\n+/, ""), images };
}

/** Editors cut a sentence at each mention, so parts are joined as they are; only a mention needs room around it. */
function joined(texts: readonly string[]): string {
	let message = "";
	for (const text of texts) message += message === "" || /\s$/.test(message) || /^[\s.,;:!?)]/.test(text) ? text : ` ${text}`;
	return message;
}

function textIn(block: Block, name: string, where: string): string {
	const value = block[name];
	if (typeof value !== "string") throw invalid(`${where}: ${name} must be a string`);
	return value;
}

function imageOf(data: string, mimeType: string, where: string): Image {
	if (!mimeType.startsWith("image/") || data === "") throw invalid(`${where}: the image must have base64 data and an image type`);
	return { type: "image", data, mimeType };
}

/** A file as `@path`, a page as a link, everything else by its name. */
function linkText(uri: string, name: string, cwd: string): string {
	if (/^https?:/i.test(uri)) return `[${name}](${uri})`;
	const file = fileOf(uri);
	if (!file) return `${name} (${uri})`;
	const near = relative(cwd, file.path);
	const isInside = near !== "" && !near.startsWith("..") && !isAbsolute(near);
	return `@${isInside ? near : file.path}${file.lines}`;
}

function fileOf(uri: string): { path: string; lines: string } | undefined {
	if (!/^file:/i.test(uri)) return undefined;
	try {
		const url = new URL(uri);
		const [, first, last] = /^#L(\d+)(?:[-:]L?(\d+))?/.exec(url.hash) ?? [];
		const lines = first === undefined ? "" : last === undefined ? ` (line ${first})` : ` (lines ${first}-${last})`;
		return { path: fileURLToPath(`${url.protocol}//${url.host}${url.pathname}`), lines };
	} catch {
		return undefined;
	}
}

const nameOf = (uri: string) =>
	decoded(
		uri
			.replace(/[?#].*$/, "")
			.replace(/\/+$/, "")
			.split("/")
			.pop() || uri,
	);

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function contextOf(uri: string, text: string): string {
	const bytes = Buffer.from(text);
	const isLong = bytes.length > longestContext;
	const shown = isLong ? bytes.toString("utf8", 0, longestContext).replace(/\ufffd$/, "") : text;
	const note = isLong ? `\n[cut: ${longestContext / 1024} KB of ${Math.ceil(bytes.length / 1024)} KB]` : "";
	return `<context ref="${uri.replaceAll('"', "%22")}">\n${shown.replaceAll("</context>", "<\\/context>")}${note}\n</context>`;
}

const contextFrame = /\n*<context ref="([^"\n]*)">\n[\s\S]*?\n<\/context>/g;

/** A stored prompt as blocks: what was sent along as a resource is named by a link. */
export function storedPrompt(content: string | UserContent): ContentBlock[] {
	const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
	return blocks.flatMap((block): ContentBlock[] => {
		if (block.type === "image") return [{ type: "image", data: block.data, mimeType: block.mimeType }];
		if (block.type !== "text" || typeof block.text !== "string") return [];
		const links = [...block.text.matchAll(contextFrame)].map(([, uri = ""]): ContentBlock => ({ type: "resource_link", uri, name: nameOf(uri) }));
		const text = links.length ? block.text.replace(contextFrame, "") : block.text;
		return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...links];
	});
}
