/** Frames over plain HTTP: server-sent events, and lines of JSON. */
import type { ServerResponse } from "node:http";
import type { Connections, OpenConnection } from "./connections.ts";
import { Reader, type Sink } from "./feed.ts";
import type { Encoding } from "./frames.ts";
import { commonHeaders } from "./http.ts";
import type { Hub } from "./hub.ts";
import type { Session } from "./session.ts";
import type { Bearer } from "./tokens.ts";

const aliveMs = 15_000;

class ResponseSink implements Sink {
	readonly encoding: Encoding;
	#response: ServerResponse;

	constructor(response: ServerResponse, encoding: Encoding) {
		this.#response = response;
		this.encoding = encoding;
	}

	get pending(): number {
		return this.#response.writableLength;
	}

	write(bytes: Buffer): void {
		if (!this.#response.writableEnded && !this.#response.destroyed) this.#response.write(bytes);
	}

	cork(): void {
		this.#response.cork();
	}

	uncork(): void {
		this.#response.uncork();
	}

	close(): void {
		this.#response.end();
		setTimeout(() => this.#response.destroy(), 2000).unref();
	}
}

function begin(response: ServerResponse, type: string): void {
	response.writeHead(200, { ...commonHeaders, "Content-Type": type, "X-Accel-Buffering": "no" });
	response.flushHeaders();
}

interface StreamRequest {
	bearer: Bearer;
	after: number | undefined;
	deltas: boolean;
}

/** Server-sent events of one session. */
export function streamEvents(response: ServerResponse, session: Session, { bearer, after, deltas }: StreamRequest, connections: Connections): void {
	begin(response, "text/event-stream");
	response.write("retry: 1000\n\n");
	const sink = new ResponseSink(response, "events");
	const reader = new Reader(session.feed, sink, { deltas });
	session.feed.add(reader);
	const open: OpenConnection = { kind: "events", bearer, close: () => sink.close() };
	connections.add(open);
	const timer = keepAlive(response);
	response.on("drain", () => reader.drained());
	response.on("close", () => {
		clearInterval(timer);
		connections.delete(open);
		reader.close();
	});
	const { id, state, since } = session;
	reader.send(JSON.stringify({ type: "session_state", sessionId: id, state, since }));
	if (after !== undefined) void session.catchUp(reader, after);
}

/** Durable frames as lines: those that there are, and with `follows` those that come. */
export async function streamLines(
	response: ServerResponse,
	session: Session,
	{ bearer, after = 0, follows }: { bearer: Bearer; after: number | undefined; follows: boolean },
	connections: Connections,
): Promise<void> {
	begin(response, "application/jsonl");
	const sink = new ResponseSink(response, "lines");
	const reader = new Reader(session.feed, sink, { deltas: false, isPastOnly: !follows });
	const open: OpenConnection = { kind: "lines", bearer, close: () => sink.close() };
	connections.add(open);
	response.on("drain", () => reader.drained());
	response.on("close", () => {
		connections.delete(open);
		reader.close();
	});
	// Also one that wants the past alone: it counts, and is closed when it takes nothing.
	session.feed.add(reader);
	await session.catchUp(reader, after);
	if (!follows) response.end();
}

/** Server-sent events about all sessions. */
export function streamServerEvents(response: ServerResponse, bearer: Bearer, hub: Hub, connections: Connections): void {
	begin(response, "text/event-stream");
	response.write("retry: 1000\n\n");
	const sink = new ResponseSink(response, "events");
	const open: OpenConnection = { kind: "events", bearer, close: () => sink.close() };
	connections.add(open);
	const timer = keepAlive(response);
	// One that does not read is cut off: it asks for the list when it is back.
	const leave = hub.listen((frame) =>
		sink.pending > 1024 * 1024 ? response.destroy() : sink.write(Buffer.from(`data: ${JSON.stringify(frame)}\n\n`)),
	);
	response.on("close", () => {
		clearInterval(timer);
		connections.delete(open);
		leave();
	});
}

function keepAlive(response: ServerResponse): NodeJS.Timeout {
	const timer = setInterval(() => (response.writableLength === 0 ? response.write(": alive\n\n") : undefined), aliveMs);
	timer.unref();
	return timer;
}
