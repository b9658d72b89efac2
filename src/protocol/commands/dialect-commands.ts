/** Commands of newer dialects: served in one of them, or named so that a host gets a plain answer with its id. */
import Type, { type Static, type TObject, type TProperties } from "typebox";
import { type Access, ack, command, flag, integer, jsonObject, list, optional, shape, text, words } from "../define.ts";
import { samples } from "../examples.ts";
import { AgentMessage } from "../messages.ts";

const unsupported = <P extends TProperties>(params: P, send: Static<TObject<P>>, access: Access = "seat") =>
	command<P, typeof ack>({
		doc: "Not served; answers `is not supported`.",
		lane: "serial",
		access,
		params,
		result: ack,
		example: { send },
		unsupported: true,
	});

export const agentSource = optional(words("bundled", "user", "project"));

export const subagentFields = {
	id: text(),
	index: optional(integer({ description: "Its place in the call." })),
	taskId: optional(text()),
	agent: text(),
	agentSource,
	description: optional(text()),
	assignment: optional(text()),
	parentToolCallId: optional(text({ description: "The call of `task`." })),
	isolated: flag(),
	exitCode: optional(integer()),
	sessionFile: optional(text({ description: "Absent when nothing is stored." })),
};

const Subagent = shape("Subagent", "A subagent, as hosts of dialect `omp` see it.", {
	...subagentFields,
	status: words("running", "completed", "failed", "aborted"),
	progress: optional({ ...jsonObject, description: "`progress` of the last `subagent_progress`." }),
});

export const newerCommands = {
	negotiate_protocol: command({
		doc: "Agree on a protocol version; served in dialect `omp` only.",
		lane: "serial",
		access: "seat",
		params: { protocolVersion: integer() },
		result: Type.Object({ protocolVersion: integer() }),
		example: { send: { protocolVersion: 2 }, data: { protocolVersion: 2 } },
	}),
	set_locale: unsupported({ locale: text() }, { locale: "en" }),
	get_integrations: unsupported({}, {}, "read"),
	set_fast_mode: command({
		doc: "Accepted in dialect `omp` only, without effect.",
		lane: "serial",
		access: "seat",
		params: { enabled: flag() },
		result: Type.Object({ enabled: flag(), active: flag({ description: "Always false." }) }),
		example: { send: { enabled: true }, data: { enabled: true, active: false } },
	}),
	set_host_uri_schemes: command({
		doc: "Accepted in dialect `omp` only, without effect: the agent never asks for such an address.",
		lane: "serial",
		access: "seat",
		params: { schemes: list(jsonObject) },
		result: Type.Object({ schemes: list(text()) }),
		example: { send: { schemes: [{ scheme: "shop" }] }, data: { schemes: ["shop"] } },
	}),
	set_subagent_subscription: command({
		doc: "Hear of subagents as they come, work and go (`progress`), also of their own events (`events`), or not (`off`); served in dialect `omp` only.",
		lane: "serial",
		access: "seat",
		params: { level: text() },
		result: Type.Object({ level: text() }),
		example: { send: { level: "progress" }, data: { level: "progress" } },
	}),
	get_subagents: command({
		doc: "The subagents of this process; served in dialect `omp` only.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ subagents: list(Subagent) }),
		example: { send: {}, data: { subagents: [{ id: "0-Search", taskId: "Search", agent: "task", isolated: false, status: "running" }] } },
	}),
	get_subagent_messages: command({
		doc: "What a subagent has said, from a place in its session file on; served in dialect `omp` only.",
		lane: "serial",
		access: "read",
		params: { subagentId: optional(text()), sessionFile: optional(text()), fromByte: optional(integer()) },
		result: Type.Object({
			sessionFile: text(),
			fromByte: integer(),
			nextByte: integer({ description: "Where to go on next time." }),
			reset: flag({ description: "The file was shorter than `fromByte` and has been read from its start." }),
			entries: list(jsonObject),
			messages: list(AgentMessage),
		}),
		example: {
			send: { subagentId: "0-Search", fromByte: 0 },
			data: {
				sessionFile: "/home/ada/.bowline/sessions/shop/0-Search.jsonl",
				fromByte: 0,
				nextByte: 2113,
				reset: false,
				entries: [],
				messages: [samples.assistant],
			},
		},
	}),
	handoff: unsupported({}, {}),
	get_login_providers: unsupported({}, {}, "read"),
	login: unsupported({ providerId: text() }, { providerId: "anthropic" }),
};
