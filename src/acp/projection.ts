/**
 * Our events as updates of version 1 of the protocol: the one place that decides what an editor shows. Live events and the entries of a stored
 * session go through the same functions.
 */

import { randomBytes } from "node:crypto";
import type { CompactionUpdate, Notice, PlanEntry, SessionUpdate, ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, ToolResult } from "../protocol/messages.ts";
import type { TodoPhase } from "../protocol/todos.ts";
import type { Branch } from "../transcript/entries.ts";
import type { Client } from "./capabilities.ts";
import { type Chunks, pieces } from "./chunks.ts";
import { storedPrompt } from "./content.ts";
import type { Change } from "./diffs.ts";
import { TerminalOutput } from "./terminal-output.ts";
import { type Args, type ToolView, textBlock } from "./tool-view.ts";
import { storedMessage } from "./usage.ts";

export interface ProjectionParts {
	client: Client;
	cwd: string;
	chunks: Chunks;
	view: ToolView;
	send: (update: SessionUpdate) => void;
	/** Whether the client keeps up; progress of calls waits meanwhile. */
	isOpen: () => boolean;
	/** What a call did to a file, as far as this process saw it. */
	changeOf: (toolCallId: string) => Change | undefined;
	todos: () => readonly TodoPhase[];
	now: () => number;
}

/** A call that an editor shows. */
interface ShownCall {
	/** Unique in the session, unlike the model's. */
	id: string;
	modelId: string;
	name: string;
	args: Args;
	/** Completed or failed. */
	isOver: boolean;
	hasInput: boolean;
	/** Of the reply that makes the call; it is over before its calls are. */
	terminal?: TerminalOutput;
	/** Progress that waits for its time. */
	waiting?: ToolResult;
	timer?: NodeJS.Timeout;
	nextAt: number;
}

const progressMs = 250;
const terminalMs = 100;

export class Projection {
	#parts: ProjectionParts;
	/** The newest call with each of the model's ids. */
	#calls = new Map<string, ShownCall>();
	#used = new Set<string>();
	/** Calls of the todo tool by the model's ids. */
	#hidden = new Set<string>();
	#messageId = "";
	/** Blocks of the current reply that came in deltas. */
	#streamed = new Set<number>();
	#compaction: { id: string } | undefined;
	#lastPlan = "";
	/** A prompt of the client is open. */
	isInTurn = false;
	/** The turn was answered before everything had ended; nothing more of it is shown. */
	isMuted = false;

	constructor(parts: ProjectionParts) {
		this.#parts = parts;
	}

	// ── Live ────────────────────────────────────────────────────────────────────────────────────────

