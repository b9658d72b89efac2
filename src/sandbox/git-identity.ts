/**
 * Who the user is to git, for a hidden home: of the user's own configuration the names, addresses and habits that a commit needs. Nothing that holds
 * a credential, leads to another address or runs a program is taken over.
 */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { look, realPath } from "./paths.ts";

/** Names of settings in lower case; a star stands for what comes after the section. */
const harmless = new Set(
	`
user.name user.email user.useconfigonly author.name author.email committer.name committer.email init.defaultbranch init.defaultobjectformat
core.autocrlf core.eol core.safecrlf core.whitespace core.abbrev core.commentchar core.commentstring core.quotepath core.precomposeunicode
core.ignorecase core.longpaths core.symlinks branch.autosetupmerge branch.autosetuprebase branch.sort commit.cleanup commit.status commit.verbose
fetch.prune fetch.prunetags pull.ff pull.rebase pull.twohead push.default push.autosetupremote push.followtags merge.ff merge.conflictstyle
merge.renames merge.stat merge.autostash merge.log merge.verifysignatures rebase.autosquash rebase.autostash rebase.stat rebase.updaterefs
rebase.missingcommitscheck rebase.abbreviatecommands rerere.enabled rerere.autoupdate diff.algorithm diff.colormoved diff.context
diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.renamelimit diff.renames diff.submodule log.date log.decorate
log.follow log.abbrevcommit log.showsignature stash.showpatch stash.showstat status.branch status.showstash status.short
status.showuntrackedfiles status.submodulesummary submodule.recurse tag.sort versionsort.suffix worktree.guessremote i18n.commitencoding
i18n.logoutputencoding help.autocorrect safe.directory safe.barerepository extensions.worktreeconfig advice.* color.* column.*
`
		.trim()
		.split(/\s+/),
);

/** The only program: with another configuration git would commit the contents of large files instead of the pointers to them. */
const largeFiles: Readonly<Record<string, string>> = {
	"filter.lfs.clean": "git-lfs clean -- %f",
	"filter.lfs.smudge": "git-lfs smudge -- %f",
	"filter.lfs.process": "git-lfs filter-process",
	"filter.lfs.required": "true",
};

const deepest = 10;
const patienceMs = 3000;

export interface GitIdentityInput {
	/** The program, outside every root. */
	git: string;
	env: Readonly<Record<string, string | undefined>>;
	/** Where the files go. It has to be readable inside. */
	directory: string;
}

/**
 * Writes the configuration and returns its path, or undefined where the user has none. Included files are taken over in the same way; those with a
 * condition become files of their own, so that git decides about the condition inside. Rejects where git cannot read what is there.
 */
export async function writeGitIdentity({ git, env, directory }: GitIdentityInput): Promise<string | undefined> {
	const home = env.HOME;
	const general = join(env.XDG_CONFIG_HOME || join(home ?? "/", ".config"), "git/config");
	const own = env.GIT_CONFIG_GLOBAL === undefined ? [general, ...(home === undefined ? [] : [join(home, ".gitconfig")])] : [env.GIT_CONFIG_GLOBAL];
	const from = (base: string, path: string) => (path.startsWith("~/") ? join(home ?? "/", path.slice(2)) : resolve(base, path));
	let count = 0;
	const read = async (file: string, depth: number): Promise<string> => {
		if (depth > deepest || !look(realPath(file) ?? file)?.isFile()) return "";
		let text = "";
		for (const [name, value] of await entriesOf(git, file)) {
			const place = () => from(dirname(file), value ?? "");
			const [, condition] = /^includeif\.(.*)\.path$/is.exec(name) ?? [];
			if (name === "include.path") text += await read(place(), depth + 1);
			else if (condition !== undefined) text += await included(condition, place(), file, depth);
			else if (isHarmless(name, value)) text += line(name, value);
		}
		return text;
	};
	const included = async (condition: string, place: string, file: string, depth: number): Promise<string> => {
		const content = await read(place, depth + 1);
		if (content === "") return "";
		count += 1;
		const path = write(directory, `included-${count}`, content);
		// In a condition, `./` is the folder of the file that it stands in, without links.
		const base = dirname(realPath(file) ?? file);
		const moved = condition.replace(/^(gitdir(?:\/i)?:)\.\//, (_, kind: string) => `${kind}${base}/`);
		return `[includeIf ${quoted(moved)}]\n\tpath = ${quoted(path)}\n`;
	};
	let text = "";
	for (const file of own) text += await read(file, 0);
	return text === "" ? undefined : write(directory, "config", text);
}

function write(directory: string, name: string, text: string): string {
	mkdirSync(directory, { recursive: true, mode: 0o700 });
	const path = join(directory, name);
	writeFileSync(path, text, { mode: 0o600 });
	return path;
}

function isHarmless(name: string, value: string | undefined): boolean {
	if (name in largeFiles) return largeFiles[name] === value;
	const [section, ...rest] = name.split(".");
	return harmless.has(name) || (rest.length > 0 && harmless.has(`${section}.*`));
}

/** One setting. A name without a value is true. */
function line(name: string, value: string | undefined): string {
	const first = name.indexOf(".");
	const last = name.lastIndexOf(".");
	const subsection = last > first ? ` ${quoted(name.slice(first + 1, last))}` : "";
	return `[${name.slice(0, first)}${subsection}]\n\t${name.slice(last + 1)}${value === undefined ? "" : ` = ${quoted(value)}`}\n`;
}

const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;

/** The entries of one file in their order, without those of files that it includes. */
async function entriesOf(git: string, file: string): Promise<[name: string, value: string | undefined][]> {
	const output = await new Promise<string>((done, fail) => {
		const args = ["config", "--file", file, "--no-includes", "--null", "--list"];
		execFile(git, args, { cwd: "/", env: { PATH: "/usr/bin:/bin" }, timeout: patienceMs, maxBuffer: 1 << 22 }, (error, stdout) => {
			if (error) fail(new Error(`Git cannot read its configuration ${file}, which says who commits: ${error.message}`, { cause: error }));
			else done(stdout);
		});
	});
	return output
		.split("\0")
		.slice(0, -1)
		.map((entry) => {
			const at = entry.indexOf("\n");
			return at === -1 ? [entry, undefined] : [entry.slice(0, at), entry.slice(at + 1)];
		});
}
