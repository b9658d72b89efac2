/** One socket for many sessions, as a page uses it: every frame names its session. */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { ErrorCode } from "../protocol/errors.ts";
import { parseFailure } from "../protocol/frames.ts";
import type { Connections, OpenConnection } from "./connections.ts";
import { Reader, type Sink } from "./feed.ts";
import { encoded } from "./frames.ts";
import type { Hub } from "./hub.ts";
import { isRefusal, Refusal } from "./refusal.ts";
import type { Connection, Session } from "./session.ts";
import { readyFrame } from "./session-socket.ts";
import type { Sessions } from "./sessions.ts";
import { SocketSink } from "./sockets.ts";
import { type Bearer, mayUse } from "./tokens.ts";

const mostAttached = 64;
const mostReaderBytes = 1024 * 1024;

interface ManyParts {
	sessions: Sessions;
	hub: Hub;
	connections: Connections;
}

interface ManyRequest {
	bearer: Bearer;
	client: string;
	name: string;
}

interface Inbound {
	type?: unknown;
	id?: unknown;
	sessionId?: unknown;
	mode?: unknown;
	afterSeq?: unknown;
	takeover?: unknown;
}

export function openManySocket(socket: WebSocket, stream: Duplex, { bearer, client, name }: ManyRequest, parts: ManyParts): void {
	const { sessions, hub, connections } = parts;
	const attached = new Map<string, { connection: Connection; session: Session }>();
	const sink = new SocketSink(socket, stream, "many", {
		message: receive,
		closed(isBye) {
			connections.delete(open);
			leaveHub();
			for (const { connection, session } of attached.values()) {
				if (isBye) session.leaveSeat(connection);
				session.detach(connection, isBye);
			}
			attached.clear();
		},
		drained() {
			for (const { connection } of attached.values()) connection.reader.drained();
		},
	});
	const open: OpenConnection = { kind: "socket", bearer, close: (code, reason) => sink.close(code, reason) };
	connections.add(open);
	const tell = (frame: object) => sink.write(encoded(JSON.stringify(frame), "socket", ""));
	// States of attached sessions come to their readers.
	const leaveHub = hub.listen((frame) => {
		const { sessionId } = frame as { sessionId?: string };
		if (sessionId === undefined || !attached.has(sessionId) || (frame as { type: string }).type === "session_removed") tell(frame);
	});

	function receive(text: string): void {
		if (!mayUse(bearer.scope, "drive") && text.length > mostReaderBytes) return sink.close(1009, "the message is too long");
		let frame: Inbound;
		try {
			frame = JSON.parse(text) as Inbound;
		} catch (error) {
			const { command, error: text, code } = parseFailure((error as Error).message);
			return tell({ type: "response", command, success: false, error: text, code });
		}
		const { type, id, sessionId } = frame ?? {};
		const refuse = (error: string, code: ErrorCode) =>
			tell({
				...(typeof sessionId === "string" && { sessionId }),
				...(id !== undefined && { id }),
				type: "response",
				command: String(type),
				success: false,
				error,
				code,
			});
		if (typeof sessionId !== "string") return refuse('Every frame of this socket needs a member "sessionId".', "bad_field");
		try {
			if (type === "attach") return attach(sessionId, frame, id);
			if (type === "detach") return detach(sessionId, id);
			const found = attached.get(sessionId);
			if (!found) return refuse("This socket is not attached to that session. Send attach first.", "not_attached");
			void found.session.receive(found.connection, text);
		} catch (error) {
			if (!isRefusal(error)) throw error;
			refuse(error.message, error.code);
		}
	}

	function attach(sessionId: string, { mode, afterSeq, takeover }: Inbound, id: unknown): void {
		if (attached.size >= mostAttached && !attached.has(sessionId))
			throw new Refusal("too_many_connections", `A socket attaches to at most ${mostAttached} sessions. Detach from one first.`);
		const session = sessions.get(sessionId);
		const after = Number.isSafeInteger(afterSeq) ? (afterSeq as number) : undefined;
		session.beforeReader(after);
		const wantsSeat = mode === "write";
		if (wantsSeat && !mayUse(bearer.scope, "drive"))
			throw new Refusal("read_only", "mode write needs a token of scope drive; this one may only read.");
		if (wantsSeat) session.checkSeat(client, takeover === true);
		let known = attached.get(sessionId);
		if (!known) {
			const own: Sink = {
				encoding: "many",
				get pending() {
					return sink.pending;
				},
				write: (bytes) => sink.write(bytes),
				cork: () => sink.cork(),
				uncork: () => sink.uncork(),
				// The end of one session is not the end of the socket.
				close: (code, reason) => (code === 1001 ? detach(sessionId, undefined, true) : sink.close(code, reason)),
			};
			const reader = new Reader(session.feed, own);
			const connection: Connection = {
				client,
				name,
				bearer,
				reader,
				capabilities: {},
				follow(to) {
					attached.delete(sessionId);
					attached.set(to.id, { connection, session: to });
				},
			};
			known = { connection, session };
			attached.set(sessionId, known);
			session.attach(connection, wantsSeat);
		} else if (wantsSeat) session.takeSeat(known.connection);
		else session.leaveSeat(known.connection);
		const { connection } = known;
		connection.reader.send(readyFrame(session, connection));
		if (id !== undefined) connection.reader.send(JSON.stringify({ id, type: "response", command: "attach", success: true }));
		if (after !== undefined) void session.catchUp(connection.reader, after);
		if (wantsSeat && !session.isAwake) void session.wake().catch(() => undefined); // The state tells.
	}

	function detach(sessionId: string, id: unknown, isQuiet = false): void {
		const found = attached.get(sessionId);
		attached.delete(sessionId);
		if (found) {
			found.session.leaveSeat(found.connection);
			found.session.detach(found.connection, true);
		}
		if (!isQuiet) tell({ sessionId, ...(id !== undefined && { id }), type: "response", command: "detach", success: true });
	}
}
