/** Ids of entries and sessions. */
import { randomBytes } from "node:crypto";

/** Returns eight hex characters. */
export function shortId(): string {
	return randomBytes(4).toString("hex");
}

/** Returns a UUID of version 7, which sorts by time. */
export function uuid(now: number): string {
	const bytes = randomBytes(16);
	bytes.writeUIntBE(now, 0, 6);
	bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
	bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
	const hex = bytes.toString("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
