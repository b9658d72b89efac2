/**
 * A Claude on the loopback that is as strict as the real one about thinking, in the formats of Anthropic, Vertex and Bedrock:
 * - a signature holds for its own text and nothing else;
 * - models from 5.1 on take thinking back only behind the system prompt, the tools and the messages that it was made with, unless the request
 *   says that it may be dropped;
 * - a turn (a prompt and its tool calls) has one configuration of thinking.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Agent, type AgentOptions } from "../wire/support/agent.ts";
import { event as amazonEvent } from "./clouds/amazon.ts";
import { type Answer, Loopback, type Received } from "./loopback.ts";

export type Host = "anthropic" | "vertex" | "bedrock";

export type Block = { say: string } | { call: string; arguments: object };
/** The blocks of a reply. It thinks first unless `thinks` is false or the request has no thinking. */
export interface Reply {
	blocks: Block[];
	thinks?: boolean;
}

type Json = Record<string, unknown>;

/** A request in one shape, whatever its host. Without the marks for the cache, which change nothing of what a model sees. */
export interface Asked {
	model: string;
	betas: string[];
	thinking: Json;
	tools: Json[];
	system: unknown;
	messages: { role: string; content: Json[] }[];
	toolChoice: unknown;
	/** Of the parts that a provider keeps in its cache, in its order. */
	prefix: string[];
}

const bindingControls = "thinking-binding-controls-2026-08-01";
const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

export class StrictClaude {
	/** The requests that were answered. */
	readonly asked: Asked[] = [];
	/** The same as they came. */
	readonly bodies: Json[] = [];
	/** Error texts of refused requests. */
	readonly refusals: string[] = [];
	/** Thinking blocks that did not fit and were left out, as the request allowed. */
	dropped = 0;
	/** Refuse the next request whose body matches, with this text. */
	refuseNext: { pattern: RegExp; text: string } | undefined;
	#host: Host;
	#server: Loopback;
	#replies: Reply[] = [];
	/** What was signed: the text of the thinking, and what came before it. */
	#signed = new Map<string, { text: string; prefix: string }>();
	/** The configuration with which each turn began, by the messages that it began with. */
	#turns = new Map<string, string>();
	#calls = 0;
	#agents: Agent[] = [];

	private constructor(host: Host, server: Loopback) {
		this.#host = host;
		this.#server = server;
		server.answer((response, received) => this.#answer(response, received));
	}

	static async start(host: Host): Promise<StrictClaude> {
		return new StrictClaude(host, await Loopback.start());
	}

	/** Ends the agents, too. */
	async stop(): Promise<void> {
		for (const agent of this.#agents) await agent.dispose();
		await this.#server.stop();
	}

	/** Starts an agent that asks this server. */
	agent({ model, level, flags = [], env, ...options }: AgentOptions & { model: string; level: string }): Agent {
		const agent = new Agent({
			flags: ["--model", this.model(model), "--thinking", level, "--session-dir", "sessions", ...flags],
			env: { ...this.env, ...env },
			...options,
		});
		this.#agents.push(agent);
		return agent;
	}

	/** The replies to the next requests. Without any more it says "Done.". */
	reply(...replies: Reply[]): void {
		this.#replies = replies;
	}

	/** The variables with which an agent asks this server. */
	get env(): Record<string, string> {
		const { url } = this.#server;
		if (this.#host === "anthropic") return { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key" };
		if (this.#host === "vertex") return { GOOGLE_VERTEX_BASE_URL: url, GOOGLE_CLOUD_PROJECT: "my-project", GCE_METADATA_HOST: url };
		return { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url, AWS_BEARER_TOKEN_BEDROCK: "test-token", AWS_REGION: "eu-west-1" };
	}

	/** Where an agent finds the model of this name. */
	model(name: string): string {
		if (this.#host === "anthropic") return `anthropic/${name}`;
		return this.#host === "vertex" ? `google-vertex/${name}` : `amazon-bedrock/global.anthropic.${name}`;
	}

	#answer(response: ServerResponse, received: Received): ReturnType<Answer> {
		if (received.method === "GET") {
			response.writeHead(200, { "content-type": "application/json", "metadata-flavor": "Google" });
			response.end(JSON.stringify({ access_token: "test-token", expires_in: 3600, token_type: "Bearer" }));
			return;
		}
		const asked = this.#host === "bedrock" ? ofBedrock(received) : ofMessages(received);
		const problem = this.#planned(received.body) ?? this.#problemOf(asked);
		if (problem !== undefined) {
			this.refusals.push(problem);
			response.writeHead(400, { "content-type": "application/json" });
			response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: problem }, message: problem }));
			return;
		}
		this.asked.push(asked);
		this.bodies.push(JSON.parse(received.body) as Json);
		const { blocks, thinks = true } = this.#replies.shift() ?? { blocks: [{ say: "Done." }] };
		const isOn = asked.thinking.type === "enabled" || asked.thinking.type === "adaptive";
		const thought = isOn && thinks ? this.#think(asked) : undefined;
		const ids = blocks.map(() => `toolu_${++this.#calls}`);
		const isBedrock = this.#host === "bedrock";
		response.writeHead(200, { "content-type": isBedrock ? "application/vnd.amazon.eventstream" : "text/event-stream" });
		response.end((isBedrock ? asAmazon : asMessages)(thought, blocks, ids));
	}

