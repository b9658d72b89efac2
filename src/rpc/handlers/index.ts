/** One handler per command. */

import type { Hooks, ModelCatalogue } from "../../agent/contracts.ts";
import { CommandError } from "../../lib/command-error.ts";
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { Session } from "../../session/session.ts";
import type { UserBash } from "../../session/user-bash.ts";
import type { HostTools } from "../host-tools.ts";
import type { EventWriter } from "../updates.ts";
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
}

export function handlers({ session, retry, compaction, bash, catalogue, hostTools, events, hooks, slashCommands, cwd }: HandlerParts): Handlers {
	return {
		...promptingHandlers(session, hooks),
		...stateHandlers(session),
		...sessionHandlers(session, hooks, cwd),
		...exportHandlers(session, cwd),
		...retryHandlers(retry),
		...compactionHandlers(session, compaction),
		...bashHandlers(bash),
		...modelHandlers(session, catalogue, hooks),
		...hostHandlers(hostTools, events, slashCommands),
		negotiate_protocol() {
			// Its answer would change the frames of the process: in this dialect there is one version.
			throw new CommandError("negotiate_protocol is not supported");
		},
		...unserved,
	};
}

/** Named so that a host gets a plain answer; the server refuses them by their row. */
const never = () => undefined;
const unserved = {
	set_locale: never,
	get_integrations: never,
	set_fast_mode: never,
	set_host_uri_schemes: never,
	set_subagent_subscription: never,
	get_subagents: never,
	get_subagent_messages: never,
	handoff: never,
	get_login_providers: never,
	login: never,
};
