/** One handler per command. */

import type { Hooks, ModelCatalogue } from "../../agent/contracts.ts";
import { CommandError } from "../../lib/command-error.ts";
import type { CommandName, CommandResult } from "../../protocol/commands/index.ts";
import type { Dialect } from "../../rpc/dialects/dialect.ts";
import type { EventWriter } from "../../rpc/event-writer.ts";
import type { HostTools } from "../../rpc/host-tools.ts";
import type { Session } from "../../session/session.ts";
import type { UserBash } from "../../session/user-bash.ts";
import { bashHandlers } from "./bash.ts";
import { type Compacting, compactionHandlers } from "./compaction.ts";
import type { Handlers } from "./contract.ts";
import { exportHandlers } from "./export.ts";
import { hostHandlers } from "./host.ts";
import { modelHandlers } from "./model.ts";
import { promptingHandlers } from "./prompting.ts";
import { type Retrying, retryHandlers } from "./retry.ts";
import { sessionHandlers } from "./session.ts";
import { stateHandlers } from "./state.ts";

/** What handlers act on. */
export interface HandlerParts {
	session: Session;
	retry: Retrying;
	compaction: Compacting;
	bash: UserBash;
	catalogue: ModelCatalogue;
	hostTools: HostTools;
	events: EventWriter;
	hooks: Hooks;
	slashCommands: () => Promise<CommandResult<"get_commands">["commands"]>;
	/** What paths are relative to. */
	cwd: string;
	dialect: Dialect;
}

export function handlers(parts: HandlerParts): Handlers {
	const { session, retry, compaction, bash, catalogue, hostTools, events, hooks, slashCommands, cwd, dialect } = parts;
	const table: Handlers = {
		...promptingHandlers(session, hooks),
		...stateHandlers(session),
		...sessionHandlers(session, hooks, cwd),
		...exportHandlers(session, cwd),
		...retryHandlers(retry),
		...compactionHandlers(session, compaction),
		...bashHandlers(bash, dialect.bashOutput),
		...modelHandlers(session, catalogue, hooks),
		...hostHandlers(hostTools, events, slashCommands),
		...unserved,
	};
	return dialect.handlers ? { ...table, ...dialect.handlers(table, parts) } : table;
}

/** Named so that a host gets a plain answer. */
const unserved = {
	negotiate_protocol: refused("negotiate_protocol"),
	set_locale: refused("set_locale"),
	get_integrations: refused("get_integrations"),
	set_fast_mode: refused("set_fast_mode"),
	set_host_uri_schemes: refused("set_host_uri_schemes"),
	set_subagent_subscription: refused("set_subagent_subscription"),
	get_subagents: refused("get_subagents"),
	get_subagent_messages: refused("get_subagent_messages"),
	handoff: refused("handoff"),
	get_login_providers: refused("get_login_providers"),
	login: refused("login"),
};

function refused(name: CommandName): () => never {
	return () => {
		throw new CommandError(`${name} is not supported`);
	};
}
