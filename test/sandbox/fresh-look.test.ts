/** What changes between two commands of one session is in the plan of the second: nothing that was seen for one plan is kept for the next. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settings } from "../../src/protocol/settings.ts";
import { ConfinedFiles } from "../../src/sandbox/files.ts";
import { Sandbox } from "../../src/sandbox/index.ts";
import { visibleSockets } from "../../src/sandbox/sockets.ts";
import { type Ground, Survey } from "../../src/sandbox/survey.ts";
import type { View } from "../../src/sandbox/view.ts";
import { groundIn } from "./ground.ts";
import { folderOutsideTmp, until } from "./support.ts";

let folder: string;
beforeEach(() => {
	folder = folderOutsideTmp();
	for (const name of ["home", "user", "private/tmp", "private/var-tmp", "work/deep/er"]) mkdirSync(join(folder, name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
function file(name: string, content = ""): void {
	mkdirSync(dirname(at(name)), { recursive: true });
	writeFileSync(at(name), content);
}
/** A repository as git sees it, without the time that git takes. */
function repository(name: string, config = ""): void {
	file(`${name}/.git/HEAD`, "ref: refs/heads/main\n");
	for (const directory of ["objects", "refs"]) mkdirSync(at(`${name}/.git/${directory}`), { recursive: true });
	file(`${name}/.git/config`, `[core]\n\trepositoryformatversion = 0\n${config}`);
}

/** The paths of a plan that are closed in some way, from the folder on. */
function closedIn({ hidden, protected: paths, placeholders, links, forbidden }: View): string[] {
	return [...[...hidden, ...placeholders].map(({ path }) => path), ...paths, ...links, ...forbidden].map((path) => path.slice(folder.length + 1));
}

/** Plans a command, changes something, plans the next one, and returns what only the second plan closes. */
async function newlyClosed(change: () => void, ground: Partial<Ground> = {}): Promise<string[]> {
	const survey = new Survey(groundIn(folder, { gitProgram: "/usr/bin/git", ...ground }));
	const plan = async () => closedIn(survey.commandView(undefined, await survey.lookAtGit()));
	const before = await plan();
	change();
	return (await plan()).filter((path) => !before.includes(path)).sort();
}

describe.skipIf(process.platform === "win32")("the second plan sees", () => {
	test("a protected file and a secret that are new", async () => {
		const change = () => {
			file("work/.envrc");
			mkdirSync(at("home/.ssh"));
			file("home/.config/gh/hosts.yml");
		};
		expect(await newlyClosed(change)).toEqual(["home/.config/gh", "home/.ssh", "work/.envrc"]);
	});

	test("a new repository in a directory that was seen before, and one in a new directory", async () => {
		const change = () => {
			repository("work/deep/er");
			repository("work/new");
		};
		const names = ["commondir", "config", "config.worktree", "hooks"];
		expect(await newlyClosed(change)).toEqual(["work/deep/er", "work/new"].flatMap((top) => names.map((name) => `${top}/.git/${name}`)));
	});

	test("a new file that a rule is about", async () => {
		const rules = [{ covers: (path: string) => path.endsWith("/.env"), denies: "reading" as const }];
		expect(await newlyClosed(() => file("work/deep/er/.env"), { rules })).toEqual(["work/deep/er/.env"]);
	});

	test("another target of a link on the way to a protected file", async () => {
		for (const name of ["one", "two"]) file(`work/${name}/ci.yml`);
		symlinkSync("one", at("work/way"));
		const change = () => {
			unlinkSync(at("work/way"));
			symlinkSync("two", at("work/way"));
		};
		expect(await newlyClosed(change, { protected: [at("work/way/ci.yml")] })).toEqual(["work/two/ci.yml"]);
	});

	test("hooks that a new configuration of the user names, although no file that git read before has changed", async () => {
		repository("work");
		const change = () => file("home/.gitconfig", "[core]\n\thooksPath = own-hooks\n");
		expect(await newlyClosed(change)).toEqual(["work/own-hooks"]);
	});
});

