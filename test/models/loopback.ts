/** A server on the loopback that speaks the formats of the real ones: it answers a POST with whatever bytes a test wants. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
	method: string;
	url: string;
	headers: IncomingMessage["headers"];
	body: string;
}

export type Answer = (response: ServerResponse, received: Received) => void | Promise<void>;

export class Loopback {
	readonly received: Received[] = [];
	/** How many connections were opened, and how many requests were torn off before their answer was complete. */
	connections = 0;
	torn = 0;
	#server: Server;
	#answers: Answer[] = [];
	#waiting: (() => void)[] = [];

	private constructor() {
		this.#server = createServer((request, response) => this.#on(request, response));
		this.#server.on("connection", () => {
			this.connections += 1;
		});
	}

	static async start(): Promise<Loopback> {
		const loopback = new Loopback();
		await new Promise<void>((resolve) => loopback.#server.listen(0, "127.0.0.1", resolve));
		return loopback;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	/** The answers to the next requests; the last one serves all that follow. */
	answer(...answers: Answer[]): void {
		this.#answers = answers;
	}

	/** Resolves when another request was torn off. */
	whenTorn(): Promise<void> {
		return this.torn > 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#on(request: IncomingMessage, response: ServerResponse): void {
		const chunks: Buffer[] = [];
		response.on("close", () => {
			if (response.writableFinished) return;
			this.torn += 1;
			for (const wake of this.#waiting.splice(0)) wake();
		});
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => {
			const { method = "", url = "", headers } = request;
			const received = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
			this.received.push(received);
			const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
			void answer?.(response, received);
		});
	}
}

/** Answers 200 with an event stream, in pieces of the given sizes (the last size repeats). */
export function stream(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): Answer {
	return async (response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		let at = 0;
		for (let index = 0; at < bytes.length; index += 1) {
			const size = Math.max(1, sizes[Math.min(index, sizes.length - 1)] ?? bytes.length);
			response.write(bytes.subarray(at, at + size));
			at += size;
			await new Promise((resolve) => setImmediate(resolve));
		}
		response.end();
	};
}

export function refuse(status: number, body: string, headers: Record<string, string> = {}): Answer {
	return (response) => {
		response.writeHead(status, { "content-type": "application/json", ...headers });
		response.end(body);
	};
}