	observe(event: AgentEvent): void {
		if (this.isMuted) return;
		switch (event.type) {
			case "message_start":
				if (event.message.role === "assistant") this.#beginReply();
				return;
			case "message_update":
				return this.#step(event.assistantMessageEvent);
			case "message_end":
				return this.#endMessage(event.message);
			case "tool_execution_start":
				return this.#begin(event);
			case "tool_execution_update":
				return this.#progress(event.toolCallId, event.partialResult);
			case "tool_execution_end":
				return this.#end(event.toolCallId, event.result, event.isError);
			case "todo_auto_clear":
				return this.plan(this.#parts.todos());
			case "auto_compaction_start":
			case "compaction_start":
				return this.#beginCompaction();
			case "auto_compaction_end":
				return this.#endCompaction(event.result?.summary, event.aborted, event.errorMessage);
			case "compaction_end":
				return this.#endCompaction(event.result?.summary, event.aborted, event.errorMessage);
			case "auto_retry_start":
				return this.notice(
					"warning",
					`The provider failed; attempt ${event.attempt} of ${event.maxAttempts} follows in ${event.delayMs / 1000} s`,
					event.errorMessage,
				);
			case "budget_warning":
				return this.notice("warning", `The budget is nearly used up (${event.snapshot.reason})`);
			case "extension_error":
				return this.notice("error", `Extension ${event.extensionPath} failed in ${event.event}`, event.error);
		}
	}

	/** Nothing for a client that does not show notices: a message would look as if the model had said it. */
	notice(severity: Notice["severity"], title: string, description?: string): void {
		if (!this.#parts.client.hasNotices || title === "") return;
		this.#parts.send({ sessionUpdate: "notice", severity, title, ...(description && { description }) });
	}

	/** Says something that is stored nowhere. */
	say(text: string): void {
		this.#text("agent_message_chunk", freshId(), text);
	}

	/** The whole list each time. Held back outside a turn. */
	plan(phases: readonly TodoPhase[]): void {
		if (!this.isInTurn) return;
		const entries = planEntries(phases);
		const json = JSON.stringify(entries);
		if (json === this.#lastPlan) return;
		this.#lastPlan = json;
		this.#parts.send({ sessionUpdate: "plan", entries });
	}

	/** A call that has been announced, by the model's id; its own id is what the client knows. */
	shown(modelId: string): { id: string; title: string; kind: ReturnType<ToolView["kind"]>; args: Args } | undefined {
		const call = this.#calls.get(modelId);
		if (!call) return undefined;
		const { view } = this.#parts;
		return { id: call.id, title: view.title(call.name, call.args), kind: view.kind(call.name), args: view.input(call.args) };
	}

	/** Arguments as they are shown. */
	input(args: Args): Args {
		return this.#parts.view.input(args);
	}

	/** Announces something that is asked as if it were a call. Returns its id and how to end it. */
	question(title: string, text: string): { id: string; end: (isAnswered: boolean) => void } {
		const id = this.#freshCallId("question");
		const content = text === "" ? [] : [textBlock(text)];
		this.#parts.send({ sessionUpdate: "tool_call", toolCallId: id, title, kind: "other", status: "pending", content });
		return {
			id,
			end: (isAnswered) => this.#parts.send({ sessionUpdate: "tool_call_update", toolCallId: id, status: isAnswered ? "completed" : "failed" }),
		};
	}

	/** Ends what a turn left open: every call that was announced is completed or failed. */
	endTurn(): void {
		for (const call of this.#calls.values()) if (!call.isOver) this.#finish(call, "failed");
		this.#parts.chunks.flush();
	}

	#beginReply(): void {
		this.#messageId = freshId();
		this.#streamed.clear();
	}

	#step(step: EventOf<"message_update">["assistantMessageEvent"]): void {
		const { contentIndex } = step;
		const { chunks } = this.#parts;
		switch (step.type) {
			case "text_delta":
				this.#streamed.add(contentIndex);
				return chunks.add("agent_message_chunk", this.#messageId, contentIndex, step.delta);
			case "thinking_delta":
				this.#streamed.add(contentIndex);
				return chunks.add("agent_thought_chunk", this.#messageId, contentIndex, step.delta);
			case "toolcall_start": {
				const block = step.partial?.content[contentIndex];
				const call = block?.type === "toolCall" ? block : undefined;
				const [id, name] = [step.id ?? call?.id, step.toolName ?? call?.name];
				if (!id || !name) return;
				this.#streamed.add(contentIndex);
				this.#announce(id, name);
				return;
			}
			case "toolcall_end":
				if (!this.#streamed.has(contentIndex)) this.#announce(step.toolCall.id, step.toolCall.name);
				this.#streamed.add(contentIndex);
				return this.#describe(step.toolCall.id, step.toolCall.arguments);
		}
	}

	#endMessage(message: AgentMessage): void {
		if (message.role === "assistant") return this.#endReply(message);
		if (message.role === "custom" && message.display && this.isInTurn) this.#content("agent_message_chunk", freshId(), message.content);
	}

	#endReply(message: AssistantMessage): void {
		const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
		for (const [index, block] of message.content.entries()) {
			const isStreamed = this.#streamed.has(index);
			if (block.type === "text" && !isStreamed) this.#text("agent_message_chunk", this.#messageId, block.text);
			else if (block.type === "thinking" && !isStreamed) this.#text("agent_thought_chunk", this.#messageId, block.thinking);
			else if (block.type === "toolCall") {
				if (!isStreamed) this.#announce(block.id, block.name);
				const call = this.#calls.get(block.id);
				if (call && !call.hasInput) this.#describe(block.id, block.arguments);
				// No tool is run for a reply that failed.
				if (call && hasFailed && !call.isOver) this.#finish(call, "failed");
			}
		}
		this.#parts.chunks.flush();
	}

	/** `shown`: the call, where it was announced before and is shown again. */
	#announce(modelId: string, name: string, shown?: ShownCall): void {
		const { client, view, send, cwd } = this.#parts;
		if (view.isPlan(name)) return void this.#hidden.add(modelId);
		this.#hidden.delete(modelId);
		const before = this.#calls.get(modelId);
		if (before && !before.isOver) this.#finish(before, "failed");
		const id = this.#freshCallId(modelId);
		const call: ShownCall = shown ?? { id, modelId, name, args: {}, isOver: false, hasInput: false, nextAt: 0 };
		call.id = id;
		this.#calls.set(modelId, call);
		const head = { toolCallId: call.id, title: view.label(name), name, kind: view.kind(name), status: "pending" as const };
		if (!view.isCommand(name) || !client.hasTerminalOutput) return send({ sessionUpdate: "tool_call", ...head });
		call.terminal = new TerminalOutput(call.id);
		send({ sessionUpdate: "tool_call", ...head, content: call.terminal.content, _meta: { terminal_info: { terminal_id: call.id, cwd } } });
	}

	#describe(modelId: string, args: Args): void {
		const call = this.#calls.get(modelId);
		if (!call || call.isOver) return;
		call.args = args;
		call.hasInput = true;
		const { view, send } = this.#parts;
		const { name, id } = call;
		send({
			sessionUpdate: "tool_call_update",
			toolCallId: id,
			title: view.title(name, args),
			...placesIn(view.locations(name, args)),
			rawInput: view.input(args),
		});
	}

	#begin({ toolCallId, toolName, args }: EventOf<"tool_execution_start">): void {
		const known = this.#calls.get(toolCallId);
		// A call that no reply announced, such as one that a policy makes.
		if (!this.#hidden.has(toolCallId) && (!known || known.isOver)) this.#announce(toolCallId, toolName);
		const call = this.#calls.get(toolCallId);
		if (!call || this.#hidden.has(toolCallId)) return;
		if (!call.hasInput) this.#describe(toolCallId, args);
		this.#parts.send({ sessionUpdate: "tool_call_update", toolCallId: call.id, status: "in_progress" });
	}

	#progress(modelId: string, result: ToolResult): void {
		const call = this.#calls.get(modelId);
		if (!call || call.isOver) return;
		call.waiting = result;
		if (call.timer) return;
		const wait = call.nextAt - this.#parts.now();
		if (wait <= 0 && this.#parts.isOpen()) return this.#tellProgress(call);
		this.#later(call, wait);
	}

	#later(call: ShownCall, wait: number): void {
		call.timer = setTimeout(
			() => {
				call.timer = undefined;
				if (call.isOver || this.isMuted) return;
				if (this.#parts.isOpen()) this.#tellProgress(call);
				else this.#later(call, progressMs);
			},
			Math.max(wait, 1),
		);
	}

	#tellProgress(call: ShownCall): void {
		const result = call.waiting;
		if (!result) return;
		call.waiting = undefined;
		const { view, send, now } = this.#parts;
		call.nextAt = now() + (call.terminal ? terminalMs : progressMs);
		if (!call.terminal) return send({ sessionUpdate: "tool_call_update", toolCallId: call.id, content: view.progress(call.name, result) });
		for (const _meta of call.terminal.output(result)) send({ sessionUpdate: "tool_call_update", toolCallId: call.id, _meta });
	}

	#end(modelId: string, result: ToolResult, isError: boolean): void {
		if (this.#hidden.delete(modelId)) {
			const phases = (result.details as { phases?: readonly TodoPhase[] } | undefined)?.phases;
			if (phases) this.plan(phases);
			return;
		}
		const call = this.#calls.get(modelId);
		if (!call || call.isOver) return;
		if (call.terminal) {
			for (const _meta of call.terminal.output(result, isError)) {
				this.#parts.send({ sessionUpdate: "tool_call_update", toolCallId: call.id, _meta });
			}
		}
		this.#finish(call, isError ? "failed" : "completed", result);
	}

