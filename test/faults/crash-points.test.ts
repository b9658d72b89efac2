/** kill -9 before each single change that the program makes on disk, and in the middle of each write; then another process goes on. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import { contextMessages } from "../../src/transcript/projection.ts";
import { sampled } from "../exhaustive.ts";
import { pairing } from "../torture/check-sessions.ts";
import { Life } from "../torture/host.ts";
import { World } from "../torture/world.ts";

const root = join(import.meta.dirname, "../..");
const patience = 60_000;
const script = {
	replies: [
		{ blocks: [{ text: "Looking." }, { tool: "read", arguments: { path: "a.txt" } }, { tool: "bash", arguments: { command: "echo hi" } }] },
		{ text: "Done." },
		{ text: "Still here.", times: "always" },
	],
};

/** The actions before the kill, and the files that exist at the start. */
interface Scenario {
	prepare?: (world: World) => void;
	flags: string[];
	/** Talks until the process dies, or to its end. */
	talk: (life: Life) => Promise<void>;
}

const prompt = async (life: Life, id: string) => {
	const settled = life.until(({ type }) => type === "agent_settled", patience);
	life.send({ id, type: "prompt", message: `prompt ${id}` });
	await settled;
};

const oldSession = [
	{ type: "session", version: 1, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
	{ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content: "from long ago", timestamp: 1 } },
	{ type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content: "and a bit later", timestamp: 1 } },
];

const scenarios: Record<string, Scenario> = {
	"a new session, a name, a fork": {
		flags: ["--session-id", "s"],
		async talk(life) {
			await prompt(life, "1");
			await life.ask({ id: "name", type: "set_session_name", name: "n" }, patience);
			const answer = await life.ask({ id: "list", type: "get_fork_messages" }, patience);
			const [first] = (answer?.data as { messages: { entryId: string }[] } | undefined)?.messages ?? [];
			await prompt(life, "2");
			await life.ask({ id: "fork", type: "fork", entryId: first?.entryId ?? "" }, patience);
			await prompt(life, "3");
		},
	},
	"a session of an old format that a dead process had locked": {
		prepare(world) {
			const path = join(world.sessions, "old_s.jsonl");
			writeFileSync(path, oldSession.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
			// No process has this number: the highest there can be is smaller.
			writeFileSync(`${path}.lock`, JSON.stringify({ pid: 2 ** 30, startTime: "1" }), { mode: 0o600 });
		},
		flags: ["--continue"],
		talk: (life) => prompt(life, "1"),
	},
};

function start(world: World, flags: string[]): Life {
	return new Life(root, world, ["--provider", "scripted", "--model", "script.jsonc", "--updates", "delta", ...flags]);
}

function inWorld(scenario: Scenario): World {
	const world = new World();
	writeFileSync(join(world.cwd, "script.jsonc"), JSON.stringify(script));
	scenario.prepare?.(world);
	return world;
}

/** Every change on disk that the scenario makes, in order. */
async function operationsOf(scenario: Scenario): Promise<string[]> {
	const world = inWorld(scenario);
	try {
		const log = join(world.root, "log");
		world.fault({ log });
		const life = start(world, scenario.flags);
		await life.until(({ type }) => type === "ready", patience);
		await scenario.talk(life);
		await life.end("eof", patience);
		expect(life.ending?.code, life.stderr).toBe(0);
		expect(world.litter()).toEqual([]);
		return readFileSync(log, "utf8").trim().split("\n");
	} finally {
		world.remove();
	}
}

const told = (life: Life) =>
	life.trace.flatMap(({ way, frame }): AgentMessage[] => (way === "<" && frame.type === "message_end" ? [frame.message as AgentMessage] : []));

function storedIn(world: World): { all: Set<string>; contexts: AgentMessage[][] } {
	const all = new Set<string>();
	const contexts = world.sessionFiles().map((path) => {
		const transcript = openTranscript(path, {
			mode: "read",
			cwd: "/",
			now: Date.now,
			redact: (text) => text,
			newId: () => randomBytes(4).toString("hex"),
		});
		for (const entry of transcript?.entries ?? []) if (entry.type === "message") all.add(JSON.stringify(entry.message));
		return transcript ? contextMessages(transcript.branch) : [];
	});
	return { all, contexts };
}

async function goesOn(world: World): Promise<Life> {
	const life = start(world, ["--continue"]);
	if (await life.until(({ type }) => type === "ready", patience)) return life;
	throw new Error(`it does not go on: ${life.stderr}`);
}

async function survives(scenario: Scenario, kill: { at: number; how: "before" | "half" }): Promise<void> {
	const world = inWorld(scenario);
	let next: Life | undefined;
	try {
		world.fault({ kill });
		const first = start(world, scenario.flags);
		// The kill may come before the first frame.
		await first.until(({ type }) => type === "ready", patience);
		await scenario.talk(first);
		// A kill at the end of the process comes after its last frame.
		await first.end("eof", patience);
		expect(first.ending?.code, first.stderr).toBe(null);

		world.fault({ kill: undefined });
		const before = storedIn(world);
		expect(told(first).filter((message) => !before.all.has(JSON.stringify(message)))).toEqual([]);

		next = await goesOn(world);
		await prompt(next, "again");
		expect(told(next).at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
		// A new session collects the locks of sessions that are not opened again; a lock without usable content once it is a second old.
		if (othersLocks(world, next).some((text) => !text.endsWith("}"))) await new Promise((resolve) => setTimeout(resolve, 1100));
		await next.ask({ id: "new", type: "new_session" }, patience);
		await prompt(next, "aside");
		for (let waited = 0; othersLocks(world, next).length && waited < patience; waited += 20) await new Promise((resolve) => setTimeout(resolve, 20));
		await next.end("eof", patience);
		expect(next.ending?.code, next.stderr).toBe(0);
		const after = storedIn(world);
		expect([...told(first), ...told(next)].filter((message) => !after.all.has(JSON.stringify(message)))).toEqual([]);
		for (const context of after.contexts) expect(pairing(context)).toEqual([]);
		if (scenario.prepare) expect(JSON.stringify(after.contexts)).toContain("from long ago");
		expect(world.litter()).toEqual([]);
	} finally {
		if (next && !next.isOver) await next.end("SIGKILL", patience);
		world.remove();
	}
}

/** The contents of the locks that are not this process's. */
function othersLocks(world: World, life: Life): string[] {
	const texts = world.litter().flatMap((name) => {
		try {
			return [readFileSync(join(world.root, name), "utf8")];
		} catch {
			// Just collected.
			return [];
		}
	});
	return texts.filter((text) => !text.includes(`"pid":${life.pid},`));
}

describe.runIf(process.platform === "linux").each(Object.entries(scenarios))("%s", (_name, scenario) => {
	test("killed anywhere", async () => {
		const operations = await operationsOf(scenario);
		expect(operations.length).toBeGreaterThan(8);
		const all = operations.flatMap((line, index) => {
			const at = index + 1;
			return / write(File)? /.test(line)
				? [
						{ at, how: "before" as const },
						{ at, how: "half" as const },
					]
				: [{ at, how: "before" as const }];
		});
		const kills = sampled(all, 2);
		const failures: string[] = [];
		const work = async () => {
			for (let kill = kills.shift(); kill; kill = kills.shift()) {
				await survives(scenario, kill).catch(
					(error: Error) => void failures.push(`${kill?.how} ${operations[(kill?.at ?? 0) - 1]}: ${error.message}`),
				);
			}
		};
		await Promise.all(Array.from({ length: 4 }, work));
		expect(failures).toEqual([]);
	}, 300_000);
});
