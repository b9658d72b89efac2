/** A request as a record keeps it: parts that can be compared on another machine and another day. */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import type { ModelMessage, ModelRequest } from "../../agent/stream.ts";

/** By name: `system`, `tools`, `messages[0]` and so on. */
export type RequestParts = Record<string, string>;

/** `cwd`: replaced in every text, as are the home directory, ids of sessions and, in instructions, dates and where Bowline is installed. */
export function partsOf({ systemPrompt, tools, messages, toolChoice, thinkingLevel }: ModelRequest, cwd: string): RequestParts {
	const plain = plainly(cwd);
	const parts: RequestParts = {
		system: plain(systemPrompt)
			.replace(/(?<=Its documentation is in )[^;\n]+/, "<docs>")
			.replace(/\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?/g, "<date>"),
		tools: tools.map(({ name }) => name).join(", "),
	};
	if (toolChoice !== undefined) parts.toolChoice = toolChoice;
	if (thinkingLevel !== "off") parts.thinkingLevel = thinkingLevel;
	for (const [index, message] of messages.entries()) parts[`messages[${index}]`] = plain(textOf(message));
	return parts;
}

function plainly(cwd: string): (text: string) => string {
	const home = homedir();
	const ids = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
	return (text) => {
		const here = text.replaceAll(cwd, "<cwd>");
		return (home.length > 1 ? here.replaceAll(home, "<home>") : here).replace(ids, "<id>");
	};
}

/** What the model reads of a message. Thoughts are the provider's own and need not be the same. */
function textOf(message: ModelMessage): string {
	const blocks = typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
	const texts = blocks.flatMap((block) => {
		if (block.type === "text") return [block.text];
		if (block.type === "image") return [`[image ${digestOf(block.data)}]`];
		if (block.type === "toolCall") return [`[call ${block.name} ${JSON.stringify(block.arguments)}]`];
		return [];
	});
	const who = message.role === "toolResult" ? `result of ${message.toolName}${message.isError ? " (error)" : ""}` : message.role;
	return `${who}: ${texts.join("\n")}`;
}

export const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 16);

/** What MCP servers add to the instructions and to the names of tools. They are not there when their results are played. */
function withoutServers(name: string, text: string): string {
	if (name === "tools") {
		const isOfServer = (tool: string) => tool.startsWith("mcp__") || tool === "mcp_resource";
		return text
			.split(", ")
			.filter((tool) => !isOfServer(tool))
			.join(", ");
	}
	return name === "system"
		? text.replace(/^- mcp_(_.*|resource:.*)\n/gm, "").replace(/\n\n# What the MCP servers of this session say[\s\S]*$/, "")
		: text;
}

export interface Comparison {
	/** Finds the text of a recorded part. */
	textOfDigest: (digest: string) => string;
	/** Whether MCP servers were there then and are not now. */
	isWithoutServers: boolean;
}

/** Where two requests differ, for people; nothing when they are the same. */
export function differenceOf(
	recorded: Record<string, string>,
	now: RequestParts,
	{ textOfDigest, isWithoutServers }: Comparison,
): string | undefined {
	const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
	const isSame = (name: string) => {
		const [before, after] = [recorded[name], now[name]];
		if (before === undefined || after === undefined) return before === after;
		if (before === digestOf(after)) return true;
		return isWithoutServers && withoutServers(name, textOfDigest(before)) === withoutServers(name, after);
	};
	const wrong = names.filter((name) => !isSame(name));
	if (wrong.length === 0) return undefined;
	const shown = wrong.slice(0, 3).map((name) => {
		const before = recorded[name] === undefined ? undefined : textOfDigest(recorded[name]);
		return contrast(name, before, now[name]);
	});
	const more = wrong.length > shown.length ? [`and ${wrong.length - shown.length} more parts`] : [];
	return [...shown, ...more].join("\n");
}

const shownLength = 160;

/** Both texts from shortly before the first character that differs. */
function contrast(name: string, recorded: string | undefined, now: string | undefined): string {
	if (recorded === undefined) return `${name} is not in the record: ${excerpt(now ?? "", 0)}`;
	if (now === undefined) return `${name} is missing now; it was recorded as ${excerpt(recorded, 0)}`;
	let same = 0;
	while (same < recorded.length && recorded[same] === now[same]) same++;
	const from = Math.max(0, same - 40);
	return `${name} was recorded as ${excerpt(recorded, from)}\n  and is now ${excerpt(now, from)}`;
}

function excerpt(text: string, from: number): string {
	const end = from + shownLength;
	return JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, end)}${end < text.length ? "…" : ""}`);
}
