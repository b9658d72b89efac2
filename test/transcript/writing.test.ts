/** Writing: what is in memory is in the file, whatever the disk does. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { forkOf } from "../../src/transcript/fork.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import type { Write } from "../../src/transcript/session-file.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { assistant, fileOf, folder, header, linesOf, partsOf, said, time, transcriptsIn, user } from "./support.ts";

const reread = (path: string) => openTranscript(path, { ...partsOf("/"), mode: "read" }) as Transcript;
const fail = (code: string) => Object.assign(new Error(code), { code });

test("the file comes into being with the first message, private, header and what waited first", () => {
	const transcripts = transcriptsIn(join(folder(), "deep", "er"));
	const transcript = transcripts.create("/parent.jsonl");
	const path = transcript.file as string;
	transcript.append({ type: "model_change", provider: "p", modelId: "m" });
	transcript.append({ type: "session_info", name: "n" });
	expect({ isStored: transcript.isStored, exists: existsSync(path) }).toEqual({ isStored: false, exists: false });
	transcript.append(said(user("1")));
	expect(linesOf(path)).toEqual([
		{
			type: "session",
			version: 3,
			id: "session-1",
			timestamp: time,
			cwd: expect.any(String),
			utcOffset: 0 - new Date(time).getTimezoneOffset(),
			parentSession: "/parent.jsonl",
		},
		{ type: "model_change", id: "00000001", parentId: null, timestamp: time, provider: "p", modelId: "m" },
		{ type: "session_info", id: "00000002", parentId: "00000001", timestamp: time, name: "n" },
		{ type: "message", id: "00000003", parentId: "00000002", timestamp: time, message: user("1") },
	]);
	const mode = (file: string) => statSync(file).mode & 0o777;
	expect([mode(path), mode(`${path}.lock`), mode(join(path, ".."))]).toEqual([0o600, 0o600, 0o700]);
	transcript.close();
	expect(existsSync(`${path}.lock`)).toBe(false);
});

test("in memory only, nothing is written, and a fork neither", () => {
	const place = folder();
	const transcripts = transcriptsIn(place, undefined, undefined);
	transcripts.directory = undefined;
	const transcript = transcripts.create();
	const { id } = transcript.append(said(user("1")));
	expect(forkOf(transcripts, transcript, id).path()).toEqual(transcript.path());
	expect(readdirSync(place)).toEqual([]);
});

test("going back makes a branch; the file keeps both", () => {
	const transcript = transcriptsIn(folder()).create();
	const [a, b, c] = ["1", "2", "3"].map((text) => transcript.append(said(user(text))).id) as [string, string, string];
	expect(transcript.moveTo("nobody")).toBe(false);
	expect(transcript.moveTo(a)).toBe(true);
	const d = transcript.append(said(user("4"))).id;
	expect(transcript.path().map(({ id }) => id)).toEqual([a, d]);
	transcript.moveTo(null);
	const e = transcript.append(said(user("5"))).id;
	expect(transcript.path().map(({ id }) => id)).toEqual([e]);
	const again = reread(transcript.file as string);
	expect(again.entries.map(({ id, parentId }) => [id, parentId])).toEqual([
		[a, null],
		[b, a],
		[c, b],
		[d, a],
		[e, null],
	]);
	expect(again.leafId).toBe(e);
});

/** A scripted disk: a number is how many bytes it accepts, a text is the error it fails with. */
function disk(plans: (number | string)[]): Write {
	return (descriptor, bytes) => {
		const plan = plans.shift();
		if (plan === undefined) return writeSync(descriptor, bytes);
		if (typeof plan === "string") throw fail(plan);
		return writeSync(descriptor, bytes.subarray(0, plan));
	};
}

test.each<[string, (number | string)[], string]>([
	["a full disk", ["ENOSPC"], "ENOSPC"],
	["a disk that gets full in the middle of a line", [17, "ENOSPC"], "ENOSPC"],
	["a quota", [3, 5, "EDQUOT"], "EDQUOT"],
	["a write that takes nothing", [0], "EIO"],
])("%s: file and memory stay as they were, and the next append works", (_, plans, code) => {
	const faults: (number | string)[] = [];
	const transcript = transcriptsIn(folder(), disk(faults)).create();
	const path = transcript.file as string;
	const first = transcript.append(said(user("1")));
	const before = readFileSync(path, "utf8");
	faults.push(...plans);
	expect(() => transcript.append(said(user("lost")))).toThrow(`Session file could not be written: ${code} ${path}`);
	expect(readFileSync(path, "utf8")).toBe(before);
	expect(transcript.entries).toEqual([first]);
	const next = transcript.append(said(user("2")));
	expect(next.parentId).toBe(first.id);
	expect(reread(path).path()).toEqual([first, next]);
});

