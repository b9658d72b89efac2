/** Parses a command line by the table of flags. */

import { UsageError } from "../lib/usage-error.ts";
import { type Flag, flags, type Options } from "../protocol/flags.ts";

export type { Options } from "../protocol/flags.ts";

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
