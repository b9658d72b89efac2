/** Notes for operators of an agent: faults that no frame reports, on stderr, with the session they belong to. */
import { debuglog, inspect } from "node:util";
import { printable } from "./printable.ts";

export interface Log {
	/** A bug, or a fault of the machine. The cause is printed with its stack. */
	error(text: string, cause?: unknown): void;
	/** Logs a failure that is expected now and then. Printed with `NODE_DEBUG=bowline`. */
	debug(text: string, cause?: unknown): void;
}

/** `sessionId` is read for each note: a process may go on with another session. */
export function stderrLog(sessionId: () => string | undefined = () => undefined): Log {
	const print = (text: string, cause: unknown) => {
		const id = sessionId();
		const details = cause === undefined ? "" : `: ${typeof cause === "string" ? cause : inspect(cause)}`;
		// Names of files and texts of programs must not drive the terminal.
		console.error(printable(`bowline${id === undefined ? "" : ` [${id}]`}: ${text}${details}`));
	};
	return {
		error: print,
		debug(text, cause) {
			if (debuglog("bowline").enabled) print(text, cause);
		},
	};
}
