/** Commands of newer dialects that are named so that a host gets a plain answer with its id. */
import Type, { type TProperties } from "typebox";
import { ack, command, integer, jsonObject, list, optional, text } from "../define.ts";

const unsupported = <P extends TProperties>(params: P) =>
	command({ doc: "Not served; answers `is not supported`.", lane: "serial", params, result: ack, unsupported: true });

export const newerCommands = {
	negotiate_protocol: command({
		doc: "Agree on a protocol version; served in dialect `omp` only.",
		lane: "serial",
		params: { protocolVersion: integer() },
		result: Type.Object({ protocolVersion: integer() }),
	}),
	set_locale: unsupported({ locale: text() }),
	get_integrations: unsupported({}),
	set_fast_mode: unsupported({}),
	set_host_uri_schemes: unsupported({ schemes: list(jsonObject) }),
	set_subagent_subscription: unsupported({ level: text() }),
	get_subagents: unsupported({}),
	get_subagent_messages: unsupported({ subagentId: optional(text()) }),
	handoff: unsupported({}),
	get_login_providers: unsupported({}),
	login: unsupported({ providerId: text() }),
};
