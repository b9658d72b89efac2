/**
 * The requests of a conversation. Each goes out with the day it is for the user. When the part that a provider keeps in its cache changes, the
 * session's file says what changed and what that costs.
 */

import type { ModelMessage, ModelRequest, StreamFunction, ToolDefinition } from "../agent/contracts.ts";
import { toModelMessages } from "../agent/convert.ts";
import {
	type CacheRetention,
	cacheBreak,
	cacheLifetimeMs,
	longLifetimeMs,
	marksCache,
	type PrefixBreak,
	type SupersededResults,
	supersededResults,
} from "../protocol/cache.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { Model, Usage } from "../protocol/model.ts";
import { pricesOf } from "../protocol/prices.ts";
import type { EntryOf } from "../transcript/entries.ts";
import { inShort, superseded } from "../transcript/superseded.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Conversation } from "./conversation.ts";
import { problemWith } from "./conversation.ts";

interface Sent {
	request: ModelRequest;
	at: number;
	/** The place of the compaction that its messages begin with, -1 for none. */
	compaction: number;
	/** As the provider counted the reply. */
	usage?: Usage;
	/** What the next request changed, as the file says already: that request failed and is sent again. */
	changed?: string;
}

export class Requests {
	#conversation: Conversation;
	#now: () => number;
	#retention: CacheRetention;
	#last: Sent | undefined;
	/** The same objects in each request: comparing texts would take time. */
	#superseded: { transcript: Transcript; newest: string | undefined; lines: ReadonlyMap<ModelMessage | AgentMessage, ModelMessage> } | undefined;

	/** `retention`: how long providers are asked to keep what they cache. */
	constructor(conversation: Conversation, now: () => number, retention: CacheRetention) {
		this.#conversation = conversation;
		this.#now = now;
		this.#retention = retention;
	}

	/** Wraps the stream function for the requests of the conversation. */
	watching(stream: StreamFunction): StreamFunction {
		return (asked, options) => {
			const known = this.#shortened(asked);
			this.#noteBreak(known);
			const request = this.#noteSuperseded(known) ? this.#shortened(known) : known;
			const { utcOffset, branch } = this.#conversation.transcript;
			const compaction = branch.lastOf("compaction");
			const sent: Sent = { request: { ...request, utcOffset, prefixSince: this.#prefixSince }, at: this.#now(), compaction };
			const before = this.#last;
			this.#last = sent;
			return stream(sent.request, {
				...options,
				onEvent: (event) => {
					if (event.type === "done") sent.usage = event.message.usage;
					// Nothing is known of a request that failed, except that the one before it was answered.
					else if (event.type === "error" && this.#last === sent) this.#last = before;
					options.onEvent(event);
				},
			});
		};
	}

	/**
	 * Returns a request for the conversation as it is, which begins with what the provider still has of the last one. Undefined if it may have
	 * nothing, as where requests do not say what is to be kept: nobody knows for how long such a provider keeps what.
	 */
	continued(model: Model): ModelRequest | undefined {
		const last = this.#last;
		if (!last || !marksCache(model) || !this.#isKept(last) || !isSame(last.request.model, model) || !this.#isOurs(last.request)) return undefined;
		const { request } = last;
		// Without the choice the provider would not find the messages that it keeps.
		if (request.toolChoice !== undefined) return undefined;
		const { messages } = this.#shortened({ ...request, messages: toModelMessages(this.#conversation.messages) });
		return firstDifference(request.messages, messages) < request.messages.length ? undefined : { ...request, messages };
	}

	/** Whether the provider has messages that another thinking level would make it forget. */
	get hasCachedMessages(): boolean {
		const last = this.#last;
		return last !== undefined && marksCache(last.request.model) && last.request.model.reasoning && this.#isOurs(last.request);
	}

	#isOurs({ sessionId }: ModelRequest): boolean {
		return sessionId === this.#conversation.transcript.cacheKey;
	}

	/** Returns whether the provider has stored the request, and its lifetime is not over. */
	#isKept({ usage, at, request }: Sent): boolean {
		const isCached = usage !== undefined && usage.cacheRead + usage.cacheWrite > 0;
		return isCached && this.#now() - at < cacheLifetimeMs(request.model, this.#retention);
	}

	/** When tools, system prompt or superseded results changed last, as the file says. */
	get #prefixSince(): number | undefined {
		for (const { customType, data, timestamp } of this.#notes()) {
			if (customType === supersededResults || (data as PrefixBreak | undefined)?.segment !== "messages") return Date.parse(timestamp);
		}
		return undefined;
	}

	/** Lists what the file says about requests, the newest first. */
	*#notes() {
		const { branch } = this.#conversation.transcript;
		for (let place = branch.lastOf("custom"); place >= 0; place--) {
			if (branch.kind(place) !== "custom") continue;
			if (![cacheBreak, supersededResults].some((type) => branch.mayHold(place, `"${type}"`))) continue;
			const entry = branch.entry(place) as EntryOf<"custom"> & { timestamp: string };
			if (entry.customType === cacheBreak || entry.customType === supersededResults) yield entry;
		}
	}

