/**
 * Reads a small language that means the same to every POSIX shell: plain words, quotes without expansion, and commands joined by operators.
 * A script outside it is opaque: no allow rule covers it. When in doubt, a script is opaque.
 */

export interface ScriptCommand {
	words: string[];
	/** What joins it to the command before; empty for the first one. */
	joined: "" | "&&" | "||" | ";" | "|";
}

const longestScript = 10_000;
const mostCommands = 50;

/** Builtins that take words for numbers or names of variables: a subscript in one, `a[$(…)]`, runs what it says, in quotes too. */
const evaluating = new Set("test printf exit return shift break continue kill fg bg disown sleep".split(" "));

/** Characters that mean nothing but themselves outside quotes. */
const plain = /[A-Za-z0-9_@%+=:,./-]+/y;
/** No control characters: neither a terminal nor a person reads them well. Lone surrogates change on their way to the shell. */
const inSingleQuotes = /[^'\p{Cc}\p{Cs}]*/uy;
const inDoubleQuotes = /[^"$`\\!\p{Cc}\p{Cs}]*/uy;
const silenced = /(?:2>&1|&>\/dev\/null|2>\/dev\/null|>\/dev\/null|<\/dev\/null)(?=[ \t\n;|&]|$)/y;
const operator = /&&|\|\||;|\||\n/y;
const blanks = /[ \t]+/y;
const comment = /#[^\n]*/y;
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** Words that begin or belong to other grammar. */
const reserved = new Set("if then elif else fi for in do done while until case esac select function time coproc ! [[ ]] { }".split(" "));
/** Builtins that change what the commands after them mean, or run their words. */
const changing = new Set(
	". source eval exec alias unalias set shopt trap enable hash builtin command export declare typeset local readonly unset read mapfile readarray pushd popd cd let getopts fc umask ulimit wait chdir compgen complete compopt bind history jobs integer float nameref compound enum autoload hist redirect".split(
		" ",
	),
);

/** The commands of a script; nothing when it is opaque. `isOwnDirectory`: whether `cd` to a word leads to the working directory. */
export function readScript(script: string, isOwnDirectory: (word: string) => boolean = () => false): ScriptCommand[] | undefined {
	if (Buffer.byteLength(script) > longestScript) return undefined;
	const all = lex(script, false);
	if (!all || all.length === 0 || all.length > mostCommands) return undefined;
	const [first, second] = all;
	const isAtHome = first?.words.length === 2 && first.words[0] === "cd" && isOwnDirectory(first.words[1] as string);
	const commands = isAtHome && second ? [{ ...second, joined: "" as const }, ...all.slice(2)] : all;
	return commands.every(({ words }) => isSimple(words)) ? commands : undefined;
}

/** A word of a pattern: a literal text, one word (`*`), or any number of them (`**`). */
export type PatternWord = string | { any: "*" | "**" };

/** A pattern of words, with the same quotes. Nothing when it is not in the language. */
export function readPattern(pattern: string): { words: PatternWord[]; joined: ScriptCommand["joined"] }[] | undefined {
	const commands = lex(pattern, true);
	if (!commands || commands.length === 0) return undefined;
	return commands.map(({ words, joined }) => ({
		joined,
		words: words.map((word) => (word === starMark || word === starMark + starMark ? { any: word === starMark ? "*" : "**" } : word)),
	}));
}

/** Stands for an unquoted star. Scripts cannot contain it: it is a control character. */
export const starMark = "\u0001";

/** Some shells calculate both sides. */
const isComparison = /^-(?:eq|ne|lt|le|gt|ge)$/;
const areNumbers = (words: readonly string[], at: number) => [words[at - 1], words[at + 1]].every((word) => /^-?\d{1,18}$/.test(word ?? ""));

function isSimple([name = "", ...rest]: readonly string[]): boolean {
	// A command word that begins with `%` is a job, and one that begins with a dash may be an option of the shell.
	if (reserved.has(name) || changing.has(name) || /^[%-]/.test(name)) return false;
	if (!evaluating.has(name)) return true;
	if (rest.some((word) => word.includes("[") && /[$`]/.test(word))) return false;
	if (name === "test") return !rest.some((word, index) => /^-[vR]$/.test(word) || (isComparison.test(word) && !areNumbers(rest, index)));
	// `printf -v NAME` sets a variable, PATH for example.
	return name !== "printf" || !rest.some((word) => word.startsWith("-v"));
}

function lex(script: string, hasStars: boolean): ScriptCommand[] | undefined {
	const commands: ScriptCommand[] = [];
	let current: ScriptCommand = { words: [], joined: "" };
	/** The word that is being read; its pieces may be quoted differently. */
	let word: string | undefined;
	let isAtWordStart = true;
	let at = 0;
	const take = (pattern: RegExp): string | undefined => {
		pattern.lastIndex = at;
		const found = pattern.exec(script)?.[0];
		if (found !== undefined) at += found.length;
		return found;
	};
	const endWord = () => {
		if (word !== undefined) current.words.push(word);
		word = undefined;
		isAtWordStart = true;
	};
	while (at < script.length) {
		if (take(blanks) !== undefined) {
			endWord();
			continue;
		}
		const isStart = isAtWordStart && word === undefined;
		if (isStart && take(comment) !== undefined) continue;
		if (isStart && take(silenced) !== undefined) {
			// A redirection without a command creates or empties a file elsewhere; here it would only hide that there is no command.
			if (current.words.length === 0) return undefined;
			isAtWordStart = false;
			continue;
		}
		const joined = take(operator);
		if (joined !== undefined) {
			endWord();
			if (!joinNext(joined)) return undefined;
			continue;
		}
		// After a redirection only a blank or an operator may follow, which the pattern has made sure of.
		const piece = quoted("'", inSingleQuotes) ?? quoted('"', inDoubleQuotes) ?? bare();
		if (piece === undefined) return undefined;
		word = (word ?? "") + piece;
		isAtWordStart = false;
	}
	endWord();
	if (current.words.length > 0) commands.push(current);
	else if (current.joined === "&&" || current.joined === "||" || current.joined === "|") return undefined;
	return commands;

	/** False when an operator is where a command should be. */
	function joinNext(found: string): boolean {
		const isNewline = found === "\n";
		if (current.words.length === 0) return isNewline;
		commands.push(current);
		current = { words: [], joined: isNewline ? ";" : (found as ScriptCommand["joined"]) };
		return true;
	}

	function quoted(mark: string, inside: RegExp): string | undefined {
		if (script[at] !== mark) return undefined;
		const begin = at;
		at += 1;
		const text = take(inside) ?? "";
		if (script[at] === mark) {
			at += 1;
			return text;
		}
		at = begin;
		return undefined;
	}

	function bare(): string | undefined {
		if (hasStars && script[at] === "*") {
			at += 1;
			return starMark;
		}
		const isCommandWord = current.words.length === 0 && word === undefined;
		const text = take(plain);
		if (text === undefined) return undefined;
		// `NAME=value` in front of a command is an assignment; behind it, `NAME=value` is a word.
		if (isCommandWord && assignment.test(text)) return undefined;
		// In front of a redirection a number is a descriptor. The redirections that are accepted begin a word of their own.
		return script[at] === ">" || script[at] === "<" ? undefined : text;
	}
}
