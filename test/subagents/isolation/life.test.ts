/** The cases that isolation refuses, and that it leaves nothing after an abort, a crash or a failure. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeOwned } from "../../../src/snapshots/owner.ts";
import { collectLeftOvers, repairInterruptedMerges } from "../../../src/subagents/isolation/index.ts";
import { eventually, processesWith } from "../../lib/shell/processes.ts";
import { Bench, tree } from "./support.ts";

const children: ChildProcess[] = [];
const directory = mkdtempSync(join(tmpdir(), "bowline-isolating-"));
const program = join(directory, "isolating.mjs");

beforeAll(async () => {
	await build({ entryPoints: [join(import.meta.dirname, "fixtures/isolating.ts")], outfile: program, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => {
	for (const child of children.splice(0)) child.kill("SIGKILL");
});

test("where there is nothing to isolate, the model is told why and what to do", async () => {
	const bench = new Bench();
	expect(await bench.problem()).toMatch(/A git repository is needed, and .*repo is not in one.*git init/);
	bench.git(["init", "-q"]);
	bench.files({ "a.txt": "a" });
	expect(await bench.problem()).toMatch(/has no commits yet\. Make a first commit/);
	expect(await bench.problem(join(bench.repo, ".git"))).toMatch(/ \.git directory/);
	const bare = join(bench.folder, "bare.git");
	bench.git(["init", "-q", "--bare", bare]);
	expect(await bench.problem(bare)).toMatch(/bare repository/);

	const programs = join(bench.folder, "bin");
	mkdirSync(programs);
	bench.environment = { ...bench.environment, PATH: programs };
	expect(await bench.problem()).toMatch(/Git is needed, and it is not on the PATH/);
	writeFileSync(join(programs, "git"), "#!/bin/sh\necho git version 2.24.9\n");
	chmodSync(join(programs, "git"), 0o755);
	expect(await bench.problem()).toMatch(/Git 2\.25 or newer is needed, and this is git version 2\.24\.9/);
	writeFileSync(
		join(programs, "git"),
		"#!/bin/sh\ncase \"$*\" in *version) echo git version 2.50;; *) echo 'fatal: No space left on device' >&2; exit 128;; esac\n",
	);
	expect(await bench.problem()).toMatch(/disk is full/);
	expect(tree(bench.root)).toEqual({});

	bench.environment = { ...bench.environment, PATH: process.env.PATH };
	bench.commit();
	writeFileSync(join(bench.folder, "user"), "not a directory");
	expect(await bench.problem()).toMatch(/No copy of the repository can be made: .*user/);
});

test("an abort at any moment leaves nothing", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "d/b.txt": "b\n" });
	bench.init({ "in.txt": "in\n" }, join(bench.repo, "inner"));
	// Aborts at the n-th start of a program.
	const aborting = (count: number) => {
		const controller = new AbortController();
		const start = bench.shell.start.bind(bench.shell);
		let left = count;
		bench.shell.start = async (...args) => {
			const program = await start(...args);
			if (--left === 0) controller.abort();
			return program;
		};
		return { controller, restore: () => Object.assign(bench.shell, { start }), isOver: () => left > 0 };
	};
	for (let count = 1; ; count += 3) {
		const { controller, restore, isOver } = aborting(count);
		const freezing = bench.isolation().freeze(controller.signal);
		const frozen = await freezing.catch(() => undefined);
		restore();
		if (isOver()) {
			if (frozen && !("problem" in frozen)) await frozen.release();
			break;
		}
		expect(frozen).toBeUndefined();
		bench.expectClean();
	}
	const frozen = await bench.freeze();
	for (let count = 1; ; count += 2) {
		const { controller, restore, isOver } = aborting(count);
		const workspace = await frozen.checkOut("0-Fix", controller.signal).catch(() => undefined);
		restore();
		if (isOver()) {
			await workspace?.remove();
			break;
		}
		expect(workspace).toBeUndefined();
		expect(readdirSync(join(bench.repo, ".git"))).not.toContain("worktrees");
		expect(readdirSync(join(bench.repo, "inner/.git"))).not.toContain("worktrees");
		expect(Object.keys(tree(bench.root)).filter((name) => /copy-|\.lock$/.test(name))).toEqual([]);
	}
	await frozen.release();
	bench.expectClean();
});

test("work that cannot be captured stays where it is, and is said to", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	const frozen = await bench.freeze();
	const workspace = await frozen.checkOut("0-Fix", bench.signal);
	bench.files({ "a.txt": "b\n" }, workspace.cwd);
	const artifacts = join(bench.folder, "artifacts");
	rmSync(artifacts, { recursive: true });
	writeFileSync(artifacts, "in the way");
	await expect(workspace.capture()).rejects.toThrow(`No patch could be made of ${workspace.cwd}: `);
	await frozen.release();
	expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("b\n");
	rmSync(artifacts);
	expect(await workspace.capture()).toMatchObject({ patchPath: join(artifacts, "0-Fix.patch") });
	// A missing copy does not mean that the subagent deleted everything.
	const other = await frozen.checkOut("1-Gone", bench.signal);
	rmSync(other.cwd, { recursive: true });
	await expect(other.capture()).rejects.toThrow("is gone");
	await frozen.release();
	bench.expectClean();
});

/** Another process; returns its output so far. */
function otherProcess(bench: Bench, what: string, name: string): { child: ChildProcess; output: () => string } {
	const env = { PATH: process.env.PATH, HOME: bench.home };
	const child = spawn(process.execPath, [program, bench.repo, bench.root, what, name], { stdio: ["ignore", "pipe", "inherit"], env });
	children.push(child);
	let output = "";
	child.stdout?.on("data", (chunk) => {
		output += chunk;
	});
	return { child, output: () => output };
}

