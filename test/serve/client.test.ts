import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Client, type ConnectOptions, connectClient, ServerError, serverClient } from "../../src/client/index.ts";
import { later } from "../later.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { place, type Start, serve, type TestServer, until } from "./support.ts";

async function connect(options: ConnectOptions): Promise<Client> {
	const client = await connectClient(options);
	later(() => client.close());
	return client;
}

/** Frames that are kept, as a client saw them. */
function recorded(client: Client): { type: string; seq?: number }[] {
	const frames: { type: string; seq?: number }[] = [];
	client.on("event", (frame) => void frames.push(frame as never));
	return frames;
}

const numbersOf = (frames: { type: string; seq?: number }[]) =>
	frames.flatMap(({ seq, type }) => (seq === undefined || type === "snapshot" ? [] : [seq]));
const count = (frames: { type: string }[], type: string) => frames.filter((frame) => frame.type === type).length;
const isIncreasing = (numbers: number[]) => numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number));

async function proxied(start: Start): Promise<{ server: TestServer; proxy: CuttingProxy; options: Pick<ConnectOptions, "url" | "token"> }> {
	const server = await serve(start);
	const proxy = await new CuttingProxy(() => server.port).listen(later);
	return { server, proxy, options: { url: proxy.url, token: server.token } };
}

test("a session of a server is a client like any other: prompts, tools of the host, and the session lives on", async () => {
	const server = await serve({ replies: [{ blocks: [{ tool: "add", arguments: { a: 2, b: 3 } }] }, { text: "five" }, { text: "again" }] });
	const client = await connect({ url: server.url, token: server.token, session: { cwd: server.at.cwd }, name: "first" });
	await client.setCustomTools([
		{
			name: "add",
			description: "Adds.",
			parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
			execute: ({ a, b }) => String(Number(a) + Number(b)),
		},
	]);
	const { text } = await client.promptAndWait("2 + 3");
	expect(text).toBe("five");
	const { sessionId } = await client.getState();
	expect((await server.session(sessionId)).seat?.name).toBe("first");
	expect(await client.close()).toMatchObject({ code: 0 });
	// The seat was given back: the next one need not wait.
	const next = await connect({ url: server.url, token: server.token, session: sessionId });
	expect((await next.promptAndWait("more")).text).toBe("again");
	expect((await server.session(sessionId)).state).toBe("idle");
});

test("wrong servers, tokens and sessions are refused with words", async () => {
	const server = await serve();
	const session = await server.create();
	const refused = (options: Partial<ConnectOptions>) =>
		connectClient({ url: server.url, token: server.token, session: session.id, ...options }).then(
			() => undefined,
			(error: unknown) => error as ServerError,
		);
	expect(await refused({ token: "wrong" })).toMatchObject({ name: "ServerError", status: 401 });
	expect(await refused({ session: "00000000-0000-7000-8000-000000000000" })).toMatchObject({ status: 404, code: "no_session" });
	expect(await refused({ session: { cwd: "/" } })).toMatchObject({ status: 422, code: "outside_roots" });
	expect((await refused({ url: "http://127.0.0.1:1" }))?.message).toContain("bowline serve");
	expect((await refused({ url: "ftp://example" }))?.message).toContain("http://127.0.0.1:7717");
	expect((await refused({ url: `${server.url}/?token=${server.token}` }))?.message).toContain("token");
	const driver = await connect({ url: server.url, token: server.token, session: session.id, name: "driver" });
	expect(await refused({})).toMatchObject({ status: 409, code: "seat_taken", message: expect.stringContaining("driver") });
	// Readers are always welcome, and may not drive.
	const reader = await connect({ url: server.url, token: server.token, session: session.id, mode: "read" });
	await expect(reader.prompt({ message: "no" })).rejects.toMatchObject({ code: "seat_taken" });
	expect((await reader.getState()).sessionId).toBe(session.id);
	const lost = new Promise((resolve) => driver.on("seat", (seat) => (seat.by === undefined ? undefined : resolve(seat))));
	await connect({ url: server.url, token: server.token, session: session.id, name: "other", takeover: true });
	expect(await lost).toMatchObject({ held: false, by: "other" });
	await expect(driver.prompt({ message: "no" })).rejects.toMatchObject({ code: "seat_taken" });
});

