/** A takeover cuts the log at the last checkpoint: what came after it stays for people, and is void for the run. */
import type { LogFile, Takeover } from "./queue.ts";

/** Whether a takeover has cut this line. */
export function isCut(line: number, takeovers: readonly Takeover[], file: LogFile): boolean {
	return takeovers.some(({ sessionCut, sessionFrom, eventCut, eventFrom }) =>
		file === "session" ? line > sessionCut && line <= sessionFrom : line > eventCut && line <= eventFrom,
	);
}

export function withoutCut<T extends { line: number }>(lines: readonly T[], takeovers: readonly Takeover[], file: LogFile): T[] {
	return lines.filter(({ line }) => !isCut(line, takeovers, file));
}
