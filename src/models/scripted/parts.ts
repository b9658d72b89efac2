/** The blocks of a reply, filled in and cut into the deltas they arrive in. */
import type { AssistantMessage } from "../../protocol/messages.ts";
import type { Block, Reply } from "./format.ts";
import { parts, words } from "./pieces.ts";
import { type Facts, fill, fillValues } from "./template.ts";

type Content = AssistantMessage["content"][number];

export interface Part {
	/** The block as it opens: empty. */
	opening: Content;
	pieces: readonly string[];
	/** What else the block has when it closes. */
	closing?: Partial<Content>;
}

export function partsOf(reply: Reply, facts: Facts, nextCallId: () => string): Part[] {
	const blocks: Block[] = [
		...(reply.thinking === undefined ? [] : [{ thinking: reply.thinking }]),
		...(reply.text === undefined ? [] : [{ text: reply.text }]),
		...(reply.blocks ?? []),
	];
	const result = blocks.map((block) => partOf(block, facts, nextCallId));
	if (reply.repeat) result.push({ opening: emptyText(), pieces: new Array<string>(reply.repeat.count).fill(fill(reply.repeat.text, facts)) });
	return result;
}

function partOf(block: Block, facts: Facts, nextCallId: () => string): Part {
	if ("tool" in block) {
		const opening: Content = { type: "toolCall", id: block.id ?? nextCallId(), name: block.tool, arguments: {} };
		return { opening, pieces: parts(argumentsText(block.arguments, facts), block.pieces ?? 2) };
	}
	if ("text" in block) return { opening: emptyText(), pieces: cut(fill(block.text, facts), block.pieces) };
	const part: Part = { opening: { type: "thinking", thinking: "" }, pieces: cut(fill(block.thinking, facts), block.pieces) };
	return block.signature === undefined ? part : { ...part, closing: { thinkingSignature: block.signature } };
}

/** A string is the raw text of the arguments, to the letter: filling it in could break, or mend, what the author broke. */
function argumentsText(value: Record<string, unknown> | string | undefined, facts: Facts): string {
	return typeof value === "string" ? value : JSON.stringify(fillValues(value ?? {}, facts));
}

const cut = (text: string, count: number | undefined) => (count === undefined ? words(text) : parts(text, count));
const emptyText = (): Content => ({ type: "text", text: "" });
