/** Copies of a repository for subagents, and the way back, on real repositories. */
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, tree } from "./support.ts";

test("a copy is the live tree: staged, unstaged, untracked; and the work comes back while index and HEAD stay", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "gone\n", "run.sh": "#!/bin/sh\n", "d/keep.txt": "keep\n", ".gitignore": "*.log\n" });
	bench.files({ "a.txt": "staged\n" });
	bench.git(["add", "a.txt"]);
	bench.files({ "a.txt": "staged\nunstaged\n", "new.txt": "new\n", "secret.log": "ignored" });
	rmSync(join(bench.repo, "gone.txt"));
	const before = tree(bench.repo);
	const index = readFileSync(join(bench.repo, ".git/index"));
	const head = bench.git(["rev-parse", "HEAD"]);
	const status = bench.git(["status", "--porcelain"]);
	const merged = await bench.task((cwd) => {
		const { "secret.log": _, ...visible } = before;
		expect(tree(cwd)).toEqual(visible);
		expect(bench.git(["status", "--porcelain"], cwd)).toBe(status);
		bench.files({ "a.txt": "staged\nunstaged\nchild\n", "made/by/child.txt": "x", "child.log": "ignored" }, cwd);
		rmSync(join(cwd, "b.txt"));
		chmodSync(join(cwd, "run.sh"), 0o755);
		renameSync(join(cwd, "new.txt"), join(cwd, "renamed.txt"));
		symlinkSync("a.txt", join(cwd, "link"));
		bench.commit("the child commits", cwd);
	});
	expect(merged).toEqual({ id: "0-Fix", status: "merged", text: expect.stringContaining("0-Fix.patch") });
	const { "b.txt": _, "new.txt": __, "run.sh": script = "", ...rest } = before;
	expect(tree(bench.repo)).toEqual({
		...rest,
		"a.txt": "staged\nunstaged\nchild\n",
		"made/by/child.txt": "x",
		"run.sh*": script,
		"renamed.txt": "new\n",
		link: "-> a.txt",
	});
	expect(readFileSync(join(bench.repo, ".git/index")).equals(index)).toBe(true);
	expect(bench.git(["rev-parse", "HEAD"])).toBe(head);
	bench.expectClean();
});

test("branch mode commits the work, and the user's uncommitted changes stay uncommitted", async () => {
	const bench = new Bench();
	const lines = Array.from({ length: 30 }, (_, n) => `${n}\n`);
	bench.init({ "a.txt": lines.join(""), "b.txt": "b\n", "c.txt": "c\n" });
	bench.files({ "b.txt": "staged\n" });
	bench.git(["add", "b.txt"]);
	bench.files({ "a.txt": `mine\n${lines.join("")}`, "untracked.txt": "u" });
	const merged = await bench.task(
		(cwd) => {
			bench.files({ "a.txt": `mine\n${lines.join("")}child\n`, "new.txt": "n" }, cwd);
			rmSync(join(cwd, "c.txt"));
		},
		{ mode: "branch" },
	);
	expect(merged).toMatchObject({ status: "merged" });
	expect(merged).not.toHaveProperty("branchName");
	expect(bench.git(["log", "--format=%an|%s"])).toBe("User|Work of 0-Fix\nUser|first\n");
	expect(bench.git(["show", "--format=", "--name-status", "HEAD"])).toBe("M\ta.txt\nD\tc.txt\nA\tnew.txt\n");
	expect(bench.git(["status", "--porcelain"])).toBe(" M a.txt\nM  b.txt\n?? untracked.txt\n");
	expect(bench.git(["diff", "--stat"])).toContain("a.txt | 1 +");
	expect(readFileSync(join(bench.repo, "a.txt"), "utf8")).toBe(`mine\n${lines.join("")}child\n`);
	expect(bench.git(["fsck", "--connectivity-only"])).toBe("");
	bench.expectClean();
});
