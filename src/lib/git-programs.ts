/**
 * Programs that git's configuration names. The keys are those of git's documentation, and what extensions of git call theirs. A value is the path
 * of a program, or a line of shell that names some.
 */

/** Compared with keys in lower case: `section.name` or `section.subsection.name`. */
const programKeys = new RegExp(
	[
		"^(?:alias|pager)\\.",
		// core.editor, filter.x.clean, credential.helper, uploadpack.packObjectsHook, gpg.ssh.defaultKeyCommand, and so on.
		"\\.[a-z0-9-]*(?:cmd|command|program|editor|pager|hook|helper|askpass|fsmonitor|textconv|external|driver|clean|smudge|process)$",
		"\\.(?:gitproxy|difffilter|tunnel|httpd|browser|viewer|uploadpack|receivepack|smtpserver|authorsprog)$",
		"^(?:browser|difftool|man|mergetool)\\..*\\.path$",
		"^lfs\\.customtransfer\\..*\\.(?:path|args)$",
		"^submodule\\..*\\.update$",
	].join("|"),
	"s",
);

/** An address that is a program, in a value or in the key of `url.<base>.insteadOf`. */
const programAddress = /^(?:url\.)?ext::/i;

const switches = /^(?:true|false|yes|no|on|off|\d+|)$/i;

/** Returns the part of an entry that git, or an extension of it, runs. */
export function programOf(key: string, value: string): string | undefined {
	if (programAddress.test(value)) return value;
	if (programAddress.test(key)) return key.slice("url.".length, key.lastIndexOf("."));
	const name = key.toLowerCase();
	if (switches.test(value) || !programKeys.test(name)) return undefined;
	// Any other alias is a command of git, whose options may set keys.
	if (name.startsWith("alias.")) return /^!|(?:^|\s)(?:-c|--config-env|--exec-path)(?![\w-])/.test(value) ? value : undefined;
	return !name.startsWith("submodule.") || value.startsWith("!") ? value : undefined;
}

export interface ProgramWords {
	/** Every word that may be a path: a file that is there may be run. */
	words: string[];
	/** Those in the place of a program: what is made there later is run, too. */
	programs: string[];
}

/** Programs that run the file that follows their options. */
const interpreter = /^(?:[a-z]{0,2}sh|(?:python|pypy|ruby|perl|php|lua)[\d.]*|node|nodejs|deno|bun|tsx|ts-node|Rscript|source|\.)$/;
/** Words that stand in front of a program. */
const leading = /^(?:!|-.*|if|then|else|elif|while|until|do|exec|env|command|nohup|nice|time|sudo|xargs|run|[A-Za-z_]\w*=.*)$/s;

/** Finds the words of a value that may be paths. A name without a slash in the place of a program is looked up in PATH, so it is none. */
export function programWords(value: string): ProgramWords {
	const text = value.replace(/^\s*!/, "").replace(/^ext::/i, "");
	const words = new Set<string>();
	const programs = new Set<string>();
	// Names with spaces: the whole value, and what is in quotes.
	for (const phrase of [text, ...(text.match(/"[^"]*"|'[^']*'/g) ?? []).map((quoted) => quoted.slice(1, -1))])
		if (phrase.includes("/")) words.add(phrase.trim());
	for (const command of text.replace(/["']/g, " ").split(/[;|&(){}\n`]/)) {
		// A file that is only written to is not a program.
		const parts = (command.replace(/\d*>[>|]?\s*\S+/g, " ").match(/(?:\\.|[^\s<])+/g) ?? []).map((part) => part.replace(/\\(.)/g, "$1"));
		let place: "program" | "script" | "argument" = "program";
		for (const part of parts) {
			const isLeading = leading.test(part);
			const hasSlash = part.includes("/");
			if (place !== "program" || isLeading || hasSlash) for (const piece of [part, ...part.split(/[=,:]/)]) words.add(piece.replace(/^\$\w*/, ""));
			if (place === "argument" || isLeading) continue;
			if (hasSlash && !/[*?[\]%$~:@^]/.test(part)) programs.add(part);
			place = place === "program" && interpreter.test(part.slice(part.lastIndexOf("/") + 1)) ? "script" : "argument";
		}
	}
	words.delete("");
	return { words: [...words], programs: [...programs] };
}