const ended = (child: ChildProcess) =>
	new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(undefined)));

async function collect(bench: Bench): Promise<string[]> {
	const warnings: string[] = [];
	const { root } = bench;
	await collectLeftOvers({
		root,
		shell: async () => bench.shell,
		environment: () => bench.environment,
		now: Date.now,
		warn: (text) => warnings.push(text),
	});
	return warnings;
}

test("what a killed process left is cleared away, and its work rescued", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	bench.init({ "in.txt": "in\n" }, join(bench.repo, "inner"));
	const { child, output } = otherProcess(bench, "work", "crashing");
	expect(await eventually(() => output().includes("working"), 30_000)).toBe(true);
	expect(await collect(bench)).toEqual([]);
	expect(bench.git(["worktree", "list"]).trim().split("\n")).toHaveLength(3);
	child.kill("SIGKILL");
	await ended(child);
	// As if the process had been killed while it held the lock.
	writeFileSync(join(bench.repo, ".git/bowline.lock"), JSON.stringify({ pid: child.pid }));
	const warnings = await collect(bench);
	expect(warnings).toEqual([expect.stringMatching(/left the work of 1-Busy: it is in .*\.patch\.$/)]);
	const [, patch = ""] = /is in (.*)\.$/.exec(warnings[0] ?? "") ?? [];
	bench.git(["apply", patch]);
	expect(readFileSync(join(bench.repo, "work.txt"), "utf8")).toBe("never captured\n");
	rmSync(join(bench.root, "rescued"), { recursive: true });
	expect(await collect(bench)).toEqual([]);
	bench.expectClean();
	expect(existsSync(join(bench.repo, "inner/.git/worktrees"))).toBe(false);
});

/** A frozen state whose process is gone, with this work in it. */
function abandoned(bench: Bench, name: string, work: object): string {
	const directory = join(bench.root, "project", name);
	makeOwned(directory);
	const owner = JSON.parse(readFileSync(join(directory, "owner.json"), "utf8")) as object;
	writeFileSync(join(directory, "owner.json"), JSON.stringify({ ...owner, pid: 2 ** 22 + 1 }));
	writeFileSync(join(directory, "work-0.json"), JSON.stringify({ id: "0-Fix", patches: [], ...work }));
	return directory;
}