test("with a WebSocket of the platform a ticket stands for the token, and refusals keep their words", async () => {
	const server = await serve({ replies: [{ text: "hello" }] });
	const session = await server.create();
	const scope = globalThis as { WebSocket?: unknown };
	const before = scope.WebSocket;
	const seen: unknown[] = [];
	scope.WebSocket = class extends WebSocket {
		constructor(url: string, protocols: string[]) {
			super(url, protocols, { perMessageDeflate: false });
			seen.push(url, protocols);
		}
	};
	try {
		const client = await connect({ url: server.url, token: server.token, session: session.id });
		expect((await client.promptAndWait("hi")).text).toBe("hello");
		await expect(connectClient({ url: server.url, token: server.token, session: session.id })).rejects.toMatchObject({ code: "seat_taken" });
		await expect(connectClient({ url: server.url, token: "wrong", session: session.id })).rejects.toMatchObject({ status: 401 });
		await client.close();
	} finally {
		scope.WebSocket = before;
	}
	expect(JSON.stringify(seen)).not.toContain(server.token);
});

test("a connection that is cut comes back: every kept frame once, every command answered, a tool of the host runs once", async () => {
	const replies = [{ blocks: [{ tool: "slow", arguments: {} }] }, { repeat: { text: "word ", count: 40 }, pieceDelayMs: 20 }, { text: "second" }];
	const { server, proxy, options } = await proxied({ replies });
	const session = await server.create();
	const witness = await server.attach(session.id, "?after=0");
	const client = await connect({ ...options, session: session.id });
	const frames = recorded(client);
	let runs = 0;
	let finish: (text: string) => void = () => undefined;
	await client.setCustomTools([
		{
			name: "slow",
			description: "Waits.",
			parameters: { type: "object" },
			execute: () => {
				runs++;
				return new Promise<string>((resolve) => (finish = resolve));
			},
		},
	]);
	const done = client.promptAndWait("go");
	await until("the tool runs", () => runs === 1);
	proxy.cut();
	// The answer is given while there is no connection.
	finish("done");
	let isCut = false;
	client.on("message_update", () => {
		if (isCut) return;
		isCut = true;
		proxy.cut();
	});
	expect((await done).text).toBe("word ".repeat(40));
	const asked = client.getState();
	proxy.cut();
	expect((await asked).sessionId).toBe(session.id);
	expect((await client.promptAndWait("more")).text).toBe("second");
	expect(runs).toBe(1);
	expect(proxy.cuts).toBeGreaterThanOrEqual(3);
	await until("the witness saw both runs", () => count(witness.durable, "agent_settled") === 2);
	const kept = frames.filter(({ type, seq }) => seq !== undefined && witness.durable.some((frame) => frame.seq === seq && frame.type === type));
	const expected = witness.durable.filter(({ seq }) => seq > (kept[0]?.seq ?? 0) - 1);
	expect(kept.map(({ type, seq }) => `${seq} ${type}`)).toEqual(expected.map(({ type, seq }) => `${seq} ${type}`));
	expect(isIncreasing(numbersOf(frames))).toBe(true);
});

test("a prompt whose answer was lost is not run twice", async () => {
	const { server, proxy, options } = await proxied({ replies: [{ text: "only once" }, { text: "twice" }] });
	const session = await server.create();
	const client = await connect({ ...options, session: session.id });
	const frames = recorded(client);
	// What is said at the beginning has been said.
	await client.getState();
	// The command goes through; the first byte of the answer does not matter any more.
	proxy.onBytes = () => {
		proxy.onBytes = () => undefined;
		proxy.cut();
	};
	const { text } = await client.promptAndWait("go");
	expect(text).toBe("only once");
	await client.waitForIdle();
	expect(count(frames, "agent_start")).toBe(1);
	const { messages } = await client.getMessages();
	expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
});

test("an approval that was lost on its way is sent again, and a client that is back at once can still be asked", async () => {
	const { server, proxy, options } = await proxied({
		replies: [{ blocks: [{ tool: "bash", arguments: { command: "echo hi" } }] }, { text: "done" }],
		args: ["--permission-mode", "ask"],
	});
	const session = await server.create();
	const asked: string[] = [];
	const client = await connect({
		...options,
		session: session.id,
		onPermission: ({ id }) => {
			asked.push(id);
			// The answer is sent, and never arrives.
			proxy.onSent = () => {
				proxy.onSent = () => undefined;
				proxy.cut();
			};
			return { decision: "allow" };
		},
	});
	const { messages } = await client.promptAndWait("go");
	expect(messages.flatMap((message) => (message.role === "toolResult" ? [JSON.stringify(message.content)] : []))).toEqual([
		expect.stringContaining("hi"),
	]);
	expect(asked).toHaveLength(1);
	expect(proxy.cuts).toBe(1);
});

