/** Turns the roles that only the engine knows into messages a provider understands. Pure; unchanged messages keep their identity. */
import type { AgentMessage, BashExecutionMessage, UserMessage } from "../protocol/messages.ts";
import type { ModelMessage, StoredRun } from "./contracts.ts";

/** Made once per message, so that the same message stays the same object in every request. */
const converted = new WeakMap<AgentMessage, ModelMessage>();

export function toModelMessages(messages: readonly (AgentMessage | StoredRun)[]): (ModelMessage | StoredRun)[] {
	const result: (ModelMessage | StoredRun)[] = [];
	for (const message of messages) {
		if (message.role === "user" || message.role === "assistant" || message.role === "toolResult" || message.role === "storedRun") {
			result.push(message);
			continue;
		}
		let made = converted.get(message);
		if (!made) {
			const content = contentOf(message);
			if (content === undefined) continue;
			made = { role: "user", content: typeof content === "string" ? [{ type: "text", text: content }] : content, timestamp: message.timestamp };
			converted.set(message, made);
		}
		result.push(made);
	}
	return result;
}

/** The messages of all parts. */
export function readParts(parts: readonly (ModelMessage | StoredRun)[]): readonly ModelMessage[] {
	const isUnread = parts.some(({ role }) => role === "storedRun");
	return isUnread ? parts.flatMap((part) => (part.role === "storedRun" ? part.messages() : part)) : (parts as readonly ModelMessage[]);
}

function contentOf(message: AgentMessage): UserMessage["content"] | undefined {
	switch (message.role) {
		case "developer":
		case "custom":
			return message.content;
		case "bashExecution":
			return message.excludeFromContext ? undefined : bashText(message);
		case "compactionSummary":
			return `The earlier part of this conversation was compacted into this summary:\n\n<summary>\n${message.summary}\n</summary>`;
		case "branchSummary":
			return `Another line of work was tried before this point and left. Its summary:\n\n<summary>\n${message.summary}\n</summary>`;
		case "fileMention":
			return message.files.map((file) => `<file path="${file.path}">\n${file.content}\n</file>`).join("\n");
		default:
			return undefined;
	}
}

function bashText(message: BashExecutionMessage): string {
	const parts = [`Ran \`${message.command}\``, message.output ? `\`\`\`\n${message.output}\n\`\`\`` : "(no output)"];
	if (message.cancelled) parts.push("(command cancelled)");
	else if (message.exitCode) parts.push(`Command exited with code ${message.exitCode}`);
	if (message.truncated && message.fullOutputPath) parts.push(`[Output truncated. Full output: ${message.fullOutputPath}]`);
	return parts.join("\n");
}
