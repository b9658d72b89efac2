/** Isolation of repositories that are not plain: inside each other, partly there, converted on the way, with programs attached. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, tree } from "./support.ts";

test("repositories inside the repository have patches of their own", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", ".gitignore": "/ignored/\n/.cache/\nnode_modules/\n" });
	const at = (path: string) => join(bench.repo, path);
	bench.init({ "in.txt": "in\n" }, at("nested/inner"));
	bench.init({ "deep.txt": "deep\n" }, at("nested/inner/deeper"));
	bench.init({ "ign.txt": "ign\n" }, at("ignored/other"));
	bench.init({ x: "x" }, at(".cache/tool"));
	bench.init({ x: "x" }, at("node_modules/dependency"));
	bench.git(["init", "-q", at("unborn")]);
	bench.files({ "nested/inner/in.txt": "dirty\n", "unborn/u.txt": "u\n" });
	const heads = () => ["nested/inner", "nested/inner/deeper", "ignored/other"].map((path) => bench.git(["rev-parse", "HEAD"], at(path)));
	const before = heads();
	const frozen = await bench.freeze();
	const work = await bench.work(frozen, "0-Fix", (cwd) => {
		expect(tree(cwd)).toEqual({
			"a.txt": "a\n",
			".gitignore": "/ignored/\n/.cache/\nnode_modules/\n",
			"nested/inner/in.txt": "dirty\n",
			"nested/inner/deeper/deep.txt": "deep\n",
			"ignored/other/ign.txt": "ign\n",
			"unborn/u.txt": "u\n",
		});
		expect(bench.git(["status", "--porcelain"], join(cwd, "nested/inner"))).toBe(" M in.txt\n?? deeper/\n");
		bench.files({ "nested/inner/in.txt": "child\n", "nested/inner/deeper/new.txt": "n", "unborn/u.txt": "child\n" }, cwd);
		bench.commit("in the copy only", join(cwd, "nested/inner/deeper"));
		// Its files are still its own.
		rmSync(join(cwd, "ignored/other/.git"));
		bench.files({ "ignored/other/ign.txt": "child\n" }, cwd);
		bench.init({ "made.txt": "made\n", "sub/made.txt": "too\n" }, join(cwd, "made-here"));
	});
	expect(work.delta).toEqual({
		patchPath: expect.stringMatching(/0-Fix\.patch$/),
		paths: expect.arrayContaining(["nested/inner/in.txt", "nested/inner/deeper/new.txt", "unborn/u.txt"].map(at)),
		nested: [
			{ repository: "unborn", patchPath: expect.stringMatching(/0-Fix\.nested-unborn\.patch$/) },
			{ repository: "nested/inner", patchPath: expect.stringMatching(/0-Fix\.nested-nested-inner\.patch$/) },
			{ repository: "nested/inner/deeper", patchPath: expect.stringMatching(/0-Fix\.nested-nested-inner-deeper\.patch$/) },
			{ repository: "ignored/other", patchPath: expect.stringMatching(/0-Fix\.nested-ignored-other\.patch$/) },
		].sort(
			(one, other) =>
				work.delta.nested.findIndex((each) => each.repository === one.repository) -
				work.delta.nested.findIndex((each) => each.repository === other.repository),
		),
	});
	const [merged] = await frozen.merge([work], "patch");
	await frozen.release();
	expect(merged?.status, merged?.text).toBe("merged");
	expect(tree(bench.repo)).toMatchObject({
		"nested/inner/in.txt": "child\n",
		"nested/inner/deeper/new.txt": "n",
		"unborn/u.txt": "child\n",
		"ignored/other/ign.txt": "child\n",
		"made-here/made.txt": "made\n",
		"made-here/sub/made.txt": "too\n",
	});
	expect(heads()).toEqual(before);
	expect(bench.git(["bundle", "list-heads", join(bench.folder, "artifacts/0-Fix.nested-made-here.bundle")])).toContain("refs/heads/main");
	for (const path of ["nested/inner", "nested/inner/deeper", "ignored/other"])
		expect(bench.git(["worktree", "list"], at(path)).trim().split("\n")).toHaveLength(1);
	bench.expectClean();
});

test("a task's work in several repositories is merged as a whole or not at all; as commits when asked to", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	const inner = join(bench.repo, "inner");
	bench.init({ "in.txt": "in\n" }, inner);
	const edit = (cwd: string) => bench.files({ "a.txt": "child\n", "inner/in.txt": "child\n" }, cwd);
	const conflict = await bench.task(edit, { meanwhile: () => bench.files({ "inner/in.txt": "user\n" }) });
	expect(conflict).toMatchObject({ status: "conflict", text: expect.stringContaining("inner/in.txt") });
	expect(tree(bench.repo)).toEqual({ "a.txt": "a\n", "inner/in.txt": "user\n" });
	bench.files({ "inner/in.txt": "in\n" });
	expect(await bench.task(edit, { mode: "branch" })).toMatchObject({ status: "merged" });
	expect(bench.git(["log", "-1", "--format=%s"])).toBe("Work of 0-Fix\n");
	expect(bench.git(["log", "-1", "--format=%s"], inner)).toBe("Work of 0-Fix\n");
	expect(bench.git(["status", "--porcelain"], inner)).toBe("");
	bench.expectClean();
});

test("what is in a submodule counts, not where it points", async () => {
	const bench = new Bench();
	const library = join(bench.folder, "library");
	bench.init({ "lib.txt": "lib\n" }, library);
	bench.init({ "a.txt": "a\n" });
	bench.git(["submodule", "--quiet", "add", library, "sub"]);
	bench.git(["submodule", "--quiet", "add", library, "empty"]);
	bench.commit("submodules");
	bench.git(["submodule", "--quiet", "deinit", "-f", "empty"]);
	const sub = join(bench.repo, "sub");
	const pointer = bench.git(["rev-parse", "HEAD"], sub);
	const merged = await bench.task((cwd) => {
		expect(bench.git(["status", "--porcelain"], cwd)).toBe("");
		bench.files({ "sub/lib.txt": "child\n" }, cwd);
		bench.commit("in the submodule", join(cwd, "sub"));
		bench.files({ "sub/new.txt": "n" }, cwd);
	});
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(sub)).toEqual({ "lib.txt": "child\n", "new.txt": "n" });
	expect(bench.git(["rev-parse", "HEAD"], sub)).toBe(pointer);
	expect(bench.git(["diff", "--cached", "--name-only"])).toBe("");
	expect(bench.artifact("0-Fix.nested-sub.patch")).toContain("+child");
	expect(existsSync(join(bench.repo, ".git/modules/sub/worktrees"))).toBe(false);
	bench.expectClean();
});

test("line ends and filters: the copy has the bytes of the tree, no filter runs, and a commit has what git would store", async () => {
	const bench = new Bench();
	const log = join(bench.folder, "filter.log");
	bench.git(["init", "-q"]);
	bench.git(["config", "filter.shout.clean", `echo clean >> ${log}; tr A-Z a-z`]);
	bench.git(["config", "filter.shout.smudge", `echo smudge >> ${log}; tr a-z A-Z`]);
	bench.init({
		".gitattributes": "*.dos text eol=crlf\n*.loud filter=shout\n*.id ident\n",
		"x.dos": "one\r\ntwo\r\n",
		"x.loud": "HELLO\n",
		"x.id": "$Id$\n",
	});
	rmSync(join(bench.repo, "x.id"));
	bench.git(["checkout", "-q", "--", "x.id"]);
	const before = tree(bench.repo);
	expect(before["x.id"]).toMatch(/\$Id: \w+ \$/);
	writeFileSync(log, "");
	const edit = (cwd: string) => {
		expect(tree(cwd)).toEqual(before);
		bench.files({ "x.dos": "one\r\nmore\r\ntwo\r\n", "x.loud": "HELLO AGAIN\n" }, cwd);
	};
	expect(await bench.task(edit)).toMatchObject({ status: "merged" });
	expect(readFileSync(log, "utf8")).toBe("");
	expect(tree(bench.repo)).toEqual({ ...before, "x.dos": "one\r\nmore\r\ntwo\r\n", "x.loud": "HELLO AGAIN\n" });
	bench.files({ "x.dos": "one\r\ntwo\r\n", "x.loud": "HELLO\n" });
	expect(await bench.task(edit, { mode: "branch" })).toMatchObject({ status: "merged" });
	expect(bench.git(["cat-file", "blob", "HEAD:x.dos"])).toBe("one\nmore\ntwo\n");
	expect(bench.git(["cat-file", "blob", "HEAD:x.loud"])).toBe("hello again\n");
	expect(bench.git(["status", "--porcelain"])).toBe("");
	bench.expectClean();
});

test("nothing of the repository's configuration is run or changes what we read", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "ü.txt": "u\n", ".gitattributes": "*.txt diff=shout merge=shout\n" });
	const log = join(bench.folder, "ran");
	const script = join(bench.folder, "script");
	writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${log}\n`);
	chmodSync(script, 0o755);
	for (const name of ["post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg"]) {
		writeFileSync(join(bench.repo, ".git/hooks", name), `#!/bin/sh\necho ${name} >> ${log}\n`);
		chmodSync(join(bench.repo, ".git/hooks", name), 0o755);
	}
	const settings = {
		"core.fsmonitor": script,
		"core.pager": script,
		"diff.external": script,
		"diff.shout.textconv": script,
		"diff.shout.command": script,
		"merge.shout.driver": script,
		"diff.noprefix": "true",
		"diff.mnemonicPrefix": "true",
		"diff.algorithm": "patience",
		"diff.ignoreSubmodules": "all",
		"color.ui": "always",
		"core.quotePath": "true",
		"core.whitespace": "trailing-space",
		"apply.whitespace": "fix",
		"commit.gpgSign": "true",
		"gpg.program": script,
		"status.showUntrackedFiles": "no",
		"core.autocrlf": "input",
		"core.safecrlf": "true",
		"core.splitIndex": "true",
		"core.untrackedCache": "true",
		"index.sparse": "true",
	};
	for (const [name, value] of Object.entries(settings)) bench.git(["config", name, value]);
	bench.git(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "update-index", "--split-index", "--untracked-cache"]);
	expect(readdirSync(join(bench.repo, ".git")).some((name) => name.startsWith("sharedindex"))).toBe(true);
	rmSync(log, { force: true });
	for (const mode of ["patch", "branch"] as const) {
		const index = readFileSync(join(bench.repo, ".git/index"));
		const merged = await bench.task((cwd) => bench.files({ "a.txt": `${mode} \r\n`, "ü.txt": `${mode}\n`, [`${mode}.txt`]: "new\r\n" }, cwd), {
			mode,
		});
		expect(merged.status, merged.text).toBe("merged");
		if (mode === "patch") expect(readFileSync(join(bench.repo, ".git/index")).equals(index)).toBe(true);
		expect(tree(bench.repo)).toMatchObject({ "a.txt": `${mode} \r\n`, [`${mode}.txt`]: "new\r\n" });
		expect(bench.artifact("0-Fix.patch")).toContain("+++ b/a.txt");
		if (mode === "patch")
			bench.git([
				"-c",
				"core.fsmonitor=false",
				"-c",
				"core.hooksPath=/dev/null",
				"-c",
				"commit.gpgSign=false",
				"-c",
				"core.safecrlf=false",
				"commit",
				"-qam",
				"next",
			]);
		if (mode === "patch") rmSync(log, { force: true });
	}
	expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
	bench.expectClean();
});

test("a sparse tree stays sparse, and a file that is made outside of it comes back", async () => {
	const bench = new Bench();
	bench.init({ "in/a.txt": "a\n", "out/b.txt": "b\n", "out/c.txt": "c\n", "top.txt": "top\n" });
	bench.git(["sparse-checkout", "set", "in"]);
	const index = readFileSync(join(bench.repo, ".git/index"));
	const merged = await bench.task((cwd) => {
		expect(tree(cwd)).toEqual({ "in/a.txt": "a\n", "top.txt": "top\n" });
		expect(bench.git(["status", "--porcelain"], cwd)).toBe("");
		bench.files({ "in/a.txt": "child\n", "out/b.txt": "child\n", "out/new.txt": "n" }, cwd);
	});
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(bench.repo)).toEqual({ "in/a.txt": "child\n", "top.txt": "top\n", "out/b.txt": "child\n", "out/new.txt": "n" });
	expect(bench.artifact("0-Fix.patch")).not.toContain("c.txt");
	expect(readFileSync(join(bench.repo, ".git/index")).equals(index)).toBe(true);
	bench.expectClean();
});

test("a shallow clone, and a worktree of it, in a directory below, by a link", async () => {
	const bench = new Bench();
	const origin = join(bench.folder, "origin");
	bench.init({ "pack/a.txt": "1\n", "b.txt": "b\n" }, origin);
	for (const text of ["2\n", "3\n"]) {
		bench.files({ "pack/a.txt": text }, origin);
		bench.commit("next", origin);
	}
	rmSync(bench.repo, { recursive: true });
	bench.git(["clone", "-q", "--depth", "1", `file://${origin}`, bench.repo], bench.folder);
	const linked = join(bench.folder, "linked");
	bench.git(["worktree", "add", "-q", "-b", "feature", linked]);
	mkdirSync(join(linked, "pack/empty"), { recursive: true });
	symlinkSync(join(linked, "pack/empty"), join(bench.folder, "link"));
	const merged = await bench.task(
		(cwd) => {
			expect(cwd.endsWith("/pack/empty")).toBe(true);
			bench.files({ "../a.txt": "child\n", "new.txt": "n" }, cwd);
		},
		{ mode: "branch", cwd: join(bench.folder, "link") },
	);
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(linked)).toEqual({ "pack/a.txt": "child\n", "pack/empty/new.txt": "n", "b.txt": "b\n" });
	expect(bench.git(["log", "--format=%s", "feature"])).toBe("Work of 0-Fix\nnext\n");
	expect(bench.git(["log", "--format=%s", "main"])).toBe("next\n");
	expect(tree(bench.repo)).toEqual({ "pack/a.txt": "3\n", "b.txt": "b\n" });
	expect(bench.git(["fsck", "--connectivity-only"])).toBe("");
	bench.git(["worktree", "remove", linked]);
	bench.expectClean();
});

test("an index in an unusual state: unmerged, assumed unchanged, to be added, or with other object names", async () => {
	const bench = new Bench();
	bench.git(["init", "-q", "--object-format=sha256"]);
	bench.init({ "a.txt": "a\n", "assumed.txt": "a\n", "c.txt": "base\n" });
	bench.git(["checkout", "-q", "-b", "other"]);
	bench.files({ "c.txt": "other\n" });
	bench.commit();
	bench.git(["checkout", "-q", "main"]);
	bench.files({ "c.txt": "main\n" });
	bench.commit();
	expect(() => bench.git(["merge", "-q", "other"])).toThrow();
	bench.git(["update-index", "--assume-unchanged", "assumed.txt"]);
	bench.files({ "assumed.txt": "b\n", "intent.txt": "i\n" });
	bench.git(["add", "-N", "intent.txt"]);
	const before = tree(bench.repo);
	const index = readFileSync(join(bench.repo, ".git/index"));
	const merged = await bench.task((cwd) => {
		expect(tree(cwd)).toEqual(before);
		bench.files({ "assumed.txt": "child\n", "c.txt": "resolved\n" }, cwd);
		rmSync(join(cwd, "intent.txt"));
	});
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(bench.repo)).toEqual({ "a.txt": "a\n", "assumed.txt": "child\n", "c.txt": "resolved\n" });
	expect(readFileSync(join(bench.repo, ".git/index")).equals(index)).toBe(true);
	bench.expectClean();
});

test("our own directory may be inside the repository", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	Object.assign(bench, { root: join(bench.repo, "user/worktrees") });
	const merged = await bench.task((cwd) => {
		expect(tree(cwd)).toEqual({ "a.txt": "a\n" });
		bench.files({ "b.txt": "b" }, cwd);
	});
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(bench.repo)).toEqual({ "a.txt": "a\n", "b.txt": "b" });
	bench.expectClean();
});

test("names that would share a patch file do not", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	for (const path of ["in/one", "in-one"]) bench.init({ "x.txt": "x\n" }, join(bench.repo, path));
	const frozen = await bench.freeze();
	const { delta } = await bench.work(frozen, "0-Fix", (cwd) => bench.files({ "in/one/x.txt": "slash\n", "in-one/x.txt": "dash\n" }, cwd));
	await frozen.release();
	expect(new Set(delta.nested.map(({ patchPath }) => patchPath)).size).toBe(2);
	for (const { repository, patchPath } of delta.nested)
		expect(readFileSync(patchPath, "utf8")).toContain(repository === "in-one" ? "+dash" : "+slash");
	bench.expectClean();
});

test.runIf(existsSync("/dev/shm"))("a working tree may be on another disk than its git directory", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n", "gone.txt": "gone\n", "run.sh": "run\n" });
	const elsewhere = mkdtempSync("/dev/shm/bowline-isolation-");
	try {
		const linked = join(elsewhere, "linked");
		bench.git(["worktree", "add", "-q", "--detach", linked]);
		chmodSync(join(linked, "a.txt"), 0o600);
		const merged = await bench.task(
			(cwd) => {
				bench.files({ "a.txt": "child\n", "new/b.txt": "b" }, cwd);
				symlinkSync("a.txt", join(cwd, "new/link"));
				rmSync(join(cwd, "gone.txt"));
				chmodSync(join(cwd, "run.sh"), 0o755);
			},
			{ cwd: linked },
		);
		expect(merged.status, merged.text).toBe("merged");
		expect(tree(linked)).toEqual({ "a.txt": "child\n", "new/b.txt": "b", "new/link": "-> a.txt", "run.sh*": "run\n" });
		expect(statSync(join(linked, "a.txt")).mode & 0o777).toBe(0o600);
	} finally {
		rmSync(elsewhere, { recursive: true });
	}
});
