/** The conversation as a list of items to show. Built from the messages of a session, then updated by its events. */
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, ToolResult } from "../protocol/messages.ts";

export type Level = "info" | "warning" | "error";

export interface ToolCallItem {
	kind: "tool";
	id: string;
	name: string;
	args: unknown;
	state: "waiting" | "running" | "done" | "failed";
	output: string;
	/** What the tool says beyond its text: a patch, the subagents of a task. */
	details?: unknown;
}

export type Item = (
	| { kind: "user"; text: string }
	| { kind: "text"; text: string }
	| { kind: "thinking"; text: string }
	| { kind: "notice"; level: Level; text: string }
	| ToolCallItem
) & {
	/** Grows with every change. */
	version: number;
};

type Content = Extract<AgentMessage, { role: "user" }>["content"];
type Block = AssistantMessage["content"][number];
type ShellResult = Pick<Extract<AgentMessage, { role: "bashExecution" }>, "output" | "exitCode" | "cancelled">;
type Update = EventOf<"message_update">["assistantMessageEvent"];

export class Conversation {
	items: Item[] = [];
	/** The items for the blocks of the current reply, by block index. */
	#live = new Map<number, Item>();
	#calls = new Map<string, Item & ToolCallItem>();

	/** Starts again with the messages of a session. */
	reset(messages: readonly AgentMessage[]): void {
		this.items = [];
		this.#live.clear();
		this.#calls.clear();
		for (const message of messages) this.#add(message);
	}

	notice(level: Level, text: string): void {
		this.#push({ kind: "notice", level, text, version: 0 });
	}

	/** A text of the chat itself, in Markdown. */
	show(text: string): void {
		this.#push({ kind: "text", text, version: 0 });
	}

	/** A command of the user's own; without a result it is running. */
	shell(id: string, command: string, result?: ShellResult): void {
		if (!result) return this.#call(id, "$", { command }, "running");
		const { output, exitCode, cancelled } = result;
		const ending = cancelled ? "Aborted." : exitCode ? `Exit code ${exitCode}` : "";
		const text = [output.trimEnd(), ending].filter(Boolean).join("\n");
		this.#call(id, "$", { command }, ending ? "failed" : "done", { content: [{ type: "text", text }] });
	}

	hear(event: AgentEvent): void {
		switch (event.type) {
			case "message_start":
				if (event.message.role === "assistant") this.#live.clear();
				return;
			case "message_update":
				return this.#grow(event.assistantMessageEvent);
			case "message_end":
				return this.#add(event.message);
			case "tool_execution_start":
				return this.#call(event.toolCallId, event.toolName, event.args, "running");
			case "tool_execution_update":
				return this.#call(event.toolCallId, event.toolName, event.args, "running", event.partialResult);
			case "tool_execution_end":
				return this.#call(event.toolCallId, event.toolName, undefined, event.isError ? "failed" : "done", event.result);
			case "auto_retry_start":
				return this.notice("warning", `${event.errorMessage} Trying again in ${event.delayMs / 1000} s (${event.attempt} of ${event.maxAttempts}).`);
			case "auto_compaction_end":
				if (event.result) return this.notice("info", "The conversation was compacted.");
				return event.errorMessage ? this.notice("warning", `It could not be compacted: ${event.errorMessage}`) : undefined;
			case "budget_exceeded":
				return this.notice("error", `The budget is used up (${event.snapshot.reason}).`);
			case "extension_error":
				return this.notice("error", `${event.extensionPath}: ${event.error}`);
		}
	}

	/** A message is complete: corrects the item that has grown from its deltas. */
	#add(message: AgentMessage): void {
		switch (message.role) {
			case "user":
				return void this.#push({ kind: "user", text: userText(message.content), version: 0 });
			case "assistant": {
				for (const [index, block] of message.content.entries()) this.#settle(index, block);
				this.#live.clear();
				if (message.stopReason === "error") this.notice("error", message.errorMessage ?? "The reply failed.");
				if (message.stopReason === "aborted") this.notice("warning", message.errorMessage ?? "Aborted.");
				if (message.stopReason === "length") this.notice("warning", "The reply was cut: it reached the model's limit.");
				return;
			}
			case "toolResult":
				return this.#call(message.toolCallId, message.toolName, undefined, message.isError ? "failed" : "done", message);
			case "bashExecution":
				return this.shell(`bash-${message.timestamp}-${this.items.length}`, message.command, message);
			case "custom":
				return message.display ? this.notice("info", textOf(message.content)) : undefined;
			case "compactionSummary":
			case "branchSummary":
				return this.notice(
					"info",
					`${message.role === "branchSummary" ? "Of the branch that was left" : "What was said before, in short"}:\n${message.summary}`,
				);
		}
	}

	#grow(step: Update): void {
		const item = this.#live.get(step.contentIndex);
		switch (step.type) {
			case "text_start":
			case "thinking_start":
				return void this.#live.set(step.contentIndex, this.#push({ kind: step.type === "text_start" ? "text" : "thinking", text: "", version: 0 }));
			case "text_delta":
			case "thinking_delta":
				if (item && "text" in item) change(item, { text: item.text + step.delta });
				return;
			case "toolcall_end":
				return this.#call(step.toolCall.id, step.toolCall.name, step.toolCall.arguments, "waiting");
		}
	}

	#settle(index: number, block: Block): void {
		const item = this.#live.get(index);
		if (block.type === "toolCall") return this.#calls.has(block.id) ? undefined : this.#call(block.id, block.name, block.arguments, "waiting");
		// Files of other programs hold blocks of other kinds, too.
		if (block.type !== "text" && block.type !== "thinking") return;
		const text = block.type === "text" ? block.text : block.thinking;
		if (item && "text" in item) change(item, { text });
		else if (text !== "") this.#push({ kind: block.type, text, version: 0 });
	}

	#call(id: string, name: string, args: unknown, state: ToolCallItem["state"], result?: ToolResult): void {
		let item = this.#calls.get(id);
		if (!item) {
			item = { kind: "tool", id, name, args, state, output: "", version: 0 };
			this.#calls.set(id, item);
			this.#push(item);
		}
		change(item, {
			state,
			args: args ?? item.args,
			output: result ? textOf(result.content) : item.output,
			details: result?.details ?? item.details,
		});
	}

	#push(item: Item): Item {
		this.items.push(item);
		return item;
	}
}

function change<Kind extends Item>(item: Kind, changes: Partial<Kind>): void {
	Object.assign(item, changes, { version: item.version + 1 });
}

/** Images have a mark in the text if it was written here. */
function userText(content: Content): string {
	const isMarked = typeof content !== "string" && content.some((block) => block.type === "text" && /\[image \d+\]/.test(block.text));
	return textOf(isMarked ? content.filter(({ type }) => type === "text") : content);
}

export function textOf(content: Content): string {
	if (typeof content === "string") return content;
	return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
