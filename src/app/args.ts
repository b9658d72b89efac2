/** The command line: one table of flags, from which parsing and help follow. */
import { thinkingLevels } from "../protocol/levels.ts";
import { settings } from "../protocol/settings.ts";
import { subcommands } from "./subcommands.ts";
import { UsageError } from "./usage-error.ts";

interface Flag {
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

const flags = {
	print: { short: "p", doc: "Answer once: print the final answer and end (--mode text)" },
	mode: {
		value: "mode",
		doc: "text: print the answer. json: print each event as a line. rpc: JSON lines in and out",
		oneOf: ["text", "json", "rpc"],
	},
	provider: { value: "name", doc: "Provider of the model" },
	model: { value: "id", doc: "Model: an id, provider/id, either with :level behind it" },
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
		oneOf: ["classic", "pi", "omp", "strict"],
	},
	"no-ready": { doc: "Do not announce readiness" },
	help: { short: "h", doc: "This text" },
	version: { short: "v", doc: "The version" },
	"no-title": { hidden: true, doc: "No effect: titles are never made up" },
	"no-themes": { hidden: true, doc: "No effect" },
	"provider-session-id": { value: "id", hidden: true, doc: "Cache key for the provider" },
} satisfies Record<string, Flag>;

type Flags = typeof flags;
export type FlagName = keyof Flags;
type Value<F> = F extends { repeats: true } ? string[] : F extends { value: string } ? string : boolean;
export type Options = { [Name in FlagName]?: Value<Flags[Name]> };

export interface Arguments {
	options: Options;
	/** What is no flag, in order. */
	words: string[];
	/** Flags that are not in the table; extensions may know them. */
	unknown: UnknownFlag[];
}

export interface UnknownFlag {
	name: string;
	/** What stands behind `=`. */
	value: string | undefined;
	/** The word behind it, which may be its value, or the next of `words`. */
	following: string | undefined;
	/** How many words stand before it. */
	at: number;
}

export const unexpectedText = (word: string) => `Unexpected argument: ${word}. In RPC mode prompts are sent over stdin.`;
const unknownFlagText = (spelling: string) => `Unknown flag: ${spelling}. See bowline --help.`;

/** Clients of the family pass switches of other versions; one that only turns something off can do no harm. */
const isHarmless = (name: string) => name.startsWith("no-");

/** What is to be said about flags that nobody knows. Throws for the first that is not harmless. */
export function refuseUnknown(flags: readonly UnknownFlag[], warn: (text: string) => void): void {
	const wrong = flags.find(({ name }) => !isHarmless(name));
	if (wrong) throw new UsageError(unknownFlagText(`--${wrong.name}`));
	for (const { name } of flags) warn(`Unknown flag --${name} has no effect.`);
}

/** The parsed command line, or what is wrong with it. */
export function parseArguments(argv: readonly string[]): Arguments | { problem: string } {
	const table: Record<string, Flag> = flags;
	const options: Record<string, string | boolean | string[]> = {};
	const result: Arguments = { options: options as Options, words: [], unknown: [] };
	for (let index = 0; index < argv.length; index++) {
		const word = argv[index] as string;
		if (word === "--") {
			result.words.push(...argv.slice(index + 1));
			break;
		}
		if (!word.startsWith("-") || word === "-") {
			result.words.push(word);
			continue;
		}
		const [spelling = "", given] = splitOnce(word, "=");
		const name = spelling.startsWith("--") ? spelling.slice(2) : Object.keys(table).find((key) => table[key]?.short === spelling.slice(1));
		const flag = name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
		if (!name || !flag) {
			if (!name || !spelling.startsWith("--")) return { problem: unknownFlagText(spelling) };
			const isPair = given === undefined && !isHarmless(name) && argv[index + 1]?.startsWith("-") === false;
			result.unknown.push({ name, value: given, following: isPair ? argv[++index] : undefined, at: result.words.length });
			continue;
		}
		if (!flag.value) {
			if (given !== undefined) return { problem: `--${name} takes no value.` };
			options[name] = true;
			continue;
		}
		const value = given ?? argv[++index];
		if (value === undefined) return { problem: `--${name} needs a value: --${name} <${flag.value}>.` };
		if (flag.oneOf && !flag.oneOf.includes(value)) return { problem: `--${name} must be ${flag.oneOf.join(" or ")}, not ${JSON.stringify(value)}.` };
		if (flag.pattern && !flag.pattern.test(value)) return { problem: `--${name} must be made of letters, digits, dots, dashes and underscores.` };
		options[name] = flag.repeats ? [...((options[name] as string[] | undefined) ?? []), value] : value;
	}
	return result;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

export function helpText(): string {
	const lines = Object.entries(flags as Record<string, Flag>).flatMap(([name, { value, doc, short, hidden }]) => {
		if (hidden) return [];
		const spelling = `${short ? `-${short}, ` : "    "}--${name}${value ? ` <${value}>` : ""}`;
		return [`  ${spelling.padEnd(34)} ${doc}`];
	});
	const line = (words: string, doc: string) => `  ${`bowline ${words}`.padEnd(29)} ${doc}`;
	return `bowline: a headless coding agent for other programs

${line('-p "prompt" [@file]', 'Answer once and end; also: some-command | bowline -p "explain"')}
${line("--mode rpc [flags]", "Read commands from stdin, write events to stdout: one JSON object per line")}
${Object.entries(subcommands)
	.map(([name, { usage, doc }]) => line(`${name} ${usage}`, doc))
	.join("\n")}

Flags
${lines.join("\n")}

Try it without a model:
  echo '{"id":"1","type":"get_state"}' | bowline --mode rpc
  bowline --mode rpc --provider scripted --model echo

The protocol is described in docs/protocol.md, settings in docs/settings.md, scripted models in docs/scripted-model.md,
answering once in docs/one-shot.md.
`;
}
