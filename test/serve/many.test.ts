/** Many readers of one server, readers that want whole messages, and https. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { FullUpdates } from "../../src/serve/full-updates.ts";
import { later } from "../later.ts";
import { endServer, type Frame, opened, place, serve, spawnServer, type TestServer, type TestSocket, until } from "./support.ts";

const long = "word ".repeat(20_000);

describe("one server", () => {
	let server: TestServer;
	beforeAll(async () => {
		const replies = [
			{ when: { text: "slowly" }, text: long, pieceDelayMs: 20 },
			{ text: "some words to say", times: "always" },
		];
		server = await serve({ replies, isShared: true });
	}, 60_000);
	afterAll(() => endServer(server), 60_000);

	/** A stream of events that counts its results. */
	function listen(path: string, onResult: () => void): Promise<ClientRequest> {
		return new Promise((resolve, reject) => {
			const headers = { Authorization: `Bearer ${server.token}` };
			const sent = request({ host: "127.0.0.1", port: server.port, path, headers, agent: false }, (response) => {
				if (response.statusCode !== 200) reject(new Error(String(response.statusCode)));
				let text = "";
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => {
					text += chunk;
					if (text.includes('"type":"run_result"')) onResult();
					resolve(sent);
				});
				response.on("error", () => undefined); // It was closed here.
			});
			later(() => sent.destroy());
			sent.on("error", (error) => (sent.destroyed ? undefined : reject(error)));
			sent.end();
		});
	}

	test("256 readers get a run, the 257th is refused over every transport, and a place that is left is taken", async () => {
		const { id } = await server.create();
		const path = `/v1/sessions/${id}/events`;
		const heard = new Set<number>();
		const sockets = await Promise.all(Array.from({ length: 128 }, () => server.attach(id)));
		const streams = await Promise.all(Array.from({ length: 128 }, (_, index) => listen(path, () => void heard.add(index))));
		expect((await server.session(id)).readers).toBe(256);
		await expect(server.attach(id)).rejects.toThrow(/429 .*too_many_connections/);
		await expect(server.socket("/v1/socket")).rejects.toThrow(/429 .*too_many_connections/);
		for (const Accept of ["text/event-stream", "application/jsonl"]) {
			const refused = await server.ask("GET", path, undefined, { Accept });
			expect([refused.status, refused.json.error.code, refused.headers["retry-after"]]).toEqual([429, "too_many_connections", "5"]);
			expect(refused.json.error.message).toContain("Close one first");
		}
		// Requests that are answered at once need no place.
		expect((await server.prompt(id, "go")).json.result.status).toBe("completed");
		await until("all streams heard the end", () => heard.size === streams.length);
		const [first] = sockets;
		await first?.type("run_result");
		for (const socket of sockets) {
			await socket.type("run_result");
			expect(socket.durable).toEqual(first?.durable);
		}
		await sockets.pop()?.close();
		await until("the place is free", async () => (await server.session(id)).readers === 255);
		const late = await server.attach(id, "?after=0");
		await late.type("snapshot");
		expect(late.durable).toEqual(first?.durable);
		for (const socket of [late, ...sockets]) socket.socket.terminate();
		for (const stream of streams) stream.destroy();
		await until("all places are free", async () => (await server.session(id)).readers === 0);
	});

	test("updates=full: each update has the whole message, also for a reader that comes in the middle", async () => {
		const { id } = await server.create();
		const early = await server.attach(id, "?updates=full");
		await server.post(`/v1/sessions/${id}/prompts`, { message: "slowly" });
		const updatesOf = ({ frames }: TestSocket) => frames.filter(({ type }) => type === "message_update");
		await until("a few updates", () => updatesOf(early).length > 5);
		const readers = [early, await server.attach(id, "?updates=full"), await server.attach(id, "?updates=full&after=0")];
		for (const reader of readers) await until("a few updates", () => updatesOf(reader).length > 5);
		await server.post(`/v1/sessions/${id}/commands`, { type: "abort" });
		for (const reader of readers) {
			const { message } = await reader.find("the reply", ({ type, message: ended }) => type === "message_end" && ended.role === "assistant");
			let before = "";
			for (const update of updatesOf(reader)) {
				expect(update.assistantMessageEvent.partial).toEqual(update.message);
				const { text = "" } = update.message.content[0] ?? {};
				expect(text.startsWith(before)).toBe(true);
				expect(long.startsWith(text)).toBe(true);
				before = text;
			}
			expect(before).not.toBe("");
			expect(message.content[0].text.startsWith(before)).toBe(true);
			// A number comes once, and numbers rise.
			const numbers = reader.frames.flatMap(({ seq, type }) => (seq === undefined || type === "snapshot" ? [] : [seq]));
			expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		}
		await expect(server.attach(id, "?updates=some")).rejects.toThrow(/400 .*updates must be delta or full/);
	});
});

