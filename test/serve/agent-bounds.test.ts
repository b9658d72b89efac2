/** Bounds around an agent and the list of sessions, each with a small limit: lines that are too long, stderr, commands that wait, sessions without room. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Agent, type AgentExit } from "../../src/serve/agent.ts";
import { IndexFile } from "../../src/serve/index-file.ts";
import { Outbox } from "../../src/serve/outbox.ts";
import { Roots } from "../../src/serve/roots.ts";
import { Sessions } from "../../src/serve/sessions.ts";

const directory = mkdtempSync(join(tmpdir(), "bowline-bounds-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("an agent with a line that is too long is killed with the reason, and its last 200 lines of stderr are kept", async () => {
	const program = `
		for (let n = 1; n <= 250; n++) process.stderr.write("line " + n + "\\n");
		process.stdout.write('{"type":"ready"}\\n');
		process.stdin.once("data", () => process.stdout.write("x".repeat(3 * 1024 * 1024)));
		setInterval(() => undefined, 1000);`;
	const lines: string[] = [];
	const exit = await new Promise<AgentExit>((resolve) => {
		const agent = new Agent(
			{ command: [process.execPath, "-e", program], cwd: directory, env: process.env, longestLine: 2 * 1024 * 1024 },
			{
				line(text) {
					lines.push(text);
					agent.send("go");
				},
				deltas: () => false,
				exit: resolve,
				drain: () => undefined,
			},
		);
	});
	expect(lines).toEqual(['{"type":"ready"}']);
	expect(exit).toMatchObject({ signal: "SIGKILL", cause: "a line of more than 2 MiB" });
	expect(exit.stderr.split("\n")).toEqual(Array.from({ length: 200 }, (_, index) => `line ${index + 51}`));
});

test("commands for an agent that does not read wait beyond the bound, in order; those that stop it pass", () => {
	const sent: string[] = [];
	const agent = { behind: 0, send: (line: string) => void sent.push(line) };
	let isThere = true;
	const outbox = new Outbox(() => (isThere ? agent : undefined), 100);
	outbox.send("a", false);
	agent.behind = 100;
	outbox.send("b", false);
	expect([sent.splice(0), outbox.isFull]).toEqual([["a", "b"], false]);
	agent.behind = 101;
	for (const line of ["c", "d", "e"]) outbox.send(line, false);
	outbox.send("abort", true);
	expect([sent.splice(0), outbox.isFull]).toEqual([["abort"], true]);
	outbox.drained();
	expect(sent).toEqual([]);
	// It takes a little: one line goes, and fills it again.
	agent.behind = 50;
	agent.send = (line) => {
		sent.push(line);
		agent.behind = 101;
	};
	outbox.drained();
	outbox.send("f", false);
	expect([sent.splice(0), outbox.isFull]).toEqual([["c"], true]);
	agent.send = (line) => void sent.push(line);
	agent.behind = 0;
	outbox.drained();
	expect([sent.splice(0), outbox.isFull]).toEqual([["d", "e", "f"], false]);
	agent.behind = 101;
	outbox.send("g", false);
	outbox.clear();
	agent.behind = 0;
	outbox.drained();
	isThere = false;
	outbox.send("h", false);
	outbox.drained();
	expect([sent, outbox.isFull]).toEqual([[], false]);
});

const record = (id: string) => ({ id, cwd: directory, createdAt: 1, updatedAt: Number(id.slice(1)) });

test("an index that is full forgets the sessions that it has known for longest, also when it is read again", () => {
	const path = join(directory, "index.jsonl");
	const index = new IndexFile(path, Date.now, 3);
	for (const id of ["s1", "s2", "s3"]) index.save(record(id));
	expect(index.isTruncated).toBe(false);
	for (const id of ["s4", "s5"]) index.save(record(id));
	expect([[...index.sessions.keys()], index.isTruncated]).toEqual([["s3", "s4", "s5"], true]);
	index.close();
	const again = new IndexFile(path, Date.now, 3);
	expect([[...again.sessions.keys()], again.isTruncated]).toEqual([["s3", "s4", "s5"], true]);
	again.close();
});

test("of sessions that were deleted the newest 10,000 are known, also when the index is read again", () => {
	const path = join(directory, "deleted.jsonl");
	const index = new IndexFile(path);
	for (let count = 0; count < 10_002; count++) index.remove(`s${count}`);
	index.remove("s2");
	const known = ({ removed }: IndexFile) => [removed.size, removed.has("s1"), removed.has("s2"), removed.has("s3"), removed.has("s10001")];
	expect(known(index)).toEqual([10_000, false, true, true, true]);
	index.close();
	const again = new IndexFile(path);
	expect(known(again)).toEqual([10_000, false, true, true, true]);
	again.close();
});

test("a list without room for all files says that it is not whole", () => {
	const files = join(directory, "sessions", "x");
	mkdirSync(files, { recursive: true });
	for (let count = 0; count < 5; count++) {
		const header = { type: "session", version: 3, id: `f${count}`, timestamp: "2026-01-01T00:00:00.000Z", cwd: directory };
		writeFileSync(join(files, `f${count}.jsonl`), `${JSON.stringify(header)}\n`);
	}
	const listed = (most: number) => {
		const index = new IndexFile(join(directory, `index-${most}.jsonl`), Date.now, most);
		const sessions = new Sessions({
			index,
			roots: new Roots([directory]),
			sessionsDirectory: join(directory, "sessions"),
			program: [],
			defaults: [],
			env: {},
			limits: { maxAwake: 1, maxStarting: 1, idleMs: 0 },
			announce: () => undefined,
			log: () => undefined,
			counts: { frames: 0, bytes: 0, gaps: new Map(), replayBytes: 0 },
			meters: { onStart: () => undefined, onCrash: () => undefined, onUsage: () => undefined },
			isDraining: () => false,
		});
		const list = sessions.list({ limit: 100 });
		sessions.close();
		index.close();
		return [list.sessions.length, list.truncated];
	};
	expect(listed(5)).toEqual([5, undefined]);
	expect(listed(3)).toEqual([3, true]);
});
