/** Patterns about commands. An allow pattern covers only what it is sure of; a deny or ask pattern catches too much rather than too little. */

import { type PatternWord, readPattern, type ScriptCommand, starMark } from "./lexer.ts";
import { hasDangerousOptions, hasSubcommands, isLauncher, nameOf, runsOthers } from "./programs.ts";
import { starsPattern } from "./stars.ts";

export interface CommandPattern {
	/** As written. */
	text: string;
	/** Whether every command of an accepted script is covered, one by one or as this very sequence. */
	covers(command: readonly string[]): boolean;
	coversScript(script: readonly ScriptCommand[]): boolean;
	/** Whether a deny or ask rule is about this script. */
	catches(script: Script): boolean;
}

/** A script as rules see it. What costs time is made once, for all rules. */
export class Script {
	readonly text: string;
	/** Nothing when the script is opaque. */
	readonly commands: readonly ScriptCommand[] | undefined;
	#programs: readonly Program[] | undefined;
	#loose: LooseWords | undefined;

	constructor(text: string, commands: readonly ScriptCommand[] | undefined) {
		this.text = text;
		this.commands = commands;
	}

	/** The programs that its commands start. */
	get programs(): readonly Program[] {
		this.#programs ??= (this.commands ?? []).map(({ words: [name = "", ...rest] }, index) => ({
			names: [...new Set([name, baseName(name), nameOf(name)])],
			words: rest,
			loose: runsOthers(name) ? this.#argumentsOf(index) : undefined,
		}));
		return this.#programs;
	}

	get loose(): LooseWords {
		this.#loose ??= new LooseWords(looseWords(this.text));
		return this.#loose;
	}

	/** The arguments of one of its commands, as words that another program may run. */
	#argumentsOf(index: number): LooseWords {
		return new LooseWords(looseWords((this.commands?.[index]?.words ?? []).slice(1).join(" ")));
	}
}

interface Program {
	/** As written, without the directory, and without the version. */
	names: readonly string[];
	words: readonly string[];
	/** Of a program that runs others: its arguments. */
	loose: LooseWords | undefined;
}

/** Words in the order in which they occur, with the names that paths among them end in. */
class LooseWords {
	readonly #words: readonly string[];
	readonly #known: ReadonlySet<string>;

	constructor(words: readonly string[]) {
		this.#words = words;
		this.#known = new Set(words.flatMap((word) => [word, baseName(word)]));
	}

