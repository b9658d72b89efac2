/** Bytes that no host would send: no crash, no hang, bounded memory, and the next command works. */
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { commands } from "../../src/protocol/commands/index.ts";
import type { Random } from "../torture/random.ts";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { forSeeds } from "./seeds.ts";

let agent: Agent;
afterEach(() => agent.dispose());

const patience = 120_000;
const mb = 1024 * 1024;
const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${agent.child.pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** The program sent only frames, answered the next command, and reported no bug. */
async function expectAlive(): Promise<void> {
	agent.send({ id: "alive", type: "get_state" });
	expect(await agent.response("alive")).toMatchObject({ success: true });
	expect(agent.frames.filter(({ type }) => type === "not a frame")).toEqual([]);
	expect(agent.stderr).not.toMatch(/unexpected/);
}

const failures = () => agent.frames.filter(({ success }) => success === false).map(({ error }) => error);

test("a frame that is nested a hundred thousand deep", async () => {
	agent = new Agent({ flags: ["--no-session"] });
	const deep = "[".repeat(100_000);
	agent.send(deep + "]".repeat(100_000));
	agent.send(`{"id":"1","type":"set_todos","phases":${deep}${"]".repeat(100_000)}}`);
	agent.send(`{"type":"host_tool_result","id":"1","result":{"content":[],"details":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}}`);
	await expectAlive();
	expect(failures()).toEqual(Array(3).fill("Failed to parse command: nested deeper than 256"));
});

test(
	"a line of 64 MB is refused when it passes the limit, not when it ends, and costs no more than the limit",
	async () => {
		agent = new Agent({ flags: ["--no-session"] });
		await agent.event("ready");
		const before = rssMb();
		agent.child.stdin.write('{"id":"1","type":"prompt","message":"');
		const chunk = Buffer.alloc(mb, 0x78);
		for (let n = 0; n < 40; n++) if (!agent.child.stdin.write(chunk)) await new Promise((resolve) => agent.child.stdin.once("drain", resolve));
		expect(await agent.next()).toMatchObject({
			command: "parse",
			success: false,
			error: `Failed to parse command: line longer than ${32 * mb} bytes`,
		});
		for (let n = 0; n < 24; n++) if (!agent.child.stdin.write(chunk)) await new Promise((resolve) => agent.child.stdin.once("drain", resolve));
		agent.send('"}');
		await expectAlive();
		expect(rssMb() - before).toBeLessThan(100);
		expect(failures()).toHaveLength(1);
	},
	patience,
);

test("invalid UTF-8, NUL bytes and every other byte", async () => {
	agent = new Agent({ flags: ["--no-session", "--provider", "scripted", "--model", "echo"] });
	const every = Buffer.from(Array.from({ length: 256 }, (_, index) => index).filter((byte) => byte !== 0x0a));
	agent.child.stdin.write(Buffer.concat([every, Buffer.from("\n\0\0\0\n\xff\xfe\n", "latin1")]));
	const text = Buffer.concat([
		Buffer.from('{"id":"1","type":"prompt","message":"'),
		Buffer.from([0xc3, 0x28, 0xf0, 0x9f, 0xed, 0xa0, 0x80]),
		Buffer.from('"}\n'),
	]);
	agent.child.stdin.write(text);
	await agent.event("agent_settled");
	await expectAlive();
});

test(
	"a hundred thousand frames in one chunk are answered in their order",
	async () => {
		agent = new Agent({ flags: ["--no-session"] });
		await agent.event("ready");
		const count = 100_000;
		const frames = Array.from(
			{ length: count },
			(_, n) => `{"id":${n},"type":"${n % 3 ? "get_last_assistant_text" : "set_auto_retry"}","enabled":true}\n`,
		);
		agent.child.stdin.write(frames.join(""));
		await expectAlive();
		const ids = agent.frames.flatMap(({ type, id }) => (type === "response" && typeof id === "number" ? [id] : []));
		expect(ids.length).toBe(count);
		expect(ids.every((id, index) => id === index)).toBe(true);
	},
	patience,
);

test("a conversation that arrives byte by byte", async () => {
	agent = new Agent({ flags: ["--no-session", "--provider", "scripted", "--model", "echo"] });
	await agent.event("ready");
	const bytes = Buffer.from('{"id":"1","type":"prompt","message":"größer als \u{1f9f6}"}\r\n{"id":"2","type":"get_messages"}\n');
	for (const byte of bytes) {
		agent.child.stdin.write(Buffer.from([byte]));
		await new Promise((resolve) => setImmediate(resolve));
	}
	await agent.event("agent_settled");
	expect(JSON.stringify(agent.frames)).toContain("größer als \u{1f9f6}");
	await expectAlive();
});

const values = [null, true, 0, -1, 1e308, "", "x", "__proto__", "../beside", "\0", "\ud800", [], [[]], {}, { type: "x" }, [null], "x".repeat(5000)];

/** A command with members that are somewhat, or wholly, wrong. */
function mutatedFrame(random: Random): string {
	const name = random.chance(0.9)
		? random.pick(Object.keys(commands))
		: random.pick(["extension_ui_response", "host_tool_result", "host_tool_update"]);
	const row = (commands as Record<string, { params: object } | undefined>)[name];
	const frame: Record<string, unknown> = { type: name };
	if (random.chance(0.9)) frame.id = random.chance(0.9) ? `f${random.int(0, 1e6)}` : random.pick(values);
	const members = [...Object.keys(row?.params ?? { id: 0, result: 0, value: 0 }), "unknown"];
	for (const member of members) if (random.chance(0.8)) frame[member] = random.pick(values);
	// Nothing that takes its time, and nothing that a shell would run.
	if (name === "bash") frame.command = random.pick([7, null, [], "exit 1"]);
	const text = JSON.stringify(frame);
	if (random.chance(0.85)) return text;
	const at = random.int(0, text.length - 1);
	return random.pick([
		text.slice(0, at),
		text.slice(at),
		text.slice(0, at) + random.pick(["\0", "}", '"', "\\", "[", "\u2028", " "]) + text.slice(at),
		text + text,
	]);
}

test("mutated frames, a thousand at a time: every one that can be is answered, none ends it", () => forSeeds(3, survives), patience);

async function survives(random: Random): Promise<void> {
	agent = new Agent({ flags: ["--provider", "scripted", "--model", "echo", "--session-dir", "sessions"] });
	try {
		const sent = Array.from({ length: 1000 }, () => mutatedFrame(random));
		for (const line of sent) agent.send(line);
		agent.send({ id: "stop 1", type: "abort" });
		agent.send({ id: "stop 2", type: "abort_bash" });
		await agent.response("stop 2");
		await expectAlive();
		const answered = new Set(agent.frames.flatMap(({ type, id }) => (type === "response" ? [id] : [])));
		const missing = sent.flatMap((line) => {
			const frame = parsed(line);
			return frame && typeof frame.id === "string" && Object.hasOwn(commands, frame.type) && !answered.has(frame.id) ? [line] : [];
		});
		expect(missing).toEqual([]);
		agent.child.stdin.end();
		expect(await agent.exited()).toBe(0);
	} finally {
		await agent.dispose();
	}
}

function parsed(line: string): Frame | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Frame) : undefined;
	} catch {
		return undefined;
	}
}
