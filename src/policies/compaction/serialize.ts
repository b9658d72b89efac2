/** A conversation as text for the summarising model. Given chat turns, the model would continue them instead. Pure. */
import { factsOf } from "../../lib/tool-facts.ts";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.ts";
import type { Entry } from "../../transcript/entries.ts";
import { inShort, superseded } from "../../transcript/superseded.ts";

/** The model can get a tool's output again. Its beginning shows what it was, its end how it ended: there a test says what failed. */
const resultLimit = 2000;
const resultHead = 700;
/** The arguments of a write contain whole files. */
const argumentLimit = 800;

/**
 * One piece per message; none for messages without text. Thinking is omitted: it is long, and its result was said or done. A result that another
 * one supersedes, here or in the entries that come `later`, is one line.
 */
export function serialize(entries: readonly Entry[], later: readonly Entry[] = []): string[] {
	const messages = [...entries, ...later].flatMap((entry) => (entry.type === "message" && entry.message ? [entry.message] : []));
	const short = new Set<AgentMessage>(superseded(messages));
	return entries.flatMap((entry) => {
		switch (entry.type) {
			case "message":
				return ofMessage(entry.message?.role === "toolResult" && short.has(entry.message) ? inShort(entry.message) : entry.message);
			case "custom_message":
				return labelled("User", textOf(entry.content));
			case "branch_summary":
				return labelled("Summary of another branch", entry.summary);
			default:
				return [];
		}
	});
}

export interface FileLists {
	/** Read and never changed. */
	readFiles: string[];
	modifiedFiles: string[];
}

/** The files that were touched, with those of an earlier compaction. Calls that failed touched nothing. */
export function fileLists(entries: readonly Entry[], earlier: unknown): FileLists {
	const read = new Set(pathsIn(earlier, "readFiles"));
	const modified = new Set(pathsIn(earlier, "modifiedFiles"));
	const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
	const failed = new Set(messages.flatMap((message) => (message.role === "toolResult" && message.isError ? [message.toolCallId] : [])));
	for (const message of messages) {
		if (message.role !== "assistant") continue;
		for (const block of message.content ?? []) {
			if (block.type !== "toolCall" || failed.has(block.id)) continue;
			const path = block.arguments.path ?? block.arguments.file_path;
			if (typeof path !== "string" || path === "") continue;
			const { effect, reach } = factsOf(block.name) ?? {};
			if (reach !== "file") continue;
			if (effect === "read") read.add(path);
			else modified.add(path);
		}
	}
	return { readFiles: [...read].filter((path) => !modified.has(path)).sort(), modifiedFiles: [...modified].sort() };
}

/** The lists in the form used at the end of a summary. */
export function fileBlocks({ readFiles, modifiedFiles }: FileLists): string {
	const block = (tag: string, paths: string[]) => (paths.length ? `\n\n<${tag}>\n${paths.join("\n")}\n</${tag}>` : "");
	return block("read-files", readFiles) + block("modified-files", modifiedFiles);
}

/** Returns a summary without its lists and without the words of the user, which are collected again. */
export function withoutFileBlocks(summary: string): string {
	return summary
		.replace(/\n*<user-messages>\n[\s\S]*\n<\/user-messages>/, "")
		.replace(/\n*<(read-files|modified-files)>\n[\s\S]*?\n<\/\1>/g, "")
		.trim();
}

/** Returns the beginning and the end of a text, with a note in between on how much is missing. Never cuts a character in half. */
export function middleCut(text: string, limit: number, head: number): string {
	if (text.length <= limit) return text;
	const end = endsInHalf(text, head) ? head - 1 : head;
	const tail = text.length - limit + head;
	const start = endsInHalf(text, tail) ? tail + 1 : tail;
	return `${text.slice(0, end)}\n[… ${start - end} characters left out …]\n${text.slice(start)}`;
}

/** The beginning of a text, with a note on how much is missing. Never ends in half a character. */
export function cutText(text: string, limit: number): string {
	if (text.length <= limit) return text;
	const end = endsInHalf(text, limit) ? limit - 1 : limit;
	return `${text.slice(0, end)}\n[… ${text.length - end} more characters left out]`;
}

export function endsInHalf(text: string, end: number): boolean {
	const code = text.charCodeAt(end - 1);
	return code >= 0xd800 && code <= 0xdbff;
}

function ofMessage(message: AgentMessage): string[] {
	switch (message.role) {
		case "user":
			return labelled("User", textOf(message.content));
		case "developer":
			return labelled("Reminder", textOf(message.content));
		case "custom":
			return labelled("User", textOf(message.content));
		case "assistant":
			return ofReply(message);
		case "toolResult":
			return labelled(message.isError ? "Tool error" : "Tool result", shownResult(textOf(message.content)) || "(nothing)");
		case "bashExecution":
			if (message.excludeFromContext) return [];
			return labelled("User ran a command", `${message.command}\n${shownResult(message.output)}${exitNote(message.exitCode)}`);
		case "branchSummary":
			return labelled("Summary of another branch", message.summary);
		case "compactionSummary":
			return labelled("Summary of what came before", message.summary);
		case "fileMention":
			return labelled("User named files", message.files.map(({ path, content }) => `${path}:\n${cutText(content, resultLimit)}`).join("\n"));
		default:
			return [];
	}
}

const shownResult = (text: string) => middleCut(text, resultLimit, resultHead);

function ofReply({ content, stopReason, errorMessage }: AssistantMessage): string[] {
	const blocks = content ?? [];
	const words = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
	const calls = blocks.flatMap((block) => (block.type === "toolCall" ? [`${block.name}(${argumentsOf(block.arguments)})`] : []));
	const ending =
		stopReason === "aborted" ? "stopped by the user" : stopReason === "error" ? `failed: ${cutText(errorMessage ?? "", 200)}` : undefined;
	return [
		...labelled("Assistant", words),
		...labelled("Assistant tool calls", calls.join("\n")),
		...(ending && words + calls.join() !== "" ? [`[The reply was ${ending}]`] : []),
	];
}

function argumentsOf(args: Record<string, unknown>): string {
	return Object.entries(args)
		.map(([key, value]) => `${key}=${cutText(JSON.stringify(value) ?? "null", argumentLimit)}`)
		.join("; ");
}

function exitNote(exitCode: number | undefined): string {
	return exitCode ? `\n(exit code ${exitCode})` : "";
}

function labelled(label: string, text: string): string[] {
	return text.trim() === "" ? [] : [`[${label}]: ${text}`];
}

/** `unknown[]`, because session files of other programs are read too. */
export function textOf(content: string | readonly unknown[] | undefined): string {
	if (typeof content === "string") return content;
	return (content ?? [])
		.map((block) => {
			const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
			return type === "image" ? "[image]" : typeof text === "string" ? text : "";
		})
		.filter((text) => text !== "")
		.join("\n");
}

function pathsIn(details: unknown, key: string): string[] {
	const list = typeof details === "object" && details !== null ? (details as Record<string, unknown>)[key] : undefined;
	return Array.isArray(list) ? list.filter((path) => typeof path === "string") : [];
}
