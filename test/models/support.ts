/** Shared parts of the tests of models: models, requests, and a stream function without a network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Flow, ModelMessage, ModelRequest, StreamEvent, ToolDefinition } from "../../src/agent/contracts.ts";
import type { Call } from "../../src/models/api.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import type { Model } from "../../src/protocol/model.ts";
import { type SettingName, type SettingValue, settings } from "../../src/protocol/settings.ts";

export const open: Flow = { isOpen: true, whenOpen: () => Promise.resolve() };

export function defaultSetting<Name extends SettingName>(name: Name): SettingValue<Name> {
	return settings[name].default as SettingValue<Name>;
}

export function cassette(name: string): Buffer {
	return readFileSync(join(import.meta.dirname, "../cassettes", `${name}.sse`));
}

const cost = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };

export function model(changes: Partial<Model> = {}): Model {
	return {
		id: "m1",
		name: "M One",
		api: "openai-completions",
		provider: "acme",
		baseUrl: "http://127.0.0.1:9/v1",
		reasoning: true,
		input: ["text", "image"],
		contextWindow: 200000,
		maxTokens: 32000,
		cost,
		...changes,
	};
}

/** One model of each API, under the names the cassettes were made with. */
export const models = {
	anthropic: model({ id: "claude-opus-4-7", api: "anthropic-messages", provider: "anthropic", baseUrl: "https://api.anthropic.com" }),
	chat: model({ id: "kimi-k3", api: "openai-completions", provider: "moonshotai", baseUrl: "https://api.moonshot.ai/v1" }),
	responses: model({ id: "gpt-5.5", api: "openai-responses", provider: "openai", baseUrl: "https://api.openai.com/v1" }),
	google: model({
		id: "gemini-3.8-flash",
		api: "google-generative-ai",
		provider: "google",
		baseUrl: "https://generativelanguage.googleapis.com/v1beta",
	}),
};

export const cassettes: [name: string, model: Model][] = [
	["anthropic-thinking-tools", models.anthropic],
	["openai-chat-parallel", models.chat],
	["openai-responses-reasoning", models.responses],
	["google-thoughts-tools", models.google],
	["anthropic-error", models.anthropic],
	["openai-chat-error", models.chat],
	["openai-responses-error", models.responses],
	["google-error", models.google],
];

export const readTool: ToolDefinition = {
	name: "read",
	description: "Reads a file.",
	parameters: { type: "object", properties: { path: { type: "string" }, limit: { type: "number" } }, required: ["path"] },
};

export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
	return {
		model: models.anthropic,
		thinkingLevel: "medium",
		systemPrompt: "You help.",
		messages: [{ role: "user", content: "hi", timestamp: 1 }],
		tools: [readTool],
		sessionId: "s-1",
		...changes,
	};
}

export function call(asked: Model, messages: readonly ModelMessage[], changes: Partial<Call> = {}): Call {
	return {
		model: asked,
		modelId: asked.id,
		compat: mergeCompat(),
		baseUrl: asked.baseUrl,
		level: "medium",
		systemPrompt: "You help.",
		messages,
		tools: [readTool],
		sessionId: "s-1",
		maxTokens: 32000,
		retention: "short",
		mayThink: true,
		without: new Set(),
		budgets: { minimal: 1024, low: 2048, medium: 8192, high: 16384 },
		now: () => 1000,
		...changes,
	};
}

/** The last event, having made sure that it is the only end and that blocks open and close one at a time. */
export function ending(events: readonly StreamEvent[]): Extract<StreamEvent, { type: "done" | "error" }> {
	const ends = events.filter((event) => event.type === "done" || event.type === "error");
	const last = events.at(-1);
	if (ends.length !== 1 || (last?.type !== "done" && last?.type !== "error")) throw new Error(`not one end but ${ends.length}`);
	let opened = -1;
	let isOpen = false;
	for (const event of events) {
		if (event.type === "start" || event.type === "done" || event.type === "error") continue;
		const index = event.contentIndex;
		if (event.type.endsWith("_start")) {
			if (isOpen || index <= opened) throw new Error(`${event.type} ${index} while ${opened} is ${isOpen ? "open" : "closed"}`);
			opened = index;
			isOpen = true;
		} else if (!isOpen || index !== opened) throw new Error(`${event.type} ${index} while ${opened} is ${isOpen ? "open" : "closed"}`);
		if (event.type.endsWith("_end")) isOpen = false;
	}
	return last;
}