test("a connection that does not come back ends the client with words; what is too long for a server is refused alone", async () => {
	const { server, proxy, options } = await proxied({});
	const session = await server.create();
	const client = await connect({ ...options, session: session.id, reconnectTimeoutMs: 300 });
	await expect(client.prompt({ message: "x".repeat(33 * 1024 * 1024) })).rejects.toMatchObject({ code: "too_long" });
	expect((await client.getState()).messageCount).toBe(0);
	await server.stop("SIGKILL");
	proxy.cut();
	await expect(client.bash({ command: "true" })).rejects.toThrow("did not come back within 300 ms");
	expect((await client.exited).cause).toMatchObject({ name: "ServerError", code: "unreachable" });
});

test("a fork takes the client that drives along, also over a cut; a reader stays", async () => {
	const { server, proxy, options } = await proxied({ replies: [{ when: { text: "second" }, text: "two" }, { text: "one" }] });
	const session = await server.create();
	const client = await connect({ ...options, session: session.id });
	const reader = await connect({ ...options, session: session.id, mode: "read" });
	await client.promptAndWait("first");
	const moves: unknown[] = [];
	client.on("session_moved", (move) => void moves.push(move));
	await client.newSession();
	const { sessionId } = await client.getState();
	expect(sessionId).not.toBe(session.id);
	proxy.cut();
	expect((await client.promptAndWait("second")).text).toBe("two");
	expect((await client.getState()).sessionId).toBe(sessionId);
	expect(moves).toEqual([{ type: "session_moved", from: session.id, to: sessionId }]);
	expect((await reader.getMessages()).messages).toHaveLength(2);
});

test("a command that goes to another session and whose answer was lost is not done twice: over sockets, HTTP and a restart", async () => {
	const start = {
		at: place(),
		replies: [
			{ when: { text: "third" }, text: "three" },
			{ text: "one", times: "always" },
		],
	};
	const { server, proxy, options } = await proxied(start);
	const session = await server.create();
	const client = await connect({ ...options, session: session.id });
	await client.promptAndWait("first");
	const moves: { from: string; to: string }[] = [];
	client.on("session_moved", (move) => void moves.push(move as never));
	const listed = async () => ((await server.ask("GET", "/v1/sessions")).json.sessions as { id: string }[]).map(({ id }) => id);
	const lost = async <T>(command: () => Promise<T>): Promise<T> => {
		const { length } = await listed();
		proxy.isDeaf = true;
		const answer = command();
		await until("the agent went on", async () => (await listed()).length > length);
		proxy.isDeaf = false;
		proxy.cut();
		return answer;
	};
	// The command that follows goes to the session that the first one opens, also when both are sent again.
	let named: Promise<unknown> = Promise.resolve();
	const opened = await lost(() => {
		const answer = client.newSession();
		named = client.setSessionName({ name: "second" });
		return answer;
	});
	await named;
	expect(opened).toMatchObject({ cancelled: false, duplicate: true });
	const second = await client.getState();
	expect(second.sessionName).toBe("second");
	expect(moves).toEqual([{ type: "session_moved", from: session.id, to: second.sessionId }]);
	expect((await client.promptAndWait("again")).text).toBe("one");
	const [entry] = (await client.getForkMessages()).messages;
	expect(await lost(() => client.fork({ entryId: (entry as { entryId: string }).entryId }))).toMatchObject({ text: "again", duplicate: true });
	const third = (await client.getState()).sessionId;
	expect(moves.map(({ from, to }) => [from, to])).toEqual([
		[session.id, second.sessionId],
		[second.sessionId, third],
	]);
	expect(await listed()).toHaveLength(3);
	expect((await client.promptAndWait("third")).text).toBe("three");
	await client.close();
	await until("the seat is free", async () => (await server.ask("GET", `/v1/sessions/${third}`)).json.seat === null);
	// Over HTTP: the key leads to where the agent went, also with another server and another agent.
	const send = async (to: TestServer) => (await to.ask("POST", `/v1/sessions/${third}/commands`, { type: "clone", key: "once" })).json;
	const first = await send(server);
	expect(first).toMatchObject({ success: true, data: { cancelled: false } });
	expect(first.data.duplicate).toBeUndefined();
	expect(await send(server)).toMatchObject({ success: true, data: { cancelled: false, duplicate: true } });
	await server.stop("SIGKILL");
	const next = await serve(start);
	expect(await send(next)).toMatchObject({ success: true, data: { cancelled: false, duplicate: true } });
	expect((await next.ask("GET", "/v1/sessions")).json.sessions).toHaveLength(4);
});

