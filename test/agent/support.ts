/** A loop with everything around it replaced: a model that a test scripts, queues that are arrays, a clock that does not move. */
import { Doors } from "../../src/agent/doors.ts";
import { agentLoop, type LoopInput } from "../../src/agent/loop.ts";
import type { Outcome, Policy } from "../../src/agent/policy.ts";
import type { ModelRequest, StreamFunction } from "../../src/agent/stream.ts";
import type { Tool } from "../../src/agent/tool.ts";
import { validateArguments } from "../../src/agent/validate.ts";
import { ReplyBuilder } from "../../src/models/builder.ts";
import { scriptedModel } from "../../src/models/scripted/model.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AgentMessage, AssistantMessage, UserMessage } from "../../src/protocol/messages.ts";

export const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], attachments: [], timestamp: 0 });

/** One reply: what it says, which tools it calls, how it ends. */
export interface Reply {
	text?: string;
	calls?: { id: string; name: string; args?: Record<string, unknown> }[];
	fail?: "transient" | "overflow" | "permanent";
	/** Runs before the reply ends. */
	before?: (signal: AbortSignal) => void | Promise<void>;
}

export function scriptedStream(replies: readonly Reply[], asked: ModelRequest[] = []): StreamFunction {
	let next = 0;
	return async (request, { signal, onEvent }) => {
		asked.push(request);
		const { text, calls = [], fail, before } = replies[next++] ?? {};
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		if (text !== undefined) {
			const block = builder.open({ type: "text", text: "" });
			for (const letter of text) builder.append(block, letter);
			builder.close(block);
		}
		for (const { id, name, args = {} } of calls) builder.close(builder.open({ type: "toolCall", id, name, arguments: args }));
		await before?.(signal);
		if (signal.aborted) return builder.abort();
		if (fail) return builder.fail(`failed: ${fail}`, { kind: fail });
		builder.done(calls.length ? "toolUse" : "stop");
	};
}

export function tool(
	name: string,
	execute: Tool["execute"] = async () => ({ content: [{ type: "text", text: `${name} ran` }] }),
	more: Partial<Tool> = {},
): Tool {
	return {
		name,
		label: name,
		effect: { kind: "run" },
		offered: "default",
		description: name,
		parameters: { type: "object" },
		concurrency: "shared",
		execute,
		...more,
	};
}

export interface Played {
	outcome: Outcome;
	events: AgentEvent[];
	types: string[];
	requests: ModelRequest[];
}

export interface LoopTest {
	replies: readonly Reply[];
	tools?: readonly Tool[];
	policies?: readonly Policy[];
	steering?: AgentMessage[];
	followUps?: AgentMessage[];
	signal?: AbortSignal;
	next?: LoopInput["next"];
	onEvent?: (event: AgentEvent) => void;
}

export async function playLoop(given: LoopTest): Promise<Played> {
	const { replies, tools = [], policies = [], steering = [], followUps = [], signal = new AbortController().signal, onEvent } = given;
	const events: AgentEvent[] = [];
	const requests: ModelRequest[] = [];
	const context: AgentMessage[] = [];
	const input: LoopInput = {
		next: given.next ?? { from: "prompt", messages: [user("go")] },
		turn: {},
		context: () => context,
		setup: async () => ({ model: scriptedModel("x"), thinkingLevel: "off", systemPrompt: "", tools }),
		stream: scriptedStream(replies, requests),
		validate: validateArguments,
		queues: {
			get count() {
				return steering.length + followUps.length;
			},
			hasSteering: () => steering.length > 0,
			takeSteering: () => steering.splice(0, 1),
			takeFollowUps: () => followUps.splice(0, 1),
		},
		interruptMode: () => "immediate",
		doors: new Doors(policies),
		sessionId: () => "s",
		redact: (text) => text.replaceAll("secret", "***"),
		flow: { isOpen: true, whenOpen: async () => undefined },
		signal,
		now: () => 0,
	};
	const outcome = await agentLoop(input, (event) => {
		if (event.type === "message_end") context.push(event.message);
		events.push(event);
		onEvent?.(event);
	});
	return { outcome, events, types: events.map(({ type }) => type), requests };
}

/** The text of the results that the model would read, by call. */
export function resultTexts({ events }: Played): Record<string, string> {
	const ends = events.filter((event) => event.type === "tool_execution_end");
	return Object.fromEntries(
		ends.map(({ toolCallId, result }) => [toolCallId, result.content.map((block) => ("text" in block ? block.text : "")).join("")]),
	);
}

export function lastReply({ outcome }: Played): AssistantMessage {
	return outcome.last as AssistantMessage;
}
