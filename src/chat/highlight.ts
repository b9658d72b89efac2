/** Colours code: comments, strings, numbers and words of a language. It reads tokens, not grammar, so it takes any part of a file. */
import { type Line, plainLines, type Style, span } from "./text.ts";

interface Language {
	/** What begins a comment that ends with its line. */
	line?: readonly string[];
	block?: readonly [string, string];
	/** Each with what ends it; those of several characters first. */
	quotes: readonly string[];
	/** Quotes whose text may go over several lines. */
	long?: readonly string[];
	words: string;
	/** Words in any case. */
	ignoresCase?: boolean;
	/** A word or text in front of a colon or an equals sign is a name. */
	hasKeys?: boolean;
}

const literals = "true false null";
const cLike =
	"break case catch class const continue default do else enum extends finally for if import new return static super switch this throw try void while";
const c = { line: ["//"], block: ["/*", "*/"], quotes: ['"', "'"] } as const;
const hash = { line: ["#"], quotes: ['"', "'"] } as const;

const languages: Record<string, Language> = {
	javascript: {
		...c,
		quotes: ['"', "'", "`"],
		long: ["`"],
		words: `${cLike} ${literals} abstract any as async await boolean debugger declare delete export from function get implements in infer instanceof interface is keyof let namespace never number object of private protected public readonly satisfies set string symbol type typeof undefined unknown var yield`,
	},
	python: {
		line: ["#"],
		quotes: ['"""', "'''", '"', "'"],
		long: ['"""', "'''"],
		words:
			"False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
	},
	bash: {
		...hash,
		long: ['"', "'"],
		words:
			"alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local read return set shift source test then trap unset until while",
	},
	c: {
		...c,
		words: `${cLike} ${literals} auto bool char class const constexpr delete double explicit extern float friend goto include inline int long namespace nullptr operator override private protected public register short signed sizeof struct template typedef typename union unsigned using virtual volatile`,
	},
	java: {
		...c,
		words: `${cLike} ${literals} abstract as assert async await base boolean byte char companion data decimal double final float fun implements in instanceof int interface internal is lateinit long namespace object open out override package params private protected public record sealed short string suspend synchronized throws using val var when where yield`,
	},
	go: {
		...c,
		quotes: ['"', "'", "`"],
		long: ["`"],
		words:
			"any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface map nil package range return rune select string struct switch true type uint var",
	},
	rust: {
		...c,
		// A single quote begins a lifetime as often as a character.
		quotes: ['"'],
		long: ['"'],
		words:
			"as async await bool break const continue crate dyn else enum extern f64 false fn for i32 i64 if impl in let loop match mod move mut pub ref return self Self static str struct super trait true type u32 u64 u8 unsafe use usize where while",
	},
	ruby: {
		...hash,
		words:
			"alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield",
	},
	php: {
		...c,
		line: ["//", "#"],
		words: `${cLike} ${literals} abstract and array as echo elseif final fn foreach function global implements interface isset list match namespace or private protected public readonly require trait unset use var yield`,
	},
	swift: {
		...c,
		words: `${cLike} ${literals} as async await actor any defer deinit didSet extension fallthrough false fileprivate final func get guard in init inout internal is let mutating nil open operator override private protocol public repeat rethrows self set some struct throws typealias var weak where`,
	},
	sql: {
		line: ["--"],
		block: ["/*", "*/"],
		quotes: ["'", '"'],
		ignoresCase: true,
		words:
			"add all alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
	},
	css: { block: ["/*", "*/"], quotes: ['"', "'"], words: "important", hasKeys: true },
	json: { line: ["//"], block: ["/*", "*/"], quotes: ['"'], words: literals, hasKeys: true },
	yaml: { ...hash, words: `${literals} yes no on off`, hasKeys: true },
	ini: { line: ["#", ";"], quotes: ['"', "'"], words: literals, hasKeys: true },
	dockerfile: {
		...hash,
		words: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR",
	},
	makefile: { ...hash, words: "define else endef endif export ifdef ifeq ifndef ifneq include override", hasKeys: true },
	lua: {
		line: ["--"],
		quotes: ['"', "'"],
		words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
	},
	html: { block: ["<!--", "-->"], quotes: ['"', "'"], long: ['"'], words: "", hasKeys: true },
};

