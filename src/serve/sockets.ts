/** WebSockets: `ws` does the handshake and reads; what goes out is written as bytes that all readers share. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket, WebSocketServer } from "ws";
import type { Sink } from "./feed.ts";
import type { Encoding } from "./frames.ts";

export const mostMessageBytes = 32 * 1024 * 1024;
const pingMs = 20_000;

export interface SocketListener {
	message(text: string): void;
	/** `isBye`: the other end said that it is done, and will not come back. */
	closed(isBye: boolean): void;
	drained(): void;
}

/** One open socket as a place to write to. */
export class SocketSink implements Sink {
	readonly encoding: Encoding;
	#socket: WebSocket;
	#stream: Duplex;
	#missed = 0;
	#timer: NodeJS.Timeout;
	#isClosed = false;

	constructor(socket: WebSocket, stream: Duplex, encoding: Encoding, listener: SocketListener) {
		this.#socket = socket;
		this.#stream = stream;
		this.encoding = encoding;
		stream.on("drain", () => listener.drained());
		socket.on("message", (data: RawData, isBinary: boolean) => {
			if (isBinary) return this.close(1003, "text messages only");
			listener.message(data.toString());
		});
		socket.on("pong", () => (this.#missed = 0));
		socket.on("error", () => undefined); // `close` follows.
		socket.on("close", (code: number) => {
			this.#isClosed = true;
			clearInterval(this.#timer);
			listener.closed(code === 1000 || code === 1005);
		});
		this.#timer = setInterval(() => this.#ping(), pingMs);
		this.#timer.unref();
	}

	get pending(): number {
		return this.#stream.writableLength;
	}

	write(bytes: Buffer): void {
		if (!this.#isClosed && this.#socket.readyState === this.#socket.OPEN) this.#stream.write(bytes);
	}

	cork(): void {
		this.#stream.cork();
	}

	uncork(): void {
		this.#stream.uncork();
	}

	close(code: number, reason: string): void {
		if (this.#isClosed) return;
		this.#socket.close(code, reason);
		// The other end may be gone, or not read: it gets a moment to say goodbye.
		setTimeout(() => this.#socket.terminate(), 2000).unref();
	}

	/** Reads nothing for a while, or goes on. */
	pause(isPaused: boolean): void {
		if (isPaused) this.#socket.pause();
		else this.#socket.resume();
	}

	#ping(): void {
		if (this.#missed >= 2) {
			this.#socket.close(4408, "no pong");
			return this.#socket.terminate();
		}
		this.#missed++;
		// A reader that has much to read yet will not see it in time.
		if (this.pending === 0) this.#socket.ping();
		else this.#missed = 0;
	}
}

export class Sockets {
	#server: WebSocketServer | undefined;
	#loading: Promise<void> | undefined;

	/** `ws` is loaded with the first socket. Undefined when it is there. */
	load(): Promise<void> | undefined {
		if (this.#server) return undefined;
		this.#loading ??= import("ws").then(({ WebSocketServer }) => {
			this.#server = new WebSocketServer({
				noServer: true,
				perMessageDeflate: false,
				maxPayload: mostMessageBytes,
				// The ticket is a secret; only the protocol is answered.
				handleProtocols: (protocols) => (protocols.has("bowline.v1") ? "bowline.v1" : false),
			});
		});
		return this.#loading;
	}

	/** After `load`. The answer and the first frames are one write. */
	accept(request: IncomingMessage, stream: Duplex, head: Buffer, then: (socket: WebSocket) => void): void {
		stream.cork();
		try {
			this.#server?.handleUpgrade(request, stream, head, then);
		} finally {
			stream.uncork();
		}
	}

	close(): void {
		this.#server?.close();
	}
}
