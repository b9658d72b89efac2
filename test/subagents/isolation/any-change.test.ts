/** Any work of a subagent on any dirty tree comes back exactly. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Bench, tree } from "./support.ts";

const names = [
	"a",
	"A",
	"b.txt",
	"d/a",
	"d/b",
	"d/e/f",
	"-dash",
	"with space",
	'quo"te\\',
	"new\nline",
	"ünï",
	"bad\xff",
	"*",
	":(top)x",
	"#x",
	"x\t",
	".gitattributes",
];
const contents = ["", "one\n", "one\ntwo\n", "no newline", "crlf\r\nlines\r\n", "mixed\r\nends\n", "\0binary\xff\0", "$Id$\n", "long\n".repeat(3000)];
const targets = ["a", "../outside", "/etc/passwd", "d", "nowhere"];

const name = fc.constantFrom(...names);
const edit = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), name, content: fc.constantFrom(...contents) }) },
	fc.record({ do: fc.constant("remove" as const), name }),
	fc.record({ do: fc.constant("chmod" as const), name }),
	fc.record({ do: fc.constant("rename" as const), name, to: name }),
	fc.record({ do: fc.constant("link" as const), name, target: fc.constantFrom(...targets) }),
	fc.record({ do: fc.constant("commit" as const) }),
	fc.record({ do: fc.constant("stage" as const) }),
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

const attributes = "* text=auto\n*.txt text eol=crlf ident\n";

function apply(bench: Bench, top: string, edits: readonly Edit[]): void {
	const place = (path: string) => Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, "latin1")]);
	for (const each of edits) {
		if (each.do === "commit") bench.commit("more", top);
		else if (each.do === "stage") bench.git(["add", "-A"], top);
		else if (each.do === "remove") rmSync(place(each.name), { recursive: true, force: true });
		else if (each.do === "chmod" && lstatSync(place(each.name), { throwIfNoEntry: false })?.isFile()) chmodSync(place(each.name), 0o755);
		else if (each.do === "write" || each.do === "link") {
			makeRoom(top, each.name);
			if (each.do === "link") symlinkSync(each.target, place(each.name));
			else writeFileSync(place(each.name), each.name === ".gitattributes" ? attributes : Buffer.from(each.content, "latin1"));
		} else if (
			each.do === "rename" &&
			lstatSync(place(each.name), { throwIfNoEntry: false })?.isFile() &&
			!`${each.to}/`.startsWith(`${each.name}/`)
		) {
			const content = readFileSync(place(each.name));
			makeRoom(top, each.to);
			if (lstatSync(place(each.name), { throwIfNoEntry: false })) renameSync(place(each.name), place(each.to));
			else writeFileSync(place(each.to), content);
		}
	}
}

/** Makes room at the path: removes whatever is at it or blocks a directory above it. */
function makeRoom(top: string, path: string): void {
	const place = (each: string) => Buffer.concat([Buffer.from(`${top}/`), Buffer.from(each, "latin1")]);
	for (let above = dirname(path); above !== "."; above = dirname(above)) {
		const stats = lstatSync(place(above), { throwIfNoEntry: false });
		if (stats && !stats.isDirectory()) rmSync(place(above));
	}
	if (dirname(path) !== ".") mkdirSync(place(dirname(path)), { recursive: true });
	rmSync(place(path), { recursive: true, force: true });
}

const runs = Number(process.env.ISOLATION_RUNS ?? 6);

test("the tree has the subagent's work, the index its bytes, HEAD its commit, and no copy is left", { timeout: 120_000 + runs * 2000 }, async () => {
	const some = (maxLength: number) => fc.array(edit, { maxLength });
	const bench = new Bench();
	await fc.assert(
		fc.asyncProperty(some(12), some(8), some(10), async (committed, dirty, done) => {
			rmSync(bench.repo, { recursive: true, force: true });
			bench.init({ "base.txt": "base\n" });
			apply(bench, bench.repo, committed);
			bench.commit();
			apply(bench, bench.repo, dirty);
			const before = tree(bench.repo);
			const index = readFileSync(join(bench.repo, ".git/index"));
			const head = bench.git(["rev-parse", "HEAD"]);
			let wanted = {};
			const frozen = await bench.freeze();
			const work = await bench.work(frozen, "0-Fix", (cwd) => {
				expect(tree(cwd)).toEqual(before);
				apply(bench, cwd, done);
				wanted = tree(cwd);
			});
			expect(tree(bench.repo)).toEqual(before);
			const [merged] = await frozen.merge([work], "patch");
			await frozen.release();
			expect(merged?.status, merged?.text).toBe(JSON.stringify(before) === JSON.stringify(wanted) ? "unchanged" : "merged");
			expect(tree(bench.repo)).toEqual(wanted);
			expect(readFileSync(join(bench.repo, ".git/index")).equals(index)).toBe(true);
			expect(bench.git(["rev-parse", "HEAD"])).toBe(head);
			bench.expectClean();
		}),
		{ numRuns: runs },
	);
});

test("whatever the user does meanwhile and however it is merged, nothing of either side is lost", { timeout: 120_000 + runs * 3000 }, async () => {
	const some = (maxLength: number) => fc.array(edit, { maxLength });
	const bench = new Bench();
	await fc.assert(
		fc.asyncProperty(
			some(12),
			some(6),
			some(6),
			some(4),
			fc.constantFrom("patch" as const, "branch" as const),
			async (committed, dirty, done, meanwhile, mode) => {
				rmSync(bench.repo, { recursive: true, force: true });
				bench.init({ "base.txt": "base\n" });
				apply(bench, bench.repo, committed);
				bench.commit();
				apply(bench, bench.repo, dirty);
				const base = tree(bench.repo);
				let theirs: Record<string, string> = {};
				const frozen = await bench.freeze();
				const work = await bench.work(frozen, "0-Fix", (cwd) => {
					apply(bench, cwd, done);
					theirs = tree(cwd);
				});
				apply(bench, bench.repo, meanwhile);
				const ours = tree(bench.repo);
				const state = () => [bench.git(["rev-parse", "HEAD"]), readFileSync(join(bench.repo, ".git/index"), "latin1")];
				const before = state();
				const staged = bench.git(["diff", "--cached", "--name-only", "--no-renames", "-z"]);
				const [merged] = await frozen.merge([work], mode);
				await frozen.release();
				const after = tree(bench.repo);
				if (merged?.status === "merged" || merged?.status === "unchanged") {
					for (const path of new Set([...Object.keys(base), ...Object.keys(ours), ...Object.keys(theirs), ...Object.keys(after)])) {
						if (isUntouched(path, base, ours)) expect([path, after[path]]).toEqual([path, theirs[path]]);
						if (isUntouched(path, base, theirs)) expect([path, after[path]]).toEqual([path, ours[path]]);
					}
				} else {
					expect(after).toEqual(ours);
					expect(state()).toEqual(before);
				}
				if (mode === "patch") expect(state()).toEqual(before);
				else if (merged?.status === "merged") expect(bench.git(["diff", "--cached", "--name-only", "--no-renames", "-z"])).toBe(staged);
				expect(bench.git(["fsck", "--connectivity-only", "--no-dangling"])).toBe("");
				if (merged?.branchName) bench.git(["branch", "-D", merged.branchName]);
				bench.expectClean();
			},
		),
		{ numRuns: runs },
	);
});

/** Neither the file nor whether it can be run. */
function isUntouched(path: string, base: Record<string, string>, side: Record<string, string>): boolean {
	const name = path.replace(/\*$/, "");
	return base[name] === side[name] && base[`${name}*`] === side[`${name}*`];
}
