/** Stands between the fleet and Postgres: cuts connections around an answer, or hands out few connections for one transaction each. */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Between {
	port: number;
	close(): Promise<void>;
}

export type Cut = "before" | "after";

export interface CuttingProxy extends Between {
	/** The next statement with this text is cut once: before Postgres sees it, or after it was done and before its answer comes. */
	cut(text: string, when: Cut): void;
	/** How often it was cut. */
	readonly cuts: number;
}

export async function cuttingProxy(port: number): Promise<CuttingProxy> {
	let wanted: { text: string; when: Cut } | undefined;
	let cuts = 0;
	const proxy = await listen((client) => {
		const server = connect(port, "127.0.0.1");
		let isCut = false;
		const end = () => {
			client.destroy();
			server.destroy();
		};
		for (const socket of [client, server]) socket.on("error", end).on("close", end);
		client.on("data", (chunk) => {
			if (wanted && chunk.includes(wanted.text)) {
				const { when } = wanted;
				wanted = undefined;
				cuts++;
				if (when === "before") return end();
				isCut = true;
			}
			server.write(chunk);
		});
		const answer = messages((message, type) => {
			if (!isCut) client.write(message);
			// The statement is done once Postgres is ready for the next.
			else if (type === "Z") end();
		});
		server.on("data", answer);
	});
	return {
		...proxy,
		cut(text, when) {
			wanted = { text, when };
		},
		get cuts() {
			return cuts;
		},
	};
}

/** Cuts a stream into messages: a letter, a length, a body. */
function messages(take: (message: Buffer, type: string) => void): (chunk: Buffer) => void {
	let unread = Buffer.alloc(0);
	return (chunk) => {
		unread = Buffer.concat([unread, chunk]);
		while (unread.length >= 5 && unread.length > unread.readInt32BE(1)) {
			const length = unread.readInt32BE(1) + 1;
			const message = unread.subarray(0, length);
			unread = unread.subarray(length);
			take(message, String.fromCharCode(message[0] as number));
		}
	};
}

/** As a pooler in transaction mode: a client has a connection for as long as a transaction takes. What LISTEN would send is lost. */
export async function poolingProxy({ port, database, size }: { port: number; database: string; size: number }): Promise<Between> {
	const free: Socket[] = [];
	const waiting: ((server: Socket) => void)[] = [];
	const all = new Set<Socket>();
	const release = (server: Socket) => {
		const next = waiting.shift();
		if (next) next(server);
		else free.push(server);
	};
	const open = async (): Promise<void> => {
		const server = await connected(port, database).catch(() => undefined);
		if (isClosed) return void server?.destroy();
		if (!server) return void setTimeout(() => void open(), 200);
		all.add(server);
		server.once("close", () => {
			all.delete(server);
			const at = free.indexOf(server);
			if (at >= 0) free.splice(at, 1);
			if (!isClosed) void open();
		});
		release(server);
	};
	let isClosed = false;
	await Promise.all(Array.from({ length: size }, open));
	const acquire = () => new Promise<Socket>((resolve) => (free.length > 0 ? resolve(free.pop() as Socket) : waiting.push(resolve)));

	const proxy = await listen((client) => {
		let batch: Buffer[] = [];
		let isStarted = false;
		let server: Socket | undefined;
		let isBusy = false;
		const ready: Buffer[] = [];
		client.on("error", () => client.destroy());
		client.on("close", () => {
			// What it began and did not end is rolled back with the connection.
			if (server) server.destroy();
			server = undefined;
		});
		const answer = messages((message, type) => {
			// A notification is for the client that listened, and that has no connection of its own.
			if (type !== "A") client.write(message);
			if (type !== "Z") return;
			isBusy = false;
			if (message[5] === idle && server) {
				server.off("data", answer);
				server.off("close", lost);
				release(server);
				server = undefined;
			}
			void send();
		});
		const lost = () => client.destroy();
		const send = async () => {
			if (isBusy || ready.length === 0) return;
			isBusy = true;
			if (!server) {
				server = await acquire();
				if (client.destroyed) {
					release(server);
					server = undefined;
					return;
				}
				server.on("data", answer);
				server.once("close", lost);
			}
			server.write(ready.shift() as Buffer);
		};
		const question = messages((message, type) => {
			if (type === "X") return void client.end();
			batch.push(message);
			// Sync or a simple query: Postgres answers.
			if (type !== "S" && type !== "Q") return;
			ready.push(Buffer.concat(batch));
			batch = [];
			void send();
		});
		let start = Buffer.alloc(0);
		client.on("data", (chunk: Buffer) => {
			if (isStarted) return question(chunk);
			start = Buffer.concat([start, chunk]);
			if (start.length < 8 || start.length < start.readInt32BE(0)) return;
			isStarted = true;
			client.write(welcome);
			question(start.subarray(start.readInt32BE(0)));
		});
	});
	return {
		port: proxy.port,
		async close() {
			isClosed = true;
			for (const server of all) server.destroy();
			await proxy.close();
		},
	};
}

/** No transaction is open. */
const idle = 0x49;

/** Authentication is fine, the encoding, ready. */
const welcome = Buffer.concat([
	Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
	message("S", "client_encoding\0UTF8\0"),
	message("S", "standard_conforming_strings\0on\0"),
	Buffer.from([0x5a, 0, 0, 0, 5, 0x49]),
]);

function message(type: string, body: string): Buffer {
	const bytes = Buffer.from(body);
	const head = Buffer.alloc(5);
	head.write(type, 0, "latin1");
	head.writeInt32BE(bytes.length + 4, 1);
	return Buffer.concat([head, bytes]);
}

/** A connection of the pool, ready for a query. */
async function connected(port: number, database: string): Promise<Socket> {
	const socket = connect(port, "127.0.0.1");
	const body = Buffer.from(`user\0bowline\0database\0${database}\0client_encoding\0UTF8\0\0`);
	const head = Buffer.alloc(8);
	head.writeInt32BE(body.length + 8, 0);
	head.writeInt32BE(196_608, 4);
	socket.write(Buffer.concat([head, body]));
	return new Promise((resolve, reject) => {
		const look = messages((_, type) => {
			if (type !== "Z") return;
			socket.off("data", look);
			socket.off("close", refused);
			resolve(socket);
		});
		const refused = () => reject(new Error("Postgres is away."));
		socket.on("data", look);
		socket.on("error", () => socket.destroy());
		socket.once("close", refused);
	});
}

async function listen(serve: (client: Socket) => void): Promise<Between> {
	const clients = new Set<Socket>();
	const server: Server = createServer((client) => {
		clients.add(client);
		client.once("close", () => clients.delete(client));
		serve(client);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	return {
		port,
		async close() {
			const closed = new Promise((resolve) => server.close(resolve));
			for (const client of clients) client.destroy();
			await closed;
		},
	};
}
