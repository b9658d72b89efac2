/** One writer: across containers and machines, under any name of the file, and it notices when another process touches the file. */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { holderOf } from "../../src/lib/claim.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { testUnless } from "../unless.ts";
import { program } from "../wire/support/agent.ts";
import { chain, fileOf, folder, header, linesOf, partsOf, said, transcriptsIn, user } from "./support.ts";

const open = (path: string) => openTranscript(path, { ...partsOf("/"), owner: "o", mode: "write" }) as Transcript;

function session(): { place: string; path: string } {
	const place = folder();
	const path = join(place, "s.jsonl");
	writeFileSync(path, fileOf(header, ...chain(said(user("1")))));
	return { place, path };
}

/** A lock as a process elsewhere would have written it. */
function lockFrom(path: string, pid: number, space: object): void {
	const holder = holderOf(process.pid);
	writeFileSync(`${path}.lock`, JSON.stringify({ pid, startTime: "1", space: { ...holder.space, ...space } }));
}

const isLinux = existsSync("/proc/self/ns/pid");
const namespaces = isLinux && spawnSync("unshare", ["-Urpf", "--mount-proc", "true"]).status === 0;
if (!namespaces) console.log("skipped: this machine has no PID namespaces for users (unshare -Urpf)");

const isOutermost = namespaces && holderOf(1).space?.namespace === "pid:[4026531836]";

const bowline = (...args: string[]) => [process.execPath, program, "--provider", "scripted", "--model", "echo", "--session", "s.jsonl", ...args];
const environment = (cwd: string) => ({ PATH: process.env.PATH, HOME: cwd, BOWLINE_DIR: join(cwd, "user") });

/** A process that holds the session, inside a command such as unshare. It is ready when it has answered. */
async function writer(
	cwd: string,
	...before: string[]
): Promise<{ send: (frame: object) => void; next: (type: string) => Promise<Record<string, unknown>>; kill: () => void }> {
	const [command = "", ...args] = [...before, ...bowline("--mode", "rpc")];
	const child = spawn(command, args, { cwd, env: environment(cwd), stdio: ["pipe", "pipe", "inherit"] });
	onTestFinished(() => {
		child.stdin.end();
		child.kill("SIGKILL");
	});
	let text = "";
	const waiting: (() => void)[] = [];
	child.stdout.on("data", (chunk) => {
		text += chunk;
		for (const wake of waiting.splice(0)) wake();
	});
	const next = async (type: string) => {
		for (;;) {
			const lines = text.split("\n");
			const at = lines.findIndex((line, index) => index < lines.length - 1 && JSON.parse(line).type === type);
			if (at >= 0) {
				text = lines.slice(at + 1).join("\n");
				return JSON.parse(lines[at] as string);
			}
			await new Promise<void>((resolve) => waiting.push(resolve));
		}
	};
	const send = (frame: object) => child.stdin.write(`${JSON.stringify(frame)}\n`);
	send({ type: "get_state" });
	await next("response");
	return { send, next, kill: () => child.kill("SIGKILL") };
}

testUnless(!namespaces && "users cannot make PID namespaces (unshare -Urpf)")(
	"a process in another PID namespace does not take the session over while its writer lives",
	async () => {
		const { place } = session();
		await writer(place);
		const { status, stderr } = spawnSync("unshare", ["-Urpf", "--mount-proc", ...bowline("-p", "hello")], {
			cwd: place,
			env: environment(place),
			encoding: "utf8",
			input: "",
		});
		expect(stderr).toMatch(/Session is in use by process \d+ in another container or PID namespace/);
		expect(status).not.toBe(0);
	},
);

testUnless(!isOutermost && "this is not the outermost PID namespace")("a writer in a container is seen from outside, and so is its end", async () => {
	const { place, path } = session();
	const { kill } = await writer(place, "unshare", "-Urpf", "--kill-child", "--mount-proc");
	expect(JSON.parse(readFileSync(`${path}.lock`, "utf8")).space.namespace).not.toBe(holderOf(1).space?.namespace);
	expect(() => open(path)).toThrow("in another container or PID namespace");
	kill();
	await vi.waitFor(() => open(path).close(), { timeout: 10_000 });
	expect(existsSync(`${path}.lock`)).toBe(false);
});

testUnless(!isOutermost && "this is not the outermost PID namespace")("the lock of a container that was killed is taken over from outside", () => {
	const { path } = session();
	// A process of this number in a namespace that is gone.
	lockFrom(path, 2, { namespace: "pid:[1]" });
	open(path).close();
	expect(existsSync(`${path}.lock`)).toBe(false);
});

testUnless(!isLinux && "it needs Linux")("a process of another machine keeps its session, one of an earlier boot does not", () => {
	const { path } = session();
	lockFrom(path, process.pid, { machine: "elsewhere 1", boot: "another" });
	expect(() => open(path)).toThrow(`Session is in use by process ${process.pid} on another machine (elsewhere)`);
	// The number is in use again, by this very process.
	lockFrom(path, process.pid, { boot: "another" });
	open(path).close();
});

