/** A server that is a program of ours: lines of JSON over its pipes. */
import { RecordReader, toLine } from "../lib/jsonl.ts";
import type { Program } from "../lib/shell/index.ts";
import { isObject } from "./config.ts";
import type { Message, Transport, TransportEvents } from "./peer.ts";
import type { ServerLog } from "./server-log.ts";

const longestLine = 32 * 1024 * 1024;
const mostGarbage = 1000;
/** A line of the log about garbage. */
const shownGarbage = 200;
/** How long the pipes may stay open after the exit, where another process holds them. */
const afterExitMs = 200;
/** How long a server may take to end when its input ends, and then when it is asked to. */
const graceMs = 500;

/** Why the server ended, in words that follow its name. */
export class Ended extends Error {}

export function stdioTransport(program: Program, events: TransportEvents, log: ServerLog): Transport {
	const { child } = program;
	const { stdin, stdout, stderr } = child;
	if (!stdin || !stdout || !stderr) throw new Error("a server needs pipes");
	let garbage = 0;
	let isEnded = false;
	let isClosing: Promise<void> | undefined;
	const gone = new Promise<void>((resolve) => {
		const done = () => {
			resolve();
			const { exitCode, signalCode } = child;
			over(new Ended(signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`));
		};
		child.once("close", done);
		child.once("exit", () => setTimeout(done, afterExitMs));
	});
	const over = (error: Error) => {
		if (isEnded) return;
		isEnded = true;
		events.closed(error);
	};
	const giveUp = (reason: string) => {
		over(new Ended(reason));
		void transport.close();
	};
	const passOver = (line: string) => {
		garbage += 1;
		log.note(`not MCP: ${line.slice(0, shownGarbage)}`);
		if (garbage > mostGarbage) giveUp(`was ended: it wrote more than ${mostGarbage} lines that are not MCP to stdout`);
	};
	const reader = new RecordReader(
		{
			record(line) {
				if (isEnded) return;
				const message = parsed(line);
				if (message === undefined) passOver(line);
				else events.message(message);
			},
			tooLong: (limit) => giveUp(`was ended: it wrote a line longer than ${limit / 1024 / 1024} MiB`),
		},
		longestLine,
	);
	stdout.on("data", (chunk: Buffer) => {
		if (!isEnded) reader.push(chunk);
	});
	stdout.on("error", () => undefined);
	stderr.on("data", (chunk: Buffer) => log.push(chunk));
	stderr.on("error", () => undefined);
	// A closed pipe is the end of the server, which its exit reports.
	stdin.on("error", () => undefined);
	const end = async () => {
		stdin.end();
		await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, graceMs))]);
		await program.end(graceMs);
		log.close();
	};
	const transport: Transport = {
		send: (message: Message) => void (stdin.writable && stdin.write(`${toLine(message)}\n`)),
		close() {
			isEnded = true;
			isClosing ??= end();
			return isClosing;
		},
	};
	return transport;
}

/** An object of JSON-RPC, or a list of them as one revision allows. */
function parsed(line: string): unknown {
	const first = line.trimStart()[0];
	if (first !== "{" && first !== "[") return undefined;
	try {
		const value: unknown = JSON.parse(line);
		return [value].flat().every((each) => isObject(each) && each.jsonrpc === "2.0") ? value : undefined;
	} catch {
		return undefined;
	}
}