test.skipIf(process.platform !== "linux")("the second plan sees a socket with a relative name where its directory is now", async () => {
	mkdirSync(at("one"));
	const child = spawn(process.execPath, ["-e", 'require("net").createServer().listen("relative.sock")'], {
		cwd: at("one"),
		stdio: "ignore",
	});
	try {
		await until(() => existsSync(at("one/relative.sock")));
		const survey = new Survey(groundIn(folder));
		const sockets = () => visibleSockets(survey.view()).filter((path) => path.startsWith(folder));
		expect(sockets()).toEqual([at("one/relative.sock")]);
		renameSync(at("one"), at("two"));
		expect(sockets()).toEqual([at("two/relative.sock")]);
	} finally {
		child.kill("SIGKILL");
	}
});

describe.skipIf(process.platform !== "linux")("a file tool sees at once", () => {
	test("a repository and a protected file that came after its last call", async () => {
		const given: Record<string, unknown> = { "sandbox.mode": "external" };
		const sandbox = new Sandbox({
			cwd: at("work"),
			userDirectory: at("user"),
			env: { HOME: at("home"), PATH: "/usr/bin" },
			setting: (name) => (given[name] ?? settings[name].default) as never,
		});
		await sandbox.open();
		const files = sandbox.files as ConfinedFiles;
		await files.write(at("work/a.txt"), Buffer.from("a"));
		repository("work/deep");
		file("work/.envrc");
		for (const name of ["work/deep/.git/config", "work/.envrc"])
			await expect(files.write(at(name), Buffer.from("x"))).rejects.toThrow(`${at(name)} cannot be written: the sandbox protects it.`);
		file("home/.npmrc", "token");
		await expect(files.open(at("home/.npmrc"))).rejects.toThrow(`${at("home/.npmrc")} cannot be read: the sandbox hides it.`);
		await sandbox.close();
	});

	test("another target of a link, also with the same view", async () => {
		file("work/a.txt", "a");
		file("home/.ssh/key", "PRIVATE");
		symlinkSync("a.txt", at("work/link"));
		const view = new Survey(groundIn(folder)).view();
		const files = new ConfinedFiles(() => view);
		expect(await files.place(at("work/link"))).toBe(at("work/a.txt"));
		unlinkSync(at("work/link"));
		symlinkSync("../home/.ssh/key", at("work/link"));
		await expect(files.place(at("work/link"))).rejects.toThrow("the sandbox hides it");
	});
});

describe.skipIf(process.platform === "win32")("a git that gives no answer", () => {
	/** Answers as git does, but not in a directory with this file. */
	function gitProgram(end: string): string {
		file("bin/git", `#!/bin/sh\n[ -e mute ] && ${end}\nexec git "$@"\n`);
		chmodSync(at("bin/git"), 0o755);
		return at("bin/git");
	}

	test("stops the command where the user opened the repository", async () => {
		repository("work");
		const survey = new Survey(groundIn(folder, { gitProgram: gitProgram("kill -9 $$") }));
		expect((await survey.lookAtGit()).repositories).toEqual([at("work")]);
		file("work/mute");
		await expect(survey.lookAtGit()).rejects.toThrow(`Git did not say which files the configuration of ${at("work")} names`);
	});

	test("stops nothing where a command may have made the repository, or where the configuration is broken", async () => {
		repository("work", "\thooksPath = own-hooks\n");
		repository("work/deep");
		file("work/deep/mute");
		const killed = new Survey(groundIn(folder, { gitProgram: gitProgram("kill -9 $$") }));
		expect((await killed.lookAtGit()).named.map(({ path }) => path)).toContain(at("work/own-hooks"));
		file("work/mute");
		const broken = new Survey(groundIn(folder, { gitProgram: gitProgram("exit 128") }));
		expect((await broken.lookAtGit()).named).toEqual([]);
	});
});
