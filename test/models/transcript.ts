/** One conversation that holds everything a converter has to deal with, as replies of a given model. */
import type { ModelMessage } from "../../src/agent/contracts.ts";
import { noUsage } from "../../src/models/builder.ts";
import type { AssistantMessage, StopReason } from "../../src/protocol/messages.ts";
import type { Model } from "../../src/protocol/model.ts";

const png = "iVBORw0KGgo=";

/** The data that each API leaves in a reply for its own replay. */
interface Marks {
	thinking: string;
	text?: string;
	call?: string;
	ids: string[];
}

const marks: Record<string, Marks> = {
	"anthropic-messages": { thinking: "ErUBsig==", ids: ["toolu_1", "toolu_2", "toolu_3", "toolu_4", "toolu_5"] },
	"openai-completions": { thinking: "reasoning_content", ids: ["call_1", "call_2", "call_3", "call_4", "call_5"] },
	"openai-responses": {
		thinking: '{"type":"reasoning","id":"rs_1","encrypted_content":"gAA=","summary":[]}',
		text: '{"v":1,"id":"msg_1"}',
		ids: ["call_1|fc_1", "call_2|fc_2", "call_3|fc_3", "call_4|fc_4", "call_5|fc_5"],
	},
	"google-generative-ai": {
		thinking: "CiQBdGhpbms=",
		text: "CiQBdGV4dA==",
		call: "CiQBY2FsbA==",
		ids: ["read_1_0", "read_1_1", "bash_1_2", "read_1_3", "read_1_4"],
	},
};

export function transcript(by: Model): ModelMessage[] {
	const mark = marks[by.api] as Marks;
	const reply = (content: AssistantMessage["content"], stopReason: StopReason, timestamp: number): AssistantMessage => ({
		role: "assistant",
		content,
		api: by.api,
		provider: by.provider,
		model: by.id,
		usage: noUsage,
		stopReason,
		timestamp,
	});
	const signed = (signature: string | undefined) => (signature ? { textSignature: signature } : {});
	const [first = "", second = "", third = "", fourth = "", fifth = ""] = mark.ids;
	return [
		{ role: "user", content: "Look at a.ts and b.ts \ud83d", timestamp: 1 },
		reply(
			[
				{ type: "thinking", thinking: "Both.", thinkingSignature: mark.thinking },
				...(by.api === "anthropic-messages" ? [{ type: "redactedThinking" as const, data: "EmwK" }] : []),
				{ type: "text", text: "Reading both.", ...signed(mark.text) },
				{ type: "toolCall", id: first, name: "read", arguments: { path: "a.ts" }, ...(mark.call ? { thoughtSignature: mark.call } : {}) },
				{ type: "toolCall", id: second, name: "read", arguments: { path: "b.png" } },
			],
			"toolUse",
			2,
		),
		{ role: "toolResult", toolCallId: first, toolName: "read", content: [{ type: "text", text: "one\ntwo" }], isError: false, timestamp: 3 },
		{
			role: "toolResult",
			toolCallId: second,
			toolName: "read",
			content: [{ type: "image", data: png, mimeType: "image/png" }],
			isError: false,
			timestamp: 4,
		},
		{
			role: "user",
			content: [
				{ type: "text", text: "And this?" },
				{ type: "image", data: png, mimeType: "image/png" },
				{ type: "text", text: " " },
			],
			timestamp: 5,
		},
		reply(
			[
				{ type: "thinking", thinking: "Cut off before it was signed." },
				{ type: "text", text: "Let me run it" },
				{ type: "toolCall", id: third, name: "bash", arguments: { command: "ls" } },
			],
			"aborted",
			6,
		),
		{
			role: "toolResult",
			toolCallId: third,
			toolName: "bash",
			content: [
				{ type: "text", text: "Tool execution was aborted: Request was aborted" },
				{ type: "image", data: png, mimeType: "image/png" },
			],
			isError: true,
			timestamp: 7,
		},
		{ role: "toolResult", toolCallId: "nobody", toolName: "read", content: [{ type: "text", text: "lost" }], isError: false, timestamp: 8 },
		{ role: "user", content: "", timestamp: 9 },
		reply([{ type: "toolCall", id: fourth, name: "read", arguments: {} }], "toolUse", 10),
		{ role: "user", content: "Go on.", timestamp: 11 },
		reply([{ type: "thinking", thinking: "Gone." }], "error", 12),
		reply([{ type: "toolCall", id: fifth, name: "read", arguments: { path: "c\udc00" } }], "toolUse", 13),
		{ role: "toolResult", toolCallId: fifth, toolName: "read", content: [{ type: "text", text: " " }], isError: false, timestamp: 14 },
	];
}
