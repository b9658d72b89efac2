/** The control socket of a server: how `bowline serve status`, `stop`, `link` and `token` reach it. Only its user can open it. */
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { RecordReader } from "../lib/jsonl.ts";
import { isScope } from "./handlers.ts";
import type { BowlineServer } from "./server.ts";
import { mainToken } from "./tokens.ts";

export interface ControlRequest {
	do: "status" | "stop" | "link" | "token-add" | "token-list" | "token-revoke";
	name?: string;
	scope?: string;
	/** The address of a link. */
	url?: string;
	days?: number;
	now?: boolean;
}

export type ControlAnswer = { ok: true; data: unknown } | { ok: false; error: string };

const controlPath = (directory: string) => join(directory, "control.sock");

export function openControl(server: BowlineServer): Promise<Server> {
	const path = controlPath(server.config.directory);
	rmSync(path, { force: true });
	const control = createServer((socket) => {
		socket.on("error", () => undefined); // The other end is gone.
		const reply = (answer: ControlAnswer) => socket.end(`${JSON.stringify(answer)}\n`);
		const reader = new RecordReader(
			{
				record(line) {
					try {
						reply({ ok: true, data: perform(server, JSON.parse(line) as ControlRequest) });
					} catch (error) {
						reply({ ok: false, error: (error as Error).message });
					}
				},
				tooLong: () => socket.destroy(),
			},
			64 * 1024,
		);
		socket.on("data", (chunk: Buffer) => reader.push(chunk));
	});
	return new Promise((resolve, reject) => {
		control.once("error", reject);
		const before = process.umask(0o177);
		control.listen(path, () => {
			process.umask(before);
			chmodSync(path, 0o600);
			resolve(control);
		});
	});
}

function perform(server: BowlineServer, request: ControlRequest): unknown {
	const { tokens } = server;
	const { name = "", scope = "drive", days } = request;
	if (!isScope(scope)) throw new Error(`--scope must be read, drive or admin, not ${JSON.stringify(scope)}.`);
	switch (request.do) {
		case "status":
			return server.status();
		case "stop":
			void server.drain(request.now);
			return server.drainState();
		case "link":
			return { url: server.newLink(scope, request.url) };
		case "token-add": {
			if (!/^[\w.@-]{1,64}$/.test(name)) throw new Error("A token's name has 1 to 64 letters, digits, dots, dashes and underscores.");
			if (tokens.has(name)) throw new Error(`There is a token ${name} already. Revoke it first, or use another name.`);
			if (days !== undefined && !(Number.isFinite(days) && days > 0)) throw new Error("--days must be a number above 0.");
			return { name, scope, token: tokens.add(name, scope, days) };
		}
		case "token-list":
			return { tokens: tokens.list() };
		case "token-revoke":
			if (!tokens.revoke(name)) throw new Error(`There is no token ${name}. See bowline serve token list.`);
			return { name, ...(name === mainToken && { tokenFile: tokens.file }) };
		default:
			throw new Error(`Unknown request: ${String(request.do)}`);
	}
}

/** Asks a running server. Rejects when there is none. */
export function askServer(directory: string, request: ControlRequest): Promise<unknown> {
	return new Promise((resolve, reject) => {
		const socket = connect(controlPath(directory));
		let text = "";
		socket.setEncoding("utf8");
		socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
		socket.on("data", (chunk: string) => (text += chunk));
		socket.on("error", ({ code }: NodeJS.ErrnoException) =>
			reject(
				new Error(
					code === "ENOENT" || code === "ECONNREFUSED"
						? "No server of this name runs. Start one with bowline serve."
						: `The server could not be asked: ${code}`,
				),
			),
		);
		socket.on("end", () => {
			if (text === "") return reject(new Error("The server ended before it answered."));
			const answer = JSON.parse(text) as ControlAnswer;
			if (answer.ok) resolve(answer.data);
			else reject(new Error(answer.error));
		});
	});
}

export function removeControl(directory: string): void {
	rmSync(controlPath(directory), { force: true });
}
