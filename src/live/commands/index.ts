/** One handler per command. */
import { CommandError } from "../../protocol/command-error.ts";
import type { CommandName, CommandResult } from "../../protocol/commands/index.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Assembly } from "../assemble.ts";
import type { SessionCheckpoints } from "../checkpoints.ts";
import type { Front } from "../front.ts";
import type { LiveSession } from "../live-session.ts";
import { bashHandlers } from "./bash.ts";
import { checkpointHandlers } from "./checkpoints.ts";
import { compactionHandlers } from "./compaction.ts";
import type { Handlers } from "./contract.ts";
import { exportHandlers } from "./export.ts";
import { hostHandlers } from "./host.ts";
import { modelHandlers } from "./model.ts";
import { permissionHandlers } from "./permissions.ts";
import { type ExtensionCommand, promptingHandlers } from "./prompting.ts";
import { retryHandlers } from "./retry.ts";
import { sequenceHandlers } from "./sequence.ts";
import { sessionHandlers } from "./session.ts";
import { stateHandlers } from "./state.ts";

/** What handlers act on. */
export interface HandlerParts {
	assembly: Pick<Assembly, "budget" | "session" | "bash" | "retry" | "compaction" | "models" | "sources" | "mcp" | "permissions">;
	front: Pick<Front, "host" | "reader" | "variations">;
	/** The session itself, once it is open. */
	live: () => LiveSession;
	/** What the agent says about itself. Paths are relative to its directory. */
	identity: Identity;
	/** Resolves when the program ends and no longer waits for anything slow. */
	leaving: Promise<void>;
	/** The extension command that a text invokes. */
	findCommand: (text: string) => ExtensionCommand | undefined;
	slashCommands: () => Promise<CommandResult<"get_commands">["commands"]>;
	checkpoints: () => SessionCheckpoints | undefined;
}

export function handlers({ assembly, front, live, identity, leaving, findCommand, slashCommands, checkpoints }: HandlerParts): Handlers {
	const { session, retry, compaction, bash, models, sources, mcp, permissions } = assembly;
	const { cwd } = identity;
	return {
		...promptingHandlers({
			session,
			findCommand,
			awaitsCommands: front.variations?.awaitsCommands ?? false,
			leaving,
			requireAnswer: async (schema) => (await import("../require-answer.ts")).requireAnswer(schema),
		}),
		...stateHandlers(session, identity, permissions),
		...permissionHandlers(permissions, identity),
		...sessionHandlers(session, cwd, assembly.budget),
		...exportHandlers(session, cwd),
		...retryHandlers(session.controls, retry),
		...compactionHandlers(session, compaction),
		...bashHandlers(bash, front.variations?.bashOutput),
		...modelHandlers(session, models),
		...checkpointHandlers(checkpoints),
		...hostHandlers(front.host, sources, mcp, slashCommands),
		...sequenceHandlers(live, front),
		...unserved,
	};
}

/** Named so that a host gets a plain answer. Some dialects serve them. */
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
		throw new CommandError("unsupported", `${name} is not supported`);
	};
}
