/** How the work of several tasks, and of the user meanwhile, comes together. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, tree } from "./support.ts";

const lines = (changes: Record<number, string> = {}) => Array.from({ length: 20 }, (_, n) => `${changes[n] ?? n}\n`).join("");

test("each task is merged apart: one that does not fit leaves no trace, the next one is merged", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": lines(), "b.txt": "b\n" });
	bench.files({ "b.txt": "dirty\n" });
	const frozen = await bench.freeze();
	const works = [
		await bench.work(frozen, "0-One", (cwd) => bench.files({ "a.txt": lines({ 2: "one" }) }, cwd)),
		await bench.work(frozen, "1-Two", (cwd) => bench.files({ "a.txt": lines({ 2: "two" }), "two.txt": "2" }, cwd)),
		await bench.work(frozen, "2-Three", (cwd) => bench.files({ "a.txt": lines({ 17: "three" }) }, cwd)),
		await bench.work(frozen, "3-Nothing", () => undefined),
		await bench.work(frozen, "4-Same", (cwd) => bench.files({ "a.txt": lines({ 2: "one" }) }, cwd)),
	];
	const merged = await frozen.merge(works, "patch");
	await frozen.release();
	expect(merged.map(({ status }) => status)).toEqual(["merged", "conflict", "merged", "unchanged", "merged"]);
	expect(merged[1]?.text).toContain("a.txt");
	expect(merged[1]?.text).toContain(join(bench.folder, "artifacts/1-Two.patch"));
	expect(bench.artifact("1-Two.patch")).toContain("+two");
	expect(works[3]?.delta).toEqual({ nested: [], paths: [] });
	expect(tree(bench.repo)).toEqual({ "a.txt": lines({ 2: "one", 17: "three" }), "b.txt": "dirty\n" });
	bench.expectClean();
});

test("what the user did meanwhile stays, and is merged with the work line by line or by name", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": lines(), "moved.txt": lines(), "gone.txt": "gone\n", "run.sh": "echo\n" });
	const merged = await bench.task(
		(cwd) => {
			bench.files({ "a.txt": lines({ 15: "child" }), "run.sh": "echo child\n" }, cwd);
			mkdirSync(join(cwd, "d"));
			renameSync(join(cwd, "moved.txt"), join(cwd, "d/moved.txt"));
		},
		{
			meanwhile: () => {
				bench.files({ "a.txt": lines({ 3: "user" }), "moved.txt": lines({ 9: "user" }), "new.txt": "user" });
				bench.git(["update-index", "--chmod=+x", "run.sh"]);
				rmSync(join(bench.repo, "gone.txt"));
			},
		},
	);
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(bench.repo)).toEqual({
		"a.txt": lines({ 3: "user", 15: "child" }),
		"d/moved.txt": lines({ 9: "user" }),
		"new.txt": "user",
		"run.sh": "echo child\n",
	});
});

test("what does not fit is named, and nothing is touched", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "kept.txt": "kept\n", "data.bin": "\0one", "d/x": "x", ".gitignore": "*.log\n" });
	bench.files({ "own.log": "precious" });
	const outside = join(bench.folder, "outside");
	mkdirSync(outside);
	const merged = await bench.task(
		(cwd) => {
			bench.files(
				{
					".gitignore": "",
					"own.log": "child",
					"a.txt": "child\n",
					"data.bin": "\0two",
					"file/in": "dir",
					"d/new": "through a link?",
					"fine.txt": "fine",
				},
				cwd,
			);
			rmSync(join(cwd, "kept.txt"));
		},
		{
			meanwhile: () => {
				bench.files({ "a.txt": "user\n", "kept.txt": "changed\n", "data.bin": "\0three", file: "user" });
				rmSync(join(bench.repo, "d"), { recursive: true });
				symlinkSync(outside, join(bench.repo, "d"));
			},
		},
	);
	expect(merged.status).toBe("conflict");
	for (const name of ["a.txt", "kept.txt", "data.bin", "file/in", "d/new"]) expect(merged.text).toContain(name);
	expect(tree(bench.repo)).toEqual({
		"a.txt": "user\n",
		"kept.txt": "changed\n",
		"data.bin": "\0three",
		file: "user",
		d: `-> ${outside}`,
		".gitignore": "*.log\n",
		"own.log": "precious",
	});
	expect(tree(outside)).toEqual({});
	bench.expectClean();
});

test("an ignored file of the user is not overwritten", async () => {
	const bench = new Bench();
	bench.init({ ".gitignore": "*.log\n" });
	bench.files({ "own.log": "precious" });
	const merged = await bench.task((cwd) => bench.files({ ".gitignore": "", "own.log": "child" }, cwd));
	expect(merged).toMatchObject({ status: "conflict", text: expect.stringContaining("own.log") });
	expect(tree(bench.repo)).toEqual({ ".gitignore": "*.log\n", "own.log": "precious" });
});

test("a failure on the way is undone", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "b.txt": "b\n", "z/ignored.log": "x", ".gitignore": "*.log\n" });
	rmSync(join(bench.repo, "z"), { recursive: true });
	bench.files({ "z/keep/own.log": "precious" });
	// The directory z is not empty, but git knows nothing of what is in it.
	const merged = await bench.task((cwd) => {
		bench.files({ "a.txt": "child\n", "new/file": "n", z: "a file" }, cwd);
		rmSync(join(cwd, "b.txt"));
	});
	expect(merged.status, merged.text).toBe("failed");
	expect(merged.text).toContain("0-Fix.patch");
	expect(tree(bench.repo)).toEqual({ "a.txt": "a\n", "b.txt": "b\n", "z/keep/own.log": "precious", ".gitignore": "*.log\n" });
	bench.expectClean();
});

test("work is captured again after a repair", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	const merged = await bench.task(async (cwd, workspace) => {
		// Same size, same second: git must not be fooled.
		bench.files({ "a.txt": "b\n" }, cwd);
		expect(await workspace.capture()).toEqual({
			patchPath: join(bench.folder, "artifacts/0-Fix.patch"),
			nested: [],
			paths: [join(bench.repo, "a.txt")],
		});
		expect(bench.artifact("0-Fix.patch")).toContain("+b\n");
		bench.files({ "a.txt": "c\n" }, cwd);
	});
	expect(merged.status).toBe("merged");
	expect(bench.artifact("0-Fix.patch")).toContain("+c\n");
	expect(readFileSync(join(bench.repo, "a.txt"), "utf8")).toBe("c\n");
});

test("branches: commits on top of each other, with what the user has staged and changed in between", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": lines(), "b.txt": lines() });
	bench.files({ "b.txt": lines({ 0: "staged" }) });
	bench.git(["add", "b.txt"]);
	const frozen = await bench.freeze();
	const works = [
		await bench.work(frozen, "0-One", (cwd) => bench.files({ "a.txt": lines({ 2: "one" }) }, cwd)),
		await bench.work(frozen, "1-Two", (cwd) => bench.files({ "a.txt": lines({ 2: "two" }) }, cwd)),
		await bench.work(frozen, "2-Three", (cwd) => bench.files({ "b.txt": lines({ 0: "staged", 17: "three" }) }, cwd)),
	];
	bench.files({ "a.txt": lines({ 19: "user" }) });
	const merged = await frozen.merge(works, "branch");
	await frozen.release();
	expect(merged.map(({ status, branchName }) => [status, branchName])).toEqual([
		["merged", undefined],
		["conflict", "bowline/task/1-Two"],
		["merged", undefined],
	]);
	expect(merged[1]?.text).toContain("bowline/task/1-Two");
	expect(bench.git(["log", "--format=%s"])).toBe("Work of 2-Three\nWork of 0-One\nfirst\n");
	expect(bench.git(["show", "HEAD:b.txt"])).toBe(lines({ 17: "three" }));
	expect(bench.git(["show", ":b.txt"])).toBe(lines({ 0: "staged", 17: "three" }));
	expect(bench.git(["status", "--porcelain"])).toBe(" M a.txt\nM  b.txt\n");
	expect(tree(bench.repo)).toEqual({ "a.txt": lines({ 2: "one", 19: "user" }), "b.txt": lines({ 0: "staged", 17: "three" }) });
	expect(bench.git(["log", "--format=%s", "bowline/task/1-Two"])).toBe("Work of 1-Two\nfirst\n");
	bench.git(["branch", "-D", "bowline/task/1-Two"]);
	bench.expectClean();
});

test("branches: work on what is not committed stays a patch", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	bench.files({ "draft.txt": "draft\n" });
	const merged = await bench.task((cwd) => bench.files({ "draft.txt": "better\n", "a.txt": "b\n" }, cwd), { mode: "branch" });
	expect(merged).toEqual({ id: "0-Fix", status: "conflict", text: expect.stringMatching(/uncommitted changes of draft\.txt.*0-Fix\.patch/s) });
	expect(tree(bench.repo)).toEqual({ "a.txt": "a\n", "draft.txt": "draft\n" });
	bench.expectClean();
});

test("branches: a detached HEAD moves; a merge in progress, a lock or a strange name keeps the branch", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	bench.git(["checkout", "-q", "--detach"]);
	writeFileSync(join(bench.home, ".gitconfig"), "[user]\n\tuseConfigOnly = true\n");
	expect(await bench.task((cwd) => bench.files({ "a.txt": "b\n" }, cwd), { mode: "branch" })).toMatchObject({ status: "merged" });
	expect(bench.git(["log", "--format=%an|%ae|%s", "HEAD", "--not", "main"])).toBe("Bowline|bowline@localhost|Work of 0-Fix\n");
	expect(bench.git(["status", "--porcelain"])).toBe("");

	writeFileSync(join(bench.repo, ".git/MERGE_HEAD"), bench.git(["rev-parse", "main"]));
	const head = bench.git(["rev-parse", "HEAD"]);
	const during = await bench.task((cwd) => bench.files({ "a.txt": "c\n" }, cwd), { mode: "branch" });
	expect(during).toMatchObject({ status: "failed", branchName: "bowline/task/0-Fix", text: expect.stringContaining("a merge is in progress") });
	rmSync(join(bench.repo, ".git/MERGE_HEAD"));

	writeFileSync(join(bench.repo, ".git/index.lock"), "");
	const locked = await bench.task((cwd) => bench.files({ "a.txt": "d\n" }, cwd), { mode: "branch" });
	expect(locked).toMatchObject({ status: "failed", branchName: "bowline/task/0-Fix-2", text: expect.stringContaining("index.lock") });
	expect(existsSync(join(bench.repo, ".git/index.lock"))).toBe(true);
	rmSync(join(bench.repo, ".git/index.lock"));
	expect(tree(bench.repo)).toEqual({ "a.txt": "b\n" });
	expect(bench.git(["rev-parse", "HEAD"])).toBe(head);
	expect(bench.git(["show", "bowline/task/0-Fix:a.txt"])).toBe("c\n");
	bench.git(["branch", "-D", "bowline/task/0-Fix", "bowline/task/0-Fix-2"]);
	bench.expectClean();
});
