/**
 * Others than the owner: while a worker owns the directory they ask it through a socket, which only the user can open. While there is none,
 * they own the directory themselves for as long as one question takes.
 */
import { rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RecordReader } from "../../lib/jsonl.ts";
import { QueueError, type QueueErrorCode, queueErrorCode, type RunQueue } from "../queue.ts";
import { type FileQueue, ownFileQueue } from "./queue.ts";

/** The methods that may be called from outside: a worker's own are not among them. */
const remoteMethods = [
	"submit",
	"cancel",
	"list",
	"count",
	"result",
	"lines",
	"takeovers",
	"workers",
	"drain",
	"lanes",
	"setLane",
	"budgets",
	"setBudget",
	"rates",
	"setRate",
	"prune",
] as const satisfies (keyof RunQueue)[];
type RemoteMethod = (typeof remoteMethods)[number];
/** What people and servers use. */
export type SharedQueue = Pick<RunQueue, "name" | RemoteMethod | "watch" | "close">;

const longestMessage = 256 * 1024 * 1024;
/** How long one process may own the directory without listening before others give up. */
const ownedTooLongMs = 20_000;

const socketOf = (directory: string) => join(directory, "control.sock");
const encode = (value: unknown) =>
	JSON.stringify(value, (_, member: unknown) => {
		const bytes = member as { type?: unknown; data?: unknown } | null;
		return bytes?.type === "Buffer" && Array.isArray(bytes.data) ? { $bytes: Buffer.from(bytes.data as number[]).toString("base64") } : member;
	});
const decode = (text: string): unknown =>
	JSON.parse(text, (_, member: unknown) =>
		typeof member === "object" && member !== null && "$bytes" in member ? Buffer.from(String(member.$bytes), "base64") : member,
	);

/** Listens for others, until the server is closed. */
export async function listenFor(queue: FileQueue, directory: string): Promise<{ close(): void }> {
	const path = socketOf(directory);
	if (Buffer.byteLength(path) > 100)
		throw new QueueError("unavailable", `The path of the fleet's directory is too long for a socket: ${path}. Set BOWLINE_DIR to a shorter one.`);
	rmSync(path, { force: true });
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		answer(queue, socket);
	});
	await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
	return {
		// Those who watch must not keep the worker alive: they ask the next owner.
		close() {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}

function answer(queue: FileQueue, socket: Socket): void {
	const reply = async (line: string) => {
		let id: unknown;
		try {
			const call = decode(line) as { id: unknown; method: RemoteMethod; args: unknown[] };
			id = call.id;
			if (!remoteMethods.includes(call.method)) throw new Error(`Unknown question: ${String(call.method)}`);
			const ask = queue[call.method] as (...args: unknown[]) => Promise<unknown>;
			socket.write(`${encode({ id, value: await ask.apply(queue, call.args) })}\n`);
		} catch (error) {
			socket.write(`${encode({ id, error: { message: (error as Error).message, code: queueErrorCode(error) } })}\n`);
		}
	};
	const reader = new RecordReader({ record: (line) => void reply(line), tooLong: () => socket.destroy() }, longestMessage);
	const stop = queue.watch(() => socket.write('{"wake":true}\n'));
	socket.on("data", (chunk) => reader.push(chunk));
	// The client has disconnected and does not wait for an answer.
	socket.on("error", () => socket.destroy());
	socket.on("close", stop);
}

interface Waiting {
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** A connection to the owner; its questions fail when it breaks. */
class OwnerConnection {
	readonly #socket: Socket;
	readonly #waiting = new Map<number, Waiting>();
	#asked = 0;
	isOpen = true;

	private constructor(socket: Socket, wake: () => void) {
		this.#socket = socket;
		const reader = new RecordReader({ record: (line) => this.#read(line, wake), tooLong: () => socket.destroy() }, longestMessage);
		socket.on("data", (chunk) => reader.push(chunk));
		socket.on("error", () => socket.destroy());
		socket.on("close", () => {
			this.isOpen = false;
			for (const { reject } of this.#waiting.values())
				reject(new QueueError("unavailable", "The worker that owned the fleet's directory has ended."));
			this.#waiting.clear();
		});
	}

	static open(directory: string, wake: () => void): Promise<OwnerConnection | undefined> {
		return new Promise((resolve) => {
			const socket = createConnection(socketOf(directory));
			socket.once("connect", () => resolve(new OwnerConnection(socket, wake)));
			// No worker listens.
			socket.once("error", () => resolve(undefined));
		});
	}

	ask(method: RemoteMethod, args: readonly unknown[]): Promise<unknown> {
		const id = ++this.#asked;
		return new Promise((resolve, reject) => {
			if (!this.isOpen) return reject(new QueueError("unavailable", "The worker that owned the fleet's directory has ended."));
			this.#waiting.set(id, { resolve, reject });
			this.#socket.write(`${encode({ id, method, args })}\n`);
		});
	}

	close(): void {
		this.#socket.destroy();
	}

	#read(line: string, wake: () => void): void {
		const {
			id,
			value,
			error,
			wake: isWake,
		} = decode(line) as {
			id: number;
			value?: unknown;
			error?: { message: string; code?: QueueErrorCode };
			wake?: boolean;
		};
		if (isWake) return wake();
		const waiting = this.#waiting.get(id);
		this.#waiting.delete(id);
		if (error) waiting?.reject(error.code ? new QueueError(error.code, error.message) : new Error(error.message));
		else waiting?.resolve(value);
	}
}

/** The directory's queue for a process that does not work on runs. */
export function sharedFileQueue(directory: string): SharedQueue {
	const wakes = new Set<() => void>();
	let connection: OwnerConnection | undefined;
	const wake = () => {
		for (const each of wakes) each();
	};

	async function ask(method: RemoteMethod, args: readonly unknown[]): Promise<unknown> {
		const start = performance.now();
		for (;;) {
			if (!connection?.isOpen) connection = await OwnerConnection.open(directory, wake);
			try {
				if (connection) return await connection.ask(method, args);
			} catch (error) {
				// Asked again of the next owner: what these questions do, they do once.
				if (queueErrorCode(error) !== "unavailable") throw error;
				continue;
			}
			const owned = ownFileQueue(directory);
			if ("queue" in owned) {
				try {
					const call = owned.queue[method] as (...args: unknown[]) => Promise<unknown>;
					return await call.apply(owned.queue, [...args]);
				} finally {
					owned.release();
				}
			}
			if (performance.now() - start > ownedTooLongMs)
				throw new QueueError("unavailable", `Process ${owned.holder ?? "?"} owns ${directory} and does not answer. If it hangs, end it.`);
			await sleep(20);
		}
	}

	const methods = Object.fromEntries(remoteMethods.map((method) => [method, (...args: unknown[]) => ask(method, args)]));
	return {
		...(methods as unknown as Pick<RunQueue, RemoteMethod>),
		name: directory,
		watch(listener) {
			wakes.add(listener);
			return () => wakes.delete(listener);
		},
		async close() {
			connection?.close();
		},
	};
}
