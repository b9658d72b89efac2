/** Rows about real wire formats, against a server on the loopback. */
import { copyFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ApiKind, askedBy, spoken } from "../test/models/wire.ts";
import { cpuNs, Running } from "./process.ts";
import { exponent, type Reading, type Row, type Trial } from "./row.ts";
import { writeSession } from "./session-files.ts";
import { median } from "./statistics.ts";

/** A server that answers each POST with the next body (the last one serves all that follow). */
async function serving<T>(bodies: string[], work: (url: string) => Promise<T>, onRequest?: () => void): Promise<T> {
	const server = createServer((request, response) => {
		onRequest?.();
		request.resume();
		request.on("end", () => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.end(bodies.length > 1 ? bodies.shift() : bodies[0]);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	try {
		return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

function startWith(api: ApiKind, url: string, { program, folder }: Trial, flags: string[] = ["--no-session"]): Running {
	const { flags: model, env } = askedBy(api, url, "bench-key-0123456789");
	return new Running(folder, [program, "--mode", "rpc", "--hermetic", "--updates", "delta", ...model, ...flags], env);
}

/** Milliseconds of cpu for one reply, after one that warms up. */
async function streamed(trial: Trial, api: ApiKind, body: string): Promise<number> {
	return serving([spoken(api, { text: ["warm"] }), body, spoken(api, { text: ["done"] })], async (url) => {
		const agent = startWith(api, url, trial);
		await agent.prompt("go");
		const before = cpuNs(agent.pid);
		await agent.prompt("go");
		const ms = (cpuNs(agent.pid) - before) / 1e6;
		await agent.end();
		return ms;
	});
}

/** 50,000 text deltas of each format, from the socket to stdout. */
const providerDeltas: Row = {
	name: "providers",
	rounds: 5,
	hasFloor: true,
	async measure(trial) {
		const count = 50_000;
		const text = Array.from({ length: count }, () => "lorem ipsum ");
		const readings: Reading[] = [];
		for (const api of ["anthropic", "chat", "responses", "google"] as const) {
			const micros = ((await streamed(trial, api, spoken(api, { text }))) * 1000) / count;
			readings.push({ what: `50,000 deltas, ${api}, cpu per delta`, value: micros, unit: "us", goal: { timesFloor: 2 } });
		}
		return readings;
	},
};

/** Tool arguments that arrive in many pieces: the cost of a piece must not grow. */
const argumentDeltas: Row = {
	name: "arguments",
	rounds: 7,
	hasFloor: true,
	async measure(trial) {
		const counts = [1000, 4000, 16_000];
		const costs: number[] = [];
		for (const count of counts) {
			const pieces = ['{"path":"x","content":"', ...Array.from({ length: count }, () => "lorem ipsum "), '"}'];
			// A tool that does not exist: the arguments are read and nothing is done with them.
			costs.push(await streamed(trial, "anthropic", spoken("anthropic", { call: { name: "nothing", arguments: pieces } })));
		}
		return [
			{ what: "16,000 argument deltas, cpu", value: costs[2] as number, unit: "ms", goal: { timesFloor: 2 } },
			{ what: "1,000 to 16,000 argument deltas, exponent", value: exponent(counts, costs), unit: "", isExponent: true, goal: { most: 1.05 } },
		];
	},
};

/** From a prompt to its first delta. */
const firstDelta: Row = {
	name: "first-delta",
	rounds: 3,
	hasFloor: true,
	async measure(trial) {
		return serving([spoken("anthropic", { text: ["hello"] })], async (url) => {
			const agent = startWith("anthropic", url, trial, ["--no-session", "--no-tools"]);
			const took: number[] = [];
			for (let round = 0; round < 60; round++) {
				const first = agent.line("text_delta");
				const settled = agent.line('"agent_settled"');
				const began = performance.now();
				agent.send({ id: "p", type: "prompt", message: "go" });
				await first;
				took.push(performance.now() - began);
				await settled;
			}
			await agent.end();
			// The first rounds load and warm what is needed.
			return [{ what: "prompt to first delta", value: median(took.slice(20)), unit: "ms" }];
		});
	},
};

/** About 200,000 tokens: more does not fit into the window of most models. */
const windowMessages = 1250;

/** Milliseconds of cpu from the start of a process to the request of its first prompt, and for one more tool turn after it. */
async function asked(trial: Trial, session: string): Promise<{ first: number; turn: number }> {
	const call = spoken("anthropic", { call: { name: "ls", arguments: ['{"path":"."}'] } });
	const text = spoken("anthropic", { text: ["done"] });
	const rounds = 8;
	const bodies = [text, ...Array.from({ length: rounds }, () => [call, text]).flat()];
	const file = join(trial.folder, session);
	copyFileSync(join(trial.shared, session), file);
	let pid = 0;
	let first: number | undefined;
	const onRequest = () => {
		first ??= cpuNs(pid) / 1e6;
	};
	return serving(
		bodies,
		async (url) => {
			const agent = startWith("anthropic", url, trial, ["--tools", "ls", "--session", file, "--set", "compaction.enabled=false"]);
			pid = agent.pid;
			await agent.prompt("go");
			const turns: number[] = [];
			for (let round = 0; round < rounds; round++) {
				const before = cpuNs(pid);
				await agent.prompt("go");
				// A prompt is two turns: the call, and the reply to its result.
				turns.push((cpuNs(pid) - before) / 1e6 / 2);
			}
			await agent.end();
			return { first: first ?? 0, turn: median(turns) };
		},
		onRequest,
	);
}

/** What a conversation that fills the window adds to the first prompt of a process, and to each turn. */
const fullWindow: Row = {
	name: "window",
	rounds: 9,
	hasFloor: true,
	prepare(shared) {
		const model = { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-4-6" };
		writeSession(join(shared, "full.jsonl"), windowMessages, { model });
		writeSession(join(shared, "empty.jsonl"), 0, { model });
	},
	async measure(trial) {
		const empty = await asked(trial, "empty.jsonl");
		const full = await asked(trial, "full.jsonl");
		return [
			{ what: "first prompt into 200,000 tokens, cpu above an empty one", value: full.first - empty.first, unit: "ms", goal: { timesFloor: 1.5 } },
			{ what: "tool turn after 200,000 tokens, cpu", value: full.turn, unit: "ms" },
		];
	},
};

export const providerRows: Row[] = [firstDelta, providerDeltas, argumentDeltas, fullWindow];