test("a lock of an earlier version, which names no machine, still works", () => {
	const { path } = session();
	const other = spawn("sleep", ["60"]);
	onTestFinished(() => void other.kill("SIGKILL"));
	writeFileSync(`${path}.lock`, JSON.stringify({ pid: other.pid }));
	expect(() => open(path)).toThrow(`Session is in use by process ${other.pid}: ${path}`);
});

test("a session that is renamed while it is written cannot be opened under its new name", async () => {
	const { place, path } = session();
	await writer(place);
	renameSync(path, join(place, "other.jsonl"));
	const { stderr } = spawnSync(process.execPath, [program, "--provider", "scripted", "--model", "echo", "--session", "other.jsonl", "-p", "hello"], {
		cwd: place,
		env: environment(place),
		encoding: "utf8",
		input: "",
	});
	expect(stderr).toMatch(/Session is in use by process \d+, which opened it as s\.jsonl/);
});

test("a new session has a lock that knows its file", () => {
	const place = folder();
	const transcript = transcriptsIn(place).create();
	transcript.append(said(user("1")));
	const moved = join(place, "moved.jsonl");
	renameSync(transcript.file as string, moved);
	expect(() => open(moved)).toThrow("Session is in use by another session of this program, which opened it as");
	transcript.append(said(user("2")));
	// The writer has made a file of its own again, so the old one is free.
	const second = open(moved);
	expect([second.entries.length, linesOf(transcript.file as string).length]).toEqual([1, 3]);
	second.close();
	transcript.close();
});

test.each<[string, string, (path: string) => void]>([
	[
		"a file that takes its place",
		"Session file was replaced by another file: ",
		(path) => {
			writeFileSync(`${path}.new`, fileOf(header, ...chain(said(user("other")))));
			renameSync(`${path}.new`, path);
		},
	],
	["a line of another program", "Session file was changed by another program: ", (path) => appendFileSync(path, '{"type":"custom"}\n')],
	["a file that is cut", "Session file was changed by another program: ", (path) => truncateSync(path, readFileSync(path).length - 5)],
])("%s is noticed, and nothing is told as stored", (_, problem, disturb) => {
	for (const hasWritten of [false, true]) {
		const { path } = session();
		const transcript = open(path);
		if (hasWritten) transcript.append(said(user("2")));
		const { length } = transcript.entries;
		disturb(path);
		const after = readFileSync(path, "utf8");
		for (let attempt = 0; attempt < 2; attempt++) expect(() => transcript.append(said(user("lost?")))).toThrow(`${problem}${path}`);
		expect([transcript.entries.length, readFileSync(path, "utf8")]).toEqual([length, after]);
		// Opened again it goes on.
		const again = open(path);
		again.append(said(user("3")));
		expect(readFileSync(path, "utf8")).toContain('"3"');
		again.close();
	}
});

test.each<[string, (path: string) => void]>([
	["emptied", (path) => truncateSync(path, 0)],
	["removed", (path) => rmSync(path)],
	["renamed", (path) => renameSync(path, `${path}.away`)],
])("a file that was %s is written again, whole, with the next message", (_, disturb) => {
	for (const hasWritten of [false, true]) {
		const { path } = session();
		const transcript = open(path);
		if (hasWritten) transcript.append(said(user("2")));
		disturb(path);
		transcript.append(said(user("3")));
		transcript.close();
		expect(linesOf(path)).toHaveLength(hasWritten ? 4 : 3);
		expect(linesOf(path)[0]).toMatchObject({ type: "session" });
	}
});

test("a file that is replaced in the very moment of a write is noticed", () => {
	const place = folder();
	const transcript = transcriptsIn(place, (descriptor, bytes) => {
		const path = transcript.file as string;
		if (existsSync(path) && bytes.includes('"2"')) {
			writeFileSync(`${path}.new`, "another");
			renameSync(`${path}.new`, path);
		}
		return writeSync(descriptor, bytes);
	}).create();
	transcript.append(said(user("1")));
	expect(() => transcript.append(said(user("2")))).toThrow("Session file was replaced by another file while it was written");
	expect(readFileSync(transcript.file as string, "utf8")).toBe("another");
	transcript.close();
});

test("a host hears of a replaced session file instead of losing what is said", async () => {
	const { place, path } = session();
	const { send, next } = await writer(place);
	mkdirSync(join(place, "away"));
	renameSync(path, join(place, "away/s.jsonl"));
	writeFileSync(path, fileOf(header));
	send({ type: "prompt", message: "hello" });
	const end = await next("agent_end");
	expect(JSON.stringify(end)).toContain("Session file was replaced by another file");
	expect(readFileSync(path, "utf8")).toBe(fileOf(header));
});