	#planned(body: string): string | undefined {
		const planned = this.refuseNext;
		if (!planned?.pattern.test(body)) return undefined;
		this.refuseNext = undefined;
		return planned.text;
	}

	#think(asked: Asked): { text: string; signature: string } {
		const text = `Thought ${this.#signed.size + 1}.`;
		const prefix = digest([asked.system, asked.tools, asked.messages]);
		const signature = Buffer.from(digest([text, prefix])).toString("base64");
		this.#signed.set(signature, { text, prefix });
		return { text, signature };
	}

	/** Returns why the real one would refuse the request, or undefined. */
	#problemOf({ model, betas, thinking, system, tools, messages }: Asked): string | undefined {
		const binding = thinking.block_binding as Json | undefined;
		if (binding && !betas.includes(bindingControls)) return "thinking.block_binding: Extra inputs are not permitted";
		const mayDrop = binding?.prefix_mismatch_behavior === "drop_block";
		for (const [index, { role, content }] of messages.entries()) {
			for (const block of role === "assistant" ? content : []) {
				if (block.type !== "thinking") continue;
				const signed = this.#signed.get(block.signature as string);
				if (signed?.text !== block.thinking) return `messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`;
				if (!bindsThinking(model) || signed?.prefix === digest([system, tools, messages.slice(0, index)])) continue;
				if (!mayDrop) return `messages.${index}.content.0: \`thinking\` block is bound to a different conversation`;
				this.dropped += 1;
			}
		}
		return this.#turnProblem(thinking, messages);
	}

	#turnProblem(thinking: Json, messages: Asked["messages"]): string | undefined {
		const isResults = ({ role, content }: Asked["messages"][number]) => role === "user" && content.some(({ type }) => type === "tool_result");
		const start = messages.findLastIndex((message) => message.role === "user" && !isResults(message));
		const key = digest(messages.slice(0, start + 1).map(({ role, content }) => [role, content.filter(({ type }) => type !== "thinking")]));
		const configuration = JSON.stringify(thinking);
		const began = this.#turns.get(key) ?? configuration;
		this.#turns.set(key, began);
		if (began === configuration || start === messages.length - 1) return undefined;
		// After a refusal the rest of a turn goes on without.
		if (configuration === "{}" && this.refusals.length > 0) return undefined;
		return `messages: the thinking of this turn began with ${began} and goes on with ${configuration}`;
	}
}

let asked = 0;

/** Sends a command, and returns the data of its answer. Fails if it is refused. */
export async function ask(agent: Agent, command: object): Promise<Record<string, unknown>> {
	asked += 1;
	agent.send({ id: `ask-${asked}`, ...command });
	const response = await agent.response(`ask-${asked}`);
	assert.ok(response.success, JSON.stringify(response));
	return (response.data ?? {}) as Record<string, unknown>;
}

const bindsThinking = (model: string) => /claude-fable-5-[12]|claude-(?:opus|sonnet|haiku)-5-5/.test(model);

// ── The formats ────────────────────────────────────────────────────────────────────────────────────────

const isMark = (block: unknown) => typeof block === "object" && block !== null && "cachePoint" in block;

/** Returns a value without its marks for the cache. */
function unmarked(value: unknown): unknown {
	if (Array.isArray(value)) return value.filter((block) => !isMark(block)).map(unmarked);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (key === "cache_control" ? [] : [[key, unmarked(inner)]])));
}

/** Each part in its order: a tool, the system prompt, a message. */
function prefixOf({ tools, system, messages }: Pick<Asked, "tools" | "system" | "messages">): string[] {
	return [...tools.map((tool) => JSON.stringify(tool)), JSON.stringify(system), ...messages.map((message) => JSON.stringify(message))];
}

