/** Long lines in parts: some pipes and readers take only so much at once. */
import { uuid } from "../../lib/ids.ts";
import { toLine } from "../../lib/jsonl.ts";
import type { OmpEvent } from "../../protocol/dialect-events.ts";

export const maxFrameBytes = 1024 * 1024;
export const maxReassembledFrameBytes = 64 * 1024 * 1024;
/** Readers of omp take no larger parts. A multiple of 3, so that the base64 of all parts but the last has no padding. */
const bytesPerChunk = 255 * 1024;

/** The line itself, or the lines of its parts. A line that the host could not reassemble is reported instead of sent. */
export function chunks(line: string): string {
	// A character takes three bytes at most.
	if (line.length * 3 <= maxFrameBytes) return line;
	const bytes = Buffer.from(line);
	if (bytes.length <= maxFrameBytes) return line;
	if (bytes.length > maxReassembledFrameBytes) return tooLong(line, bytes.length);
	const chunkId = uuid(Date.now());
	const count = Math.ceil(bytes.length / bytesPerChunk);
	return Array.from({ length: count }, (_, index) => {
		const data = bytes.toString("base64", index * bytesPerChunk, Math.min((index + 1) * bytesPerChunk, bytes.length));
		return toLine({ type: "rpc_chunk", chunkId, index, count, byteLength: bytes.length, data } satisfies OmpEvent);
	}).join("\n");
}

function tooLong(line: string, byteLength: number): string {
	const { type, id, command } = JSON.parse(line) as { type: string; id?: unknown; command?: unknown };
	const error = `The frame has ${byteLength} bytes; at most ${maxReassembledFrameBytes} can be sent. Ask for less, for example with get_messages_page`;
	if (type === "response") return toLine({ id, type, command, success: false, error, code: "frame_too_large" });
	return toLine({ type: "rpc_frame_error", frameType: type, byteLength, error } satisfies OmpEvent);
}
