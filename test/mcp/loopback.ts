/** HTTP servers on this machine for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
	method: string;
	headers: IncomingMessage["headers"];
	/** The JSON of its body. */
	body: { id?: number; method?: string; params?: Record<string, unknown>; result?: unknown };
}

export interface Loopback extends AsyncDisposable {
	url: string;
	received: Received[];
}

export type Answer = (request: Received, response: ServerResponse, incoming: IncomingMessage) => void | Promise<void>;

export async function loopback(answer: Answer): Promise<Loopback> {
	const received: Received[] = [];
	const server = createServer((incoming, response) => {
		const chunks: Buffer[] = [];
		incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
		incoming.on("end", () => {
			const text = Buffer.concat(chunks).toString("utf8");
			const request = { method: incoming.method ?? "", headers: incoming.headers, body: text === "" ? {} : JSON.parse(text) };
			received.push(request);
			void answer(request, response, incoming);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/mcp`,
		received,
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

export function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
	response.writeHead(status, { "content-type": "application/json", ...headers });
	response.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
}

export function events(response: ServerResponse, headers: Record<string, string> = {}): (message: object | string, id?: string) => void {
	response.writeHead(200, { "content-type": "text/event-stream", ...headers });
	return (message, id) => {
		const data = typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
		response.write(`${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
	};
}
