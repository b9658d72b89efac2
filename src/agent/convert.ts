/** Turns the roles that only the engine knows into messages a provider understands. Pure; unchanged messages keep their identity. */
import type { AgentMessage, BashExecutionMessage, UserMessage } from "../protocol/messages.ts";
import type { ModelMessage } from "./contracts.ts";

export function toModelMessages(messages: readonly AgentMessage[]): ModelMessage[] {
	const sent: ModelMessage[] = [];
	for (const message of messages) {
		if (message.role === "user" || message.role === "assistant" || message.role === "toolResult") {
			sent.push(message);
			continue;
		}
		const content = contentOf(message);
		if (content === undefined) continue;
		sent.push({ role: "user", content: typeof content === "string" ? [{ type: "text", text: content }] : content, timestamp: message.timestamp });
	}
	return sent;
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
