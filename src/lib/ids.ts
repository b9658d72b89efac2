/** Ids. Random bytes come from the system directly: loading node:crypto would cost a tenth of the start. */
import { closeSync, openSync, readSync } from "node:fs";

export function randomBytes(count: number): Buffer {
	const bytes = Buffer.alloc(count);
	const source = urandom();
	if (source === undefined) return globalThis.crypto.getRandomValues(bytes);
	try {
		readSync(source, bytes, 0, count, null);
	} finally {
		closeSync(source);
	}
	return bytes;
}

/** Undefined if there is no such device, or no descriptor is available: ids are needed even then. */
function urandom(): number | undefined {
	if (process.platform === "win32") return undefined;
	try {
		return openSync("/dev/urandom", "r");
	} catch {
		return undefined;
	}
}

/** A UUID of version 7: sorts by time. */
export function uuid(now: number): string {
	const bytes = randomBytes(16);
	bytes.writeUIntBE(now, 0, 6);
	bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
	bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
	const hex = bytes.toString("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
