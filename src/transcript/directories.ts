/** The directory in which the sessions of a working directory are stored. */
import { join } from "node:path";

/** File systems allow 255 bytes for a name, some of them 143. */
const longestReadable = 100;

export interface SessionDirectories {
	directory: string;
	/** Where earlier versions stored them. Several working directories could share one. */
	former: readonly string[];
}

/** `<sessions>/--<working directory with its separators as dashes>--<digest>`: the digest distinguishes `client/a-b` from `client-a/b`. */
export function sessionDirectories(userDirectory: string, cwd: string): SessionDirectories {
	const root = join(userDirectory, "sessions");
	const dashed = cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
	return { directory: join(root, `--${lastBytes(dashed, longestReadable)}--${digest(cwd)}`), former: [join(root, `--${dashed}--`)] };
}

/** The end of a path says more than its beginning. Characters stay whole. */
function lastBytes(text: string, limit: number): string {
	const bytes = Buffer.from(text);
	let start = Math.max(0, bytes.length - limit);
	while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
	return bytes.toString("utf8", start);
}

/** 64 bits in hex. Not from node:crypto, which would cost a tenth of the start; the store compares working directories as well. */
function digest(text: string): string {
	let high = 0x9e3779b9;
	let low = 0x85ebca6b;
	for (const byte of Buffer.from(text)) {
		high = Math.imul(high ^ byte, 0x01000193);
		low = Math.imul(low ^ byte ^ (high >>> 15), 0xcc9e2d51);
	}
	high = mixed(high ^ (low >>> 7));
	low = mixed(low ^ high);
	return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

function mixed(value: number): number {
	const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
	const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
	return twice ^ (twice >>> 16);
}
