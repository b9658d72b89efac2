/** Blocks that a request may hold. Session files of other programs, and of newer versions, hold more. Pure. */
import type { ModelMessage } from "../agent/contracts.ts";

const ofOthers = new Set(["text", "image"]);
const ofReplies = new Set(["text", "thinking", "redactedThinking", "toolCall"]);

/** Whether requests may hold blocks of this type in a message of this role. */
export function isKnownBlock(role: ModelMessage["role"], type: unknown): boolean {
	return typeof type === "string" && (role === "assistant" ? ofReplies : ofOthers).has(type);
}

/** Whether requests may hold a block of a reply. Providers refuse a call without a name, and earlier versions stored such calls. */
export function isSendable(block: { type: string; name?: unknown }): boolean {
	return isKnownBlock("assistant", block.type) && (block.type !== "toolCall" || String(block.name).trim() !== "");
}

/** Returns the types of the blocks that requests leave out, each once. */
export function unknownTypes(messages: readonly ModelMessage[]): string[] {
	const types = new Set<string>();
	for (const { role, content } of messages) {
		if (typeof content === "string") continue;
		for (const { type } of (content ?? []) as { type: unknown }[]) if (!isKnownBlock(role, type)) types.add(String(type));
	}
	return [...types];
}