	/**
	 * Returns the request with a line in the place of each result that the file names as superseded. The file decides, so that the process that opens the
	 * session next sends the same bytes.
	 */
	#shortened(request: ModelRequest): ModelRequest {
		if (!marksCache(request.model)) return request;
		const lines = this.#supersededLines();
		return lines.size === 0 ? request : { ...request, messages: request.messages.map((message) => lines.get(message) ?? message) };
	}

	/** Returns the line in the place of each superseded result. The newest note that the branch holds stands for all that it holds. */
	#supersededLines(): ReadonlyMap<ModelMessage | AgentMessage, ModelMessage> {
		const notes = [...this.#notes()].filter(({ customType }) => customType === supersededResults);
		const { transcript } = this.#conversation;
		const newest = notes[0]?.id;
		const known = this.#superseded;
		if (known && known.newest === newest && known.transcript === transcript) return known.lines;
		const lines = new Map<ModelMessage | AgentMessage, ModelMessage>();
		for (const id of notes.flatMap(({ data }) => (data as SupersededResults | undefined)?.entries ?? [])) {
			const entry = transcript.find(id);
			if (entry?.type === "message" && entry.message.role === "toolResult") lines.set(entry.message, inShort(entry.message));
		}
		this.#superseded = { transcript, newest, lines };
		return lines;
	}

	/** Notes which results were superseded, at a prompt for which the provider has forgotten the conversation. Returns whether there are any. */
	#noteSuperseded({ model, messages }: ModelRequest): boolean {
		if (!marksCache(model) || messages.at(-1)?.role !== "user" || this.#mayBeKept(model, messages)) return false;
		const results = new Set<AgentMessage>(superseded(messages));
		if (results.size === 0) return false;
		const { branch } = this.#conversation.transcript;
		const entries: string[] = [];
		for (let place = branch.length - 1; place >= 0 && entries.length < results.size; place--) {
			if (branch.kind(place) !== "message:toolResult") continue;
			const entry = branch.entry(place) as EntryOf<"message">;
			if (results.has(entry.message)) entries.unshift(branch.id(place));
		}
		const data: SupersededResults = { entries };
		return (
			entries.length > 0 && problemWith(() => void this.#conversation.append({ type: "custom", customType: supersededResults, data })) === undefined
		);
	}

	/** Returns whether any model replied so recently that its provider may still have the conversation. */
	#mayBeKept(model: Model, messages: readonly ModelMessage[]): boolean {
		// Some providers keep what is asked for longer and do not say for how long.
		const forgottenMs = this.#retention === "long" ? longLifetimeMs : cacheLifetimeMs(model, this.#retention);
		const since = this.#now() - forgottenMs;
		return messages.some((message) => message.role === "assistant" && message.stopReason !== "error" && message.timestamp > since);
	}

	#noteBreak(request: ModelRequest): void {
		const last = this.#last;
		if (!last || !marksCache(request.model) || !isSame(last.request.model, request.model) || !this.#isOurs(last.request)) return;
		const isCompacted = this.#conversation.transcript.branch.lastOf("compaction") > last.compaction;
		const change = changeBetween(last.request, request, isCompacted);
		if (!change || change.cause === last.changed) return;
		last.changed = change.cause;
		const lostTokens = this.#isKept(last) ? Math.round(sizeOf(last.usage) * change.share) : 0;
		const { input, cacheRead, cacheWrite } = pricesOf(request.model, { input: sizeOf(last.usage) });
		const costUsd = (lostTokens * Math.max(0, Math.max(input, cacheWrite) - cacheRead)) / 1e6;
		const data: PrefixBreak = { segment: change.segment, cause: change.cause, lostTokens, costUsd };
		// Without room on the disk the next message cannot be stored either, and says so.
		problemWith(() => void this.#conversation.append({ type: "custom", customType: cacheBreak, data }));
	}
}

const isSame = (one: Model, other: Model) => one.provider === other.provider && one.id === other.id;

const sizeOf = (usage: Usage | undefined) => (usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0);

