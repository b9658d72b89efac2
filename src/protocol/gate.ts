/** The step gate: with `--gate host` the agent asks its host before each model request, tool execution and subagent. */
import type { Static } from "typebox";
import Type from "typebox";
import { flag, frame, integer, list, number, optional, text, words } from "./define.ts";
import { PermissionOrigin } from "./permissions.ts";

const gateId = "0198c0de-7a11-7000-8000-0000000000a1";

export const GateRequest = frame(
	"gate_request",
	{ title: "GateRequest", description: "The agent waits before a step. Everything up to `asOf` is on disk. Answer with `gate_response`." },
	{
		id: text({ description: "A UUID." }),
		kind: words("model", "tool", "subagent"),
		asOf: integer(),
		estimate: optional(
			Type.Object(
				{
					inputTokens: integer(),
					maxOutputTokens: integer(),
					usd: number(),
					priceUnknown: optional(flag({ description: "The model is not listed, so `usd` is 0 and means nothing." })),
				},
				{ description: "Of `model`: what the request may use at most." },
			),
		),
		toolCallId: optional(text({ description: "Of `tool` and `subagent`: the call." })),
		toolName: optional(text()),
		agentPath: optional(
			list(PermissionOrigin, { description: "The subagents that the question comes from, outermost first; absent for the session itself." }),
		),
	},
	{ id: gateId, kind: "tool", asOf: 4719, toolCallId: "call_7", toolName: "bash" },
);

export const GateResponse = frame(
	"gate_response",
	{ title: "GateResponse", description: "The answer to a `gate_request`. Unknown and closed ids are ignored." },
	{
		id: text({ description: "The `id` of the `gate_request`." }),
		allow: flag(),
		reason: optional(text({ description: "Why not. A tool call that is denied has it as its result." })),
		end: optional(flag({ description: "With `allow: false`: the run ends, and its `run_result` is `interrupted`." })),
		retryAfterMs: optional(integer({ description: "With `allow: false`: ask again after this time." })),
	},
	{ id: gateId, allow: false, reason: "The lease was lost.", end: true },
);

export type GateRequest = Static<typeof GateRequest>;
export type GateResponse = Static<typeof GateResponse>;
