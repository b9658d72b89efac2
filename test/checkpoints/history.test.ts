/** What commands do to a repository's history, and what a rewind brings back: real git. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { RestoreRequest } from "../../src/checkpoints/commit-history.ts";
import { applyCommits } from "../../src/checkpoints/commit-steps.ts";
import { prepareRestore, repairRewinds, type Taken, TreeStore } from "../../src/checkpoints/index.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const clean of cleanups.splice(0).reverse()) await clean();
});

const environment = {
	...process.env,
	GIT_CONFIG_GLOBAL: "/dev/null",
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_AUTHOR_NAME: "a",
	GIT_AUTHOR_EMAIL: "a@b",
	GIT_COMMITTER_NAME: "a",
	GIT_COMMITTER_EMAIL: "a@b",
	FILTER_BRANCH_SQUELCH_WARNING: "1",
};

/** Runs a script in a directory; what it prints, also where it fails. */
function sh(cwd: string, script: string): string {
	return execFileSync("sh", ["-c", script], { cwd, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

const seven = `git init -q -b main . && for n in 1 2 3 4 5 6 7; do echo $n > a.txt && git add -A && git commit -qm $n; done
	git branch side HEAD~2 && git tag light HEAD~1 && git tag -a -m heavy heavy HEAD~3 && git config remote.origin.url https://example.com/x.git
	echo stashed > a.txt && git stash -q && echo again > a.txt && git stash -q && echo staged > staged.txt && git add staged.txt && echo dirty > a.txt`;

async function repository(script = seven, limits?: { commitBytes: number }) {
	const root = mkdtempSync(join(tmpdir(), "bowline-history-"));
	cleanups.push(() => rmSync(root, { recursive: true, force: true }));
	const cwd = join(root, "work");
	mkdirSync(cwd);
	sh(cwd, script);
	const shell = new Shell({ cwd: "/", environment: () => environment, redact: redactor(() => []) });
	cleanups.push(() => shell.close());
	const options = { cwd, root: join(root, "checkpoints"), own: () => [], shell: async () => shell, environment: () => environment };
	const usual = { files: 1000, bytes: 1e8, fileBytes: 1e7, commitBytes: 1e8 };
	const store = await TreeStore.open({ ...options, limits: { ...usual, ...limits } });
	return { root, cwd, options, store };
}

/** All that a person sees of a repository. */
const stateOf = (cwd: string) =>
	sh(
		cwd,
		"git for-each-ref; git symbolic-ref -q HEAD || git rev-parse HEAD; git stash list; git log --oneline | cat; git status --porcelain; git remote -v; git fsck --connectivity-only --no-dangling 2>&1",
	);

async function rewind(store: TreeStore, target: Taken, more: Partial<RestoreRequest> = {}, time = 0) {
	const current = await store.takeAll();
	const history = { target: { history: target.history, time }, current: current.history, others: [], ...more };
	const restore = await prepareRestore({ store, current: current.state, target: target.state, except: new Set(), history, sessionFile: undefined });
	await restore.apply();
	await restore.finish();
	return { undo: current, history: restore.history };
}

const gone = "git reflog expire --expire=now --all && git gc -q --prune=now";

describe("what is lost comes back, and what was made is found under another name", () => {
	test.each([
		["all of the repository", "rm -rf .git"],
		["all of the repository, with another one in its place", "rm -rf .git && git init -q -b main . && git add -A && git commit -qm fresh"],
		["objects", "rm -rf .git/objects/* && mkdir .git/objects/pack"],
		["all objects", "rm -rf .git/objects"],
		["HEAD", "rm .git/HEAD"],
		["what is staged", "rm .git/index"],
		["the names", "rm -rf .git/refs .git/packed-refs"],
		["commits by reset and gc", `git reset -q --hard HEAD~5 && ${gone}`],
		[
			"commits by reset and gc, from a branch that went on",
			`git reset -q --hard HEAD~5 && echo new > new.txt && git add -A && git commit -qm new && ${gone}`,
		],
		["a branch", `git branch -D side && ${gone}`],
		["a branch, with a folder of branches in its place", "git branch -D side && git branch side/one && git branch side/two"],
		["the branch that is checked out", `git checkout -q --detach && git branch -D main && git reset -q --hard HEAD~6 && ${gone}`],
		["the last stash", `git stash drop -q && ${gone}`],
		["the first stash", `git stash drop -q stash@{1} && ${gone}`],
		["all stashes", `git stash clear && ${gone}`],
		["tags", `git tag -d light heavy && ${gone}`],
		["a name that was removed", "git update-ref -d refs/heads/side"],
		["history by an orphan branch", "git checkout -q --orphan fresh && git commit -qm fresh && git branch -D main"],
		["a branch that was moved by force", `git branch -f side main~6 && ${gone}`],
		["a tag that was moved", "git tag -f light main~5"],
		[
			"history that was written again",
			`git reset -q --hard && git filter-branch -f --msg-filter 'cat; echo x' -- --all && git for-each-ref --format='%(refname)' refs/original | xargs -n1 git update-ref -d && ${gone}`,
		],
		["a commit that was amended", `git commit -q --amend -m other && ${gone}`],
		["the server and its branches", "git remote remove origin; git branch -D side"],
		["what was checked out", "git checkout -qf side"],
	])("%s", async (_, script) => {
		const { cwd, store, options } = await repository();
		const before = stateOf(cwd);
		const target = await store.takeAll();
		expect(target.history).toEqual({ kept: { "": expect.any(String) } });
		sh(cwd, `${script}; true`);
		const { undo, history } = await rewind(store, target);
		expect(history?.restored).not.toEqual([]);
		const after = stateOf(cwd);
		const own = /^.*\trefs\/(bowline|heads\/fresh|heads\/side\/(one|two))\/?.*\n/gm;
		// A branch that no one had before stays.
		expect(after.replace(own, "").replace(/ +$/gm, "")).toBe(before);
		for (const name of history?.kept ?? []) if (name.startsWith("refs/")) sh(cwd, `git cat-file -e ${name}`);
		// The way back, by another process, brings what was there again; then once more.
		const other = await TreeStore.open(options);
		const { history: redone, undo: third } = await rewind(other, undo, { undo: history?.rewound as never }, Date.now());
		expect(redone?.problems).toEqual([]);
		expect((await other.takeAll()).state).toEqual(undo.state);
		const { kept } = (await other.takeAll()).history;
		expect(Object.keys(kept)).toEqual(Object.keys(undo.history.kept));
		await rewind(other, third, { undo: redone?.rewound as never });
		expect(stateOf(cwd).replace(own, "")).toBe(before);
	});
});

/** Who keeps working: commits go on, nothing is lost. */
test.each([
	["commits that were made", "git commit -qam more && git commit -q --allow-empty -m most"],
	["a new branch with commits", "git checkout -q -b feature && git commit -qam more"],
	["new tags, branches and stashes", "git tag new && git branch newer && git stash -q"],
	["what was staged", "git add -A"],
	["a change of a file", "echo x > a.txt"],
])("%s: all of it stays, and the repository is not touched", async (_, script) => {
	const { cwd, store } = await repository();
	const target = await store.takeAll();
	sh(cwd, script);
	const before = sh(cwd, "git for-each-ref; cat .git/HEAD; cksum .git/index; find .git -type f | sort");
	const { history } = await rewind(store, target);
	expect(history).toMatchObject({ steps: [], restored: [], kept: [], problems: [] });
	expect(sh(cwd, "git for-each-ref; cat .git/HEAD; cksum .git/index; find .git -type f | sort")).toBe(before);
});

test("what others did to branches stays, also what the agent did to them later", async () => {
	const { cwd, store } = await repository();
	const target = await store.takeAll();
	const before = await store.takeAll();
	sh(cwd, "git branch -D side; git branch -f mine main; git commit -qam mine");
	const after = await store.takeAll();
	const mine = sh(cwd, "git rev-parse main");
	sh(cwd, "git reset -q --hard HEAD~3; git tag -d light");
	const { history } = await rewind(store, target, { others: [[before.history, after.history]] });
	expect(history?.restored.map(({ name }) => name).sort()).toEqual(["refs/heads/main", "refs/tags/light"]);
	expect(sh(cwd, "git rev-parse main")).toBe(mine);
	expect(sh(cwd, "git branch --list side")).toBe("");
});

test("a checkpoint of an unchanged repository runs nothing and writes nothing", async () => {
	const { store } = await repository();
	const first = await store.takeAll();
	const all = () => sh(store.directory, "find commits | sort");
	const before = all();
	expect(await store.takeAll()).toEqual(first);
	expect(all()).toBe(before);
});

test("a repository that is too large is left alone, with the reason", async () => {
	const { store } = await repository(seven, { commitBytes: 1000 });
	const taken = await store.takeAll();
	expect(taken.history).toEqual({ kept: {}, lost: { "": expect.stringMatching(/^the commits of .*\.git have more than 0 MiB$/) } });
	const { history } = await rewind(store, taken);
	expect(history).toMatchObject({ restored: [], problems: [expect.stringMatching(/^the commits are not kept: /)] });
});

test("settings that run programs and hooks do not come back with a repository, and are named", async () => {
	const { cwd, store } = await repository(
		`${seven}; git config core.fsmonitor ./evil; git config filter.x.clean ./evil; git config alias.st '!./evil'; git config include.path ../evil
		git config branch.main.remote origin; echo ./evil > .git/hooks/post-checkout; git config 'remote.origin.uploadpack' ./evil`,
	);
	const target = await store.takeAll();
	sh(cwd, "rm -rf .git");
	const { history } = await rewind(store, target);
	expect(history?.problems).toEqual([
		"settings that can run programs were not put back: core.fsmonitor, remote.origin.uploadpack, filter.x.clean, alias.st, include.path",
		"hooks were not put back: hooks/post-checkout",
	]);
	expect(sh(cwd, "git config remote.origin.url; git config branch.main.remote")).toBe("https://example.com/x.git\norigin\n");
	expect(readFileSync(join(cwd, ".git/config"), "utf8")).not.toContain("evil");
	expect(readdirSync(join(cwd, ".git/hooks"))).toEqual([]);
});

test("settings and hooks that are left of a broken repository stay as they are", async () => {
	const { cwd, store } = await repository(`${seven}; git config alias.st status; echo x > .git/hooks/post-checkout`);
	const target = await store.takeAll();
	const config = readFileSync(join(cwd, ".git/config"), "utf8");
	sh(cwd, "cd .git && rm -rf HEAD objects refs packed-refs index logs");
	const { history } = await rewind(store, target);
	expect(history?.problems).toEqual([]);
	expect(readFileSync(join(cwd, ".git/config"), "utf8")).toBe(config);
	expect(existsSync(join(cwd, ".git/hooks/post-checkout"))).toBe(true);
	expect(sh(cwd, "git rev-parse side heavy")).toHaveLength(82);
});

const made = async (script: string) => {
	const { cwd, store, ...rest } = await repository(
		`${seven}; mkdir plain; echo 1 > plain/b.txt; git init -q inner && cd inner && echo 1 > c.txt && git add . && git commit -qm inner`,
	);
	const target = await store.takeAll();
	const before = stateOf(cwd);
	sh(cwd, script);
	const back = await rewind(store, target);
	return { cwd, store, before, ...back, ...rest };
};

test.each([
	["one that a command made", "git init -q new && cd new && echo 1 > f && git add f && git commit -qm new", "new"],
	["an empty one", "git init -q new", "new"],
	["a worktree", "git worktree add -q new side", "new"],
])("of repositories, %s goes, to where it can be found, and comes back", async (_, script, name) => {
	const { cwd, store, undo, history } = await made(script);
	expect(history?.restored).toEqual([{ at: name, name: ".git" }]);
	expect(existsSync(join(cwd, name, ".git"))).toBe(false);
	expect(readdirSync(cwd)).not.toContain(name === "new" && !script.includes("init -q new &&") ? "" : name);
	const again = await rewind(store, undo, { undo: history?.rewound as never });
	expect(again.history?.problems).toEqual([]);
	expect(sh(join(cwd, name), "git rev-parse --show-prefix; git status --porcelain")).toBe("\n");
});

test.each([
	["a repository inside that is removed", "rm -rf inner/.git && echo 2 > inner/c.txt"],
	["all of a repository inside", "rm -rf inner"],
	["a repository around a folder with files", "git init -q plain && cd plain && git add -A && git commit -qm plain && echo 2 > b.txt"],
])("%s: files and commits come back", async (_, script) => {
	const { cwd, before } = await made(script);
	expect(stateOf(cwd)).toBe(before);
	expect(
		sh(cwd, "cat plain/b.txt inner/c.txt; git -C inner log --format=%s; git -C inner status --porcelain; git -C plain rev-parse --show-prefix"),
	).toBe("1\n1\ninner\nplain/\n");
});

test("a repository that was moved into the project, or that is older than the checkpoint, is not taken away", async () => {
	const { cwd, store, root } = await repository();
	sh(root, "git init -q other && cd other && git commit -q --allow-empty -m other");
	const target = await store.takeAll();
	sh(cwd, "mv ../other other");
	await rewind(store, target, {}, Date.now());
	expect(sh(join(cwd, "other"), "git log --format=%s")).toBe("other\n");
});

test("a session file that names a place outside takes nothing away from there", async () => {
	const { cwd, store, root } = await repository();
	sh(root, "git init -q other; ln -s ../other work/link");
	const target = await store.takeAll();
	const moved = { "../other": [{ name: ".git" }], link: [{ name: ".git" }] };
	const { history } = await rewind(store, target, { undo: { id: "ab", moved } });
	expect(history?.steps).toEqual([]);
	expect(existsSync(join(cwd, "../other/.git"))).toBe(true);
});

describe("repositories of other kinds", () => {
	const origin = `mkdir ../origin && cd ../origin && (${seven}); git stash clear; git reset -q --hard; cd ../work`;

	test.each([
		["a shallow clone", `${origin}; git clone -q --depth 2 file://$PWD/../origin . && git config remote.origin.url x`, "rm -rf .git"],
		["a shallow clone that lost commits", `${origin}; git clone -q --depth 3 file://$PWD/../origin .`, `git reset -q --hard HEAD~2 && ${gone}`],
		["a clone that borrows objects", `${origin}; git clone -q --shared ../origin .`, `rm -rf .git`],
		[
			"a partial clone",
			`${origin}; git -C ../origin config uploadpack.allowFilter true; git clone -q --no-local --filter=blob:none file://$PWD/../origin .`,
			"rm -rf .git",
		],
		["one with names of SHA-256", `git init -q --object-format=sha256 -b main . && echo 1 > a.txt && git add . && git commit -qm 1`, "rm -rf .git"],
		[
			"one with names of SHA-256 that lost a commit",
			`git init -q --object-format=sha256 -b main . && for n in 1 2; do echo $n > a.txt; git add .; git commit -qm $n; done`,
			`git reset -q --hard HEAD~1 && ${gone}`,
		],
		[
			"a linked worktree",
			`${origin}; git -C ../origin worktree add -q -b tree ../work`,
			`git reset -q --hard HEAD~1 && git branch -D side && ${gone}`,
		],
		["a linked worktree whose .git is gone", `${origin}; git -C ../origin worktree add -q -b tree ../work`, "rm .git"],
		["one without a commit", "git init -q -b main . && echo 1 > a.txt && git add a.txt", "rm -rf .git"],
		[
			"one in the middle of a merge",
			`${seven}; git reset -q --hard; git checkout -q -b two HEAD~1; echo x > a.txt; git commit -qam two; git merge main; true`,
			"rm -rf .git/refs/heads/side .git/packed-refs",
		],
		["one whose HEAD is a commit", `${seven}; git reset -q --hard; git checkout -q HEAD~2`, "rm -rf .git"],
		[
			"one with odd names",
			`git init -q -b 'ü/x"y' . && touch 'a\nb' && printf 1 > "$(printf 'c\nd')" && git add -A && git commit -qm 1 && git branch 'z$(x)'`,
			"rm -rf .git",
		],
	])("%s", async (_, script, destroy) => {
		const { cwd, store } = await repository(script);
		const before = stateOf(cwd);
		const target = await store.takeAll();
		expect(target.history).toEqual({ kept: { "": expect.any(String) } });
		sh(cwd, destroy);
		const { history } = await rewind(store, target);
		expect(history?.problems).toEqual([]);
		expect(stateOf(cwd)).toBe(before);
	});

	test("a submodule comes back with the repository around it", async () => {
		const { cwd, store } = await repository(
			`${origin}; git init -q -b main . && git -c protocol.file.allow=always submodule --quiet add ../origin sub && git commit -qm 1`,
		);
		const state = () => stateOf(cwd) + stateOf(join(cwd, "sub")) + sh(cwd, "git submodule status; cat sub/a.txt");
		const before = state();
		const target = await store.takeAll();
		sh(cwd, "echo 2 > sub/a.txt; rm -rf .git");
		const { history } = await rewind(store, target);
		expect(history?.problems).toEqual([]);
		expect(state()).toBe(before);
	});

	test("an agent in a folder of a repository gets all of it back", async () => {
		const { cwd, options } = await repository(`${seven}; mkdir sub; echo 1 > sub/x`);
		const store = await TreeStore.open({ ...options, cwd: join(cwd, "sub") });
		const before = stateOf(cwd);
		const target = await store.takeAll();
		sh(cwd, "rm -rf .git; echo 2 > a.txt");
		await rewind(await TreeStore.open({ ...options, cwd: join(cwd, "sub") }), target);
		expect(stateOf(cwd)).toBe(before);
	});

	test("thousands of branches come back at once, and cost nothing while they stay", async () => {
		const { cwd, store } = await repository(
			`${seven}; for n in $(seq 3000); do echo "create refs/heads/b/$n $(git rev-parse main~1)"; done > ../many; git update-ref --stdin < ../many`,
		);
		const before = stateOf(cwd);
		const target = await store.takeAll();
		sh(cwd, "sed s/create/delete/ ../many | git update-ref --stdin; git branch -D side; git branch b");
		const { history } = await rewind(store, target);
		expect(history?.restored).toHaveLength(3001);
		expect(stateOf(cwd)).toBe(before);
	});
});

describe("what is in the way", () => {
	test.each([
		["index.lock", "index"],
		["refs/heads/main.lock", "main"],
	])("%s stops it with words, and nothing was changed", async (lock, name) => {
		const { cwd, store } = await repository();
		const target = await store.takeAll();
		sh(cwd, `git reset -q --hard HEAD~4; git branch -D side; touch .git/${lock}`);
		const before = stateOf(cwd);
		await expect(rewind(store, target)).rejects.toThrow(name);
		await expect(rewind(store, target)).rejects.toThrow(/Nothing was rewound/);
		expect(stateOf(cwd)).toBe(before);
		sh(cwd, `rm .git/${lock}`);
		await rewind(store, target);
		expect(sh(cwd, "git log -1 --format=%s")).toBe("7\n");
	});

	test("links among the files of a repository are not followed", async () => {
		const { store, root } = await repository();
		const target = await store.takeAll();
		sh(root, "mkdir precious; echo mine > precious/heads; cd work; git reset -q --hard HEAD~2; rm -rf .git/logs; ln -s ../../precious .git/logs");
		const { history } = await rewind(store, target);
		expect(history?.problems).toEqual([expect.stringMatching(/logs is a link$/)]);
		expect(readdirSync(join(root, "precious"))).toEqual(["heads"]);
	});
});

describe("a rewind that was killed", () => {
	const seen = (cwd: string) => (existsSync(join(cwd, ".git/HEAD")) ? stateOf(cwd) : sh(cwd, "find .git 2>/dev/null | sort"));

	/** Prepares one and leaves it as a kill would, after some of its steps. */
	const killed = async (script: string, { steps, files }: { steps: boolean; files: boolean }) => {
		const all = await repository(`${seven}; git config user.name x`);
		const { cwd, store, options } = all;
		const target = await store.takeAll();
		sh(cwd, script);
		const before = seen(cwd);
		const current = await store.takeAll();
		const history = { target: { history: target.history, time: 0 }, current: current.history, others: [] };
		const restore = await prepareRestore({ store, current: current.state, target: target.state, except: new Set(), history, sessionFile: undefined });
		if (files) await restore.apply();
		else if (steps) for (const each of restore.history?.steps ?? []) await applyCommits((top) => store.commits.git(top), each);
		const owner = join(store.directory, "rewinds", restore.id, "owner.json");
		writeFileSync(owner, JSON.stringify({ pid: 2 ** 22 + 1, startTime: "1" }));
		utimesSync(owner, 1, 1);
		const other = await TreeStore.open(options);
		return { ...all, before, current, other };
	};

	test.each([
		["with a lost branch", `echo x > a.txt; git reset -q --hard HEAD~3; git stash drop -q; git branch -D side; git tag -f light HEAD`],
		["with a lost repository", "echo x > a.txt; rm -rf .git"],
		["with a broken repository", "echo x > a.txt; rm .git/HEAD"],
		["with a new repository", "echo x > a.txt; git init -q new; git -C new commit -q --allow-empty -m new"],
	])("%s is undone by the next process, whenever it was killed", async (_, script) => {
		for (const when of [
			{ steps: false, files: false },
			{ steps: true, files: false },
			{ steps: true, files: true },
		]) {
			const { cwd, store, before, current, other } = await killed(script, when);
			await repairRewinds(other, Date.now());
			expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(script.includes("reset") ? "4\n" : "x\n");
			expect((await other.takeAll()).state).toEqual(current.state);
			expect(seen(cwd)).toBe(before);
			expect(readdirSync(join(store.directory, "rewinds"))).toEqual([]);
		}
	});

	test("in the middle of putting a repository back stays put back when somebody has committed since", async () => {
		const { cwd, other } = await killed("rm -rf .git", { steps: true, files: true });
		sh(cwd, "git commit -qam mine");
		await repairRewinds(other, Date.now());
		expect(sh(cwd, "git log -1 --format=%s")).toBe("mine\n");
	});
});
