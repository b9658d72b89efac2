/** Ids. Random bytes come from the system directly: loading node:crypto would cost a tenth of the start. */
import { closeSync, openSync, readSync } from "node:fs";

/** Bytes that were read and not given out yet. An id takes four of them, and opening the device costs more than the rest of a turn's ids. */
const supply = Buffer.alloc(512);
let used = supply.length;

export function randomBytes(count: number): Buffer {
	if (used + count > supply.length) {
		if (!refill() || count > supply.length) return globalThis.crypto.getRandomValues(Buffer.alloc(count));
		used = 0;
	}
	const bytes = Buffer.from(supply.subarray(used, used + count));
	// What was given out may become a credential; it stays in one place only.
	supply.fill(0, used, used + count);
	used += count;
	return bytes;
}

/** Eight hex characters. Every entry of a session has such an id: this makes no buffers for it. */
export function shortId(): string {
	if (used + 4 > supply.length) {
		if (!refill()) return randomBytes(4).toString("hex");
		used = 0;
	}
	const id = supply.readUInt32BE(used).toString(16).padStart(8, "0");
	supply.writeUInt32BE(0, used);
	used += 4;
	return id;
}

/** False if the device is missing or no descriptor is available. The caller then uses a slower source. */
function refill(): boolean {
	if (process.platform === "win32") return false;
	let source: number;
	try {
		source = openSync("/dev/urandom", "r");
	} catch {
		return false;
	}
	try {
		return readSync(source, supply, 0, supply.length, null) === supply.length;
	} finally {
		closeSync(source);
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
