/** Short replies in the four real formats, for tests and benchmarks that go through the whole program. */

export type ApiKind = "anthropic" | "chat" | "responses" | "google";

export interface Reply {
	/** What it thinks first. In the format of Anthropic alone, as is the use of a cache. */
	thinking?: string;
	/** Pieces of text, a delta each. */
	text?: readonly string[];
	/** A tool call, its arguments in pieces. */
	call?: Call;
	/** Several, in place of one. */
	calls?: readonly Call[];
	/** The reply reached its output limit. */
	isCut?: boolean;
	/** The cost of the request. */
	inputTokens?: number;
	cacheReadTokens?: number;
	cacheWriteTokens?: number;
}

interface Call {
	id?: string;
	name: string;
	arguments: readonly string[];
}

const callsOf = ({ call, calls }: Reply): readonly Call[] => calls ?? (call ? [call] : []);

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

/** The whole stream of one reply. */
export function spoken(api: ApiKind, reply: Reply): string {
	return speakers[api](reply);
}

const speakers: Record<ApiKind, (reply: Reply) => string> = {
	anthropic(reply) {
		const { thinking, text = [], isCut, inputTokens = 5, cacheReadTokens, cacheWriteTokens } = reply;
		const calls = callsOf(reply);
		const cache = { cache_read_input_tokens: cacheReadTokens, cache_creation_input_tokens: cacheWriteTokens };
		const usage = { input_tokens: inputTokens, ...cache, output_tokens: 1 };
		const parts = [event("message_start", { message: { id: "msg_1", role: "assistant", content: [], usage } })];
		let index = 0;
		if (thinking !== undefined) {
			parts.push(event("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } }));
			parts.push(event("content_block_delta", { index, delta: { type: "thinking_delta", thinking } }));
			const signature = Buffer.from(thinking).toString("base64");
			parts.push(event("content_block_delta", { index, delta: { type: "signature_delta", signature } }));
			parts.push(event("content_block_stop", { index }));
			index += 1;
		}
		if (text.length) {
			parts.push(event("content_block_start", { index, content_block: { type: "text", text: "" } }));
			for (const piece of text) parts.push(event("content_block_delta", { index, delta: { type: "text_delta", text: piece } }));
			parts.push(event("content_block_stop", { index }));
			index += 1;
		}
		for (const { id = "toolu_1", name, arguments: pieces } of calls) {
			parts.push(event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }));
			for (const piece of pieces) parts.push(event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: piece } }));
			parts.push(event("content_block_stop", { index }));
			index += 1;
		}
		const stop = isCut ? "max_tokens" : calls.length ? "tool_use" : "end_turn";
		parts.push(event("message_delta", { delta: { stop_reason: stop }, usage: { output_tokens: 7 } }), event("message_stop", {}));
		return parts.join("");
	},
	chat(reply) {
		const { text = [], isCut, inputTokens = 5 } = reply;
		const calls = callsOf(reply);
		const chunk = (delta: object, finish: string | null = null) =>
			data({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
		const parts = text.map((piece) => chunk({ content: piece }));
		for (const [index, { id = "call_1", name, arguments: pieces }] of calls.entries()) {
			parts.push(chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }));
			for (const piece of pieces) parts.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
		}
		parts.push(chunk({}, isCut ? "length" : calls.length ? "tool_calls" : "stop"));
		parts.push(
			data({ id: "c1", choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: 7, total_tokens: inputTokens + 7 } }),
			"data: [DONE]\n\n",
		);
		return parts.join("");
	},
	responses(reply) {
		const { text = [], isCut, inputTokens = 5 } = reply;
		const parts = [event("response.created", { response: { id: "resp_1", status: "in_progress" } })];
		const output: object[] = [];
		if (text.length) {
			const at = { output_index: 0, item_id: "msg_1", content_index: 0 };
			const whole = text.join("");
			const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: whole }] };
			parts.push(event("response.output_item.added", { output_index: 0, item: { ...item, content: [], status: "in_progress" } }));
			parts.push(event("response.content_part.added", { ...at, part: { type: "output_text", text: "" } }));
			for (const piece of text) parts.push(event("response.output_text.delta", { ...at, delta: piece }));
			parts.push(event("response.output_text.done", { ...at, text: whole }), event("response.output_item.done", { output_index: 0, item }));
			output.push(item);
		}
		for (const { id = "call_1", name, arguments: pieces } of callsOf(reply)) {
			const index = output.length;
			const itemId = id.replace(/^call/, "fc");
			const at = { output_index: index, item_id: itemId };
			const whole = pieces.join("");
			const item = { type: "function_call", id: itemId, call_id: id, name, arguments: whole, status: "completed" };
			parts.push(event("response.output_item.added", { output_index: index, item: { ...item, arguments: "", status: "in_progress" } }));
			for (const piece of pieces) parts.push(event("response.function_call_arguments.delta", { ...at, delta: piece }));
			parts.push(
				event("response.function_call_arguments.done", { ...at, arguments: whole }),
				event("response.output_item.done", { output_index: index, item }),
			);
			output.push(item);
		}
		const usage = { input_tokens: inputTokens, output_tokens: 7, total_tokens: inputTokens + 7 };
		const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
		const end = isCut ? "response.incomplete" : "response.completed";
		parts.push(event(end, { response: { id: "resp_1", status: "completed", ...(isCut ? cut : {}), output, usage } }));
		return parts.join("");
	},
	google(reply) {
		const { text = [], isCut, inputTokens = 5 } = reply;
		const chunk = (parts: object[], more: object = {}) =>
			data({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }], responseId: "r1" });
		const parts = text.map((piece) => chunk([{ text: piece }]));
		for (const { name, arguments: pieces } of callsOf(reply)) parts.push(chunk([{ functionCall: { name, args: JSON.parse(pieces.join("")) } }]));
		const finishReason = isCut ? "MAX_TOKENS" : "STOP";
		const usageMetadata = { promptTokenCount: inputTokens, candidatesTokenCount: 7, totalTokenCount: inputTokens + 7 };
		parts.push(data({ candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason, index: 0 }], usageMetadata }));
		return parts.join("");
	},
};

/** The flags and variables that make the program ask the loopback in each format. */
export function askedBy(api: ApiKind, url: string, key: string): { flags: string[]; env: Record<string, string> } {
	switch (api) {
		case "anthropic":
			return { flags: ["--provider", "anthropic", "--model", "claude-opus-4-6"], env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key } };
		case "chat":
			return { flags: ["--provider", "groq", "--model", "openai/gpt-oss-120b"], env: { GROQ_BASE_URL: `${url}/v1`, GROQ_API_KEY: key } };
		case "responses":
			return { flags: ["--provider", "openai", "--model", "gpt-5.5"], env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key } };
		case "google":
			return { flags: ["--provider", "google", "--model", "gemini-2.5-pro"], env: { GEMINI_BASE_URL: `${url}/v1beta`, GEMINI_API_KEY: key } };
	}
}
