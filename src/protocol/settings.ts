/** Every setting: type, default, one sentence. The only home of defaults. Knows no schema library: the program reads it at start. */
import { thinkingLevels } from "./levels.ts";
import { permissionModes } from "./permission-modes.ts";

/** A rule about tool calls, with the place that it comes from: the lists of all places are joined. */
export interface RuleLine {
	action: "allow" | "ask" | "deny";
	tool?: string;
	command?: string;
	path?: string;
	host?: string;
	runsLater?: boolean;
	because?: string;
	private?: boolean;
	source: "user" | "project" | "config" | "flags";
}

type Kinds = { boolean: boolean; number: number; string: string; strings: string[]; record: Record<string, unknown>; rules: readonly RuleLine[] };
export type Kind = keyof Kinds;

export interface SettingRow<K extends Kind = Kind, D = unknown> {
	doc: string;
	kind: K;
	default: D;
	values?: readonly string[];
	/**
	 * An untrusted project may set it; a number only from the first of these to the last, or to the default. `stricter`: no project, trusted or
	 * not, may set a value that comes later in `values` than the one in effect; for other orders and kinds see `Stricter`. `never`: no project
	 * may set it.
	 */
	project?: true | "stricter" | "never" | Stricter | readonly [least: number, most: number];
	/** Paths. Those of a file are relative to its directory. */
	isPath?: true;
	/** An object whose members come from all places: one in a higher place replaces the whole member of the same name. */
	byMember?: true;
	/** A host gets the default whatever the user's or project's file says. */
	resetInRpc?: true;
	/**
	 * It names code, places or rights: only the owner of the machine sets it. Requests for sessions of `bowline serve` and runs of the fleet are
	 * refused with it.
	 */
	ownersOnly?: true;
	/** A run of the fleet may lower the number of its worker, and set one where the worker has none. */
	isCeiling?: true;
}

/**
 * What stricter means. A list of values, from the weakest to the strictest: a project may move to the right, and values that are missing
 * are not for projects. `longer`: a project may add to the list. `lower`: it may lower the number, where 0 means no limit.
 */
export interface Stricter {
	stricter: readonly (string | boolean)[] | "longer" | "lower";
}

type Extra = Pick<SettingRow, "project" | "isPath" | "byMember" | "resetInRpc" | "ownersOnly" | "isCeiling">;

function setting<K extends Kind>(kind: K, value: Kinds[K], doc: string, extra: Extra = {}): SettingRow<K, Kinds[K]> {
	return { doc, kind, default: value, ...extra };
}
function unset<K extends Kind>(kind: K, doc: string, extra: Extra = {}): SettingRow<K, Kinds[K] | undefined> {
	return { doc, kind, default: undefined, ...extra };
}
function choice<const V extends readonly string[]>(values: V, value: V[number], doc: string, extra: Extra = {}): SettingRow<"string", V[number]> {
	return { doc, kind: "string", default: value, values, ...extra };
}

const project = { project: true } as const;
const within = (least: number, most: number) => ({ project: [least, most] }) as const;
const tokens = within(0, 200_000);
const owners = { ownersOnly: true } as const;
const ceiling = { isCeiling: true } as const;
const path = { isPath: true, ...owners } as const;
const reset = { resetInRpc: true } as const;
const never = { project: "never", ...owners } as const;
const stricter = (...order: readonly (string | boolean)[]) => ({ project: { stricter: order }, ...owners });
const longer = { project: { stricter: "longer" }, ...owners } as const;
const lower = { project: { stricter: "lower" }, ...owners } as const;
const queueModes = ["all", "one-at-a-time"] as const;

