/** What git's configuration names: each key that runs a program, with values as people write them. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { askGitForNamedFiles, gitNamedFiles } from "../../src/lib/git-named-files.ts";

let folder: string;
let work: string;
const git = (...args: string[]) => execFileSync("git", args, { cwd: work, env: environment(), stdio: "pipe" });
const environment = () => ({ PATH: process.env.PATH, HOME: join(folder, "home") });

beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-git-named-")));
	work = join(folder, "work");
	for (const name of ["work", "home"]) mkdirSync(join(folder, name));
	git("init", "-q", "-b", "main");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text = "#!/bin/sh\n"): void {
	mkdirSync(dirname(join(work, name)), { recursive: true });
	writeFileSync(join(work, name), text);
	chmodSync(join(work, name), 0o755);
}

/** Names in the project, but for the configuration itself. */
async function named(cwd = work): Promise<string[]> {
	const { files } = await askGitForNamedFiles({ cwd, environment });
	const inside = files.map(({ path, kind }) => ({ name: relative(work, path), kind })).filter(({ name }) => !name.startsWith(".."));
	return [
		...new Set(inside.filter(({ name }) => name !== ".git/config").map(({ name, kind }) => (kind === "file" ? name : `${kind} ${name}`))),
	].sort();
}

/** As the pages of git's documentation and of git-lfs name them. */
const keys = `
alias.x! pager.log core.editor core.pager core.fsmonitor core.sshCommand core.gitProxy core.askPass core.alternateRefsCommand sequence.editor
credential.helper! credential.https://a.example.helper! diff.external diff.x.command diff.x.textconv difftool.x.cmd difftool.x.path
mergetool.x.cmd mergetool.x.path merge.x.driver filter.x.clean filter.x.smudge filter.x.process gpg.program gpg.ssh.program
gpg.ssh.defaultKeyCommand interactive.diffFilter browser.x.cmd browser.x.path web.browser help.browser man.x.cmd man.x.path man.viewer
instaweb.httpd instaweb.browser guitool.x.cmd trailer.x.command trailer.x.cmd uploadpack.packObjectsHook gc.recentObjectsHook
remote.origin.uploadpack remote.origin.receivepack sendemail.smtpServer sendemail.toCmd sendemail.ccCmd sendemail.headerCmd
sendemail.sendmailCmd imap.tunnel submodule.x.update! tar.x.command hook.x.command lfs.customtransfer.x.path lfs.customtransfer.x.args
lfs.extension.x.clean svn.authorsProg annex.http-headers-command alias.x.command!
`
	.trim()
	.split(/\s+/);

test("every key of git's that runs a program names the files of its line", async () => {
	put("tools/run it.sh");
	const missed: string[] = [];
	for (const key of keys) {
		const name = key.replace("!", "");
		git("config", name, `${key.endsWith("!") ? "!" : ""}'./tools/run it.sh' %O %A`);
		if (!(await named()).includes("tools/run it.sh")) missed.push(name);
		git("config", "--unset-all", name);
	}
	for (const [key, value] of [
		["remote.origin.url", "ext::sh tools/run\\ it.sh %S"],
		["url.ext::sh ./tools/a.insteadOf", "github:"],
		["alias.x", "-c core.pager=./tools/a log"],
	] as const) {
		put("tools/a");
		git("config", key, value);
		if ((await named()).length === 0) missed.push(key);
		git("config", "--unset-all", key);
	}
	expect(missed).toEqual([]);
});

test.each<[string, string[]]>([
	["./tools/a", ["tools/a"]],
	["sh tools/a %f", ["tools/a"]],
	["node --require ./tools/b.js tools/a", ["tools/a", "tools/b.js"]],
	["python3 top.py %O %A %B", ["top.py"]],
	["env A=1 B='x y' tools/a | sort > out.txt", ["tools/a"]],
	['"$(git rev-parse --show-toplevel)"/tools/a', ["tools/a"]],
	['"$PWD/tools/a"', ["tools/a"]],
	["mytool --config=tools/b.js", ["tools/b.js"]],
	['f() { tools/a "$@"; }; f', ["tools/a"]],
	["git-lfs clean -- %f", []],
	["less", []],
	["cat < top.py", ["top.py"]],
	["./tools/later", ["program tools/later"]],
	["bash -e tools/later %f", ["program tools/later"]],
	["make -C tools", []],
	["sed s/a/b/", []],
	["true", []],
])("a filter that is %s", async (value, expected) => {
	for (const name of ["tools/a", "tools/b.js", "top.py", "out.txt", "less", "git-lfs"]) put(name);
	git("config", "filter.x.clean", value);
	expect(await named()).toEqual(expected);
});

test("aliases that are commands of git, addresses and branches name nothing", async () => {
	for (const name of ["log", "origin", "main"]) put(name);
	mkdirSync(join(work, "refs/heads"), { recursive: true });
	for (const [key, value] of [
		["alias.l", "log origin main"],
		["branch.main.merge", "refs/heads/main"],
		["remote.origin.url", "./origin"],
		["submodule.x.update", "merge"],
		["core.fsmonitor", "true"],
		["pager.log", "false"],
		["user.name", "log"],
	] as const)
		git("config", key, value);
	expect(await named()).toEqual([]);
});

test("directories of hooks and templates, and included files, as before", async () => {
	mkdirSync(join(work, "sub"));
	git("config", "core.hooksPath", "hooks");
	git("config", "init.templateDir", "templates");
	git("config", "include.path", "../more");
	expect(await named(join(work, "sub"))).toEqual([
		"directory hooks",
		"directory sub/hooks",
		"directory sub/templates",
		"directory templates",
		"more",
	]);
});

test("the answer is asked for again once a file that it depends on comes or goes", async () => {
	git("config", "diff.external", "mydiff --script tools/a");
	const ask = gitNamedFiles({ cwd: work, environment });
	const isNamed = async () => (await ask())?.some(({ path }) => path === join(work, "tools/a"));
	expect(await isNamed()).toBe(false);
	put("tools/a");
	expect(await isNamed()).toBe(true);
});
