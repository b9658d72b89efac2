import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mutationQueue } from "../../src/tools/mutation-queue.ts";
import { testUnless } from "../unless.ts";
import { workbench } from "./workbench.ts";

const bench = workbench();
const content = (path: string) => readFileSync(join(bench.cwd, path), "utf8");

test("creates the file and its directories, and says how many bytes", async () => {
	expect(await bench.text("write", { path: "a/b/c.txt", content: "größe" })).toBe("Wrote 7 bytes to a/b/c.txt");
	expect(content("a/b/c.txt")).toBe("größe");
});

test("replaces a file in one step and leaves nothing else behind", async () => {
	const path = bench.file("only/file.txt", "old");
	const before = statSync(path).ino;
	await bench.run("write", { path: "only/file.txt", content: "" });
	expect([content("only/file.txt"), readdirSync(join(bench.cwd, "only"))]).toEqual(["", ["file.txt"]]);
	expect(statSync(path).ino).not.toBe(before);
});

test("keeps the mode of an existing file", async () => {
	const path = bench.file("script.sh", "#!/bin/sh\n");
	chmodSync(path, 0o751);
	await bench.run("write", { path: "script.sh", content: "#!/bin/bash\n" });
	expect(statSync(path).mode & 0o7777).toBe(0o751);
});

test("follows links to their target, also to one that does not exist yet", async () => {
	bench.file("real/target.txt", "old");
	symlinkSync("real/target.txt", join(bench.cwd, "link.txt"));
	symlinkSync("real/later.txt", join(bench.cwd, "early.txt"));
	await bench.run("write", { path: "link.txt", content: "new" });
	await bench.run("write", { path: "early.txt", content: "now" });
	expect([content("real/target.txt"), content("real/later.txt")]).toEqual(["new", "now"]);
	expect(["link.txt", "early.txt"].map((name) => lstatSync(join(bench.cwd, name)).isSymbolicLink())).toEqual([true, true]);
});

test("writes where a read of the same path reads, also through links whose targets begin with two dots", async () => {
	bench.file("a/b/c/there.txt", "");
	bench.file("wanted.txt", "old");
	// Taken from the name of the link, and not from the folder that it is in, these targets are other files.
	symlinkSync("a/b/c", join(bench.cwd, "way"));
	symlinkSync("../../../wanted.txt", join(bench.cwd, "a/b/c/link.txt"));
	symlinkSync("../../../early.txt", join(bench.cwd, "a/b/c/missing.txt"));
	symlinkSync("way/../new.txt", join(bench.cwd, "dots.txt"));
	for (const path of ["way/link.txt", "way/missing.txt", "dots.txt"]) await bench.run("write", { path, content: path });
	expect(["wanted.txt", "early.txt", "a/b/new.txt"].map(content)).toEqual(["way/link.txt", "way/missing.txt", "dots.txt"]);
	await bench.run("edit", { path: "way/link.txt", oldText: "way", newText: "edited" });
	expect(content("wanted.txt")).toBe("edited/link.txt");
});

test("all names of a file with several keep showing the same", async () => {
	const path = bench.file("one.txt", "old");
	linkSync(path, join(bench.cwd, "two.txt"));
	await bench.run("write", { path: "one.txt", content: "new" });
	expect([content("two.txt"), statSync(path).nlink]).toEqual(["new", 2]);
});

testUnless(process.getuid?.() === 0 && "root may write everywhere")(
	"a directory that takes no new file still lets its files be written, a read-only file does not",
	async () => {
		const path = bench.file("closed/file.txt", "old");
		chmodSync(join(bench.cwd, "closed"), 0o555);
		await bench.run("write", { path: "closed/file.txt", content: "new" });
		chmodSync(join(bench.cwd, "closed"), 0o755);
		expect(content("closed/file.txt")).toBe("new");
		chmodSync(path, 0o444);
		await expect(bench.run("write", { path: "closed/file.txt", content: "no" })).rejects.toThrow("EACCES");
	},
);

