import { didYouMean } from "../../lib/nearest.ts";
import { CommandError } from "../../protocol/command-error.ts";
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { McpServers } from "../../protocol/mcp.ts";
import { dialectEventNames, eventNames } from "../../protocol/names.generated.ts";
import type { Host } from "../front.ts";
import type { Mcp } from "../mcp.ts";
import type { ToolSources } from "../tool-sources.ts";
import type { Handlers } from "./contract.ts";

type Names =
	| "set_mcp_servers"
	| "get_mcp_servers"
	| "restart_mcp_server"
	| "set_host_tools"
	| "set_event_filter"
	| "get_commands"
	| "get_available_commands";
type Commands = CommandResult<"get_commands">["commands"];

export function hostHandlers(host: Host | undefined, sources: ToolSources, mcp: Mcp, slashCommands: () => Promise<Commands>): Pick<Handlers, Names> {
	const getCommands = async () => ({ commands: await slashCommands() });
	return {
		get_commands: getCommands,
		get_available_commands: getCommands,
		set_event_filter({ events: names }) {
			const bad = names?.findIndex((name) => typeof name !== "string") ?? -1;
			if (bad >= 0) throw new CommandError("bad_field", `set_event_filter: events[${bad}] must be string`);
			host?.setEventFilter(names ?? undefined);
			const hint = filterHint(names ?? []);
			return hint === undefined ? { events: names } : { events: names, hint };
		},
		set_mcp_servers: async ({ servers }, call) => ({ serverNames: await mcp.set(servers as McpServers, (start) => call.afterResponse(start)) }),
		get_mcp_servers: async () => ({ servers: await mcp.describe() }),
		restart_mcp_server: async ({ name }) => ({ server: await mcp.restart(name) }),
		set_host_tools({ tools }) {
			if (!host) throw new CommandError("unsupported", "set_host_tools is not supported");
			return { toolNames: host.tools.set(tools, sources.takenFor("host")) };
		},
	};
}

/** Names of other versions are accepted: a host may wait for events that only a newer agent sends. */
function filterHint(names: readonly string[]): string | undefined {
	const known: readonly string[] = [...eventNames, ...dialectEventNames];
	const unknown = names.filter((name) => !known.includes(name));
	return unknown.length ? unknown.map((name) => `There is no event ${name}.${didYouMean(name, known)}`).join(" ") : undefined;
}