	#finish(call: ShownCall, status: "completed" | "failed", result?: ToolResult): void {
		clearTimeout(call.timer);
		call.timer = undefined;
		call.waiting = undefined;
		call.isOver = true;
		const { send } = this.#parts;
		if (!result) return send({ sessionUpdate: "tool_call_update", toolCallId: call.id, status });
		const { content, ...rest } = this.#outcome(call, result, status === "failed");
		const { terminal } = call;
		send({
			sessionUpdate: "tool_call_update",
			toolCallId: call.id,
			status,
			...rest,
			...(terminal ? { _meta: terminal.exit(result, status === "failed") } : { content }),
		});
	}

	/** What a finished call shows, live and replayed. */
	#outcome({ name, args, modelId }: Pick<ShownCall, "name" | "args" | "modelId">, result: ToolResult, isError: boolean, isStored = false) {
		const { view, changeOf } = this.#parts;
		const change = isStored || isError ? undefined : changeOf(modelId);
		const content: ToolCallContent[] = view.content({ name, args, result, isError, change });
		const rawOutput = view.output(result);
		return { ...placesIn(view.locations(name, args, isError ? undefined : result)), content, ...(rawOutput === undefined ? {} : { rawOutput }) };
	}

	#beginCompaction(): void {
		this.#compaction = { id: freshId() };
		this.#compact({ compactionId: this.#compaction.id, status: "in_progress" });
	}

	#endCompaction(summary: string | undefined, isAborted: boolean, error: string | undefined): void {
		const compactionId = this.#compaction?.id;
		if (compactionId === undefined) return;
		this.#compaction = undefined;
		if (summary !== undefined) this.#compact({ compactionId, status: "completed", summary: [{ type: "text", text: summary }] });
		else this.#compact({ compactionId, status: isAborted ? "cancelled" : "failed", ...(!isAborted && error && { error }) });
	}

	#compact(update: CompactionUpdate): void {
		if (this.#parts.client.hasCompaction) this.#parts.send({ sessionUpdate: "compaction_update", ...update });
	}

	// ── Replay ──────────────────────────────────────────────────────────────────────────────────────

	/** The stored branch, from its root. `ready` waits while the client does not read. A call that runs goes on after it. */
	async replay(branch: Branch, ready: () => Promise<void> | undefined): Promise<void> {
		this.#parts.chunks.flush();
		const running = new Map([...this.#calls].filter(([, call]) => !call.isOver));
		this.#calls.clear();
		this.#used.clear();
		const results = resultPlaces(branch);
		const lastReply = lastReplyIn(branch);
		let plan: readonly TodoPhase[] | undefined;
		for (let index = 0; index < branch.length; index++) {
			const waiting = ready();
			if (waiting) await waiting;
			const kind = branch.kind(index);
			const id = branch.id(index);
			if (kind === "compaction" || kind === "custom_message") {
				const entry = branch.entry(index);
				if (entry.type === "custom_message" && entry.display) this.#content("agent_message_chunk", id, entry.content);
				else if (entry.type === "compaction")
					this.#compact({ compactionId: id, status: "completed", summary: [{ type: "text", text: entry.summary }] });
				continue;
			}
			if (kind !== "message:user" && kind !== "message:assistant" && kind !== "message:custom") continue;
			const message = storedMessage(branch, index);
			if (message?.role === "user" && !message.synthetic) {
				for (const content of storedPrompt(message.content)) this.#parts.send({ sessionUpdate: "user_message_chunk", content, messageId: id });
			} else if (message?.role === "custom" && message.display) this.#content("agent_message_chunk", id, message.content);
			else if (message?.role === "assistant") {
				const stored = (callId: string) => resultAt(branch, results, callId, index);
				plan = this.#replayReply(message, id, stored, index === lastReply ? running : undefined) ?? plan;
			}
		}
		// The calls of a reply that is not stored yet.
		for (const call of running.values()) this.#announce(call.modelId, call.name, call);
		this.#lastPlan = "";
		if (plan) this.#parts.send({ sessionUpdate: "plan", entries: planEntries(plan) });
	}

	/** Gives the plan, if the reply changed it. */
	#replayReply(
		{ content }: AssistantMessage,
		messageId: string,
		resultOf: (callId: string) => StoredResult | undefined,
		running: Map<string, ShownCall> | undefined,
	): readonly TodoPhase[] | undefined {
		const { view, send } = this.#parts;
		let plan: readonly TodoPhase[] | undefined;
		for (const block of content) {
			if (block.type === "text") this.#text("agent_message_chunk", messageId, block.text);
			else if (block.type === "thinking") this.#text("agent_thought_chunk", messageId, block.thinking);
			else if (block.type === "toolCall") {
				const { id: modelId, name, arguments: args } = block;
				const stored = resultOf(modelId);
				if (view.isPlan(name)) {
					plan = (stored?.result.details as { phases?: readonly TodoPhase[] } | undefined)?.phases ?? plan;
					continue;
				}
				const goesOn = stored ? undefined : running?.get(modelId);
				running?.delete(modelId);
				const id = this.#freshCallId(modelId);
				const isError = stored?.isError ?? true;
				const call: ShownCall = goesOn ?? { id, modelId, name, args, isOver: true, hasInput: true, nextAt: 0 };
				call.id = id;
				this.#calls.set(modelId, call);
				const outcome = stored ? this.#outcome(call, stored.result, isError, true) : placesIn(view.locations(name, args));
				send({
					sessionUpdate: "tool_call",
					toolCallId: id,
					title: view.title(name, args),
					name,
					kind: view.kind(name),
					status: goesOn ? "in_progress" : isError ? "failed" : "completed",
					rawInput: view.input(args),
					...outcome,
				});
			}
		}
		return plan;
	}

	#content(kind: "agent_message_chunk", messageId: string, content: string | readonly unknown[]): void {
		if (typeof content === "string") return this.#text(kind, messageId, content);
		for (const block of content as { type: string; text?: string; data?: string; mimeType?: string }[]) {
			if (block.type === "text" && typeof block.text === "string") this.#text(kind, messageId, block.text);
			else if (block.type === "image" && block.data && block.mimeType)
				this.#parts.send({ sessionUpdate: kind, messageId, content: { type: "image", data: block.data, mimeType: block.mimeType } });
		}
	}

	#text(kind: "agent_message_chunk" | "agent_thought_chunk", messageId: string, text: string): void {
		for (const piece of pieces(text)) this.#parts.send({ sessionUpdate: kind, messageId, content: { type: "text", text: piece } });
	}

	/** Some providers count calls from zero in each reply. */
	#freshCallId(modelId: string): string {
		let id = modelId;
		for (let number = 2; this.#used.has(id); number++) id = `${modelId}#${number}`;
		this.#used.add(id);
		return id;
	}
}

