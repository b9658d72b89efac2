/** One whole conversation for the protocol page. A test plays it against the program: every frame comes, in this order, with these members. */

/** Stands for members that the page leaves out. */
export const more = "…";
export type Step = { host: object } | { agent: object };

/** The script of the model in this conversation. */
export const script = `{
	"replies": [
		{ "blocks": [{ "tool": "ask_stock", "arguments": { "article": "A-17" }, "pieces": 1 }] },
		{ "blocks": [{ "text": "12 are left.", "pieces": 1 }] }
	]
}
`;

const callId = "0198c0de-7a11-7000-8000-0000000000c1";
const said = (text: string) => [{ type: "text", text }];
const user = { role: "user", content: said("How many A-17 are left?"), [more]: true };
const call = { type: "toolCall", id: "call_1", name: "ask_stock", arguments: { article: "A-17" } };
const calling = { role: "assistant", content: [call], stopReason: "toolUse", [more]: true };
const result = { role: "toolResult", toolCallId: "call_1", toolName: "ask_stock", content: said("12"), isError: false, [more]: true };
const answer = { role: "assistant", content: said("12 are left."), stopReason: "stop", [more]: true };
const empty = { role: "assistant", content: [], [more]: true };
const ran = { toolCallId: "call_1", toolName: "ask_stock" };
const grows = (assistantMessageEvent: object): Step => ({ agent: { type: "message_update", [more]: true, assistantMessageEvent } });

export const conversation: Step[] = [
	{ agent: { type: "ready", version: "0.1.0", protocol: 1, cwd: "/home/ada/shop", capabilities: {} } },
	{
		host: {
			id: "1",
			type: "set_host_tools",
			tools: [
				{
					name: "ask_stock",
					description: "How many of an article are in stock.",
					parameters: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
				},
			],
		},
	},
	{ agent: { id: "1", type: "response", command: "set_host_tools", success: true, data: { toolNames: ["ask_stock"] } } },
	{ host: { id: "2", type: "prompt", message: "How many A-17 are left?" } },
	{ agent: { id: "2", type: "response", command: "prompt", success: true, data: { disposition: "started" } } },
	{ agent: { type: "agent_start" } },
	{ agent: { type: "turn_start", turnIndex: 0, timestamp: 1767225600000 } },
	{ agent: { type: "message_start", message: user } },
	{ agent: { type: "message_end", message: user } },
	{ agent: { type: "message_start", message: empty } },
	grows({ type: "toolcall_start", contentIndex: 0, id: "call_1", toolName: "ask_stock" }),
	grows({ type: "toolcall_delta", contentIndex: 0, delta: '{"article":"A-17"}' }),
	grows({ type: "toolcall_end", contentIndex: 0, toolCall: call }),
	{ agent: { type: "message_end", message: calling } },
	{ agent: { type: "tool_execution_start", ...ran, args: { article: "A-17" } } },
	{ agent: { type: "host_tool_call", id: callId, ...ran, arguments: { article: "A-17" } } },
	{ host: { type: "host_tool_update", id: callId, partialResult: { content: said("asking the warehouse") } } },
	{ agent: { type: "tool_execution_update", ...ran, args: { article: "A-17" }, partialResult: { content: said("asking the warehouse") } } },
	{ host: { type: "host_tool_result", id: callId, result: { content: said("12") } } },
	{ agent: { type: "tool_execution_end", ...ran, result: { content: said("12"), details: {} }, isError: false, durationMs: 2 } },
	{ agent: { type: "message_start", message: result } },
	{ agent: { type: "message_end", message: result } },
	{ agent: { type: "turn_end", turnIndex: 0, message: calling, toolResults: [result] } },
	{ agent: { type: "turn_start", turnIndex: 1, timestamp: 1767225600000 } },
	{ agent: { type: "message_start", message: empty } },
	grows({ type: "text_start", contentIndex: 0 }),
	grows({ type: "text_delta", contentIndex: 0, delta: "12 are left." }),
	grows({ type: "text_end", contentIndex: 0, content: "12 are left." }),
	{ agent: { type: "message_end", message: answer } },
	{ agent: { type: "turn_end", turnIndex: 1, message: answer, toolResults: [] } },
	{ agent: { type: "agent_end", messages: [user, calling, result, answer], willRetry: false, [more]: true } },
	{ agent: { type: "agent_settled", aborted: false } },
	{ host: { id: "3", type: "get_last_assistant_text" } },
	{ agent: { id: "3", type: "response", command: "get_last_assistant_text", success: true, data: { text: "12 are left." } } },
];

/** One line per frame: who sends it, and what. */
export function conversationText(): string {
	const lines = conversation.map((step) => ("host" in step ? `→ ${JSON.stringify(step.host)}` : `← ${JSON.stringify(step.agent)}`));
	return lines.join("\n").replaceAll(`"${more}":true`, more);
}
