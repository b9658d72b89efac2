/** Sends the output of a command in pieces, for display: few and short ones. */
import type { ShellUpdate } from "../../lib/shell/index.ts";

const largestPiece = 16 * 1024;
/** Timers may fire a moment early. */
const leastWaitMs = 99;

/** Receives the whole output with each update and reports what was added. If a piece is too long for display, only its end is sent. */
export function outputPieces(tell: (piece: string) => void, now: () => number = () => performance.now()): (update: ShellUpdate) => void {
	let seen = 0;
	let nextAt = 0;
	return ({ output, truncation }) => {
		const added = truncation.totalBytes - seen;
		if (added <= 0 || now() < nextAt) return;
		seen = truncation.totalBytes;
		nextAt = now() + leastWaitMs;
		const bytes = Buffer.from(output);
		tell(endOf(bytes, Math.min(added, largestPiece, bytes.length)));
	};
}

/** The last bytes, without half a character at their beginning. */
function endOf(bytes: Buffer, length: number): string {
	let start = bytes.length - length;
	while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
	return bytes.toString("utf8", start);
}