test("a repair that another process holds up ends in time, says so, and is made by the next process", async () => {
	const bench = new Bench();
	const repair = async (withinMs: number) => {
		const warnings: string[] = [];
		const options = { root: bench.root, shell: async () => bench.shell, environment: () => bench.environment, now: Date.now };
		await repairInterruptedMerges({ ...options, warn: (text) => warnings.push(text) }, withinMs);
		return warnings;
	};
	expect(await repair(1000)).toEqual([]);
	const patch = join(bench.folder, "0-Fix.patch");
	writeFileSync(patch, "");
	const directory = abandoned(bench, "session.frozen-abc", { repositories: [bench.repo], patches: [patch] });
	writeFileSync(join(bench.repo, "bowline.lock"), JSON.stringify({ pid: process.pid }));
	expect(await repair(200)).toEqual([
		expect.stringMatching(/could not be undone: it took longer than 0\.2 seconds\. See git status, and .*frozen-abc\.$/),
	]);
	rmSync(join(bench.repo, "bowline.lock"));
	writeFileSync(join(directory, "collect.lock"), JSON.stringify({ pid: process.pid }));
	setTimeout(() => rmSync(join(directory, "collect.lock")), 100);
	expect(await repair(10_000)).toEqual([`A crashed process did not merge the work of 0-Fix: it is in ${patch}.`]);
	expect(await collect(bench)).toEqual([]);
	expect(readdirSync(bench.root)).toEqual([]);
});

test("a directory whose making was cut short is removed when its process is gone, and not before", async () => {
	const bench = new Bench();
	const directory = abandoned(bench, "session.frozen-abc.making", {});
	const other = join(bench.root, "project/session.frozen-def");
	makeOwned(`${other}.making`);
	expect(await collect(bench)).toEqual([]);
	expect([existsSync(directory), existsSync(`${other}.making/owner.json`), existsSync(other)]).toEqual([false, true, false]);
});

test("of a killed process whose repository is gone since, the files are kept", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	const { child, output } = otherProcess(bench, "work", "crashing");
	expect(await eventually(() => output().includes("working"), 30_000)).toBe(true);
	child.kill("SIGKILL");
	await ended(child);
	rmSync(bench.repo, { recursive: true });
	const warnings = await collect(bench);
	expect(warnings).toEqual(
		["0-Idle", "1-Busy"].map((id) =>
			expect.stringMatching(new RegExp(`left the work of ${id}, and its repository is gone: the files are in .*\\.$`)),
		),
	);
	const [, saved = ""] = /are in (.*)\.$/.exec(warnings[1] ?? "") ?? [];
	expect(readdirSync(saved).sort()).toEqual(["a.txt", "work.txt"]);
	expect(await collect(bench)).toEqual([]);
	expect(readdirSync(bench.root)).toEqual(["rescued"]);
});

test("a process may be killed at any moment", async () => {
	const bench = new Bench();
	bench.init(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d${n % 7}/f${n}`, `${n}\n`])));
	for (const [round, delay] of [0, 20, 60, 100, 150].entries()) {
		const { child, output } = otherProcess(bench, "work", `killed${round}`);
		expect(await eventually(() => output() !== "", 30_000)).toBe(true);
		await new Promise((resolve) => setTimeout(resolve, delay));
		child.kill("SIGKILL");
		await ended(child);
	}
	// Git itself may be at work for a moment longer.
	expect(await eventually(() => processesWith("BOWLINE_RUN=").every((line) => !line.includes(bench.folder)), 10_000)).toBe(true);
	for (const warning of await collect(bench)) expect(warning).toContain("1-Busy");
	rmSync(join(bench.root, "rescued"), { recursive: true, force: true });
	bench.expectClean();
	expect(bench.git(["status", "--porcelain"])).toBe("");
	expect(await bench.task((cwd) => bench.files({ new: "n" }, cwd))).toMatchObject({ status: "merged" });
});

test("two processes in one repository wait for each other", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	const processes = [otherProcess(bench, "commit", "One"), otherProcess(bench, "commit", "Two")];
	await Promise.all(processes.map(({ child }) => ended(child)));
	expect(processes.map(({ output }) => output())).toEqual(["started\nmerged merged merged\n", "started\nmerged merged merged\n"]);
	expect(bench.git(["log", "--format=%s"]).trim().split("\n").sort()).toEqual(["OneA", "OneB", "OneC", "TwoA", "TwoB", "TwoC", "first"]);
	expect(bench.git(["status", "--porcelain"])).toBe("");
	bench.expectClean();
});