interface Change {
	segment: PrefixBreak["segment"];
	cause: string;
	/** How much of the earlier request comes after the change. */
	share: number;
}

/** Returns the first change from one request to the next, in the provider's order: tools, system prompt, messages. */
function changeBetween(before: ModelRequest, after: ModelRequest, isCompacted: boolean): Change | undefined {
	const toolCause = toolsCause(before.tools, after.tools);
	if (toolCause !== undefined) return { segment: "tools", cause: toolCause, share: 1 };
	const fixed = () => lengthOf(before.tools) + before.systemPrompt.length;
	if (before.systemPrompt !== after.systemPrompt) {
		const cause = `the system prompt changed: ${changedLine(before.systemPrompt, after.systemPrompt)}; keep instructions and extensions as they are until the session ends`;
		return { segment: "system", cause, share: 1 - lengthOf(before.tools) / (fixed() + lengthOf(before.messages)) };
	}
	const among = (lost: readonly ModelMessage[], cause: string): Change => {
		return { segment: "messages", cause, share: lengthOf(lost) / (fixed() + lengthOf(before.messages)) };
	};
	const from = (index: number, cause: string) => among(before.messages.slice(index), cause);
	const first = firstDifference(before.messages, after.messages);
	// An extension that is given the messages of a request returns copies of them.
	const kept = new Set(first < before.messages.length ? after.messages.map(textOf) : []);
	const stays = (message: ModelMessage) => kept.has(textOf(message));
	// What went into the summary is not written again.
	if (isCompacted && first < before.messages.length) return among(before.messages.slice(first).filter(stays), "the conversation was compacted");
	if (before.model.reasoning && before.thinkingLevel !== after.thinkingLevel)
		return from(0, `the thinking level changed from ${before.thinkingLevel} to ${after.thinkingLevel}; choose it before the first prompt`);
	// Models that think are not told which tool to call.
	const told = ({ model, thinkingLevel, toolChoice }: ModelRequest) => (model.reasoning && thinkingLevel !== "off" ? undefined : toolChoice);
	if (told(before) !== told(after)) return from(0, `the model was told to call ${told(before) ?? told(after)} in one request and not in the next`);
	const isReplaced = before.messages.slice(first + 1).some(stays);
	// Otherwise the conversation goes on from an earlier message, which costs nothing.
	return isReplaced ? from(first, `message ${first + 1} of the conversation changed; an extension or an edit replaced what was said`) : undefined;
}

/** Returns the number of messages that two lists share at their beginning. */
function firstDifference(before: readonly ModelMessage[], after: readonly ModelMessage[]): number {
	const isEqual = (message: ModelMessage, other: ModelMessage | undefined) => message === other || textOf(message) === textOf(other);
	const found = before.findIndex((message, index) => !isEqual(message, after[index]));
	return found < 0 ? before.length : found;
}

const textOf = (value: unknown) => JSON.stringify(value) ?? "";
const lengthOf = (parts: readonly unknown[]) => parts.reduce<number>((sum, part) => sum + textOf(part).length, 0);

/** Returns in words how the tools changed, or undefined. */
function toolsCause(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): string | undefined {
	if (before.length === after.length && before.every((tool, index) => tool === after[index])) return undefined;
	const declared = ({ name, description, parameters }: ToolDefinition) => textOf([name, description, parameters]);
	if (before.map(declared).join() === after.map(declared).join()) return undefined;
	const missing = (from: readonly ToolDefinition[], among: readonly ToolDefinition[]) =>
		from.filter((tool) => !among.some((other) => declared(other) === declared(tool))).map(({ name }) => name);
	const changed = [...new Set([...missing(after, before), ...missing(before, after)])];
	// The tool for resources is there as long as any server has some.
	const servers = new Set(changed.filter((name) => name !== "mcp_resource").map((name) => /^mcp__(.+?)__/.exec(name)?.[1]));
	const [server] = servers;
	if (changed.join() === "submit_result" && after.length > before.length)
		return "the first outputSchema added the tool submit_result; ask for a value with the first prompt";
	if (servers.size === 1 && server !== undefined) return `MCP server ${JSON.stringify(server)} changed its tools`;
	return changed.length === 0
		? "the order of the tools changed"
		: `tools changed: ${changed.slice(0, 5).join(", ")}${changed.length > 5 ? ", …" : ""}`;
}

/** Returns the first line of a text that was not the same before. */
function changedLine(before: string, after: string): string {
	const lines = before.split("\n");
	const changed = after.split("\n").find((line, index) => line !== lines[index]) ?? "its end was removed";
	return JSON.stringify(changed.slice(0, 80));
}
