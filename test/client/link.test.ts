/** A client of a server that says what the test wants: what comes late, what was open before, what a lost connection takes with it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type Client, connectClient } from "../../src/client/index.ts";
import { type LinkFrame, SessionLink } from "../../src/client/link.ts";
import { ServerAddress } from "../../src/client/server-address.ts";

type Sent = { type: string; id?: string; key?: string } & Record<string, unknown>;
type Peer = { say: (frame: object) => void; cut: () => void; query: URLSearchParams; index: number };

const ends: (() => unknown)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

/** Answers every command that `on` does not answer. `heard` has all of them. */
async function fakeServer(on: (frame: Sent, peer: Peer) => boolean | undefined, opened: (peer: Peer) => void = () => undefined) {
	const heard: Sent[] = [];
	const http = createServer();
	const sockets = new WebSocketServer({ server: http });
	let count = 0;
	sockets.on("connection", (socket: WebSocket, { url = "" }) => {
		const say = (frame: object) => socket.send(JSON.stringify(frame));
		const peer = { say, cut: () => socket.terminate(), query: new URL(url, "http://x").searchParams, index: count++ };
		socket.on("message", (data) => {
			const frame = JSON.parse(String(data)) as Sent;
			heard.push(frame);
			if (!on(frame, peer) && !frame.type.endsWith("_response"))
				say({ asOf: 1, id: frame.id, type: "response", command: frame.type, success: true, data: {} });
		});
		say({ type: "ready", sessionId: "s", epoch: 1, asOf: 1, state: "idle" });
		opened(peer);
	});
	await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
	ends.push(() => {
		for (const socket of sockets.clients) socket.terminate();
		http.close();
	});
	return { heard, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

async function connect(url: string): Promise<Client> {
	const client = await connectClient({ url, token: "t", session: "s" });
	ends.push(() => client.close());
	return client;
}

const live = (dialogs: object[]) => ({ phase: "running", tools: [], dialogs, queue: { steering: [], followUp: [] }, todoPhases: [], subagents: [] });
const dialog = { type: "extension_ui_request", id: "d1", method: "confirm", title: "Sure?", message: "" };
const approval = { id: "p1", toolCallId: "c1", toolName: "bash", digest: "x", args: {}, summary: "echo" };

async function until<T>(look: () => T | undefined | false): Promise<T> {
	for (;;) {
		const found = look();
		if (found) return found;
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

test("a failure after the acceptance that a cut took along is told by the result of the run, once", async () => {
	const { url, heard } = await fakeServer(
		(frame, { say, cut, index }) => {
			if (frame.type !== "prompt") return false;
			say({ asOf: 1, id: frame.id, type: "response", command: "prompt", success: true, data: { disposition: "started", runId: "r_1" } });
			// The second time the failure itself arrives.
			if (index > 0) say({ asOf: 1, id: frame.id, type: "response", command: "prompt", success: false, error: "No key." });
			if (index > 0)
				say({ seq: 6, type: "run_result", runId: "r_1", status: "error", error: { kind: "refused", message: "No key.", retryable: false } });
			else setImmediate(cut);
			return true;
		},
		({ say, query }) => {
			if (query.get("after") !== "1") return;
			say({
				seq: 5,
				type: "run_result",
				runId: "r_1",
				status: "error",
				error: { kind: "refused", message: "No key for it.", code: "no_key", retryable: false },
			});
			say({ type: "snapshot", seq: 5, epoch: 1, live: live([]) });
		},
	);
	const client = await connect(url);
	const late: unknown[] = [];
	client.on("response", (response) => void late.push(response));
	await expect(client.promptAndWait("go")).rejects.toMatchObject({ text: "No key for it.", code: "no_key" });
	await expect(client.promptAndWait("again")).rejects.toThrow("No key.");
	await client.getState();
	expect(heard.filter(({ type }) => type === "prompt")).toHaveLength(2);
	// Those that belong to an answered request are told to listeners: one each.
	expect(late).toHaveLength(2);
});

test("questions that were open before the client came are asked as soon as it has a handler, and once", async () => {
	const { url, heard } = await fakeServer((frame, { say }) => {
		if (frame.type !== "subscribe") return false;
		say({ asOf: 1, id: frame.id, type: "response", command: "subscribe", success: true, data: { replayTo: 1, firstSeq: 1, epoch: 1 } });
		say({ type: "snapshot", seq: 1, epoch: 1, live: live([dialog, approval]) });
		return true;
	});
	const client = await connect(url);
	await client.getState();
	// Without a handler they stay open: another client may answer.
	expect(heard.map(({ type }) => type)).toEqual(["subscribe", "get_state"]);
	const asked: string[] = [];
	client.onDialog(({ id }) => {
		asked.push(id);
		return true;
	});
	await client.onPermission(({ id }) => {
		asked.push(id);
		return { decision: "allow" };
	});
	await until(() => heard.some(({ type }) => type === "permission_response"));
	expect(asked).toEqual(["d1", "p1"]);
	expect(heard.filter(({ type }) => type.endsWith("_response"))).toEqual([
		{ type: "extension_ui_response", id: "d1", confirmed: true },
		{ type: "permission_response", id: "p1", digest: "x", decision: "allow" },
	]);
});

test("behind a bridge they come as if they were asked now: approvals after hello, and no snapshot that a process would not send", async () => {
	const { url } = await fakeServer((frame, { say }) => {
		if (frame.type !== "subscribe") return false;
		say({ type: "snapshot", seq: 1, epoch: 1, live: live([dialog, approval]) });
		return true;
	});
	const frames: LinkFrame[] = [];
	const address = new ServerAddress({ url, token: "t" });
	const link = new SessionLink(
		{ address, session: "s", mode: "write", asksAgain: true },
		{ frame: (frame) => void frames.push(frame), end: () => undefined },
	);
	ends.push(() => link.close());
	await until(() => frames.some(({ id }) => id === "d1"));
	link.send(JSON.stringify({ id: 1, type: "hello", capabilities: { permissions: 1 } }));
	await until(() => frames.some(({ id }) => id === "p1"));
	expect(frames.map(({ type }) => type)).toEqual(["ready", "extension_ui_request", "response", "permission_request"]);
});

test("a filter holds from the first frame of the next connection on", async () => {
	const queries: (string | null)[] = [];
	const { url } = await fakeServer(
		(frame, { say, cut }) => {
			if (frame.type !== "set_event_filter" || frame.id?.startsWith("again")) return false;
			say({ asOf: 1, id: frame.id, type: "response", command: frame.type, success: true, data: { events: frame.events } });
			setImmediate(cut);
			return true;
		},
		({ query }) => void queries.push(query.get("events")),
	);
	const client = await connect(url);
	await client.request("set_event_filter", { events: ["agent_*", "run_result"] });
	await until(() => queries.length === 2);
	expect(queries).toEqual([null, "agent_*,run_result"]);
	await client.request("set_event_filter", { events: null });
	await until(() => queries.length === 3);
	expect(queries[2]).toBeNull();
});
