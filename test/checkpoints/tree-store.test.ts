/** States of a working tree: taken, kept, collected, put back, and repaired after a kill. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { changesBetween, collect, prepareRestore, repairRewinds, TreeStore } from "../../src/checkpoints/index.ts";
import type { Limits } from "../../src/checkpoints/tree-store.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function place(files: Record<string, string>, limits?: Limits) {
	const root = mkdtempSync(join(tmpdir(), "bowline-tree-"));
	cleanups.push(() => rmSync(root, { recursive: true, force: true }));
	const cwd = join(root, "work");
	for (const [name, content] of Object.entries(files)) put(cwd, name, content);
	const environment = () => process.env as Record<string, string | undefined>;
	const shell = new Shell({ cwd: "/", environment, redact: redactor(() => []) });
	cleanups.push(() => shell.close());
	const options = { cwd, root: join(root, "checkpoints"), own: () => [], shell: async () => shell, environment };
	return { cwd, options, shell, store: await TreeStore.open({ ...options, ...(limits ? { limits } : {}) }) };
}

function put(cwd: string, name: string, content: string): void {
	mkdirSync(join(cwd, name, ".."), { recursive: true });
	writeFileSync(join(cwd, name), content);
}

test("the same files are the same state, also for another process, and ignored ones do not count", async () => {
	const { cwd, options, store } = await place({ "a/b.txt": "1", ".gitignore": "*.log\n", "x.log": "1" });
	const first = await store.take();
	put(cwd, "x.log", "2");
	expect(await store.take()).toEqual(first);
	expect(await (await TreeStore.open(options)).take()).toEqual(first);
	put(cwd, "a/b.txt", "2");
	expect(await store.take()).not.toEqual(first);
});

test("directories, files and links may take each other's place", async () => {
	const { cwd, store } = await place({ "d/x": "1", f: "1" });
	const first = await store.take();
	rmSync(join(cwd, "d"), { recursive: true });
	renameSync(join(cwd, "f"), join(cwd, "d"));
	mkdirSync(join(cwd, "f"));
	symlinkSync("/etc", join(cwd, "f/etc"));
	const second = await store.take();
	expect((await changesBetween(store, first, second)).files).toEqual([
		{ path: "d", status: "added", added: 1, removed: 0 },
		{ path: "d/x", status: "deleted", added: 0, removed: 1 },
		{ path: "f", status: "deleted", added: 0, removed: 1 },
		{ path: "f/etc", status: "added", added: 1, removed: 0 },
	]);
	rmSync(join(cwd, "f"), { recursive: true });
	symlinkSync(tmpdir(), join(cwd, "f"));
	expect(await store.take()).not.toEqual(second);
	const restore = await prepareRestore({ store, current: await store.take(), target: first, except: new Set(), sessionFile: undefined });
	await restore.apply();
	await restore.finish();
	expect(await store.take()).toEqual(first);
});

test("nothing is written, removed or undone behind a link that takes a folder's place in the middle of a rewind", async () => {
	const { cwd, options, store } = await place({ "d/changed": "1", "e/kept": "1" });
	const outside = join(cwd, "../elsewhere");
	mkdirSync(outside);
	const first = await store.take();
	put(cwd, "d/changed", "2");
	put(cwd, "d/made", "2");
	const restore = await prepareRestore({ store, current: await store.take(), target: first, except: new Set(), sessionFile: undefined });
	renameSync(join(cwd, "d"), join(cwd, "away"));
	symlinkSync(outside, join(cwd, "d"));
	put(outside, "made", "precious");
	await expect(restore.apply()).rejects.toThrow(
		/^d became a link meanwhile, so d\/(made|changed) was not changed\. Remove the link and try again\.$/,
	);
	await repairRewinds(await TreeStore.open(options), Date.now());
	expect(readdirSync(outside)).toEqual(["made"]);
	expect(readFileSync(join(outside, "made"), "utf8")).toBe("precious");
	expect(readFileSync(join(cwd, "away/changed"), "utf8")).toBe("2");
});

test("a large file is left out, also one that has grown", async () => {
	const { cwd, store } = await place({ "a.txt": "1", big: "x".repeat(200) }, { files: 10, bytes: 1000, fileBytes: 100, commitBytes: 1000 });
	const first = await store.take();
	expect([...store.leftOut]).toEqual(["big"]);
	put(cwd, "a.txt", "x".repeat(300));
	const second = await store.take();
	expect([...store.leftOut].sort()).toEqual(["a.txt", "big"]);
	// What is left out is neither removed nor put back.
	expect((await changesBetween(store, first, second)).files).toEqual([{ path: "a.txt", status: "deleted", added: 0, removed: 1 }]);
	put(cwd, "big", "small now");
	await store.take();
	expect([...store.leftOut]).toEqual(["a.txt"]);
});

test.each([
	[{ files: 2, bytes: 1000, fileBytes: 100, commitBytes: 1000 }, "there are more than 2 files in"],
	[{ files: 10, bytes: 2, fileBytes: 100, commitBytes: 1000 }, "have more than 2 bytes"],
])("too much is refused with the reason: %j", async (limits, text) => {
	const { store } = await place({ a: "1", b: "1", c: "1" }, limits);
	await expect(store.take()).rejects.toThrow(text);
});

test("files that are too many later are left out, and those of earlier states are not", async () => {
	const { cwd, store } = await place({ a: "1", b: "2" }, { files: 3, bytes: 1000, fileBytes: 100, commitBytes: 1000 });
	const first = await store.takeAll();
	rmSync(join(cwd, "a"));
	for (const name of ["c", "d", "e"]) put(cwd, name, "new");
	await expect(store.takeAll(undefined, false, false)).rejects.toThrow("there are more than 3 files in");
	const second = await store.takeAll();
	expect([...store.leftOut].sort()).toEqual(["c", "d", "e"]);
	expect((await changesBetween(store, first.state, second.state)).files).toEqual([{ path: "a", status: "deleted", added: 0, removed: 1 }]);
	for (const name of ["c", "d", "e"]) rmSync(join(cwd, name));
	await store.takeAll();
	expect([...store.leftOut]).toEqual([]);
});

test("names that are not UTF-8, or full of odd characters, survive", async () => {
	const { cwd, store } = await place({ "a\nb": "1", " : *?[x]": "2", "ü/é.txt": "3" });
	const odd = Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0xff, 0xfe])]);
	writeFileSync(odd, "4");
	const first = await store.take();
	for (const name of readdirSync(Buffer.from(cwd), { encoding: "buffer" }))
		rmSync(Buffer.concat([Buffer.from(`${cwd}/`), name]), { recursive: true });
	const restore = await prepareRestore({ store, current: await store.take(), target: first, except: new Set(), sessionFile: undefined });
	await restore.apply();
	await restore.finish();
	expect(readFileSync(odd, "utf8")).toBe("4");
	expect(await store.take()).toEqual(first);
});

test("a rewind that was killed half way is undone by the next process, unless the session says that it was completed", async () => {
	const { cwd, options, store } = await place({ a: "old", b: "old" });
	const target = await store.take();
	put(cwd, "a", "new");
	put(cwd, "b", "new");
	const current = await store.take();
	const rewinds = join(store.directory, "rewinds");
	const killed = async (sessionFile: string | undefined) => {
		const restore = await prepareRestore({ store, current, target, except: new Set(), sessionFile });
		await restore.apply();
		// Its process is gone.
		writeFileSync(join(rewinds, restore.id, "owner.json"), JSON.stringify({ pid: 2 ** 22 + 1, startTime: "1" }));
		utimesSync(join(rewinds, restore.id, "owner.json"), 1, 1);
		return restore.id;
	};
	await killed(undefined);
	expect(readFileSync(join(cwd, "a"), "utf8")).toBe("old");
	await repairRewinds(await TreeStore.open(options), Date.now());
	expect([readFileSync(join(cwd, "a"), "utf8"), readFileSync(join(cwd, "b"), "utf8")]).toEqual(["new", "new"]);
	expect(readdirSync(rewinds)).toEqual([]);

	const sessionFile = join(cwd, "../s.jsonl");
	const id = await killed(sessionFile);
	writeFileSync(sessionFile, `{"type":"custom","data":{"rewind":"${id}"}}\n`);
	await repairRewinds(store, Date.now());
	expect(readFileSync(join(cwd, "a"), "utf8")).toBe("old");
	expect(readdirSync(rewinds)).toEqual([]);
});

test("a file that changes while a rewind is prepared stops all of it", async () => {
	const { cwd, store } = await place({ a: "old", b: "old" });
	const target = await store.take();
	put(cwd, "a", "new");
	put(cwd, "b", "new");
	const current = await store.take();
	put(cwd, "b", "newer");
	await expect(prepareRestore({ store, current, target, except: new Set(), sessionFile: undefined })).rejects.toThrow(
		"Files change at this moment: b",
	);
	expect(readFileSync(join(cwd, "a"), "utf8")).toBe("new");
	expect(readdirSync(join(store.directory, "rewinds"))).toEqual([]);
});

test("old states are collected, young ones stay, and an index that names collected objects is made again", async () => {
	const { cwd, shell, store } = await place({ a: "1" });
	const old = await store.take();
	store.keep("old", old);
	put(cwd, "a", "2");
	const young = await store.take();
	store.keep("young", young);
	const longAgo = Date.now() / 1000 - 20 * 24 * 60 * 60;
	utimesSync(join(store.shadow.directory, "refs/checkpoints/old"), longAgo, longAgo);
	for (const name of readdirSync(store.shadow.objects, { recursive: true, encoding: "utf8" }))
		utimesSync(join(store.shadow.objects, name), longAgo, longAgo);
	await collect(store, 14, async () => shell, Date.now());
	expect([await store.has(old), await store.has(young)]).toEqual([false, true]);
	put(cwd, "a", "1");
	expect(await store.take()).toEqual(old);
	expect(await store.has(old)).toBe(true);
});

test("a store that no one has used for long is removed", async () => {
	const { options, shell, store } = await place({ a: "1" });
	const forgotten = join(options.root, "forgotten-0");
	put(forgotten, "collected", "");
	const longAgo = Date.now() / 1000 - 30 * 24 * 60 * 60;
	utimesSync(join(forgotten, "collected"), longAgo, longAgo);
	await collect(store, 14, async () => shell, Date.now());
	expect(existsSync(forgotten)).toBe(false);
	expect(existsSync(store.directory)).toBe(true);
});
