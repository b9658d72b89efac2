/** Names of files: links lead to one session with one lock, and paths that are not files are left alone. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTranscript } from "../../src/transcript/open.ts";
import { makeDirectory, realPlace } from "../../src/transcript/place.ts";
import { summaryOf } from "../../src/transcript/summary.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { program } from "../wire/support/agent.ts";
import { chain, fileOf, folder, header, linesOf, partsOf, said, time, transcriptsIn, user } from "./support.ts";

const text = fileOf(header, ...chain(said(user("1"))));
const open = (path: string, mode: "write" | "memory" | "read" = "write") => openTranscript(path, { ...partsOf("/"), mode }) as Transcript;

function session(): { place: string; path: string; link: string } {
	const place = realpathSync(folder());
	const path = join(place, "s.jsonl");
	const link = join(place, "link.jsonl");
	writeFileSync(path, text);
	symlinkSync("s.jsonl", link);
	return { place, path, link };
}

test("a link to a session that another process writes is refused like the session itself", () => {
	const { path, link } = session();
	const other = spawn("sleep", ["60"]);
	try {
		writeFileSync(`${path}.lock`, JSON.stringify({ pid: other.pid }));
		expect(() => open(link)).toThrow(`Session is in use by process ${other.pid}: ${path}`);
	} finally {
		other.kill("SIGKILL");
	}
});

test("opened by a link, a session is known by its own name, and has its lock there", () => {
	const { path, link } = session();
	const transcript = open(link);
	expect([transcript.file, existsSync(`${path}.lock`), existsSync(`${link}.lock`)]).toEqual([path, true, false]);
	transcript.close();
	expect(existsSync(`${path}.lock`)).toBe(false);
});

test("a file with two names can be read and not be continued", () => {
	const { place, path } = session();
	const second = join(place, "second.jsonl");
	linkSync(path, second);
	for (const name of [path, second]) {
		expect(() => open(name)).toThrow(`Session file has 2 names (hard links) and cannot be continued: ${name}`);
		expect(existsSync(`${name}.lock`)).toBe(false);
		expect(open(name, "read").entries).toHaveLength(1);
	}
});

test("an old format behind a link is brought to the new one where it is", () => {
	const { path, link } = session();
	writeFileSync(path, fileOf({ ...header, version: undefined }, { type: "message", timestamp: time, message: user("1") }));
	open(link).close();
	expect(lstatSync(link).isSymbolicLink()).toBe(true);
	expect(linesOf(path)[0]).toMatchObject({ version: 3 });
});

test("a link to nothing yet begins a session there", () => {
	const { place } = session();
	const link = join(place, "new.jsonl");
	symlinkSync("deep/er.jsonl", link);
	const transcript = transcriptsIn(place).open(link);
	transcript.append(said(user("1")));
	expect(transcript.file).toBe(join(place, "deep/er.jsonl"));
	expect(readFileSync(link, "utf8")).toContain("session-1");
	transcript.close();
});

test("real places: of links to directories, of what is missing, of links that go round", () => {
	const { place } = session();
	mkdirSync(join(place, "a"));
	symlinkSync("a", join(place, "b"));
	symlinkSync("round", join(place, "round"));
	expect(realPlace(join(place, "b/x/y.jsonl"))).toBe(join(place, "a/x/y.jsonl"));
	expect(realPlace(join(place, "round"))).toBe(join(place, "round"));
	expect(realPlace("/")).toBe("/");
});

test("a session that cannot be opened again keeps the lock of the one that is open", () => {
	const { path } = session();
	const transcript = open(path);
	writeFileSync(path, fileOf({ ...header, version: undefined }));
	mkdirSync(`${path}.tmp/in the way of the migration`, { recursive: true });
	expect(() => open(path)).toThrow("Session file could not be written: ");
	expect(existsSync(`${path}.lock`)).toBe(true);
	transcript.close();
});

test("two sessions in one empty file: the second is refused", () => {
	const { place } = session();
	const path = join(place, "empty.jsonl");
	writeFileSync(path, "");
	const [first, second] = [transcriptsIn(place).open(path), transcriptsIn(place).open(path)];
	first.append(said(user("1")));
	first.close();
	const before = readFileSync(path, "utf8");
	expect(() => second.append(said(user("2")))).toThrow(`Session file could not be written: EEXIST ${path}`);
	expect(readFileSync(path, "utf8")).toBe(before);
	second.close();
});

/** Runs in a separate process, so that the test can end it if it hangs. */
function bowline(cwd: string, ...args: string[]): { status: number; output: string } {
	try {
		const env = { ...process.env, HOME: cwd, BOWLINE_DIR: join(cwd, "user") };
		return {
			status: 0,
			output: execFileSync(process.execPath, [program, ...args], { cwd, env, timeout: 5000, input: "", encoding: "utf8", stdio: "pipe" }),
		};
	} catch (error) {
		const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
		return { status, output: stdout + stderr };
	}
}

test.each(["/dev/null", "/dev/full", "/dev/zero", "pipe.jsonl"])("%s is no session", (path) => {
	const cwd = folder();
	execFileSync("mkfifo", [join(cwd, "pipe.jsonl")]);
	const { status, output } = bowline(cwd, "--mode", "rpc", "--session", path);
	expect(output).toContain("is not a regular file");
	expect(status).toBe(1);
	expect(existsSync("/dev/zero.lock")).toBe(false);
});

test("pipes, directories and links that go round are not in lists", async () => {
	const { place, path } = session();
	execFileSync("mkfifo", [join(place, "pipe.jsonl")]);
	mkdirSync(join(place, "directory.jsonl"));
	symlinkSync("round.jsonl", join(place, "round.jsonl"));
	symlinkSync("nothing", join(place, "nowhere.jsonl"));
	expect(bowline(place, "sessions", "--session-dir", place)).toMatchObject({ status: 0 });
	expect(bowline(place, "--mode", "rpc", "--continue", "--session-dir", place)).toMatchObject({ status: 0 });
	const { sessions } = await transcriptsIn(place).list();
	expect(sessions.map((each) => each.path).sort()).toEqual([join(place, "link.jsonl"), path]);
	expect(transcriptsIn(place).latest()).toBeDefined();
	expect(summaryOf(join(place, "pipe.jsonl"))).toBeUndefined();
});

test("directories are made one by one, and where none can be made that is an error", () => {
	const place = folder();
	makeDirectory(join(place, "a/b/c"));
	makeDirectory(join(place, "a/b/c"));
	expect(lstatSync(join(place, "a/b/c")).mode & 0o777).toBe(0o700);
	if (existsSync("/proc/self")) expect(() => makeDirectory("/proc/nope/x")).toThrow("ENOENT");
});