test("a short write whose rest goes through is not a failure", () => {
	const transcript = transcriptsIn(folder(), disk([10, 1, 300])).create();
	const entry = transcript.append(said(user("1")));
	expect(reread(transcript.file as string).entries).toEqual([entry]);
});

test("a file that cannot even begin leaves nothing behind, and what waited is written with the next message", () => {
	const place = folder();
	const transcript = transcriptsIn(place, disk([40, "ENOSPC"])).create();
	transcript.append({ type: "session_info", name: "n" });
	expect(() => transcript.append(said(user("lost")))).toThrow("ENOSPC");
	expect(readdirSync(place)).toEqual([]);
	transcript.append(said(user("1")));
	expect(reread(transcript.file as string).entries).toEqual(transcript.entries);
	expect(transcript.entries.map(({ type }) => type)).toEqual(["session_info", "message"]);
});

test("whatever fails whenever, the file holds what memory holds", () => {
	const plan = fc.array(fc.oneof(fc.constant(undefined), fc.nat(60), fc.constantFrom("ENOSPC", "EIO")), { maxLength: 4 });
	const place = folder();
	let round = 0;
	fc.assert(
		fc.property(fc.array(fc.record({ plan, isMessage: fc.boolean() }), { maxLength: 12 }), (steps) => {
			let faults: (number | string | undefined)[] = [];
			const write: Write = (descriptor, bytes) => disk(faults.splice(0, 1).filter((fault) => fault !== undefined))(descriptor, bytes);
			const transcript = transcriptsIn(place, write).create(undefined, { path: join(place, `${++round}.jsonl`) });
			for (const step of steps) {
				faults = step.plan;
				try {
					transcript.append(step.isMessage ? said(user("x")) : { type: "custom", customType: "x" });
				} catch (error) {
					expect((error as Error).message).toContain("Session file could not be written");
				}
				if (transcript.isStored) expect(reread(transcript.file as string).entries).toEqual(transcript.entries);
				else expect(transcript.entries.some(({ type }) => type === "message")).toBe(false);
			}
			transcript.close();
		}),
		{ numRuns: 150 },
	);
});

test("a real full disk", () => {
	// /dev/full accepts no bytes; if it does not exist, the other tests have to suffice.
	if (!existsSync("/dev/full")) return;
	const path = join(folder(), "s.jsonl");
	const full = openSync("/dev/full", "w");
	onTestFinished(() => closeSync(full));
	const transcript = transcriptsIn(join(path, ".."), (_, bytes) => writeSync(full, bytes)).create(undefined, { path: path });
	expect(() => transcript.append(said(user("1")))).toThrow(`Session file could not be written: ENOSPC ${path}`);
	expect(transcript.entries).toEqual([]);
	transcript.close();
});

test("a file that is removed while it is open is written again, whole", () => {
	const transcript = transcriptsIn(folder()).create();
	transcript.append(said(user("1")));
	rmSync(transcript.file as string);
	transcript.append(said(user("2")));
	expect(reread(transcript.file as string).entries).toEqual(transcript.entries);
});

test("credentials do not reach the file, also where they look like part of its form", () => {
	const transcripts = transcriptsIn(folder());
	const secrets = ["sk-very-secret", "assistant", 'quote"d-secret'];
	const redact = (text: string) => secrets.reduce((all, secret) => all.replaceAll(secret, "[redacted]"), text);
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, fileOf(header));
	const transcript = openTranscript(path, { ...partsOf("/"), redact, mode: "write" }) as Transcript;
	transcript.append(said(assistant(`a sk-very-secret of an assistant, quote"d-secret`)));
	expect(linesOf(path)[1]).toMatchObject({ message: { role: "assistant", content: [{ text: "a [redacted] of an [redacted], [redacted]" }] } });
	transcript.close();
	expect(transcripts.directory).toBeDefined();
});