const otherNames: Record<string, string> = {
	js: "javascript",
	jsx: "javascript",
	mjs: "javascript",
	cjs: "javascript",
	ts: "javascript",
	tsx: "javascript",
	mts: "javascript",
	typescript: "javascript",
	py: "python",
	sh: "bash",
	shell: "bash",
	zsh: "bash",
	console: "bash",
	cpp: "c",
	"c++": "c",
	cc: "c",
	h: "c",
	hpp: "c",
	cs: "java",
	csharp: "java",
	kotlin: "java",
	kt: "java",
	scala: "java",
	golang: "go",
	rs: "rust",
	rb: "ruby",
	scss: "css",
	less: "css",
	jsonc: "json",
	json5: "json",
	jsonl: "json",
	yml: "yaml",
	toml: "ini",
	conf: "ini",
	xml: "html",
	svg: "html",
	vue: "html",
	mk: "makefile",
};

/** Longer code stays plain: it is laid out again whenever it grows. */
const longest = 40_000;

/** The lines of a code with their colours; nothing when the language is not known. */
export function highlighted(code: string, name: string): Line[] | undefined {
	const known = name.toLowerCase();
	if (code.length > longest) return undefined;
	if (known === "diff" || known === "patch") return code.split("\n").map((line) => [span(line, ...diffStyle(line))]);
	const own = Object.hasOwn(otherNames, known) ? (otherNames[known] as string) : known;
	const language = Object.hasOwn(languages, own) ? languages[own] : undefined;
	return language && linesOf(tokensOf(code, language));
}

/** The language of a file, by the end of its name. */
export function languageOf(path: string): string {
	const name = path.split(/[/\\]/).at(-1) ?? "";
	return /^(dockerfile|makefile)$/i.test(name) ? name : (/\.(\w+)$/.exec(name)?.[1] ?? "");
}

function diffStyle(line: string): Style[] {
	if (line.startsWith("@@")) return ["cyan"];
	if (/^(\+\+\+|---|diff |index )/.test(line)) return ["bold"];
	return line.startsWith("+") ? ["green"] : line.startsWith("-") ? ["red"] : [];
}

function tokensOf(code: string, language: Language): Line {
	const words = new Set(language.words.split(" "));
	const tokens: Line = [];
	let from = 0;
	for (const found of code.matchAll(patternOf(language))) {
		const [text] = found;
		const { comment, quoted, word, number } = found.groups as Record<string, string | undefined>;
		const isKey =
			language.hasKeys &&
			(quoted !== undefined || word !== undefined) &&
			/^\s*[:=]/.test(code.slice(found.index + text.length, found.index + text.length + 8));
		const isWord = word !== undefined && words.has(language.ignoresCase ? word.toLowerCase() : word);
		const style: Style | undefined =
			comment !== undefined
				? "dim"
				: isKey
					? "cyan"
					: quoted !== undefined
						? "green"
						: number !== undefined
							? "cyan"
							: isWord
								? "magenta"
								: undefined;
		if (style === undefined) continue;
		if (found.index > from) tokens.push(span(code.slice(from, found.index)));
		tokens.push(span(text, style));
		from = found.index + text.length;
	}
	tokens.push(span(code.slice(from)));
	return tokens;
}

/** Every alternative takes what it has found or fails at once, so the time is linear. */
function patternOf({ line = [], block, quotes, long = [] }: Language): RegExp {
	// A number sign in the middle of a word is not a comment.
	const comments = line.map((start) => `${start === "#" ? "(?<![\\w$&{])" : ""}${escaped(start)}[^\\n]*`);
	if (block) comments.push(`${escaped(block[0])}[^]*?(?:${escaped(block[1])}|$)`);
	const strings = quotes.map((quote) => {
		const end = escaped(quote);
		const inside = quote.length > 1 ? "[^]*?" : long.includes(quote) ? `(?:[^\\\\${end}]|\\\\[^])*` : `(?:[^\\\\\\n${end}]|\\\\.)*`;
		return `${end}${inside}(?:${end}|${long.includes(quote) ? "" : "(?=\\n)|"}\\\\?$)`;
	});
	return new RegExp(
		`(?<comment>${comments.join("|") || "(?!)"})|(?<quoted>${strings.join("|")})|(?<number>(?<![\\w.])\\d[\\w.]*)|(?<word>[A-Za-z_$][\\w$-]*)`,
		"g",
	);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** One row for each line; a token may go over several. */
function linesOf(tokens: Line): Line[] {
	const lines: Line[] = [[]];
	for (const { text, styles } of tokens) {
		for (const [index, piece] of text.split("\n").entries()) {
			if (index > 0) lines.push([]);
			if (piece !== "") lines.at(-1)?.push({ text: piece, styles });
		}
	}
	return lines;
}

/** Code without anything that acts on the terminal, in colours where its language is known. */
export function codeLines(code: string, language: string): Line[] {
	const lines = plainLines(code);
	return highlighted(lines.join("\n"), language) ?? lines.map((line) => [span(line, "cyan")]);
}
