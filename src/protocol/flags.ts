/** One table of flags, from which parsing, help and the options of embedded sessions follow. */
import { thinkingLevels } from "./levels.ts";
import { permissionModes } from "./permission-modes.ts";
import { settings } from "./settings.ts";

export interface Flag {
	/** What the value is called in the help; a flag without one is a switch. */
	value?: string;
	doc: string;
	/** One or more letters: `-c`, `-ne`. */
	short?: string;
	/** May be given several times. */
	repeats?: true;
	/** Allowed values. */
	oneOf?: readonly string[];
	/** Other words for some of the values. */
	synonyms?: Readonly<Record<string, string>>;
	/** The value may be missing. Then the flag stands for this switch. */
	without?: string;
	/** Another spelling of this flag. */
	means?: string;
	/** Why it is refused: hosts pass it, and it must not be accepted without effect. */
	refusal?: string;
	/** What the value must look like. */
	pattern?: RegExp;
	/** Accepted for clients that pass it, not worth a line of help. */
	hidden?: true;
}

/** The ways of speaking to a host. */
export const dialectNames = ["classic", "pi", "omp", "strict"] as const;

export const flags = {
	print: { short: "p", doc: "Answer once: print the final answer and end (--mode text)" },
	mode: {
		value: "mode",
		doc: "text: print the answer. json: print each event as a line. rpc: JSON lines in and out",
		oneOf: ["text", "json", "rpc"],
		synonyms: { "rpc-ui": "rpc" },
	},
	cwd: { value: "dir", doc: "Work in this directory" },
	provider: { value: "name", doc: "Provider of the model" },
	model: { value: "id", doc: "Model: an id, provider/id, either with :level after it" },
	"api-key": { value: "key", doc: "Key for the chosen provider, for this process only" },
	models: { value: "a,b", doc: "Models that cycle_model goes through" },
	thinking: { value: "level", doc: "off, minimal, low, medium, high or xhigh", oneOf: [...thinkingLevels, "max"] },
	session: { value: "path|id", doc: "Continue this session: its file, or the beginning of its id" },
	continue: { short: "c", doc: "Continue the latest session of this directory" },
	resume: { value: "path|id", without: "continue", means: "session", doc: "The same as --session; without a value the same as --continue" },
	fork: { value: "path|id", doc: "Begin with a copy of this session, in a file of its own" },
	"session-dir": { value: "path", doc: "Where session files go" },
	"session-id": { value: "id", doc: "Continue the session of this directory that has this id, or begin it", pattern: /^\w[\w.-]*$/ },
	name: { value: "name", short: "n", doc: "Name for the session" },
	"no-session": { doc: "Write nothing to disk" },
	tools: { value: "a,b", doc: "Only these built-in tools; +a,-b changes the default; mcp__ names choose MCP tools" },
	"exclude-tools": { value: "a,b", doc: "None of these tools, from any source" },
	"no-tools": { short: "nt", doc: "No built-in tools" },
	"no-builtin-tools": { means: "no-tools", hidden: true, doc: "The same as --no-tools" },
	"mcp-config": { value: "file|json", doc: "MCP servers for this process: a file, or the JSON itself", repeats: true },
	"no-mcp": { doc: "No MCP server but those of --mcp-config and of the host" },
	"system-prompt": { value: "text", doc: "Replace the system prompt (text or a file)" },
	"append-system-prompt": { value: "text", doc: "Add to the system prompt (text or a file)", repeats: true },
	record: {
		value: "file",
		doc: "Record models and tools into a script, to play with --provider scripted --model <file>",
	},
	replay: { value: "how", doc: "strict: a request that differs from the record fails (default). loose: it is reported", oneOf: ["strict", "loose"] },
	"replay-tools": { doc: "Answer tool calls from the record instead of running them" },
	"replay-speed": { value: "speed", doc: "full (default), or recorded: with the pauses of the original", oneOf: ["full", "recorded"] },
	"output-schema": { value: "file", doc: "With -p: answer with a value that fits this JSON Schema, and print nothing else" },
	extension: { value: "path", short: "e", doc: "Load an extension", repeats: true },
	"no-extensions": { short: "ne", doc: "Load no extension but those named" },
	skill: { value: "path", doc: "Load a skill", repeats: true },
	"no-skills": { short: "ns", doc: "Look for no skills" },
	"prompt-template": { value: "path", doc: "Load a prompt template, or a directory of them", repeats: true },
	"no-prompt-templates": { short: "np", doc: "Look for no prompt templates" },
	"no-rules": { doc: "Look for no stream rules" },
	"no-context-files": { short: "nc", doc: "Read no AGENTS.md or CLAUDE.md" },
	hermetic: { doc: "Take nothing from the user's home or the project that is not named here" },
	approve: { short: "a", doc: "Trust this project's own code and settings" },
	"no-approve": { doc: "Do not trust them" },
	"permission-mode": {
		value: "mode",
		doc: "What runs without an approval: plan, ask, edit or full (default)",
		oneOf: permissionModes,
	},
	contained: { doc: "Mode edit, sandbox, no network, checkpoints; see docs/security.md" },
	config: { value: "file", doc: "A settings file for this process" },
	set: { value: "key=value", doc: "One setting", repeats: true },
	sandbox: {
		value: "mode",
		doc: "Sandbox for tools: off, read-only, workspace-write or external; see docs/sandbox.md",
		oneOf: settings["sandbox.mode"].values as readonly string[],
	},
	"no-sandbox": { doc: "The same as --sandbox off" },
	"interrupt-mode": {
		value: "mode",
		doc: "Whether steering skips tool calls: immediate or wait",
		oneOf: settings.interruptMode.values as readonly string[],
	},
	updates: { value: "kind", doc: "Replies as they grow: full snapshots or delta only", oneOf: ["full", "delta"] },
	dialect: {
		value: "name",
		doc: "Dialect that the host speaks: classic (default), pi, omp or strict; see docs/migration.md",
		oneOf: dialectNames,
	},
	seq: { doc: "Number all frames, and keep a log next to the session for readers that missed some" },
	"seq-after": { value: "number", doc: "Give numbers above this one only: another process may have given those up to it; needs --seq" },
	gate: { value: "who", doc: "host: ask the host before each model request, tool call and subagent; needs --seq", oneOf: ["host"] },
	"no-ready": { doc: "Do not announce readiness" },
	log: { value: "file", doc: "bowline acp: write every line to this file, with its direction and time" },
	acp: { doc: "bowline doctor: also drive bowline acp as an editor does" },
	"list-models": { value: "search", without: "list-models", doc: "The same as bowline models [search]" },
	json: { doc: "Print JSON: of bowline models, sessions, cost, config, doctor and export" },
	help: { short: "h", doc: "This text" },
	version: { short: "v", doc: "The version" },
	"no-title": { hidden: true, doc: "No effect: titles are never made up" },
	"no-themes": { hidden: true, doc: "No effect" },
	offline: { hidden: true, doc: "No effect: nothing is fetched at the start" },
	verbose: { hidden: true, doc: "No effect" },
	"approval-mode": {
		value: "mode",
		hidden: true,
		means: "permission-mode",
		doc: "Another spelling of --permission-mode, with the words of other agents",
		oneOf: permissionModes,
		synonyms: {
			"always-ask": "ask",
			default: "ask",
			"auto-edit": "edit",
			"accept-edits": "edit",
			write: "edit",
			"read-only": "plan",
			yolo: "full",
			never: "full",
			bypass: "full",
		},
	},
	"provider-session-id": { value: "id", hidden: true, doc: "Cache key for the provider" },
} satisfies Record<string, Flag>;

type Flags = typeof flags;
export type FlagName = keyof Flags;
type Value<F> = F extends { without: string; value: string }
	? string | true
	: F extends { repeats: true }
		? string[]
		: F extends { value: string }
			? string
			: boolean;
export type Options = { [Name in FlagName]?: Value<Flags[Name]> };
