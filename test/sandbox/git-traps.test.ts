/** What commands leave in a git directory: the person's next git must not write elsewhere because of it, nor run anything. */
import { execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { trapsIn } from "../../src/sandbox/git-traps.ts";
import { describeUnless } from "../unless.ts";
import { Machine, missing, until } from "./support.ts";

/** Every name below `.git` that git wrote to in the work of a person: made, changed or removed again. */
let written: string[] = [];
let folder = "";

beforeAll(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-git-names-")));
	written = namesThatGitWrites(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Works in a repository as people do, and notes after each step what has come or changed. */
function namesThatGitWrites(place: string): string[] {
	const names = new Set<string>();
	const home = join(place, "home");
	const [origin, work] = [join(place, "origin"), join(place, "work")];
	mkdirSync(home);
	const env = {
		PATH: process.env.PATH,
		HOME: home,
		GIT_EDITOR: "true",
		GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
		GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
	};
	const inDirectory = (cwd: string, ...args: string[]) => {
		try {
			execFileSync(
				"git",
				["-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always", "-c", "rerere.enabled=true", ...args],
				{
					cwd,
					env,
					stdio: "pipe",
				},
			);
		} catch {
			// Conflicts are part of it.
		}
	};
	let before = new Map<string, string>();
	const note = () => {
		const now = contentOf(join(work, ".git"));
		for (const [path, content] of now) if (before.get(path) !== content) names.add(path);
		before = now;
	};
	const git = (...args: string[]) => {
		inDirectory(work, ...args);
		note();
	};
	const put = (name: string, text: string) => writeFileSync(join(work, name), text);
	inDirectory(place, "init", "-q", "-b", "main", origin);
	writeFileSync(join(origin, "a"), "1\n");
	inDirectory(origin, "add", "a");
	inDirectory(origin, "commit", "-qm", "One");
	inDirectory(place, "clone", "-q", origin, work);
	note();
	put("a", "2\n");
	git("commit", "-qam", "Two");
	git("tag", "-a", "v1", "-m", "v1");
	git("switch", "-qc", "side/topic", "HEAD~1");
	git("merge", "-q", "--squash", "main");
	git("reset", "-q", "--hard");
	put("a", "3\n");
	git("commit", "-qam", "Three");
	git("merge", "-q", "main");
	put("a", "4\n");
	git("commit", "-qam", "Merged");
	git("fetch", "-q");
	git("pull", "-q", "--no-rebase", "origin", "main");
	put("a", "5\n");
	git("stash");
	git("stash", "pop");
	git("checkout", "-q", "--", "a");
	git("rebase", "-q", "main");
	git("rebase", "--abort");
	git("rebase", "-q", "-x", "false", "HEAD~1");
	git("rebase", "--abort");
	git("cherry-pick", "main");
	git("cherry-pick", "--abort");
	git("revert", "--no-edit", "HEAD~1", "HEAD");
	git("revert", "--abort");
	git("format-patch", "-1", "-o", "patches", "main");
	git("am", join("patches", "0001-Two.patch"));
	git("am", "--abort");
	git("bisect", "start", "HEAD", "HEAD~1");
	git("bisect", "reset");
	git("notes", "add", "-m", "note");
	git("worktree", "add", "-q", "../other");
	git("submodule", "add", "-q", origin, "part");
	git("replace", "HEAD", "HEAD~1");
	git("replace", "-d", "HEAD");
	git("sparse-checkout", "set", "part");
	git("sparse-checkout", "disable");
	git("update-server-info");
	git("commit-graph", "write");
	git("multi-pack-index", "write");
	git("gc", "-q", "--prune=now");
	git("pack-refs", "--all");
	git("fetch", "-q", "--depth", "1", `file://${origin}`);
	git("reset", "-q", "--hard", "HEAD~1");
	return [...names].filter((name) => !/^(config(\.worktree)?$|hooks(\/|$)|modules\/part\/(config|hooks)|worktrees\/)/.test(name));
}

function contentOf(directory: string): Map<string, string> {
	const found = new Map<string, string>();
	for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
		const path = join(entry.parentPath, entry.name);
		found.set(relative(directory, path), entry.isFile() ? readFileSync(path, "base64") : "");
	}
	return found;
}

test("a link in place of any name that git writes to is found, with all the folders above it", () => {
	// Such as these.
	for (const name of [
		"COMMIT_EDITMSG",
		"FETCH_HEAD",
		"ORIG_HEAD",
		"SQUASH_MSG",
		"MERGE_MSG",
		"index",
		"logs/HEAD",
		"packed-refs",
		"objects/info",
		"logs/refs/stash",
	])
		expect(written, name).toContain(name);
	expect(written.length).toBeGreaterThan(60);
	const directory = join(folder, "trapped");
	const names = new Set(written.flatMap((name) => [name, ...aboveOf(name)]));
	for (const name of names) {
		if (/^objects\/[0-9a-f]{2}\//.test(name)) continue;
		for (const target of [
			join(folder, "home/.profile"),
			"../../../../../../../../home/.profile",
			join(directory, "config"),
			join(directory, "hooks/pre-commit"),
		]) {
			mkdirSync(dirname(join(directory, name)), { recursive: true });
			symlinkSync(target, join(directory, name));
			expect(
				trapsIn(directory).map(({ kind, path }) => ({ kind, path })),
				`${name} -> ${target}`,
			).toEqual([{ kind: "link", path: join(directory, name) }]);
			rmSync(directory, { recursive: true });
		}
	}
});

test("what git makes itself is no trap, not even a HEAD that is a link to a branch", () => {
	expect(trapsIn(join(folder, "work/.git"))).toEqual([]);
	const directory = join(folder, "old");
	mkdirSync(join(directory, "refs/heads"), { recursive: true });
	symlinkSync("refs/heads/main", join(directory, "HEAD"));
	expect(trapsIn(directory)).toEqual([]);
});

test("links among the hooks are the person's, also those of submodules", () => {
	const directory = join(folder, "hooked");
	for (const top of [directory, join(directory, "modules/part")]) {
		mkdirSync(join(top, "hooks"), { recursive: true });
		writeFileSync(join(top, "HEAD"), "ref: refs/heads/main\n");
		symlinkSync("../../scripts/pre-commit", join(top, "hooks/pre-commit"));
	}
	expect(trapsIn(directory)).toEqual([]);
	// A branch may have such a name.
	mkdirSync(join(directory, "logs/refs/heads/hooks"), { recursive: true });
	symlinkSync("/etc/motd", join(directory, "logs/refs/heads/hooks/x"));
	expect(trapsIn(directory).map(({ path }) => path)).toEqual([join(directory, "logs/refs/heads/hooks/x")]);
});

test("a strategy of merging that is a program is found where a rebase or a cherry-pick goes on with it", () => {
	const directory = join(folder, "merging");
	mkdirSync(join(directory, "rebase-merge"), { recursive: true });
	mkdirSync(join(directory, "sequencer"));
	const found = (strategy: string, options: string) => {
		writeFileSync(join(directory, "rebase-merge/strategy"), strategy);
		writeFileSync(join(directory, "sequencer/opts"), options);
		return trapsIn(directory).map(({ kind, path }) => `${kind} ${relative(directory, path)}`);
	};
	expect(found("ort\n", "[options]\n\tstrategy = ours\n")).toEqual([]);
	expect(found("a/x\n", "[options]\n\tstrategy = a/x\n")).toEqual(["file rebase-merge/strategy", "file sequencer/opts"]);
});

/** The folders above a name. */
function aboveOf(name: string): string[] {
	const above = dirname(name);
	return above === "." ? [] : [above, ...aboveOf(above)];
}

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(): Machine {
	const machine = new Machine();
	machines.push(machine);
	machine.repository();
	return machine;
}
const inside = ["--sandbox", "workspace-write"];
/** Links below a folder, with where they lead. */
function linksIn(directory: string): string[] {
	const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
	return entries.flatMap((entry) =>
		entry.isSymbolicLink() ? [`${join(entry.parentPath, entry.name)} -> ${readlinkSync(join(entry.parentPath, entry.name))}`] : [],
	);
}

describeUnless(missing)("a git directory after commands in the sandbox", () => {
	test("no name that git writes to leads elsewhere: the next commit, fetch and merge of a person change nothing outside", async () => {
		const machine = machineOf();
		const profile = machine.write("home/.profile", "mine\n");
		machine.directory("outside/objects");
		const planted = ["COMMIT_EDITMSG", "SQUASH_MSG", "FETCH_HEAD", "logs/HEAD", "logs/refs/heads/main", "packed-refs", "index"];
		const { results } = await machine.run(
			[
				...planted.map((name) => `rm -f .git/${name}; ln -s "${profile}" .git/${name}`),
				"rmdir .git/objects/info; ln -s ../../../outside/objects .git/objects/info",
				"git commit -q --allow-empty -m Two; git log --format=%s",
			],
			inside,
		);
		for (const [index, name] of [...planted, "objects/info"].entries())
			expect(results[index]?.text).toMatch(
				new RegExp(`The sandbox was rebuilt because .*/\\.git/${name} is a link to .*, and git would write through it\\.`),
			);
		expect(results.at(-1)?.text).toContain("Two\nBeginning");
		expect(linksIn(join(machine.work, ".git"))).toEqual([]);
		expect(readdirSync(join(machine.user, "quarantine"))).toHaveLength(planted.length + 1);
		machine.write("work/new", "x");
		machine.git("add", "new");
		machine.git("commit", "-qm", "export EVIL=1");
		machine.git("fetch", "-q", ".", "HEAD");
		machine.git("gc", "-q");
		expect(readFileSync(profile, "utf8")).toBe("mine\n");
		expect(readdirSync(join(machine.outside, "objects"))).toEqual([]);
	});

	test("nor in a repository that a command made, nor through a process that goes on in the background", async () => {
		const machine = machineOf();
		const profile = machine.write("home/.profile", "mine\n");
		const agent = machine.start(
			[
				`git init -q new && ln -s "${profile}" new/.git/COMMIT_EDITMSG`,
				`(until [ -e go ]; do sleep 0.05; done; rm -f .git/COMMIT_EDITMSG; ln -s "${profile}" .git/COMMIT_EDITMSG) >/dev/null 2>&1 & echo started`,
			],
			inside,
		);
		agent.send({ id: "1", type: "prompt", message: "go" });
		const frames = await agent.until(({ type }) => type === "agent_settled");
		const ends = frames.filter(({ type }) => type === "tool_execution_end").map((frame) => JSON.stringify(frame.result));
		expect(ends[0]).toContain("new/.git/COMMIT_EDITMSG is a link to");
		expect(ends[1]).toContain("started");
		expect(existsSync(join(machine.work, "new/.git/COMMIT_EDITMSG"))).toBe(false);
		machine.write("work/go", "");
		await until(() => readdirSync(join(machine.user, "quarantine")).length === 2);
		expect(linksIn(join(machine.work, ".git"))).toEqual([]);
		agent.child.stdin.end();
		await agent.gone;
		machine.git("commit", "-q", "--allow-empty", "-m", "export EVIL=1");
		expect(readFileSync(profile, "utf8")).toBe("mine\n");
	});

	test("a rebase that a command made up runs nothing, and one of the person keeps its lines", async () => {
		const machine = machineOf();
		const ran = join(machine.outside, "ran");
		for (const name of ["two", "three"]) machine.git("commit", "-q", "--allow-empty", "-m", name);
		try {
			machine.git("rebase", "-q", "-x", `echo mine >> ${ran}; false`, "--keep-empty", "HEAD~2");
		} catch {
			// It stops at the first line, and waits with the second.
		}
		const todo = join(machine.work, ".git/rebase-merge/git-rebase-todo");
		expect(readFileSync(todo, "utf8")).toContain("exec echo mine");
		rmSync(ran);
		const { results } = await machine.run(
			[
				"echo fine",
				`{ echo "x touch ${ran}"; printf '\\t exec  touch ${ran}\\n'; cat ${todo}; } > new && cp new ${todo}; echo made`,
				"git status; echo fine",
			],
			inside,
		);
		expect(results[0]?.text.trim()).toBe("fine");
		expect(results[1]?.text).toContain('git-rebase-todo has the line "x touch');
		expect(results[2]?.text).toContain("rebase in progress");
		expect(readFileSync(todo, "utf8")).not.toContain("touch");
		expect(readFileSync(todo, "utf8")).toContain("exec echo mine");
		try {
			machine.git("rebase", "--continue");
		} catch {
			// The person's own line fails again.
		}
		expect(readFileSync(ran, "utf8")).toBe("mine\n");
	});

	test("a session in a linked worktree leaves no link in the repository that it belongs to", async () => {
		const machine = machineOf();
		const profile = machine.write("home/.profile", "mine\n");
		renameSync(machine.work, join(machine.folder, "main"));
		execFileSync("git", ["worktree", "add", "-q", machine.work], { cwd: join(machine.folder, "main"), stdio: "pipe" });
		const store = join(machine.folder, "main/.git");
		const { results } = await machine.run(
			[
				`ln -s "${profile}" ${store}/worktrees/work/FETCH_HEAD`,
				`rm -f ${store}/logs/refs/heads/work; ln -s "${profile}" ${store}/logs/refs/heads/work`,
				"git commit -q --allow-empty -m Two && git log -1 --format=%s",
			],
			inside,
		);
		for (const [index, name] of ["worktrees/work/FETCH_HEAD", "logs/refs/heads/work"].entries())
			expect(results[index]?.text).toContain(`${join(store, name)} is a link to ${profile}, and git would write through it.`);
		expect(results[2]?.text.trim()).toBe("Two");
		expect(linksIn(store)).toEqual([]);
	});

	test("a link that the person made stays, and nothing around it can be written", async () => {
		const machine = machineOf();
		machine.directory("store");
		renameSync(join(machine.work, ".git/logs"), join(machine.folder, "store/logs"));
		symlinkSync("../../store/logs", join(machine.work, ".git/logs"));
		const { results } = await machine.run(["git log --format=%s", "git commit -q --allow-empty -m No", "echo x > file && cat file"], inside);
		const words = results.map(({ text }) => text.trim());
		expect(words).toEqual(["Beginning", expect.stringMatching(/^(?!.*held)/), "x"]);
		expect(words[1]).toContain(`Nothing in that git directory is writable, because ${join(machine.work, ".git/logs")} is a link to ../../store/logs`);
		expect(linksIn(join(machine.work, ".git"))).toEqual([`${join(machine.work, ".git/logs")} -> ../../store/logs`]);
		machine.git("commit", "-q", "--allow-empty", "-m", "Mine");
		expect(readFileSync(join(machine.folder, "store/logs/HEAD"), "utf8")).toContain("Mine");
	});

	test("a bare repository with a worktree in the project is protected like any other", async () => {
		const machine = machineOf();
		renameSync(join(machine.work, ".git"), join(machine.work, "repo.git"));
		const git = (...args: string[]) => execFileSync("git", args, { cwd: join(machine.work, "repo.git"), stdio: "pipe" });
		git("config", "core.bare", "true");
		git("worktree", "add", "-q", "-b", "other", "../main");
		const { results } = await machine.run(
			[
				"echo x > repo.git/hooks/post-checkout",
				"echo '[x]' >> repo.git/config",
				"echo x > repo.git/worktrees/main/gitdir",
				"cd main && git commit -q --allow-empty -m Two && echo committed",
			],
			inside,
		);
		const words = results.map(({ text }) => text.trim().split("\n")[0]);
		expect(words).toEqual([...Array(3).fill(expect.stringContaining("Read-only")), "committed"]);
	});

	test("a git directory elsewhere in the project is protected like any other", async () => {
		const machine = machineOf();
		renameSync(join(machine.work, ".git"), join(machine.work, "store"));
		machine.write("work/.git", "gitdir: store\n");
		const profile = machine.write("home/.profile", "mine\n");
		const { results } = await machine.run(
			[
				"echo '#!/bin/sh' > store/hooks/pre-commit || echo held",
				"echo '[x]' >> store/config || echo held",
				"git commit -q --allow-empty -m Two && echo committed",
				`ln -s "${profile}" store/FETCH_HEAD`,
			],
			inside,
		);
		expect(results.map(({ text }) => text.trim().split("\n")[0])).toEqual([
			expect.stringContaining("Read-only"),
			expect.stringContaining("Read-only"),
			"committed",
			expect.stringContaining("FETCH_HEAD is a link to"),
		]);
		expect(existsSync(join(machine.work, "store/FETCH_HEAD"))).toBe(false);
	});
});