test.runIf(process.platform === "linux")("a pipe that nobody reads and a device are refused at once, again and again", async () => {
	execFileSync("mkfifo", [join(bench.cwd, "pipe")]);
	symlinkSync("pipe", join(bench.cwd, "link-to-pipe"));
	// More than the threads that do file operations.
	for (let attempt = 0; attempt < 8; attempt += 1) {
		await expect(bench.run("write", { path: "pipe", content: "x" })).rejects.toThrow("pipe is not a regular file and cannot be written.");
	}
	await expect(bench.run("write", { path: "link-to-pipe", content: "x" })).rejects.toThrow("link-to-pipe is not a regular file");
	await expect(bench.run("write", { path: "/dev/null", content: "x" })).rejects.toThrow("/dev/null is not a regular file");
	await expect(bench.run("edit", { path: "pipe", edits: [{ oldText: "a", newText: "b" }] })).rejects.toThrow("it is not a regular file");
	await expect(bench.run("read", { path: "pipe" })).rejects.toThrow("pipe is not a regular file");
	expect(await bench.text("write", { path: "after.txt", content: "fine" })).toContain("Wrote 4 bytes");
});

test("a directory is not a file", async () => {
	mkdirSync(join(bench.cwd, "folder"));
	await expect(bench.run("write", { path: "folder", content: "x" })).rejects.toThrow("folder is a directory");
});

test.each(["-dash", "with space", 'it\'s "quoted"', "näme\u4e16", "new\nline"])("takes the name %j literally", async (path) => {
	await bench.run("write", { path, content: path });
	expect(content(path)).toBe(path);
});

test("an aborted call writes nothing", async () => {
	await expect(bench.run("write", { path: "never", content: "x" }, { signal: AbortSignal.abort() })).rejects.toThrow("Operation aborted");
	expect(existsSync(join(bench.cwd, "never"))).toBe(false);
});

describe("changes of one file", () => {
	test("happen in the order they were asked for, by whatever name", async () => {
		bench.file("same.txt", "");
		symlinkSync("same.txt", join(bench.cwd, "alias.txt"));
		const queue = mutationQueue();
		const log: string[] = [];
		const change = (name: string, path: string, wait: number) =>
			queue.run(join(bench.cwd, path), async () => {
				log.push(`${name} starts`);
				await new Promise((resolve) => setTimeout(resolve, wait));
				log.push(`${name} ends`);
			});
		await Promise.all([change("first", "same.txt", 20), change("second", "alias.txt", 0), change("third", "./same.txt", 0)]);
		expect(log).toEqual(["first starts", "first ends", "second starts", "second ends", "third starts", "third ends"]);
	});

	test("go on after one that failed, and other files do not wait", async () => {
		const queue = mutationQueue();
		let release: () => void = () => undefined;
		const blocked = queue.run("/tmp/a", () => new Promise<void>((resolve) => (release = resolve)));
		await queue.run("/tmp/b", async () => undefined);
		const failed = queue.run("/tmp/a", async () => Promise.reject(new Error("no")));
		const after = queue.run("/tmp/a", async () => "done");
		release();
		await blocked;
		await expect(failed).rejects.toThrow("no");
		expect(await after).toBe("done");
	});
});

test("a file with a name as long as names can be is written and edited", async () => {
	const name = `${"漢".repeat(84)}.t`;
	await bench.run("write", { path: name, content: "one\n" });
	await bench.run("edit", { path: name, edits: [{ oldText: "one", newText: "two" }] });
	expect(content(name)).toBe("two\n");
});

test("a link to a file that does not exist yet, in a directory that does not exist yet, is followed", async () => {
	symlinkSync("deep/er/file.txt", join(bench.cwd, "nowhere.txt"));
	await bench.run("write", { path: "nowhere.txt", content: "x" });
	expect(content("deep/er/file.txt")).toBe("x");
});
