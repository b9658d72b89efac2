/** Patterns about commands. An allow pattern covers only what it is sure of; a deny or ask pattern catches too much rather than too little. */

import { starsPattern } from "../lib/stars.ts";
import { type PatternWord, readPattern, type ScriptCommand, starMark } from "./lexer.ts";
import { forwarded, hasDangerousOptions, hasSubcommands, isInert, isLauncher, mayBePrograms, mayRun, nameOf } from "./programs.ts";

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
	/** Undefined when the script is opaque. */
	readonly commands: readonly ScriptCommand[] | undefined;
	#programs: readonly Program[] | undefined;
	#pipelines: readonly LooseWords[] | undefined;
	#loose: LooseWords | undefined;

	constructor(text: string, commands: readonly ScriptCommand[] | undefined) {
		this.text = text;
		this.commands = commands;
	}

	/** The programs that its commands start. */
	get programs(): readonly Program[] {
		this.#programs ??= (this.commands ?? []).map(({ words: [name = "", ...rest] }) => programOf(name, rest));
		return this.#programs;
	}

	/** The words of each pipeline that ends in a program that may run what it reads. */
	get pipelines(): readonly LooseWords[] {
		this.#pipelines ??= this.#makePipelines();
		return this.#pipelines;
	}

	get loose(): LooseWords {
		this.#loose ??= new LooseWords(this.text);
		return this.#loose;
	}

	#makePipelines(): LooseWords[] {
		const found: LooseWords[] = [];
		let words: string[] = [];
		for (const [index, command] of (this.commands ?? []).entries()) {
			if (command.joined !== "|") words = [];
			const isReader = words.length > 0 && !this.programs[index]?.isInert;
			words.push(...command.words);
			if (isReader) found.push(new LooseWords(words.join(" ")));
		}
		return found;
	}
}

interface Program {
	/** As written, without the directory, and without the version. */
	names: readonly string[];
	words: readonly string[];
	/** None of its words can run. */
	isInert: boolean;
	/** Its words, as words that another program may run; without a subcommand of its own. */
	loose: LooseWords;
	/** All its words. */
	all: LooseWords;
}

function programOf(name: string, words: readonly string[]): Program {
	const text = words.join(" ");
	const behind = mayBePrograms(name, words);
	const all = new LooseWords(text);
	const loose = behind.length === words.length ? all : new LooseWords(behind.join(" "));
	return { names: [...new Set([name, baseName(name), nameOf(name)])], words, isInert: isInert(name, words), loose, all };
}

/** Words in the order in which they occur, in every way in which a program may read a text. */
class LooseWords {
	readonly #text: string;
	#readings: Readings | undefined;

	constructor(text: string) {
		this.#text = text;
	}

	have({ exact, apart }: Literals): boolean {
		this.#readings ??= readingsOf(this.#text);
		const { coarse, fine } = this.#readings;
		return coarse.some((reading) => reading.has(exact)) || fine.some((reading) => reading.has(apart));
	}
}

/** The words of a text in one reading. */
class Reading {
	readonly #words: readonly string[];
	readonly #known: ReadonlySet<string>;

	constructor(words: readonly string[]) {
		this.#words = words;
		this.#known = new Set(words.flatMap((word) => [word, baseName(word), nameOf(word)]));
	}

