/** One WebSocket to a server: the platform's own where it has one, else the package `ws`. */
import { refusalOf, type ServerAddress, ServerError } from "./server-address.ts";

export interface SocketEvents {
	message(text: string): void;
	/** Once. `refusal`: it was never open, and this is why. */
	closed(end: { code: number; reason: string; refusal?: ServerError }): void;
}

export interface OpenSocket {
	send(text: string): void;
	/** Says goodbye. `closed` follows. */
	close(): void;
	/** Reads nothing for a while, or goes on. Not every kind can. */
	pause?(isPaused: boolean): void;
}

/** The server pings every 20 seconds. A connection that is silent for so long is gone. */
const silenceMs = 75_000;
/** A server that takes a connection and says nothing is given up. */
const handshakeMs = 30_000;
const maxPayload = 256 * 1024 * 1024;

export async function openSocket(address: ServerAddress, path: string, events: SocketEvents): Promise<OpenSocket> {
	const { WebSocket } = globalThis as { WebSocket?: typeof globalThis.WebSocket };
	return WebSocket && !address.isUnixSocket ? openOwn(WebSocket, address, path, events) : openPackage(address, path, events);
}

/** It sends no headers: a ticket stands for the token. It does not say why it was refused: the session is asked. */
async function openOwn(Socket: typeof WebSocket, address: ServerAddress, path: string, events: SocketEvents): Promise<OpenSocket> {
	let ticket: string;
	try {
		({ ticket } = (await address.ask("POST", "/v1/tickets", {})) as { ticket: string });
	} catch (refusal) {
		events.closed({ code: 1006, reason: "", refusal: refusal as ServerError });
		return { send: () => undefined, close: () => undefined };
	}
	const socket = new Socket(address.socketUrl(path), ["bowline.v1", `ticket.${ticket}`]);
	let isOpen = false;
	const timer = setTimeout(() => socket.close(), handshakeMs);
	socket.onopen = () => {
		isOpen = true;
		clearTimeout(timer);
	};
	socket.onerror = () => undefined; // `close` follows.
	socket.onmessage = ({ data }) => events.message(String(data));
	socket.onclose = ({ code, reason }) => {
		clearTimeout(timer);
		if (isOpen) return events.closed({ code, reason });
		void whyRefused(address, path).then((refusal) => events.closed({ code, reason, refusal }));
	};
	return { send: (text) => socket.send(text), close: () => socket.close(1000) };
}

/** What the server says to the same request without an upgrade, as far as that tells it; else that it was refused. */
async function whyRefused(address: ServerAddress, path: string): Promise<ServerError> {
	const [where = "", query = ""] = path.split("?");
	const params = new URLSearchParams(query);
	try {
		const { seat, asOf } = (await address.ask("GET", where.replace(/\/socket$/, ""))) as {
			seat: { client: string; name: string } | null;
			asOf: number;
		};
		if (Number(params.get("after") ?? 0) > asOf) return new ServerError(400, "cursor_ahead", "The session has no such frame.");
		const isTaken = params.get("mode") === "write" && params.get("takeover") !== "1" && seat && !params.get("client")?.startsWith(seat.client);
		if (isTaken) return new ServerError(409, "seat_taken", `mode=write needs the seat, which ${seat.name} holds`);
		return new ServerError(503, "refused", "The server did not open a WebSocket.");
	} catch (error) {
		return error as ServerError;
	}
}

async function openPackage(address: ServerAddress, path: string, events: SocketEvents): Promise<OpenSocket> {
	const { default: Socket } = await import("ws");
	const socket = new Socket(address.socketUrl(path), {
		headers: address.headers,
		perMessageDeflate: false,
		maxPayload,
		handshakeTimeout: handshakeMs,
	});
	let refusal: ServerError | undefined;
	let timer: NodeJS.Timeout | undefined;
	const heard = () => {
		clearTimeout(timer);
		timer = setTimeout(() => socket.terminate(), silenceMs);
		timer.unref();
	};
	socket.on("unexpected-response", (_request, response) => {
		let text = "";
		response.on("data", (chunk) => (text += chunk));
		response.on("close", () => {
			refusal = refusalOf(response.statusCode ?? 0, text);
			socket.terminate();
		});
	});
	let isOpen = false;
	socket.on("open", () => {
		isOpen = true;
		heard();
	});
	socket.on("ping", heard);
	socket.on("message", (data) => {
		heard();
		events.message(data.toString());
	});
	socket.on("error", (error) => {
		// `close` follows.
		if (!isOpen) refusal ??= address.unreachable(error);
	});
	socket.on("close", (code, reason) => {
		clearTimeout(timer);
		events.closed({ code, reason: reason.toString(), ...(!isOpen && { refusal: refusal ?? address.unreachable(new Error("closed")) }) });
	});
	return {
		send: (text) => socket.send(text),
		close: () => socket.close(1000),
		pause: (isPaused) => (isPaused ? socket.pause() : socket.resume()),
	};
}
