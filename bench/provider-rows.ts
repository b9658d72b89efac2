/** Rows about real wire formats, against a server on the loopback. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ApiKind, askedBy, spoken } from "../test/models/wire.ts";
import { cpuNs, inFolder, program, Running } from "./process.ts";
import { writeSession } from "./session-rows.ts";
import { type Figure, median } from "./table.ts";

/** A server that answers each POST with the next body (the last one serves all that follow). */
async function serving<T>(bodies: string[], work: (url: string) => Promise<T>): Promise<T> {
	const server = createServer((request, response) => {
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

function startWith(api: ApiKind, url: string, folder: string, flags: string[] = []): Running {
	const { flags: model, env } = askedBy(api, url, "bench-key-0123456789");
	return new Running(folder, [program, "--mode", "rpc", "--hermetic", "--no-session", "--updates", "delta", ...model, ...flags], env);
}

/** One prompt to its end. */
async function prompt(agent: Running): Promise<void> {
	const settled = agent.line('"agent_settled"');
	agent.send({ id: "p", type: "prompt", message: "go" });
	await settled;
}

async function streamed(api: ApiKind, body: string, deltas: number): Promise<number> {
	return serving([spoken(api, { text: ["warm"] }), body, spoken(api, { text: ["done"] })], (url) =>
		inFolder(async (folder) => {
			const agent = startWith(api, url, folder);
			await prompt(agent);
			const before = cpuNs(agent.pid);
			await prompt(agent);
			const micros = (cpuNs(agent.pid) - before) / 1000 / deltas;
			await agent.end();
			return micros;
		}),
	);
}

/** 50,000 text deltas of each format, from the socket to stdout. */
export async function providerDeltas(): Promise<Figure[]> {
	const count = 50_000;
	const text = Array.from({ length: count }, () => "lorem ipsum ");
	const figures: Figure[] = [];
	for (const api of ["anthropic", "chat", "responses", "google"] as const) {
		const body = spoken(api, { text });
		const micros = median([await streamed(api, body, count), await streamed(api, body, count), await streamed(api, body, count)]);
		figures.push({ what: `50,000 deltas, ${api}, cpu per delta`, value: `${micros.toFixed(2)} us`, goal: "<= 14 us", isMet: micros <= 14 });
	}
	return figures;
}

/** Tool arguments that arrive in 4,000 and in 16,000 pieces: cost per piece must not grow. */
export async function argumentDeltas(): Promise<Figure[]> {
	const measure = async (count: number) => {
		const pieces = ['{"path":"x","content":"', ...Array.from({ length: count }, () => "lorem ipsum "), '"}'];
		// A tool that does not exist: the arguments are read and nothing is done with them.
		return streamed("anthropic", spoken("anthropic", { call: { name: "nothing", arguments: pieces } }), count);
	};
	const small = median([await measure(4000), await measure(4000), await measure(4000)]);
	const large = median([await measure(16_000), await measure(16_000), await measure(16_000)]);
	return [
		{
			what: "16,000 argument deltas, cpu per delta",
			value: `${large.toFixed(2)} us`,
			against: `4,000: ${small.toFixed(2)} us`,
			ratio: (large / small).toFixed(2),
			goal: "<= 14 us, linear",
			isMet: large <= 14,
		},
	];
}

/** From a prompt to its first delta, beside a bare reader of the same stream. */
export async function firstDelta(): Promise<Figure[]> {
	const body = spoken("anthropic", { text: ["hello"] });
	return serving([body], (url) =>
		inFolder(async (folder) => {
			const agent = startWith("anthropic", url, folder, ["--no-tools"]);
			const bare = new Running(folder, [join(import.meta.dirname, "../bench/bare-http.cjs"), url]);
			await bare.line("ready");
			const latency = async (process: Running) => {
				const first = process.line("text_delta");
				const settled = process.line('"agent_settled"');
				const began = performance.now();
				process.send({ id: "p", type: "prompt", message: "go" });
				await first;
				const took = performance.now() - began;
				await settled;
				return took;
			};
			const ours: number[] = [];
			const theirs: number[] = [];
			for (let round = 0; round < 60; round++) {
				ours.push(await latency(agent));
				theirs.push(await latency(bare));
			}
			await agent.end();
			await bare.end();
			// The first rounds load and warm what is needed.
			const over = median(ours.slice(20)) - median(theirs.slice(20));
			return [
				{
					what: "prompt to first delta",
					value: `${median(ours.slice(20)).toFixed(2)} ms`,
					against: `bare node:http ${median(theirs.slice(20)).toFixed(2)} ms`,
					ratio: `+${over.toFixed(2)} ms`,
					goal: "<= 1.5 ms over it",
					isMet: over <= 1.5,
				},
			];
		}),
	);
}

/** One more tool turn at the end of a conversation of 10,000 messages. */
export async function longConversation(): Promise<Figure[]> {
	const call = spoken("anthropic", { call: { name: "ls", arguments: ['{"path":"."}'] } });
	const text = spoken("anthropic", { text: ["done"] });
	const rounds = 12;
	return serving([call, text].concat(Array.from({ length: rounds }, () => [call, text]).flat()), (url) =>
		inFolder(async (folder) => {
			const file = join(folder, "long.jsonl");
			writeSession(file, 10_000, { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-4-6" });
			const { flags, env } = askedBy("anthropic", url, "bench-key-0123456789");
			const args = [program, "--mode", "rpc", "--hermetic", "--updates", "delta", "--tools", "ls", "--session", file, ...flags];
			const agent = new Running(folder, [...args, "--set", "compaction.enabled=false"], env);
			await prompt(agent);
			const turns: number[] = [];
			for (let round = 0; round < rounds; round++) {
				const before = cpuNs(agent.pid);
				await prompt(agent);
				// A prompt is two turns: the call, and the reply to its result.
				turns.push((cpuNs(agent.pid) - before) / 1e6 / 2);
			}
			await agent.end();
			const cpu = median(turns);
			return [{ what: "tool turn after 10,000 messages, cpu", value: `${cpu.toFixed(1)} ms`, goal: "<= 15 ms", isMet: cpu <= 15 }];
		}),
	);
}
