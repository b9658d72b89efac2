/** The rows of `npm run bench`. */

import { acpRows } from "./acp-rows.ts";
import { basicRows } from "./basic-rows.ts";
import { checkpoints } from "./checkpoint-rows.ts";
import { economyRows } from "./economy/rows.ts";
import { enduranceRows } from "./endurance-rows.ts";
import { worktree } from "./isolation-rows.ts";
import { mcpRows } from "./mcp-rows.ts";
import { permissionRows } from "./permission-rows.ts";
import { providerRows } from "./provider-rows.ts";
import { replayRows } from "./replay-rows.ts";
import type { Row } from "./row.ts";
import { sandboxRows } from "./sandbox-rows.ts";
import { serveRows } from "./serve-rows.ts";
import { sessionRows } from "./session-rows.ts";
import { subagents } from "./subagent-rows.ts";
import { toolRows } from "./tool-rows.ts";

export const rows: Row[] = [
	...basicRows,
	...providerRows,
	...toolRows,
	...mcpRows,
	...permissionRows,
	...sessionRows,
	...acpRows,
	...replayRows,
	...serveRows,
	...sandboxRows,
	subagents,
	worktree,
	checkpoints,
	...economyRows,
	...enduranceRows,
];
