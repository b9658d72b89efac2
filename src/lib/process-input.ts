/** A process that serves one client: its stdin is the input, and its signals end it in good order. */
import type { Log } from "./log.ts";

export interface Served {
	input: { push: (chunk: Buffer) => void; end: () => void };
	kill: (code: number) => void;
}

export function attachToProcess({ input, kill }: Served, log: Log): void {
	const { stdin } = process;
	stdin.on("data", (chunk: Buffer) => input.push(chunk));
	stdin.on("end", () => input.end());
	stdin.on("error", () => input.end());
	process.on("SIGTERM", () => kill(143));
	process.on("SIGHUP", () => kill(129));
	// Ctrl+C reaches the whole foreground group; the client answers it with an abort.
	process.on("SIGINT", () => undefined);
	process.on("uncaughtException", (error) => log.error("unexpected error", error));
	process.on("unhandledRejection", (error) => log.error("unexpected rejection", error));
}