/** What a client makes of the deltas alone. */
const joined = (frames: readonly Frame[]) => frames.map(({ assistantMessageEvent: step }) => step?.delta ?? "").join("");

test("whole messages are at most 8 MB a second, the deltas still add up to the reply, and what is kept always comes", () => {
	let now = 0;
	const full = new FullUpdates(() => now);
	const pass = (frame: object) =>
		full
			.push({ json: JSON.stringify(frame), seq: (frame as Frame).seq })
			.map(({ json }) => ({ ...(JSON.parse(json) as Frame), length: json.length }));
	const message = { role: "assistant", content: [] };
	pass({ seq: 1, type: "message_start", message });
	pass({ seq: 2, type: "message_update", assistantMessageEvent: { type: "text_start", contentIndex: 0 } });
	const sent: (Frame & { length: number })[] = [];
	for (let seq = 3; seq < 2003; seq++) {
		now++;
		sent.push(...pass({ seq, type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "x".repeat(1000) } }));
	}
	const bytes = sent.reduce((sum, { length }) => sum + length, 0);
	// Two seconds of a message that grows to 2 MB, told twice in each update.
	expect(bytes).toBeGreaterThan(8 * 1024 * 1024);
	expect(bytes).toBeLessThan(2 * 8 * 1024 * 1024 + 2 * 4_100_000);
	const blockEnd = {
		seq: 2990,
		type: "message_update",
		assistantMessageEvent: { type: "text_end", contentIndex: 0, content: "x".repeat(2_000_000) },
	};
	sent.push(...pass(blockEnd));
	expect(joined(sent)).toBe("x".repeat(2_000_000));
	expect(sent.at(-1)).toMatchObject({ seq: 2990, assistantMessageEvent: { type: "text_end" } });
	const end = { seq: 3000, type: "message_end", message };
	expect(pass(end)).toEqual([{ ...end, length: JSON.stringify(end).length }]);
	full.close();
});

test("updates=full: deltas that come faster than whole messages can be sent are joined, also while the model pauses", async () => {
	const words = (letter: string) => Array.from({ length: 400 }, (_, index) => `${letter}${index} `).join("");
	const call = { tool: "bash", arguments: { command: `echo ${"c".repeat(40_000)} >/dev/null` } };
	const server = await serve({
		replies: [{ blocks: [{ thinking: words("t").repeat(40) }, { text: words("a").repeat(80) }, call] }, { text: words("b") }],
	});
	const { id } = await server.create();
	const filtered = await server.attach(id, "?updates=full");
	expect(await filtered.ask({ type: "set_event_filter", events: ["message_update", "run_result"] })).toMatchObject({ success: true });
	const readers = [await server.attach(id, "?updates=full"), filtered];
	await server.prompt(id, "go");
	for (const reader of readers) {
		await reader.type("run_result");
		const updates = reader.frames.filter(({ type }) => type === "message_update");
		const of = (step: string) => joined(updates.filter(({ assistantMessageEvent }) => assistantMessageEvent.type === step));
		expect(of("thinking_delta")).toBe(words("t").repeat(40));
		expect(of("text_delta")).toBe(words("a").repeat(80) + words("b"));
		expect(JSON.parse(of("toolcall_delta"))).toEqual(call.arguments);
		// Each block has its beginning and its end.
		const steps = updates.map(({ assistantMessageEvent }) => assistantMessageEvent.type).filter((type) => !type.endsWith("_delta"));
		expect(steps).toEqual(["thinking", "text", "toolcall", "text"].flatMap((block) => [`${block}_start`, `${block}_end`]));
		for (const { message, assistantMessageEvent } of updates) expect(assistantMessageEvent.partial).toEqual(message);
		expect(updates.every(({ message }) => message?.role === "assistant")).toBe(true);
	}
	// The model says nothing more in the middle of a block: what it said so far comes all the same.
	const said = words("z").repeat(200);
	const silent = await serve({ replies: [{ blocks: [{ text: said, pieces: 5000 }], stall: "mid-block" }] });
	const { id: second } = await silent.create();
	const reader = await silent.attach(second, "?updates=full");
	await silent.post(`/v1/sessions/${second}/prompts`, { message: "go" });
	await until("all that was said", () => joined(reader.frames) === said);
});

