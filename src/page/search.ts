/** Finds entries by what they say, shown or folded. */
import { callSummary } from "./items.ts";
import type { Node } from "./tree.ts";
import { blocksOf, cut, fieldsOf, listOf, oneLine, plainText, textOf, withoutEscapes } from "./values.ts";

export interface Hit {
	node: Node;
	snippet: string;
}

/** Everything an entry says, as it is written on the page. */
export function sayingOf(node: Node): string {
	const { type, entry, message } = node;
	switch (type) {
		case "message":
			return messageText(message);
		case "compaction":
		case "branch_summary":
			return textOf(entry.summary);
		case "custom_message":
			return `${textOf(entry.customType)}\n${plainText(entry.content)}`;
		case "custom":
			return `${textOf(entry.customType)}\n${textOf(entry.data)}`;
		case "model_change":
			return modelName(entry);
		case "thinking_level_change":
			return `Thinking ${textOf(entry.thinkingLevel)}`;
		case "label":
			return textOf(entry.label);
		case "session_info":
			return textOf(entry.name);
		case "removed":
		case "context_edit":
			return "";
		case "ttsr_injection":
			return listOf(entry.injectedRules).map(textOf).join(", ");
		default:
			return textOf(entry);
	}
}

function messageText(message: Node["message"]): string {
	switch (message.role) {
		case "assistant":
			return [...blocksOf(message.content).map(blockText), textOf(message.errorMessage)].join("\n");
		case "toolResult":
			return `${textOf(message.toolName)}\n${withoutEscapes(plainText(message.content))}\n${diffText(message.details)}`;
		case "bashExecution":
			return `${textOf(message.command)}\n${withoutEscapes(textOf(message.output))}`;
		case "compactionSummary":
		case "branchSummary":
			return textOf(message.summary);
		case "fileMention":
			return listOf(message.files)
				.map(fieldsOf)
				.map((file) => `${textOf(file.path)}\n${textOf(file.content)}`)
				.join("\n");
		default:
			return message.content === undefined ? textOf(message) : `${textOf(message.customType)}\n${plainText(message.content)}`;
	}
}

function blockText(block: Record<string, unknown>): string {
	if (block.type === "text") return textOf(block.text);
	if (block.type === "thinking") return textOf(block.thinking);
	if (block.type !== "toolCall") return "";
	return `${textOf(block.name)} ${textOf(block.intent)}\n${strings(block.arguments).join("\n")}`;
}

/** Every text in a value, with the names of the fields. */
function strings(value: unknown): string[] {
	const found: string[] = [];
	for (const stack = [value]; stack.length; ) {
		const next = stack.pop();
		if (typeof next === "object" && next !== null) {
			for (const [key, inner] of Object.entries(next).reverse()) {
				stack.push(inner);
				if (!Array.isArray(next)) stack.push(key);
			}
		} else found.push(textOf(next));
	}
	return found;
}

export function diffText(details: unknown): string {
	const { patch, diff } = fieldsOf(details);
	if (typeof patch === "string") return patch;
	return typeof diff === "string" ? diff : "";
}

export function modelName(entry: Node["entry"]): string {
	if (typeof entry.model === "string") return entry.model;
	return [textOf(entry.provider), textOf(entry.modelId)].filter(Boolean).join("/");
}

/** The rows of the list next to the conversation. */
export function titleOf(node: Node): string {
	if (node.message.role !== "assistant") return plainLine(sayingOf(node)) || node.type;
	const blocks = blocksOf(node.message.content);
	const text = blocks.find((block) => block.type === "text" && textOf(block.text).trim());
	if (text) return plainLine(textOf(text.text));
	const calls = blocks
		.filter((block) => block.type === "toolCall")
		.map((call) => `${textOf(call.name)} ${callSummary(textOf(call.name), call.arguments)}`);
	return oneLine(calls.join(" · ")) || oneLine(textOf(node.message.errorMessage)) || oneLine(sayingOf(node)) || "(empty reply)";
}

/** One line without the marks of Markdown that only say how it looks. */
const plainLine = (text: string) =>
	oneLine(
		cut(text, 600)
			.replace(/^\s*(?:#{1,6}|>|[-*]) +/gm, "")
			.replace(/\*\*|__|`+/g, ""),
	);

/** Remembers what entries say, because a search asks again with each letter. */
export class SearchIndex {
	#texts = new Map<Node, string>();
	#more: (node: Node) => string;

	/** `more`: what else is shown with an entry. */
	constructor(more: (node: Node) => string = () => "") {
		this.#more = more;
	}

	find(nodes: readonly Node[], query: string): Hit[] {
		const wanted = query.toLowerCase();
		const hits: Hit[] = [];
		for (const node of nodes) {
			const at = this.#text(node).indexOf(wanted);
			if (at >= 0) hits.push({ node, snippet: snippet(this.#said(node), at, wanted.length) });
		}
		return hits;
	}

	#text(node: Node): string {
		let text = this.#texts.get(node);
		if (text === undefined) {
			text = this.#said(node).toLowerCase();
			this.#texts.set(node, text);
		}
		return text;
	}

	#said(node: Node): string {
		const more = this.#more(node);
		return more === "" ? sayingOf(node) : `${sayingOf(node)}\n${more}`;
	}
}

function snippet(text: string, at: number, length: number): string {
	const before = text.slice(Math.max(0, at - 24), at).replace(/^[\udc00-\udfff]/, "");
	const line = `${before}${cut(text.slice(at, at + length + 160), length + 150)}`.replace(/\s+/g, " ").trim();
	return at > 24 ? `…${line}` : line;
}
