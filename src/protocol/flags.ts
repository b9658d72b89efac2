/** One table of flags, from which parsing, help and the options of embedded sessions follow. */
import { thinkingLevels } from "./levels.ts";
import { settings } from "./settings.ts";

export interface Flag {
	/** What the value is called in the help; a flag without one is a switch. */
	value?: string;
	doc: string;
	short?: string;
	/** May be given several times. */
	repeats?: true;
	/** Allowed values. */
	oneOf?: readonly string[];
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
	},
	provider: { value: "name", doc: "Provider of the model" },
	model: { value: "id", doc: "Model: an id, provider/id, either with :level after it" },
	"api-key": { value: "key", doc: "Key for the chosen provider, for this process only" },
	models: { value: "a,b", doc: "Models that cycle_model goes through" },
	thinking: { value: "level", doc: "off, minimal, low, medium, high or xhigh", oneOf: [...thinkingLevels, "max"] },
	session: { value: "path|id", doc: "Go on with this session: its file, or the beginning of its id" },
	continue: { short: "c", doc: "Go on with the latest session of this directory" },
	"session-dir": { value: "path", doc: "Where session files go" },
	"session-id": { value: "id", doc: "Id for a new session", pattern: /^\w[\w.-]*$/ },
	name: { value: "name", short: "n", doc: "Name for the session" },
	"no-session": { doc: "Write nothing to disk" },
	tools: { value: "a,b", doc: "Only these built-in tools" },
	"no-tools": { doc: "No built-in tools" },
	"system-prompt": { value: "text", doc: "Replace the system prompt (text or a file)" },
	"append-system-prompt": { value: "text", doc: "Add to the system prompt (text or a file)", repeats: true },
	extension: { value: "path", short: "e", doc: "Load an extension", repeats: true },
	"no-extensions": { doc: "Load no extension but those named" },
	skill: { value: "path", doc: "Load a skill", repeats: true },
	"no-skills": { doc: "Look for no skills" },
	"prompt-template": { value: "path", doc: "Load a prompt template, or a directory of them", repeats: true },
	"no-prompt-templates": { doc: "Look for no prompt templates" },
	"no-rules": { doc: "Look for no stream rules" },
	"no-context-files": { doc: "Read no AGENTS.md or CLAUDE.md" },
	hermetic: { doc: "Take nothing from the user's home or the project that is not named here" },
	approve: { doc: "Trust this project's own code and settings" },
	"no-approve": { doc: "Do not trust them" },
	config: { value: "file", doc: "A settings file for this process" },
	set: { value: "key=value", doc: "One setting", repeats: true },
	"interrupt-mode": {
		value: "mode",
		doc: "Whether steering skips tool calls: immediate or wait",
		oneOf: settings.interruptMode.values as readonly string[],
	},
	updates: { value: "kind", doc: "Replies as they grow: full snapshots or delta only", oneOf: ["full", "delta"] },
	dialect: {
		value: "name",
		doc: "Words of the host: classic (default), pi, omp or strict; see docs/migration.md",
		oneOf: dialectNames,
	},
	"no-ready": { doc: "Do not announce readiness" },
	help: { short: "h", doc: "This text" },
	version: { short: "v", doc: "The version" },
	"no-title": { hidden: true, doc: "No effect: titles are never made up" },
	"no-themes": { hidden: true, doc: "No effect" },
	"provider-session-id": { value: "id", hidden: true, doc: "Cache key for the provider" },
} satisfies Record<string, Flag>;

type Flags = typeof flags;
type FlagName = keyof Flags;
type Value<F> = F extends { repeats: true } ? string[] : F extends { value: string } ? string : boolean;
export type Options = { [Name in FlagName]?: Value<Flags[Name]> };
