/** The data of the page: the session, without members that only programs need, as text that is safe inside a script element. */
import { cleanJson } from "../../lib/redact-json.ts";
import type { SessionStats } from "../../protocol/commands/session.ts";
import type { AssistantMessage } from "../../protocol/messages.ts";
import type { Entry, Header } from "../entries.ts";
import type { Conversation } from "./subagents.ts";

/** A tool as the model saw it. */
export interface ToolFacts {
	name: string;
	description: string;
	parameters?: unknown;
}

export interface PageInput {
	header: Header;
	/** All entries in the order in which they were written. */
	entries: readonly Entry[];
	/** The entry that is shown first; the last one when it is null. */
	leafId: string | null;
	systemPrompt?: string;
	tools?: readonly ToolFacts[];
	/** Tokens and cost, where they are known better than from a sum over the entries. */
	stats?: Pick<SessionStats, "tokens" | "cost">;
	/** Conversations of subagents, by id. */
	subagents?: ReadonlyMap<string, Conversation>;
	/** Takes credentials out of a text. */
	redact?: (text: string) => string;
}

/** So many characters are handed on at once: a session need not fit into one string. */
const chunkLength = 256 * 1024;

/** The session as JSON in which no markup can begin. Lone surrogates leave as escapes, so the file is always valid UTF-8. */
export function* dataChunks({ header, entries, leafId, systemPrompt, tools, stats, subagents, redact }: PageInput): Generator<string> {
	const inert = (value: unknown) => inertJson(value, redact);
	const facts = tools?.map(({ name, description, parameters }) => ({ name, description, parameters }));
	yield `{"header":${inert(header)},"leafId":${inert(leafId)},"systemPrompt":${inert(systemPrompt ?? null)},`;
	yield `"tools":${inert(facts ?? null)},"stats":${inert(stats ?? null)},"entries":[`;
	yield* entryChunks(entries, inert);
	yield `],"subagents":{`;
	let isFirst = true;
	for (const [id, conversation] of subagents ?? []) {
		yield `${isFirst ? "" : ","}\n${inert(id)}:{"header":${inert(conversation.header)},"entries":[`;
		yield* entryChunks(conversation.entries, inert);
		yield "]}";
		isFirst = false;
	}
	yield "}}";
}

function* entryChunks(entries: readonly Entry[], inert: (value: unknown) => string): Generator<string> {
	let chunk = "";
	for (const [index, entry] of entries.entries()) {
		chunk += index === 0 ? "\n" : ",\n";
		chunk += entryText(entry, inert);
		if (chunk.length < chunkLength) continue;
		yield chunk;
		chunk = "";
	}
	yield `${chunk}\n`;
}

/** An entry that is nested so deep that it cannot be written keeps its place in the tree. */
function entryText(entry: Entry, inert: (value: unknown) => string): string {
	try {
		return inert(withoutReplayData(entry));
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
		const { id, parentId, timestamp } = entry;
		return inert({ type: "custom", id, parentId, timestamp, customType: "Entry that is nested too deep to be shown" });
	}
}

function inertJson(value: unknown, redact: (text: string) => string = (text) => text): string {
	const json = JSON.stringify(value);
	return (redact(json) === json ? json : cleanJson(json, redact)).replaceAll("<", "\\u003c");
}

/** Signatures and encrypted thinking go back to the provider and nowhere else; they may be larger than all text. */
function withoutReplayData(entry: Entry): Entry {
	if (entry?.type !== "message" || entry.message?.role !== "assistant" || !Array.isArray(entry.message.content)) return entry;
	return { ...entry, message: { ...entry.message, content: entry.message.content.map(readable) } };
}

function readable(block: AssistantMessage["content"][number]): AssistantMessage["content"][number] {
	switch (block?.type) {
		case "text":
			return { type: "text", text: block.text };
		case "thinking":
			return { type: "thinking", thinking: block.thinking };
		case "redactedThinking":
			return { type: "redactedThinking", data: "" };
		case "toolCall": {
			const { thoughtSignature: _, ...call } = block;
			return call;
		}
		default:
			return block;
	}
}
