/** The directory in which the sessions of a working directory are stored. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { firstLine, isOtherDirectory } from "./first-line.ts";

/** What most file systems allow for a name, and the least that some of them do. */
const longestName = 255;
const safeName = 143;
/** Bytes of a path in a name that has a digest. */
const longestReadable = 100;

export interface SessionDirectories {
	/** Where new sessions are stored. */
	directory: string;
	/** Where other sessions of this working directory may be, together with those of others. */
	others: readonly string[];
}

/**
 * `<sessions>/--<working directory with its separators as dashes>--`, which other programs of the family compute, too. `client/a-b` and `client-a/b`
 * have the same name: the one that comes second, and a path too long for a name, get a directory with a digest, `--<path>--<digest>`.
 */
export function sessionDirectories(userDirectory: string, cwd: string): SessionDirectories {
	const root = join(userDirectory, "sessions");
	const dashed = cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
	const plain = `--${dashed}--`;
	const family = join(root, plain);
	const own = join(root, `--${lastBytes(dashed, longestReadable)}--${digest(cwd)}`);
	const length = Buffer.byteLength(plain);
	// Only a lookup in an existing directory tells whether a file system takes a long name.
	const isTooLong = length > longestName || (length > safeName && !existsSync(root));
	return !isTooLong && isFreeFor(family, cwd) ? { directory: family, others: [own] } : { directory: own, others: [family] };
}

/** Returns whether a directory can take the sessions of `cwd`: it does not exist, or the first session in it is not of another working directory. */
function isFreeFor(directory: string, cwd: string): boolean {
	let names: string[];
	try {
		names = readdirSync(directory);
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "ENOENT";
	}
	// Names begin with the time of creation.
	for (const name of names.filter((each) => each.endsWith(".jsonl")).sort()) {
		const header = firstLine(join(directory, name))?.header;
		if (header?.cwd !== undefined) return !isOtherDirectory(header.cwd, cwd);
	}
	return true;
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
