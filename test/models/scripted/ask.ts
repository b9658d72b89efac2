/** Asks a script as the loop would, and keeps what it said. */
import type { Flow, ModelMessage, ModelRequest, StreamEvent } from "../../../src/agent/contracts.ts";
import type { Script } from "../../../src/models/scripted/format.ts";
import { scriptedModel } from "../../../src/models/scripted/index.ts";
import { type PlayerOptions, ScriptPlayer } from "../../../src/models/scripted/play.ts";
import type { AssistantMessage } from "../../../src/protocol/messages.ts";

export const open: Flow = { isOpen: true, whenOpen: () => Promise.resolve() };

export const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

export const assistant = (text: string): ModelMessage => ({ ...reply({ content: [{ type: "text", text }] }) });

export const result = (toolName: string, text: string, isError = false): ModelMessage => ({
	role: "toolResult",
	toolCallId: "c",
	toolName,
	content: [{ type: "text", text }],
	isError,
	timestamp: 0,
});

export function request(messages: ModelMessage[] = [user("hi")], script?: Script): ModelRequest {
	return { model: scriptedModel("test", script), thinkingLevel: "off", systemPrompt: "", messages, tools: [], sessionId: "s" };
}

/** A whole reply of the scripted model; only what differs has to be said. */
export function reply(members: Partial<AssistantMessage> = {}): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return {
		role: "assistant",
		content: [],
		api: "scripted",
		provider: "scripted",
		model: "test",
		usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
		stopReason: "stop",
		timestamp: 7,
		...members,
	};
}

export const player = (script: Script, options: PlayerOptions = {}) => new ScriptPlayer(script, "test.jsonc", { now: () => 7, ...options });

interface Asking {
	messages?: ModelMessage[];
	signal?: AbortSignal;
	flow?: Flow;
	onEvent?: (event: StreamEvent) => void;
}

export async function ask(
	from: ScriptPlayer,
	{ messages, signal = new AbortController().signal, flow = open, onEvent }: Asking = {},
	script?: Script,
) {
	const events: StreamEvent[] = [];
	const listen = (event: StreamEvent) => {
		events.push(event);
		onEvent?.(event);
	};
	await from.stream(request(messages, script), { signal, flow, onEvent: listen });
	return events;
}

/** The message that a stream of events ended with. */
export function last(events: StreamEvent[]): AssistantMessage | undefined {
	const event = events.at(-1);
	return event?.type === "done" ? event.message : event?.type === "error" ? event.error : undefined;
}

export async function say(from: ScriptPlayer, ...messages: ModelMessage[]): Promise<string> {
	const message = last(await ask(from, { messages }));
	return message?.errorMessage ?? (message?.content ?? []).map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}