function ofMessages({ body, headers, url }: Received): Asked {
	const { model, thinking = {}, tools = [], system = [], messages, tool_choice } = unmarked(JSON.parse(body)) as Json;
	const parts = { tools: tools as Json[], system, messages: messages as Asked["messages"] };
	return {
		model: (model as string | undefined) ?? decodeURIComponent(url),
		betas: String(headers["anthropic-beta"] ?? "").split(","),
		thinking: thinking as Json,
		toolChoice: tool_choice,
		...parts,
		prefix: prefixOf(parts),
	};
}

function ofBedrock({ body, url }: Received): Asked {
	const { toolConfig, system, messages, additionalModelRequestFields } = unmarked(JSON.parse(body)) as Json;
	const { thinking = {}, anthropic_beta = [] } = (additionalModelRequestFields ?? {}) as Json;
	const blockOf = (block: Json): Json => {
		const reasoning = block.reasoningContent as { reasoningText: { text: string; signature: string } } | undefined;
		if (reasoning) return { type: "thinking", thinking: reasoning.reasoningText.text, signature: reasoning.reasoningText.signature };
		return "toolResult" in block ? { type: "tool_result", ...block } : block;
	};
	const parts = {
		tools: ((toolConfig as Json | undefined)?.tools ?? []) as Json[],
		system,
		messages: (messages as Asked["messages"]).map(({ role, content }) => ({ role, content: content.map(blockOf) })),
	};
	return {
		model: decodeURIComponent(url),
		betas: anthropic_beta as string[],
		thinking: thinking as Json,
		toolChoice: (toolConfig as Json | undefined)?.toolChoice,
		...parts,
		prefix: prefixOf(parts),
	};
}

const usage = { input_tokens: 20, cache_read_input_tokens: 3000, cache_creation_input_tokens: 500 };

function asMessages(thought: { text: string; signature: string } | undefined, blocks: readonly Block[], ids: readonly string[]): string {
	const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
	const parts = [event("message_start", { message: { id: "msg_1", role: "assistant", content: [], usage } })];
	let index = 0;
	const block = (start: object, ...deltas: object[]) => {
		parts.push(event("content_block_start", { index, content_block: start }));
		for (const delta of deltas) parts.push(event("content_block_delta", { index, delta }));
		parts.push(event("content_block_stop", { index }));
		index += 1;
	};
	if (thought)
		block(
			{ type: "thinking", thinking: "" },
			{ type: "thinking_delta", thinking: thought.text },
			{ type: "signature_delta", signature: thought.signature },
		);
	for (const [place, one] of blocks.entries()) {
		if ("say" in one) block({ type: "text", text: "" }, { type: "text_delta", text: one.say });
		else {
			const json = JSON.stringify(one.arguments);
			block({ type: "tool_use", id: ids[place], name: one.call, input: {} }, { type: "input_json_delta", partial_json: json });
		}
	}
	const stop_reason = blocks.some((one) => "call" in one) ? "tool_use" : "end_turn";
	parts.push(event("message_delta", { delta: { stop_reason }, usage: { output_tokens: 7 } }), event("message_stop", {}));
	return parts.join("");
}

function asAmazon(thought: { text: string; signature: string } | undefined, blocks: readonly Block[], ids: readonly string[]): Buffer {
	const parts = [amazonEvent("messageStart", { role: "assistant" })];
	let contentBlockIndex = 0;
	const block = (start: object | undefined, ...deltas: object[]) => {
		if (start) parts.push(amazonEvent("contentBlockStart", { contentBlockIndex, start }));
		for (const delta of deltas) parts.push(amazonEvent("contentBlockDelta", { contentBlockIndex, delta }));
		parts.push(amazonEvent("contentBlockStop", { contentBlockIndex }));
		contentBlockIndex += 1;
	};
	if (thought) block(undefined, { reasoningContent: { text: thought.text } }, { reasoningContent: { signature: thought.signature } });
	for (const [place, one] of blocks.entries()) {
		if ("say" in one) block(undefined, { text: one.say });
		else block({ toolUse: { toolUseId: ids[place], name: one.call } }, { toolUse: { input: JSON.stringify(one.arguments) } });
	}
	const stopReason = blocks.some((one) => "call" in one) ? "tool_use" : "end_turn";
	const tokens = { inputTokens: 20, outputTokens: 7, totalTokens: 3527, cacheReadInputTokens: 3000, cacheWriteInputTokens: 500 };
	return Buffer.concat([...parts, amazonEvent("messageStop", { stopReason }), amazonEvent("metadata", { usage: tokens })]);
}
