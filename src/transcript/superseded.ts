/** Results that a later one makes worthless: the file was read whole again or written, the same command was run again. Pure. */
import type { ToolCall } from "../protocol/content.ts";
import type { AgentMessage, ToolResultMessage } from "../protocol/messages.ts";

/** Shorter results are not worth a note. */
const smallest = 400;

interface Answered {
	call: ToolCall;
	result: ToolResultMessage;
}

/** Returns the results that a later one among the messages supersedes. */
export function superseded(messages: readonly AgentMessage[]): ToolResultMessage[] {
	const found: ToolResultMessage[] = [];
	const asked = new Set<string>();
	/** Files whose whole content is in a later message. */
	const shown = new Set<string>();
	for (const { call, result } of answered(messages).reverse()) {
		const file = fileOf(call);
		const question = questionOf(call);
		if (question === undefined) continue;
		if ((asked.has(question) || (file !== undefined && shown.has(file))) && isLong(result)) found.push(result);
		if (!isAnswer(result)) continue;
		asked.add(question);
		if (file !== undefined && showsAll(call, result)) shown.add(file);
	}
	return found.reverse();
}

/** Returns a result of one line in the place of one that was superseded. The same result always gets the same line. */
export function inShort(result: ToolResultMessage): ToolResultMessage {
	const why = fileTools.has(result.toolName) ? "the file was read again or written" : "the same command was run again";
	return { ...result, content: [{ type: "text", text: `[Left out: ${why} later.]` }] };
}

const fileTools = new Set(["read", "edit", "write"]);
const commandTools = new Set(["bash", "grep", "find", "ls"]);

function answered(messages: readonly AgentMessage[]): Answered[] {
	const calls = new Map<string, ToolCall>();
	const found: Answered[] = [];
	for (const message of messages) {
		if (message.role === "assistant") {
			for (const block of message.content ?? []) if (block.type === "toolCall") calls.set(block.id, block);
		} else if (message.role === "toolResult") {
			const call = calls.get(message.toolCallId);
			if (call) found.push({ call, result: message });
		}
	}
	return found;
}

function fileOf({ name, arguments: args }: ToolCall): string | undefined {
	return fileTools.has(name) && typeof args.path === "string" ? args.path.replace(/^(?:\.\/)+/, "") : undefined;
}

/** Returns what two calls have in common when the later answers all that the earlier did. Undefined for tools that may answer anew each time. */
function questionOf(call: ToolCall): string | undefined {
	const { name, arguments: args } = call;
	if (name === "bash") return typeof args.command === "string" ? `bash ${args.command}` : undefined;
	const file = fileOf(call);
	if (file !== undefined) return JSON.stringify([name, file, args.offset ?? 1, args.limit]);
	return commandTools.has(name) ? JSON.stringify([name, args]) : undefined;
}

/** Says whether the call did what it was to do. A command that ended with an error has answered, too. */
function isAnswer({ isError, toolName, content }: ToolResultMessage): boolean {
	if (!isError) return true;
	return toolName === "bash" && (content ?? []).some((block) => block.type === "text" && /Command exited with code \d+/.test(block.text));
}

/** Says whether what the file holds is known from this call alone. Of a long file a read shows a part. */
function showsAll({ name, arguments: args }: ToolCall, { details }: ToolResultMessage): boolean {
	if (name === "write") return true;
	const isCut = ((details ?? {}) as { truncation?: { truncated?: boolean } | null }).truncation?.truncated ?? false;
	return name === "read" && !isCut && (args.offset ?? 1) === 1 && args.limit === undefined;
}

function isLong({ content }: ToolResultMessage): boolean {
	const length = (content ?? []).reduce((sum, block) => sum + (block.type === "text" ? block.text.length : smallest), 0);
	return length >= smallest;
}
