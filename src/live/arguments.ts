/** Parses a command line by the table of flags. */

import { didYouMean } from "../lib/nearest.ts";
import { UsageError } from "../lib/usage-error.ts";
import { type Flag, flags, type Options } from "../protocol/flags.ts";

export type { Options } from "../protocol/flags.ts";

export interface Arguments {
	options: Options;
	/** Words that are not flags, in order. */
	words: string[];
	/** Flags that are not in the table; extensions may know them. */
	unknown: UnknownFlag[];
}

export interface UnknownFlag {
	name: string;
	/** The text after `=`. */
	value: string | undefined;
	/** The word after it, which may be its value, or the next of `words`. */
	following: string | undefined;
	/** How many words precede it. */
	at: number;
}

export const unexpectedText = (word: string) => `Unexpected argument: ${word}. In RPC mode prompts are sent over stdin.`;

/** `known`: flags of extensions, which are not in the table. */
function unknownFlagText(spelling: string, known: readonly string[] = []): string {
	const visible = Object.entries(flags as Record<string, Flag>).flatMap(([name, { hidden }]) => (hidden ? [] : [name]));
	const meant = didYouMean(spelling.replace(/^-+/, ""), [...visible, ...known], (name) => `--${name}`);
	return `Unknown flag: ${spelling}.${meant} See bowline --help.`;
}

/** Switches of other agents that turn off what is not here. Any other switch may be meant to restrict the agent, so it must not be ignored. */
const harmless: readonly string[] = ["no-color", "no-telemetry", "no-update-check", "no-lsp"];
/** A switch is never followed by a value. */
const isSwitch = (name: string) => name.startsWith("no-");

/** Warns about unknown flags. Throws for the first that is not harmless. */
export function refuseUnknown(flags: readonly UnknownFlag[], warn: (text: string) => void): void {
	const wrong = flags.find(({ name }) => !harmless.includes(name));
	if (wrong) throw new UsageError(unknownFlagText(`--${wrong.name}`));
	for (const { name } of flags) warn(`Unknown flag --${name} has no effect.`);
}

/** Short flags of subcommands; their tables are loaded only when the subcommand is called. */
export const subcommandShorts: Readonly<Record<string, Readonly<Record<string, string>>>> = { fleet: { f: "follow" } };

/** The parsed command line, or what is wrong with it. */
export function parseArguments(argv: readonly string[]): Arguments | { problem: string } {
	const table: Record<string, Flag> = flags;
	const options: Record<string, string | boolean | string[]> = {};
	const result: Arguments = { options: options as Options, words: [], unknown: [] };
	/** There every word that belongs to no flag is a prompt. */
	const isOneShot = argv.some(
		(word, index) => /^(-p|--print|--mode=(text|json))$/.test(word) || (argv[index - 1] === "--mode" && (word === "text" || word === "json")),
	);
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
		const short = spelling.slice(1);
		const ownName = subcommandShorts[result.words[0] ?? ""]?.[short];
		const name = spelling.startsWith("--") ? spelling.slice(2) : (Object.keys(table).find((key) => table[key]?.short === short) ?? ownName);
		const flag = name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
		if (!name || !flag) {
			if (!name || (!spelling.startsWith("--") && !ownName)) return { problem: unknownFlagText(spelling) };
			const isPair = given === undefined && !isSwitch(name) && argv[index + 1]?.startsWith("-") === false;
			result.unknown.push({ name, value: given, following: isPair ? argv[++index] : undefined, at: result.words.length });
			continue;
		}
		if (flag.refusal) return { problem: `--${name}: ${flag.refusal}` };
		const target = flag.means ?? name;
		if (!flag.value) {
			if (given !== undefined) return { problem: `--${name} takes no value.` };
			options[target] = true;
			continue;
		}
		if (flag.without && given === undefined && (isOneShot || argv[index + 1]?.startsWith("-") !== false)) {
			options[flag.without] = true;
			continue;
		}
		const written = given ?? argv[++index];
		if (written === undefined) return { problem: `--${name} needs a value: --${name} <${flag.value}>.` };
		const value = flag.synonyms?.[written] ?? written;
		if (flag.oneOf && !flag.oneOf.includes(value)) return { problem: `--${name} must be ${flag.oneOf.join(" or ")}, not ${JSON.stringify(value)}.` };
		if (flag.pattern && !flag.pattern.test(value)) return { problem: `--${name} must be made of letters, digits, dots, dashes and underscores.` };
		options[target] = flag.repeats ? [...((options[target] as string[] | undefined) ?? []), value] : value;
	}
	return result;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