test("a server that is killed in the middle of a run and started again: the client catches up, nothing comes twice", async () => {
	const replies = [{ repeat: { text: "slowly ", count: 60 }, pieceDelayMs: 50 }, { text: "after the restart" }];
	const first = await serve({ replies });
	let server = first;
	const proxy = await new CuttingProxy(() => server.port).listen(later);
	const session = await first.create();
	const client = await connect({ url: proxy.url, token: first.token, session: session.id });
	const frames = recorded(client);
	const settled = new Promise((resolve) => client.on("agent_settled", resolve));
	await client.prompt({ message: "go" });
	await until("it streams", () => count(frames, "message_update") > 2);
	await first.stop("SIGKILL");
	server = await serve({ at: first.at });
	await settled;
	expect((await client.promptAndWait("more")).stopReason).toBeDefined();
	expect(isIncreasing(numbersOf(frames))).toBe(true);
	expect(count(frames, "agent_start")).toBe(2);
	expect(count(frames, "agent_settled")).toBe(2);
	expect(await serverClient({ url: proxy.url, token: first.token }).session(session.id)).toMatchObject({ id: session.id });
});

test("exited resolves when the session is deleted, not when a connection is lost", async () => {
	const { server, proxy, options } = await proxied({});
	const session = await server.create();
	const client = await connect({ ...options, session: session.id });
	let isOver = false;
	void client.exited.then(() => (isOver = true));
	proxy.cut();
	expect((await client.getState()).sessionId).toBe(session.id);
	expect(isOver).toBe(false);
	await serverClient(options).stop(session.id);
	await serverClient(options).remove(session.id);
	const exit = await client.exited;
	expect(exit.cause).toBeInstanceOf(ServerError);
	await expect(client.getState()).rejects.toThrow("deleted");
});

test("two clients with the same ids: every request is answered once, to its asker", async () => {
	const server = await serve();
	const session = await server.create();
	const sockets = await Promise.all([server.attach(session.id, "?mode=write"), server.attach(session.id), server.attach(session.id)]);
	const names = ["get_state", "get_messages", "get_session_stats", "get_available_models"];
	for (let round = 0; round < 25; round++)
		for (const [index, socket] of sockets.entries()) socket.send({ id: `req_${round}`, type: names[(round + index) % names.length] });
	for (const [index, socket] of sockets.entries()) {
		const answers = await until("all answers", () => {
			const found = socket.frames.filter(({ type }) => type === "response");
			return found.length >= 25 ? found : undefined;
		});
		expect(answers.map(({ id, command }) => `${id} ${command}`).sort()).toEqual(
			Array.from({ length: 25 }, (_, round) => `req_${round} ${names[(round + index) % names.length]}`).sort(),
		);
	}
});

test("the endpoints as functions", async () => {
	const server = await serve({ replies: [{ text: "by request" }] });
	const api = serverClient({ url: server.url, token: server.token });
	expect(await api.info()).toMatchObject({ protocol: 1, scope: "admin" });
	const session = await api.create({ cwd: server.at.cwd, name: "made" }, { key: "k1" });
	expect((await api.create({ cwd: server.at.cwd, name: "made" }, { key: "k1" })).id).toBe(session.id);
	expect(await api.prompt(session.id, { message: "go" }, { waitSeconds: 30 })).toMatchObject({ text: "by request" });
	expect(await api.command(session.id, "get_state")).toMatchObject({ success: true, data: { sessionId: session.id } });
	expect((await api.sessions({ q: "made" })).sessions.map(({ id }) => id)).toEqual([session.id]);
	const types: string[] = [];
	for await (const frame of api.events(session.id, { after: 0 })) types.push(frame.type);
	expect(types).toContain("agent_end");
	expect((await api.entries(session.id, { tail: 10 })).entries.length).toBeGreaterThan(1);
	expect(await api.exportHtml(session.id)).toContain("by request");
	expect(await api.artifacts(session.id)).toEqual({ artifacts: [] });
	expect(await api.metrics()).toContain("bowline_sessions");
	await expect(api.session("nope")).rejects.toMatchObject({ status: 404 });
	expect((await api.stop(session.id)).id).toBe(session.id);
	await server.inState(session.id, "asleep");
	await api.remove(session.id);
	await expect(api.session(session.id)).rejects.toMatchObject({ name: "ServerError" });
});
