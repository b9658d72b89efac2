/** The store: which directory sessions are in, finding, leasing and removing them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
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

function stored(store: FileSessionStore): { id: string; file: string } {
	const transcript = store.create();
	transcript.append(said(user("hello")));
	transcript.close();
	return { id: transcript.sessionId, file: transcript.file as string };
}

const directoryName = (file: string) => basename(dirname(file));

test("sessions are where other programs of the family compute their directory", () => {
	const root = folder();
	expect(directoryName(stored(storeFor(root, "/home/me/my project")).file)).toBe("--home-me-my project--");
	expect(sessionDirectories(root, "C:\\work\\it").directory).toBe(join(root, "sessions/--C--work-it--"));
});

test("working directories whose names differ only in dashes do not share their sessions", async () => {
	const root = folder();
	const session = stored(storeFor(root, "/client/a-secret"));
	expect(directoryName(session.file)).toBe("--client-a-secret--");
	const other = storeFor(root, "/client-a/secret");
	expect(other.latest()).toBeUndefined();
	const second = stored(other);
	expect(directoryName(second.file)).toMatch(/^--client-a-secret--[0-9a-f]{16}$/);
	expect(storeFor(root, "/client-a/secret").latest()).toEqual(second);
	expect((await storeFor(root, "/client/a-secret").list()).sessions.map(({ id }) => id)).toEqual([session.id]);
});

test("sessions in a directory with a digest stay there and are found with the others, each by its own working directory", async () => {
	const root = folder();
	const plain = join(root, "sessions/--client-a-secret--");
	const [digest = ""] = sessionDirectories(root, "/client/a-secret").others;
	expect(basename(digest)).toMatch(/^--client-a-secret--[0-9a-f]{16}$/);
	const old = write(digest, "1_old.jsonl", "/client/a-secret", 20);
	const first = write(plain, "1_one.jsonl", "/client/a-secret", 10);
	const second = write(plain, "2_two.jsonl", "/client-a/secret", 5);
	const [one, other] = [storeFor(root, "/client/a-secret"), storeFor(root, "/client-a/secret")];
	expect([one.latest(), other.latest()]).toEqual([
		{ id: "one", file: first },
		{ id: "two", file: second },
	]);
	expect((await one.list()).sessions.map(({ id }) => id)).toEqual(["one", "old"]);
	expect((await other.list()).sessions.map(({ id }) => id)).toEqual(["two"]);
	expect([one.named("old").file, one.withId("old")?.file]).toEqual([old, old]);
	// A host may name either directory.
	expect([one.latest(dirname(old)), one.latest(plain)]).toEqual([one.latest(), one.latest()]);
	const transcript = one.open(one.named("old"));
	transcript.append(said(user("newer")));
	expect([transcript.file, one.latest()?.id]).toEqual([old, "old"]);
	transcript.close();
	expect(dirname(stored(one).file)).toBe(plain);
});

test("the first session of a directory decides whose it is; what is no session does not", () => {
	const root = folder();
	const plain = join(root, "sessions/--a-b--");
	write(plain, "2_two.jsonl", "/a/b");
	writeFileSync(join(plain, "0_none.jsonl"), "no session\n");
	mkdirSync(join(plain, "1_artifacts"));
	expect(sessionDirectories(root, "/a/b").directory).toBe(plain);
	expect(sessionDirectories(root, "/a-b").directory).not.toBe(plain);
	write(plain, "1_one.jsonl", "/a-b");
	expect(sessionDirectories(root, "/a/b").directory).not.toBe(plain);
	expect(sessionDirectories(root, "/a-b").directory).toBe(plain);
});

test("a host that names one of the directories of a working directory gets the sessions of all of them", () => {
	const root = folder();
	const cwd = realpathSync(folder());
	const plain = sessionDirectories(root, cwd).directory;
	const [other] = sessionDirectories(root, cwd).others as [string];
	write(plain, "1_one.jsonl", cwd, 10);
	write(plain, "2_foreign.jsonl", "/elsewhere", 10);
	write(other, "3_three.jsonl", cwd);
	for (const directory of [plain, other]) {
		const { stdout } = spawnSync(process.execPath, [program, "sessions", "--json", "--session-dir", directory], {
			cwd,
			env: { PATH: process.env.PATH, HOME: root, BOWLINE_DIR: root },
			encoding: "utf8",
		});
		expect(JSON.parse(stdout)).toMatchObject({ directory, sessions: [{ id: "three" }, { id: "one" }], omitted: 0 });
	}
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

test("the trash of every directory of a working directory is emptied", async () => {
	const root = folder();
	const { directory, others } = sessionDirectories(root, "/w");
	const places = [directory, ...others].map((each) => join(each, "trash/1_old"));
	for (const place of places) mkdirSync(place, { recursive: true });
	stored(storeFor(root, "/w"));
	await expect.poll(() => places.filter((place) => existsSync(place))).toEqual([]);
});
