/** The store: which directory sessions are in, finding, leasing and removing them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sessionDirectories } from "../../src/transcript/directories.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";
import { cleanUp } from "../../src/transcript/orphans.ts";
import { program } from "../wire/support/agent.ts";
import { chain, fileOf, folder, header, partsOf, said, user } from "./support.ts";

const talk = chain(said(user("1")));

/** The store of a working directory whose sessions are in their usual place. */
function storeFor(userDirectory: string, cwd: string, owner?: string): FileSessionStore {
	let id = 0;
	return new FileSessionStore({ ...partsOf(cwd), ...sessionDirectories(userDirectory, cwd), owner, newSessionId: () => `${basename(cwd)}-${++id}` });
}

function write(directory: string, name: string, cwd: string, ageSeconds = 0): string {
	mkdirSync(directory, { recursive: true });
	const path = join(directory, name);
	writeFileSync(path, fileOf({ ...header, id: name.replace(/^.*_|\.jsonl$/g, ""), cwd }, ...talk));
	const then = Date.now() / 1000 - ageSeconds;
	utimesSync(path, then, then);
	return path;
}

test("working directories whose names differ only in dashes do not share their sessions", () => {
	const root = folder();
	const [one, other] = [storeFor(root, "/client/a-secret"), storeFor(root, "/client-a/secret")];
	const transcript = one.create();
	transcript.append(said(user("hello")));
	transcript.close();
	expect(one.latest()).toEqual({ id: "a-secret-1", file: transcript.file });
	expect(other.latest()).toBeUndefined();
	expect(basename(dirname(transcript.file as string))).toMatch(/^--client-a-secret--[0-9a-f]{16}$/);
});

test("sessions that an earlier version stored are found, each by its own working directory", async () => {
	const root = folder();
	const former = join(root, "sessions/--client-a-secret--");
	const first = write(former, "1_one.jsonl", "/client/a-secret", 10);
	const second = write(former, "2_two.jsonl", "/client-a/secret", 5);
	const [one, other] = [storeFor(root, "/client/a-secret"), storeFor(root, "/client-a/secret")];
	expect([one.latest(), other.latest()]).toEqual([
		{ id: "one", file: first },
		{ id: "two", file: second },
	]);
	expect((await other.list()).sessions.map(({ id }) => id)).toEqual(["two"]);
	const transcript = one.create();
	transcript.append(said(user("newer")));
	transcript.close();
	expect(one.latest()?.file).toBe(transcript.file);
	expect((await one.list(1)).omitted).toBe(2);
});

test("a working directory with a long name has sessions, and goes on with them", () => {
	const root = folder();
	const cwd = join(root, ...Array.from({ length: 12 }, (_, index) => `${index}-${"ä".repeat(40)}`));
	mkdirSync(cwd, { recursive: true });
	expect(Buffer.byteLength(cwd)).toBeGreaterThan(1000);
	const bowline = (...args: string[]) =>
		spawnSync(process.execPath, [program, "--provider", "scripted", "--model", "echo", ...args], {
			cwd,
			env: { PATH: process.env.PATH, HOME: root, BOWLINE_DIR: join(root, "user") },
			encoding: "utf8",
			input: "",
		});
	expect(bowline("-p", "one")).toMatchObject({ status: 0, stderr: "" });
	expect(bowline("--continue", "-p", "two")).toMatchObject({ status: 0, stderr: "" });
	const [directory = ""] = readdirSync(join(root, "user/sessions"));
	const files = readdirSync(join(root, "user/sessions", directory));
	expect(files).toHaveLength(1);
	const text = readFileSync(join(root, "user/sessions", directory, files[0] as string), "utf8");
	expect([text.includes('"one"'), text.includes('"two"')]).toEqual([true, true]);
});

test("a whole id is found although another one begins with it", () => {
	const root = folder();
	const { directory } = sessionDirectories(root, "/w");
	const path = write(directory, "1_abc.jsonl", "/w");
	write(directory, "2_abcd.jsonl", "/w");
	expect(storeFor(root, "/w").named("abc")).toEqual({ id: "abc", file: path });
});

test("a lease keeps other sessions and programs out until it is released", () => {
	const root = folder();
	const path = write(sessionDirectories(root, "/w").directory, "1_abc.jsonl", "/w");
	const [ours, theirs] = [storeFor(root, "/w", "ours"), storeFor(root, "/w", "theirs")];
	const lease = ours.lease(ours.named("abc"));
	expect(() => theirs.open(path)).toThrow("Session is in use by another session of this program");
	lease.release();
	theirs.open(path).close();
});

test("a removed session goes to the trash with its artifacts and its event log", async () => {
	const root = folder();
	const { directory } = sessionDirectories(root, "/w");
	const path = write(directory, "1_abc.jsonl", "/w");
	mkdirSync(join(directory, "1_abc"));
	writeFileSync(join(directory, "1_abc/0-Task.md"), "done");
	writeFileSync(join(directory, "1_abc.events"), "{}\n");
	const store = storeFor(root, "/w");
	const place = await store.remove(store.named("abc"));
	expect(readdirSync(directory)).toEqual(["trash"]);
	expect(readdirSync(place).sort()).toEqual(["1_abc", "1_abc.events", "1_abc.jsonl"]);
	expect(store.latest()).toBeUndefined();
	expect(() => store.named("abc")).toThrow("No session found: abc");
	await expect(store.remove({ id: "abc", file: path })).rejects.toThrow(`No session found: ${path}`);
});

test("a session in use is not removed", async () => {
	const root = folder();
	const path = write(sessionDirectories(root, "/w").directory, "1_abc.jsonl", "/w");
	const store = storeFor(root, "/w", "ours");
	const transcript = store.open(path);
	await expect(store.remove(store.named("abc"))).rejects.toThrow("Session is in use by another session of this program");
	expect(existsSync(path)).toBe(true);
	transcript.close();
	await store.remove(store.named("abc"));
	expect(existsSync(path)).toBe(false);
});

test("the trash keeps a session for 30 days", async () => {
	const directory = folder();
	const day = 24 * 60 * 60 * 1000;
	for (const days of [1, 29, 31, 400]) mkdirSync(join(directory, "trash", `${Date.now() - days * day}_${days}`), { recursive: true });
	mkdirSync(join(directory, "trash/mine"));
	await cleanUp(directory);
	expect(
		readdirSync(join(directory, "trash"))
			.map((name) => name.replace(/^\d+_/, ""))
			.sort(),
	).toEqual(["1", "29", "mine"]);
});
