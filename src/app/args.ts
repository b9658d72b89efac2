/** The command line: parsing and help, from the table of flags. */
import { join } from "node:path";
import { type Flag, flags, type Options } from "./flags.ts";
import { type Subcommand, subcommands } from "./subcommands.ts";
import { UsageError } from "./usage-error.ts";

export type { Options } from "./flags.ts";

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

/** Of one subcommand, or of everything. */
export function helpText(subcommand?: string): string {
	const lines = Object.entries(flags as Record<string, Flag>).flatMap(([name, { value, doc, short, hidden }]) => {
		if (hidden) return [];
		const spelling = `${short ? `-${short}, ` : "    "}--${name}${value ? ` <${value}>` : ""}`;
		return [`  ${spelling.padEnd(34)} ${doc}`];
	});
	const line = (words: string, doc: string) => `  ${`bowline ${words}`.padEnd(29)} ${doc}`;
	if (subcommand !== undefined) {
		const { usage, doc } = subcommands[subcommand] as Subcommand;
		return `${`bowline ${subcommand} ${usage}`.trimEnd()}\n  ${doc}\n\nFlags\n${lines.join("\n")}\n`;
	}
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

Pages in ${join(import.meta.dirname, "../docs")}: embedding.md, protocol.md, one-shot.md,
chat.md, settings.md, providers.md, extensions.md, subagents.md, scripted-model.md, troubleshooting.md and others.
`;
}