	/** Most rules are about other words altogether. */
	has(literals: readonly Literal[]): boolean {
		return literals.every(({ exact }) => exact === undefined || this.#known.has(exact)) && occurs(literals, this.#words);
	}
}

interface Readings {
	/** A word ends where a word of the shell does. */
	coarse: readonly Reading[];
	/** It ends at every mark of a shell or another language, and after the letter of an option. */
	fine: readonly Reading[];
}

type Pattern = { words: PatternWord[]; joined: ScriptCommand["joined"] };

/** `onTightened` receives what a pattern that asks for too much was reduced to. Without a text: every command. */
export function commandPattern(text: string | undefined, onTightened: (reason: string) => void = () => undefined): CommandPattern {
	if (text === undefined) return { text: "", covers: coversUnnamed, coversScript: () => false, catches: () => true };
	const commands = readPattern(text);
	const literals = literalsOf(text, commands);
	const isAnyProgram = commands !== undefined && typeof commands[0]?.words[0] !== "string";
	const isSequence = commands !== undefined && commands.length > 1;
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
		catches: (script) =>
			!script.commands || isSequence
				? script.loose.have(literals)
				: script.programs.some((program) => isCaught(literals, program, isAnyProgram)) || script.pipelines.some((words) => words.have(literals)),
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
	const inner = forwarded(words);
	if (inner && typeof inner[0] === "string" && !isOption(inner[0])) {
		const held = tightened({ words: [...inner], joined }, onTightened);
		return { words: [...words.slice(0, words.length - inner.length), ...held.words], joined };
	}
	if (isLauncher(name)) return exactly(`${nameOf(name)} runs other programs or code, so only exact words are covered`);
	const second = words[1];
	if (hasSubcommands(name) && (typeof second !== "string" || second.startsWith("-")))
		return exactly(`${nameOf(name)} has subcommands, so the pattern must name one`);
	const known = words.slice(0, firstStar) as string[];
	if (mayRun(known)) return exactly(`${[nameOf(name), ...known.slice(1)].join(" ")} can run other programs or code, so only exact words are covered`);
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
	/** Undefined where a star is inside: only rules that restrict have such words. */
	exact: string | undefined;
	is: (word: string) => boolean;
}

/** The words that a pattern spells out, in order. */
interface Literals {
	exact: readonly Literal[];
	/** The same, taken apart as the words of a fine reading are. */
	apart: readonly Literal[];
}

function literalOf(text: string): Literal {
	const hasStars = text.includes(starMark) || text.includes("*");
	return hasStars ? { exact: undefined, is: starsPattern(text.replaceAll(starMark, "*")) } : { exact: text, is: (word) => word === text };
}

function literalsOf(text: string, commands: readonly Pattern[] | undefined): Literals {
	const words = commands ? commands.flatMap((command) => command.words.filter((word) => typeof word === "string")) : wordsOf(text, coarseMarks);
	const spelled = words.filter((word) => word.replaceAll(starMark, "").replaceAll("*", "") !== "");
	// A program is meant by its name, wherever it is.
	const [program = "", ...rest] = spelled;
	const named = spelled.length > 0 ? [baseName(program) || program, ...rest] : [];
	return { exact: named.map(literalOf), apart: named.flatMap((word) => wordsOf(word, fineMarks)).map(literalOf) };
}

const behindFirst = ({ exact, apart }: Literals, program: string): Literals => ({
	exact: exact.slice(1),
	apart: apart.slice(wordsOf(program, fineMarks).length),
});

/**
 * The program must be the first literal, by one of its names; the other literals follow in that order, with anything in between. Where a
 * program may run its words, all literals may be among them.
 */
function isCaught(literals: Literals, { names, words, isInert, loose, all }: Program, isAnyProgram: boolean): boolean {
	const [first] = literals.exact;
	if (first === undefined) return true;
	if (isAnyProgram && occurs(literals.exact, words)) return true;
	const name = names.find((each) => first.is(each)) ?? names.find((each) => occurs([first], dashed(each)));
	if (name !== undefined) {
		// `git-push` is two words.
		const own = dashed(name);
		if (occurs(literals.exact, [...own, ...words]) || occurs(literals.exact.slice(1), words)) return true;
		if (!isInert && all.have(behindFirst(literals, first.exact ?? ""))) return true;
	}
	return !isInert && loose.have(literals);
}

/** Whether the literals occur in that order. Each one may also be the end of a path, and a program with its version. */
function occurs(literals: readonly Literal[], words: readonly string[]): boolean {
	let at = 0;
	for (const { is } of literals) {
		while (at < words.length && !isWord(is, words[at] as string)) at += 1;
		if (at === words.length) return false;
		at += 1;
	}
	return true;
}

const isWord = (is: Literal["is"], word: string) => is(word) || is(baseName(word)) || is(nameOf(word));
const baseName = (word: string) => word.slice(word.lastIndexOf("/") + 1);

/** Marks that end a word to a shell. */
const coarseMarks = /[;&|()<>{}$`!#=\s\p{Cc}]+/u;
/** The same for other languages, brace lists and values of options. */
const fineMarks = /[;&|()<>{}$`!#=,:[\]\s\p{Cc}]+/u;

const wordsOf = (text: string, marks: RegExp) => text.split(marks).filter((word) => word !== "");

/** Reads a text in the ways of a shell and of the programs that it may be handed to: a rule catches what occurs in any of them. */
function readingsOf(text: string): Readings {
	// A continued line goes on in the same word. `${name:-word}` is the word.
	const joined = text.replace(/\\\r?\n/g, "").replace(/\$\{[\w!#@*]{1,64}:?[-+=?]/g, " ");
	const texts = [...new Set([joined, unescaped(joined)])];
	// Quotes vanish inside a word, or end it for a program inside the quotes.
	const spellings = [...new Set(texts.flatMap((each) => [each.replace(/["'\\]+/g, ""), each.replace(/["'\\]+/g, " ")]))];
	return {
		coarse: spellings.map((each) => new Reading(wordsOf(each, coarseMarks))),
		fine: spellings.map((each) => new Reading(wordsOf(each, fineMarks).flatMap(takenApart))),
	};
}

/** Replaces escapes by what they stand for: `\n` ends a word, `\x72` is a letter. */
function unescaped(text: string): string {
	return text.replace(
		/\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|0?([0-7]{1,3})|[abefnrtv])/g,
		(_, hex?: string, unicode?: string, octal?: string) => {
			const digits = hex ?? unicode;
			if (digits === undefined && octal === undefined) return " ";
			return String.fromCharCode(digits === undefined ? Number.parseInt(octal as string, 8) : Number.parseInt(digits, 16));
		},
	);
}

/** `-Srm` also holds the value of an option, and `git-push` two words. */
function takenApart(word: string): string[] {
	const value = /^-[A-Za-z](?=[^-])/.test(word) ? [word.slice(2)] : [];
	return [...dashed(word), ...value];
}

function dashed(word: string): string[] {
	const base = baseName(word);
	return base.startsWith("git-") ? [word, "git", base.slice(4)] : [word];
}
