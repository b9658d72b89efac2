/** The socket of one session: frames of stdio in both directions, one per message. */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { version } from "../lib/version.ts";
import type { Connections, OpenConnection } from "./connections.ts";
import { filterOf, Reader } from "./feed.ts";
import { FullUpdates } from "./full-updates.ts";
import type { Connection, Session } from "./session.ts";
import { SocketSink } from "./sockets.ts";
import { type Bearer, mayUse } from "./tokens.ts";

export interface SocketRequest {
	bearer: Bearer;
	client: string;
	name: string;
	wantsSeat: boolean;
	after: number | undefined;
	isFull: boolean;
	/** The event filter from the first frame on. Undefined for all events. */
	events: string[] | undefined;
}

const mostReaderBytes = 1024 * 1024;
/** A connection whose agent does not read is not read either. */
const behindMs = 50;

export function openSessionSocket(socket: WebSocket, stream: Duplex, first: Session, request: SocketRequest, connections: Connections): void {
	let session = first;
	const { bearer, client, name, wantsSeat, after, isFull, events } = request;
	const sink = new SocketSink(socket, stream, "socket", {
		message(text) {
			if (!mayUse(bearer.scope, "drive") && text.length > mostReaderBytes) return sink.close(1009, "the message is too long");
			void session.receive(connection, text).then(() => (session.isBehind ? wait() : undefined));
		},
		closed(isBye) {
			connections.delete(open);
			if (isBye) session.leaveSeat(connection);
			session.detach(connection, isBye);
		},
		drained: () => reader.drained(),
	});
	const wait = () => {
		sink.pause(true);
		const again = () => (session.isBehind ? setTimeout(again, behindMs).unref() : sink.pause(false));
		again();
	};
	const reader = new Reader(session.feed, sink, { ...(events && { filter: filterOf(events) }), ...(isFull && { full: new FullUpdates() }) });
	const connection: Connection = {
		client,
		name,
		bearer,
		reader,
		capabilities: {},
		follow(to) {
			session = to;
		},
	};
	const open: OpenConnection = { kind: "socket", bearer, close: (code, reason) => sink.close(code, reason) };
	connections.add(open);
	session.attach(connection, wantsSeat);
	reader.send(readyFrame(session, connection));
	// Whole messages need the beginning of the one under way: a snapshot has it.
	const from = after ?? (isFull && session.isBusy ? session.feed.ring.lastSeq : undefined);
	if (from !== undefined) void session.catchUp(reader, from);
	if (wantsSeat && !session.isAwake) void session.wake().catch(() => undefined); // The state tells.
}

export function readyFrame(session: Session, connection: Connection): string {
	const { id, epoch, state, feed, record } = session;
	return JSON.stringify({
		type: "ready",
		version,
		protocol: 1,
		cwd: record.cwd,
		capabilities: { mcp: 1, permissions: 1 },
		sessionId: id,
		epoch,
		asOf: feed.ring.lastSeq,
		seat: session.seat.isHeldBy(connection),
		state,
	});
}
