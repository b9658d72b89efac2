/** Rows about numbers and replay: what `--seq` costs per delta, and how fast kept frames are made again. */
import { join } from "node:path";
import { frameLine, frameText, TranscriptBodies } from "../src/transcript/event-frames.ts";
import { EventLog } from "../src/transcript/event-log.ts";
import { FileSessionStore } from "../src/transcript/file-store.ts";
import { cpuNs, type Running, startAgent } from "./process.ts";
import type { Row, Trial } from "./row.ts";

const deltaCount = 50_000;
const piece = "lorem ipsum ";

/** The first prompt loads what is needed, the second is measured. */
async function readyAgent(trial: Trial, flags: string[]): Promise<Running> {
	const agent = startAgent(trial, ["--updates", "delta", ...flags], { replies: [{ text: "warm" }, { repeat: { text: piece, count: deltaCount } }] });
	await agent.prompt("warm up");
	return agent;
}

async function microsPerDelta(agent: Running): Promise<number> {
	const before = cpuNs(agent.pid);
	await agent.prompt("go");
	return (cpuNs(agent.pid) - before) / 1000 / deltaCount;
}

const numbers: Row = {
	name: "seq-deltas",
	rounds: 7,
	async measure(trial) {
		let [off, on] = [0, 0];
		for (let turn = 0; turn < 4; turn++) {
			const without = await readyAgent(trial, []);
			const numbered = await readyAgent(trial, ["--seq"]);
			// At once, so that both see the same machine at the same time; each is the first one in every other turn.
			const agents = turn % 2 ? [numbered, without] : [without, numbered];
			const micros = await Promise.all(agents.map(microsPerDelta));
			off += micros[agents.indexOf(without)] as number;
			on += micros[agents.indexOf(numbered)] as number;
			for (const agent of agents) await agent.end();
		}
		return [
			{ what: "--seq, cpu per delta", value: on / 4, unit: "us" },
			{ what: "the same over delta mode without it", value: on / off, unit: "", goal: { most: 1.05 } },
		];
	},
};

const messages = 4000;

const replay: Row = {
	name: "replay",
	rounds: 5,
	isInProcess: true,
	async measure({ folder }) {
		let id = 0;
		const now = Date.now;
		const newId = () => (++id).toString(16).padStart(8, "0");
		const store = new FileSessionStore({ cwd: folder, directory: folder, now, redact: (text) => text, newId, newSessionId: () => "replay" });
		const transcript = store.create();
		const log = new EventLog({ sessionId: "replay", path: join(folder, "replay.events"), hasHistory: false, now });
		const text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
		for (let index = 0; index < messages; index++) {
			const message = { role: "user" as const, content: [{ type: "text" as const, text: `${index} ${text}` }], attachments: [], timestamp: now() };
			const entry = transcript.append({ type: "message", message });
			for (const type of ["message_start", "message_end"] as const) {
				const kept = frameText({ type, message }, () => entry.id, null);
				log.keep(log.next() as number, kept.text, kept.isInline);
			}
		}
		log.flush();
		transcript.close();
		// As a server reads them: from the files.
		const stored = store.read({ id: "replay", file: transcript.file as string });
		if (!stored) throw new Error("the session was not stored");
		const bodies = new TranscriptBodies(stored);
		const before = process.cpuUsage();
		let bytes = 0;
		for (const frame of log.frames(0, log.last)) bytes += frameLine(frame, bodies)?.length ?? 0;
		const { user, system } = process.cpuUsage(before);
		log.close();
		return [{ what: "kept frames made again, MB per cpu s", value: bytes / (user + system), unit: "MB", isRate: true, goal: { least: 100 } }];
	},
};

export const replayRows: Row[] = [numbers, replay];
