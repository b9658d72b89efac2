/** Notes for the people who operate an agent: faults that no frame reports, on stderr, with the session they belong to. */
export interface Log {
	/** A bug, or a fault of the machine. The cause is printed with its stack. */
	error(text: string, cause?: unknown): void;
}

/** `sessionId` is read for each note: a process may go on with another session. */
export function stderrLog(sessionId: () => string | undefined = () => undefined): Log {
	return {
		error(text, cause) {
			const id = sessionId();
			console.error(
				`bowline${id === undefined ? "" : ` [${id}]`}: ${text}${cause === undefined ? "" : ":"}`,
				...(cause === undefined ? [] : [cause]),
			);
		},
	};
}