test("https: the page, requests and sockets over TLS; half a pair and a wrong file are refused with words", async () => {
	const at = place();
	const [cert, key] = [join(at.cwd, "cert.pem"), join(at.cwd, "key.pem")];
	const pair = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
	try {
		execFileSync("openssl", [...pair, "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert], { stdio: "pipe" });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return; // A machine without openssl cannot make a certificate.
		throw error;
	}
	const server = await serve({ at, replies: [{ text: "over TLS" }], args: ["--tls-cert", cert, "--tls-key", key] });
	expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
	const ca = readFileSync(cert);
	const bearer = { Authorization: `Bearer ${server.token}` };
	const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
		new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
			const all = { ...bearer, ...(body && { "Content-Type": "application/json" }), ...headers };
			const sent = secureRequest({ method, path, host: "127.0.0.1", port: server.port, ca, headers: all, agent: false }, (response) => {
				let text = "";
				response.setEncoding("utf8");
				response.on("data", (chunk: string) => (text += chunk));
				response.on("end", () => resolve({ status: response.statusCode, text }));
			});
			sent.on("error", reject);
			sent.end(body && JSON.stringify(body));
		});
	expect(await ask("GET", "/healthz")).toEqual({ status: 200, text: "ok" });
	// An origin of this server has its scheme.
	expect((await ask("GET", "/v1/info", undefined, { Origin: server.url })).status).toBe(200);
	expect((await ask("GET", "/v1/info", undefined, { Origin: server.url.replace("https", "http") })).status).toBe(403);
	const created = await ask("POST", "/v1/sessions", { cwd: at.cwd });
	const { id } = JSON.parse(created.text) as { id: string };
	const socket = await opened(new WebSocket(`wss://127.0.0.1:${server.port}/v1/sessions/${id}/socket?mode=write`, { ca, headers: bearer }));
	await socket.ask({ type: "prompt", message: "go" });
	expect(await socket.type("run_result")).toMatchObject({ status: "completed" });
	const lines = await ask("GET", `/v1/sessions/${id}/events?after=0`, undefined, { Accept: "application/jsonl" });
	expect(
		lines.text
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line)),
	).toEqual(socket.durable);
	// Plain HTTP gets no data, and the server goes on.
	const plain = await server.get("/v1/info").catch((error: Error) => error);
	expect(plain).not.toMatchObject({ status: 200 });
	expect((await ask("GET", "/readyz")).text).toBe("ready");
	await socket.close();
	expect(await server.stop()).toBe(0);
	const refusals: [args: string[], code: number, words: string][] = [
		[["--tls-cert", cert], 2, "--tls-cert and --tls-key belong together: pass both."],
		[["--tls-cert", cert, "--tls-key", join(at.cwd, "missing.pem")], 2, "missing.pem"],
		[["--tls-cert", cert, "--tls-key", cert], 1, "--tls-key"],
	];
	await Promise.all(
		refusals.map(async ([args, code, words], index) => {
			const refused = spawnServer({ at, args: ["--name", `refused${index}`, ...args] });
			expect([await refused.exited, args]).toEqual([code, args]);
			expect(refused.err).toContain(words);
		}),
	);
});

test("a filter in the address of a socket holds for its first frames", async () => {
	const server = await serve({ replies: [{ text: "a reply" }] });
	const { id } = await server.create();
	const reader = await server.attach(id, "?after=0&events=agent_*,run_result");
	await server.prompt(id, "go");
	await reader.type("run_result");
	const events = reader.frames.map(({ type }) => type).filter((type) => /^(agent|turn|message|run|tool)_/.test(type));
	expect(new Set(events)).toEqual(new Set(["agent_start", "agent_end", "agent_settled", "run_result"]));
});