	/** Most rules are about other words altogether. */
	have(literals: readonly Literal[]): boolean {
		return literals.every(({ exact }) => exact === undefined || this.#known.has(exact)) && occurs(literals, this.#words);
	}
}

type Pattern = { words: PatternWord[]; joined: ScriptCommand["joined"] };

/** `onTightened` receives what a pattern that asks for too much was reduced to. Without a text: every command. */
export function commandPattern(text: string | undefined, onTightened: (reason: string) => void = () => undefined): CommandPattern {
	if (text === undefined) return { text: "", covers: coversUnnamed, coversScript: () => false, catches: () => true };
	const commands = readPattern(text);
	const literals = literalsOf(text, commands);
	const tight = commands?.map((command) => tightened(command, onTightened));
	if (!tight) onTightened("it is not made of plain words, so it covers no command");
	return {
		text,
		covers: (words) => tight?.length === 1 && matches((tight[0] as Pattern).words, words),
		coversScript: (script) =>
			tight !== undefined &&
			tight.length > 1 &&
			tight.length === script.length &&
			tight.every(({ words, joined }, index) => script[index]?.joined === joined && matches(words, (script[index] as ScriptCommand).words)),
		catches: (script) => (script.commands ? script.programs.some((program) => isCaught(literals, program)) : script.loose.have(literals)),
	};
}

/** A rule about every command covers what a pattern with `**` could cover. */
function coversUnnamed([name = "", ...rest]: readonly string[]): boolean {
	if (isLauncher(name) || hasSubcommands(name)) return false;
	return !hasDangerousOptions(name) || rest.every((word) => !word.startsWith("-"));
}

function tightened({ words, joined }: Pattern, onTightened: (reason: string) => void): Pattern {
	const [name] = words;
	const firstStar = words.findIndex((word) => typeof word !== "string");
	const exactly = (reason: string): Pattern => {
		onTightened(reason);
		return { words: words.slice(0, firstStar), joined };
	};
	if (typeof name !== "string") {
		onTightened("it does not name a program, so it covers no command");
		return { words: [], joined };
	}
	if (firstStar < 0) return { words, joined };
	if (isLauncher(name)) return exactly(`${nameOf(name)} runs other programs or code, so only exact words are covered`);
	const second = words[1];
	if (hasSubcommands(name) && (typeof second !== "string" || second.startsWith("-")))
		return exactly(`${nameOf(name)} has subcommands, so the pattern must name one`);
	return {
		joined,
		words: words.map((word, index) => {
			if (typeof word === "string" || word.any === "*") return word;
			const isLast = index === words.length - 1;
			if (isLast && !hasDangerousOptions(name)) return word;
			onTightened(
				isLast
					? `options of ${nameOf(name)} can run programs or write files, so ** covers words without a dash only`
					: "** in the middle covers one word",
			);
			return { any: "*" };
		}),
	};
}

const isOption = (word: string) => word.startsWith("-");

/** `*` at the end: any number of words that are not options; in the middle exactly one such word. `**`: anything. */
function matches(pattern: readonly PatternWord[], words: readonly string[]): boolean {
	if (pattern.length === 0) return false;
	for (const [index, wanted] of pattern.entries()) {
		const isLast = index === pattern.length - 1;
		if (typeof wanted === "string") {
			if (words[index] !== wanted) return false;
		} else if (isLast) {
			return wanted.any === "**" || words.slice(index).every((word) => !isOption(word));
		} else if (words[index] === undefined || isOption(words[index])) return false;
	}
	return words.length === pattern.length;
}

// ── Deny and ask ────────────────────────────────────────────────────────────────────────────────────────

/** A word that a pattern spells out. */
interface Literal {
	/** Nothing where a star is inside: only rules that restrict have such words. */
	exact: string | undefined;
	is: (word: string) => boolean;
}

function literalOf(text: string): Literal {
	const hasStars = text.includes(starMark) || text.includes("*");
	return hasStars ? { exact: undefined, is: starsPattern(text.replaceAll(starMark, "*")) } : { exact: text, is: (word) => word === text };
}

/** The words that a pattern spells out, in order. */
function literalsOf(text: string, commands: readonly Pattern[] | undefined): Literal[] {
	const words = commands ? commands.flatMap((command) => command.words.filter((word) => typeof word === "string")) : looseWords(text);
	return words.filter((word) => word.replaceAll(starMark, "").replaceAll("*", "") !== "").map(literalOf);
}

/** The program must be the first literal, by one of its names; the other literals follow in that order, with anything in between. */
function isCaught(literals: readonly Literal[], { names, words, loose }: Program): boolean {
	const [first] = literals;
	if (first === undefined) return true;
	if (names.some(first.is) && occurs(literals.slice(1), words)) return true;
	return loose?.have(literals) ?? false;
}

/** Whether the literals occur in that order. Each one may also be the end of a path. */
function occurs(literals: readonly Literal[], words: readonly string[]): boolean {
	let at = 0;
	for (const literal of literals) {
		while (at < words.length && !literal.is(words[at] as string) && !literal.is(baseName(words[at] as string))) at += 1;
		if (at === words.length) return false;
		at += 1;
	}
	return true;
}

const baseName = (word: string) => word.slice(word.lastIndexOf("/") + 1);

/** Quotes and everything that has a meaning to a shell become spaces. Backslashes and quotes inside a word vanish, as the shell removes them. */
function looseWords(text: string): string[] {
	const spaced = text.replace(/[;&|()<>{}$`!#=\s]+/g, " ");
	const joined = spaced.replace(/["'\\]+/g, "");
	const apart = spaced.replace(/["'\\]+/g, " ");
	const all = joined === apart ? joined : `${joined} ${apart}`;
	return all.split(" ").filter((word) => word !== "");
}