test("a fork has the path, its labels and the name; the old file is not touched", () => {
	const transcripts = transcriptsIn(folder());
	const from = transcripts.create();
	const a = from.append(said(user("1")));
	const b = from.append(said(assistant("2")));
	from.append({ type: "label", targetId: a.id, label: "old" });
	const c = from.append(said(user("3")));
	from.append({ type: "label", targetId: a.id, label: "new" });
	from.append({ type: "label", targetId: c.id, label: "not on the path" });
	from.append({ type: "session_info", name: "Name" });
	const before = readFileSync(from.file as string, "utf8");
	const fork = forkOf(transcripts, from, c.parentId);
	expect(fork.header).toMatchObject({ parentSession: from.file, id: "session-2" });
	expect(fork.path().map((entry) => ("label" in entry ? entry.label : "name" in entry ? entry.name : entry.id))).toEqual([
		a.id,
		b.id,
		"old",
		"new",
		"Name",
	]);
	expect(reread(fork.file as string).entries).toEqual(fork.entries);
	expect(readFileSync(from.file as string, "utf8")).toBe(before);
	const empty = forkOf(transcripts, from, null);
	expect(empty.entries.map(({ type }) => type)).toEqual(["session_info"]);
	expect(empty.isStored).toBe(false);
});

test("a fork that cannot be written leaves nothing", () => {
	const place = folder();
	const faults: (number | string)[] = [];
	const transcripts = transcriptsIn(place, disk(faults));
	const from = transcripts.create();
	const { id } = from.append(said(user("1")));
	const before = readdirSync(place);
	faults.push(50, "ENOSPC");
	expect(() => forkOf(transcripts, from, id)).toThrow("Session file could not be written: ENOSPC");
	expect(readdirSync(place)).toEqual(before);
});

test("a lock of a living process is respected, one of a dead process or of another one with its id is taken over", async () => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, fileOf(header));
	const open = () => openTranscript(path, { ...partsOf("/"), mode: "write" }) as Transcript;
	const other = spawn("sleep", ["60"]);
	const startTime = readFileSync(`/proc/${other.pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19];
	const lock = (content: object | string) => writeFileSync(`${path}.lock`, typeof content === "string" ? content : JSON.stringify(content));
	try {
		lock({ pid: other.pid, startTime });
		expect(open).toThrow(`Session is in use by process ${other.pid}: ${path}`);
		lock({ pid: other.pid, startTime: "1" });
		open().close();
		// A child stays a zombie if no process waits for it. It ends when its parent is no shell any more, which would wait.
		const child = "until [ $(cat /proc/$PPID/comm) = sleep ]; do sleep 0.01; done";
		const parent = spawn("bash", ["-c", `bash -c '${child}' & echo $!; exec sleep 60`]);
		try {
			const pid = Number(await new Promise((resolve) => parent.stdout.once("data", (chunk) => resolve(String(chunk)))));
			const stat = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") as string[];
			while (stat()[0] !== "Z") await new Promise((resolve) => setTimeout(resolve, 5));
			lock({ pid, startTime: stat()[19] });
			open().close();
		} finally {
			parent.kill("SIGKILL");
		}
		// Its process was killed before it had written it.
		lock("");
		open().close();
		expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
	} finally {
		const gone = new Promise((resolve) => other.once("close", resolve));
		other.kill("SIGKILL");
		await gone;
	}
	lock({ pid: other.pid, startTime });
	const transcript = open();
	expect(JSON.parse(readFileSync(`${path}.lock`, "utf8"))).toMatchObject({ pid: process.pid });
	transcript.close();
	expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
});

test("ids: the beginning is enough, several are named, other directories are looked through", () => {
	const root = folder();
	for (const name of ["here/1_abc1.jsonl", "here/2_abd2.jsonl", "there/3_xyz.jsonl"]) {
		mkdirSync(join(root, name, ".."), { recursive: true });
		writeFileSync(join(root, name), fileOf(header));
	}
	const transcripts = transcriptsIn(join(root, "here"));
	expect(transcripts.named("abc")).toEqual({ id: "abc1", file: join(root, "here/1_abc1.jsonl") });
	expect(transcripts.named("xyz").file).toBe(join(root, "there/3_xyz.jsonl"));
	expect(() => transcripts.named("ab")).toThrow("Several sessions begin with ab: ");
	expect(() => transcripts.named("q")).toThrow("No session found: q");
	expect(transcripts.named("./q")).toEqual({ id: undefined, file: join(root, "here/q"), isByPath: true });
});