const placesIn = (locations: ToolCallLocation[]) => (locations.length ? { locations } : {});
const freshId = () => randomBytes(8).toString("hex");

/** Tasks that were given up are left out. */
export function planEntries(phases: readonly TodoPhase[]): PlanEntry[] {
	return phases.flatMap(({ name, tasks }) =>
		tasks.flatMap(({ content, status }): PlanEntry[] => {
			if (status === "abandoned") return [];
			return [{ content: phases.length > 1 ? `${name}: ${content}` : content, priority: "medium", status }];
		}),
	);
}

interface StoredResult {
	result: ToolResult;
	isError: boolean;
}

/** Where the results of calls are: they follow their reply, in the order of the calls. */
function resultPlaces(branch: Branch): number[] {
	const places: number[] = [];
	for (let index = 0; index < branch.length; index++) if (branch.kind(index) === "message:toolResult") places.push(index);
	return places;
}

/** The first result for a call after its reply. Ids may occur again later. */
function resultAt(branch: Branch, places: readonly number[], callId: string, after: number): StoredResult | undefined {
	for (let at = firstAbove(places, after); at < places.length; at++) {
		const place = places[at] as number;
		// The results of a reply are before the next reply.
		if (hasReplyBetween(branch, after, place)) return undefined;
		const message = storedMessage(branch, place);
		if (message?.role !== "toolResult" || message.toolCallId !== callId) continue;
		const { content, details, isError } = message;
		return { result: { content, details }, isError };
	}
	return undefined;
}

function lastReplyIn(branch: Branch): number {
	for (let index = branch.length - 1; index >= 0; index--) if (branch.kind(index) === "message:assistant") return index;
	return -1;
}

function hasReplyBetween(branch: Branch, from: number, to: number): boolean {
	for (let index = from + 1; index < to; index++) if (branch.kind(index) === "message:assistant") return true;
	return false;
}

function firstAbove(places: readonly number[], value: number): number {
	let [low, high] = [0, places.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((places[middle] as number) > value) high = middle;
		else low = middle + 1;
	}
	return low;
}