export const settings = {
	defaultProvider: unset("string", "Provider of the model to start with."),
	defaultModel: unset("string", "Model to start with."),
	defaultThinkingLevel: choice(thinkingLevels, "medium", "Thinking level to start with.", project),
	steeringMode: choice(queueModes, "one-at-a-time", "How many steering messages one delivery takes.", project),
	followUpMode: choice(queueModes, "one-at-a-time", "How many follow-ups one delivery takes.", project),
	interruptMode: choice(["immediate", "wait"], "immediate", "Whether steering skips the rest of a turn's tool calls.", project),
	"compaction.enabled": setting("boolean", true, "Compact the conversation automatically when it grows too long.", project),
	"compaction.reserveTokens": setting("number", 16384, "Room kept for the reply and the summary.", within(0, 64_000)),
	"compaction.keepRecentTokens": setting("number", 20000, "How much of the end stays word for word; at most a quarter of the window.", tokens),
	"compaction.thresholdPercent": setting(
		"number",
		-1,
		"Compact at this share of the window. With -1 the smallest counts of: window minus reserveTokens, the input at which the price of the model steps up, and 250000 tokens.",
		within(10, 100),
	),
	"compaction.thresholdTokens": setting(
		"number",
		-1,
		"Compact at this many tokens; beats the percentage and the limits that hold without them.",
		within(8000, 10_000_000),
	),
	"branchSummary.reserveTokens": setting("number", 16384, "Room kept when a left branch is summarised."),
	"retry.enabled": setting("boolean", true, "Ask again after a passing failure of the provider.", project),
	"retry.maxRetries": setting("number", 3, "How often in a row.", within(0, 10)),
	"retry.baseDelayMs": setting("number", 2000, "The first wait; each further one is twice as long.", within(100, 60_000)),
	"retry.rateLimits": choice(
		["wait", "host"],
		"wait",
		"What happens at a provider's rate limit: wait and ask again, or end the run, so that the host waits and sends resume_run.",
	),
	"retry.maxDelayMs": setting("number", 60000, "The longest wait a provider may ask for.", within(0, 300_000)),
	"thinkingBudgets.minimal": setting("number", 1024, "Thinking tokens at level minimal.", tokens),
	"thinkingBudgets.low": setting("number", 2048, "Thinking tokens at level low.", tokens),
	"thinkingBudgets.medium": setting("number", 8192, "Thinking tokens at level medium.", tokens),
	"thinkingBudgets.high": setting("number", 16384, "Thinking tokens at level high.", tokens),
	"stream.firstEventTimeoutMs": setting("number", 300000, "How long a provider may stay silent before its first word."),
	"stream.idleTimeoutMs": setting("number", 120000, "How long a provider may stay silent in the middle of a reply."),
	"bash.env.allow": setting("strings", [], "Variables that commands may see although they hold credentials Bowline uses.", owners),
	"bash.autoBackground.enabled": setting("boolean", false, "Accepted for the family's files; no effect.", reset),
	"bash.autoBackground.thresholdMs": setting("number", 60000, "Accepted for the family's files; no effect.", reset),
	mcpServers: setting("record", {}, "MCP servers by name; each place adds its own, and the same name replaces the whole entry. See docs/mcp.md.", {
		byMember: true,
		...owners,
	}),
	"mcp.enabled": setting(
		"boolean",
		true,
		"Use the MCP servers of settings and of .mcp.json; those of --mcp-config and of a host are used anyway.",
		owners,
	),
	"mcp.waitMs": setting("number", 10000, "How long the first model call waits for MCP servers to be ready.", owners),
	"mcp.env.allow": setting("strings", [], "Variables that MCP servers may see besides the usual ones and those of their entries.", owners),
	"acp.busy": choice(["queue", "steer"], "queue", "What a prompt of an editor does while another one runs: wait for its turn, or steer."),
	"mcp.instructions": setting("boolean", true, "Put what MCP servers say about their tools into the system prompt.", owners),
	"serve.port": setting("number", 7717, "Port of `bowline serve`.", never),
	"serve.host": setting("string", "127.0.0.1", "Address that it listens on.", never),
	"serve.roots": setting("strings", [], "Directories inside which its sessions work; default: where it was started.", { ...path, ...never }),
	"serve.idleMs": setting("number", 300000, "It ends the process of a session that is idle for so long; 0 never.", never),
	"serve.maxAwake": setting("number", 0, "Its processes at once; 0: total memory / 64 MB, at most 200.", never),
	"serve.maxStarting": setting("number", 4, "Processes that start at once.", never),
	"serve.drainMs": setting("number", 30000, "How long runs may go on when it is stopped.", never),
	"serve.approve": setting("boolean", false, "Whether requests with an admin token may trust a project.", never),
	"images.autoResize": setting("boolean", true, "Shrink large images before they go to the model.", project),
	"images.blockImages": setting("boolean", false, "Send no image to the model at all.", project),
	shellPath: unset("string", "The shell for commands; default: bash, else sh.", owners),
	shellCommandPrefix: unset("string", "A line put before every command.", owners),
	extensions: setting("strings", [], "Further extension files or directories.", path),
	skills: setting("strings", [], "Further skill directories.", path),
	prompts: setting("strings", [], "Further prompt template directories.", path),
	packages: setting("strings", [], "Directories of packages that carry extensions, skills or prompts.", path),
	enableSkillCommands: setting("boolean", true, "Offer skills as /skill:name."),
	enabledModels: unset("strings", "Models that cycle_model goes through."),
	sessionDir: unset("string", "Where session files go.", path),
	"todo.enabled": setting("boolean", true, "Offer the todo tool.", { ...project, ...reset }),
	"todo.reminders": setting("boolean", true, "Remind the agent of open todos when it stops.", { ...project, ...reset }),
	"todo.reminders.max": setting("number", 3, "How often per prompt.", { ...within(0, 10), ...reset }),
	"todo.eager": setting("boolean", false, "Ask for a plan before the first work.", { ...project, ...reset }),
	"tasks.todoClearDelay": setting("number", 60, "Seconds until finished todos are removed; -1 never."),
	"ttsr.enabled": setting("boolean", true, "Watch replies with stream rules."),
	"ttsr.contextMode": choice(["discard", "keep"], "discard", "What happens to a reply that a rule cut."),
	"ttsr.interruptMode": choice(["always", "prose-only", "tool-only", "never"], "always", "Where a rule may cut a reply."),
	"ttsr.repeatMode": choice(["once", "after-gap"], "once", "Whether a rule may fire again."),
	"ttsr.repeatGap": setting("number", 10, "Turns before it may, with after-gap."),
	"async.enabled": setting("boolean", false, "Accepted for the family's files; no effect.", reset),
	"async.maxJobs": setting("number", 100, "Accepted for the family's files; no effect.", reset),
	"task.isolation.mode": choice(
		["none", "worktree", "fuse-overlay", "fuse-projfs"],
		"none",
		"Where subagents work: here, or in a git worktree.",
		reset,
	),
	"task.isolation.merge": choice(["patch", "branch"], "patch", "How isolated work comes back.", reset),
	"task.isolation.commits": choice(
		["generic", "ai"],
		"generic",
		"Where commit messages in mode branch come from: the task's description, or the model.",
		reset,
	),
	"task.eager": setting("boolean", false, "Encourage the use of subagents.", reset),
	"task.maxConcurrency": setting(
		"number",
		32,
		"Subagents at work at once, those of subagents included; one that waits for its own does not count. 0 means no limit.",
		reset,
	),
	"task.maxRecursionDepth": setting("number", 2, "How deep subagents may start subagents; -1 means no limit.", reset),
	"task.maxRuntimeMs": setting("number", 0, "How long one subagent may take; 0 means no limit."),
	"task.softRequestLimit": setting(
		"number",
		200,
		"Model requests after which a subagent is asked to finish; at one and a half times it is ended. 0 means no limit.",
	),
	"task.disabledAgents": setting("strings", [], "Agents that may not be used.", reset),
	"task.agentModelOverrides": setting("record", {}, "Model per agent.", reset),
	"task.verification.enabled": setting("boolean", false, "Verify isolated work also when it is not asked for."),
	"task.verification.defaultProfile": setting("string", "", "Profile used when none is named."),
	"task.verification.requireForIsolated": setting("boolean", false, "With enabled: every isolated task is verified."),
	"task.verification.maxRetries": setting("number", 1, "Repair runs after a failed verification."),
	"task.verification.failureContextLineLimit": setting("number", 200, "Lines of a failed check that the repair run sees."),
	"task.verification.profiles": setting("record", {}, "Named sets of checks.", owners),
	"task.budget.maxWallTimeMs": unset("number", "Ceiling for the time since the first run.", ceiling),
	"task.budget.maxInputTokens": unset("number", "Ceiling for input tokens.", ceiling),
	"task.budget.maxOutputTokens": unset("number", "Ceiling for output tokens.", ceiling),
	"task.budget.maxTotalTokens": unset("number", "Ceiling for all tokens.", ceiling),
	"task.budget.maxCostUsd": unset("number", "Ceiling for the cost. A model whose price is not known is refused.", ceiling),
	"task.budget.maxToolCalls": unset("number", "Ceiling for tool calls.", ceiling),
	"task.budget.maxSubagents": unset("number", "Ceiling for subagents.", ceiling),
	"task.budget.warnAtRatio": setting("number", 0.8, "Share of a ceiling at which a warning is given."),
	"task.budget.onExceeded": choice(["stop", "finish"], "stop", "What becomes of the run that is going on when a ceiling is reached."),
	"gate.timeoutMs": setting(
		"number",
		60000,
		"With --gate host: how long a question before a step waits for an answer; then the run ends.",
		within(1, 2 ** 31 - 1),
	),
	safety: choice(
		["off", "contained"],
		"off",
		"`contained`: mode edit, a sandbox without network and home, and checkpoints, in one word; see docs/security.md.",
		stricter("off", "contained"),
	),
	"permissions.mode": choice(permissionModes, "full", "How much is allowed without asking; see docs/permissions.md.", {
		project: "stricter",
		...owners,
	}),
	"permissions.rules": setting(
		"rules",
		[],
		"Rules about tool calls: allow, ask or deny. The lists of all places are joined; a project that is not trusted adds only ask and deny.",
		{ ...project, ...owners },
	),
	"permissions.timeoutMs": setting("number", 300000, "How long a question about a tool call waits for an answer; 0 means no limit.", owners),
	"permissions.onTimeout": choice(["deny", "abort"], "deny", "What happens without an answer: the call is denied, or the run is aborted.", owners),
	"permissions.grantsLapse": setting(
		"boolean",
		false,
		"Answers for commands that run files of the project, such as `npm test`, hold until those files change; see docs/permissions.md.",
		stricter(false, true),
	),
	"permissions.dialogs": setting("boolean", true, "Ask hosts that do not know typed approvals with a dialog.", owners),
	"checkpoints.enabled": setting(
		"boolean",
		false,
		"Note the files, commits and branches before and after each turn that may change them, so that `rewind` can put them back.",
	),
	"checkpoints.keepDays": setting("number", 14, "For how long the files of a checkpoint are kept."),
	"sandbox.mode": choice(
		["off", "read-only", "workspace-write", "external"],
		"off",
		"The sandbox for commands and file tools, see docs/sandbox.md. `external`: the host runs this process in a sandbox of its own.",
		stricter("off", "workspace-write", "read-only"),
	),
	"sandbox.required": setting("boolean", true, "Refuse prompts when the sandbox cannot be built. False: run without it, and say so.", never),
	"sandbox.writable": setting("strings", [], "Further directories that may be written to.", { ...path, ...never }),
	"sandbox.readable": setting("strings", [], "Paths that may be read although they are hidden.", { ...path, ...never }),
	"sandbox.hidden": setting("strings", [], "Further paths that cannot be read.", { ...path, ...longer }),
	"sandbox.protected": setting("strings", [], "Further paths in writable directories that cannot be written.", { ...path, ...longer }),
	"sandbox.network": choice(
		["off", "hosts", "on"],
		"off",
		"What commands reach: their own loopback, some hosts through a proxy, or the machine's network.",
		stricter("on", "hosts", "off"),
	),
	"sandbox.hosts": setting("strings", [], "Hosts for network `hosts`: `name`, `*.name`, `name:port`, or an address.", never),
	"sandbox.env": setting(
		"strings",
		[],
		"Further variables for commands inside: `NAME`, `PREFIX_*`, or `*` for all but Bowline's credentials.",
		never,
	),
	"sandbox.git": choice(["write", "read"], "write", "Whether commands inside may commit.", stricter("write", "read")),
	"sandbox.home": choice(
		["shown", "hidden"],
		"shown",
		"`hidden`: of the home directory only writable directories, entries of PATH and sandbox.readable are seen.",
		stricter("shown", "hidden"),
	),
	"sandbox.envFiles": choice(
		["shown", "masked"],
		"shown",
		"`masked`: of `.env` and similar files in writable directories, commands and tools see copies with placeholders for the values.",
		stricter("shown", "masked"),
	),
	"sandbox.unixSockets": choice(["own", "none"], "own", "`none`: commands inside cannot make unix sockets at all.", stricter("own", "none")),
	"sandbox.escalation": choice(
		["never", "ask"],
		"never",
		"`ask`: the model may ask for one command outside, which a person approves.",
		stricter("ask", "never"),
	),
	"sandbox.maxProcesses": setting("number", 2048, "Processes of commands inside; 0 means no limit. Has no effect for root and on macOS.", lower),
	"sandbox.bwrapPath": unset(
		"string",
		"The bubblewrap program on Linux; default /usr/bin/bwrap, else one in PATH outside every writable directory.",
		{
			...path,
			...never,
		},
	),
	"fleet.url": unset("string", "PostgreSQL of the fleet: postgres://user@host/database. Unset: a directory of this machine.", never),
	"fleet.schema": setting("string", "bowline_fleet", "Schema of the fleet's tables.", never),
	"fleet.slots": unset("number", "Runs at work at once on a worker; default: half of the cores.", never),
	"fleet.leaseMs": setting("number", 20000, "After this time without a sign of life a worker's runs go to others.", never),
	"fleet.renewMs": setting("number", 5000, "How often a worker gives a sign of life.", never),
	"fleet.stallMs": setting("number", 900000, "After this time without any sign of work a run is ended.", never),
	"fleet.drainMs": setting("number", 600000, "How long a worker that was asked to end lets its runs go on.", never),
	"fleet.maxAttempts": setting("number", 5, "How often a run is given to a worker before it counts as lost.", never),
	"fleet.keepDays": setting("number", 30, "For how long `fleet prune` keeps the logs of runs.", never),
	"fleet.cacheDir": unset("string", "Where workers keep mirrors of repositories; default: cache/git in the user's directory.", { ...path, ...never }),
	"fleet.cacheBytes": setting("number", 20_000_000_000, "Above this size the mirrors that were not used for longest are removed.", never),
	"fleet.patchBytes": setting("number", 16_777_216, "The largest patch of a run.", never),
	"fleet.env.allow": setting("strings", [], "Variables of a worker that runs may name in `env`.", never),
	"trust.projects": setting("strings", [], "Directories whose own code and settings are trusted; read from the user's file only.", owners),
};

export type Settings = typeof settings;
export type SettingName = keyof Settings;
export type SettingValue<Name extends SettingName> = Settings[Name]["default"];
