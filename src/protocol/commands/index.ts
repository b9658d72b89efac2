/** The command table: every word a host can say. */
import type { Params, Result } from "../define.ts";
import { bashCommands } from "./bash.ts";
import { checkpointCommands } from "./checkpoints.ts";
import { compactionCommands } from "./compaction.ts";
import { newerCommands } from "./dialect-commands.ts";
import { hostCommands } from "./host.ts";
import { mcpCommands } from "./mcp.ts";
import { modelCommands } from "./model.ts";
import { permissionCommands } from "./permissions.ts";
import { promptingCommands } from "./prompting.ts";
import { queueCommands } from "./queue.ts";
import { retryCommands } from "./retry.ts";
import { sequenceCommands } from "./sequence.ts";
import { sessionCommands } from "./session.ts";
import { stateCommands } from "./state.ts";

export const commands = {
	...promptingCommands,
	...stateCommands,
	...modelCommands,
	...queueCommands,
	...compactionCommands,
	...retryCommands,
	...bashCommands,
	...sessionCommands,
	...checkpointCommands,
	...hostCommands,
	...mcpCommands,
	...permissionCommands,
	...sequenceCommands,
	...newerCommands,
};

export type Commands = typeof commands;
export type CommandName = keyof Commands;
export type CommandParams<Name extends CommandName> = Params<Commands[Name]>;
export type CommandResult<Name extends CommandName> = Result<Commands[Name]>;
