/** Bytes that were right once. */
import type { Random } from "../torture/random.ts";

const junk = [
	"\0",
	"\n",
	"\r\n",
	'"',
	"\\",
	"{",
	"}",
	"[",
	"]",
	"null",
	"data: ",
	"event: error\n",
	"\ufeff",
	"\u2028",
	"1e999",
	"-",
	":",
	",",
	"__proto__",
];

export function mutated(bytes: Buffer, random: Random): Buffer {
	let result = bytes;
	for (let count = random.int(1, 4); count > 0; count--) result = mutatedOnce(result, random);
	return result;
}

function mutatedOnce(bytes: Buffer, random: Random): Buffer {
	const at = random.int(0, bytes.length);
	const to = Math.min(bytes.length, at + random.int(0, random.chance(0.2) ? bytes.length : 40));
	const spliced = (...middle: Buffer[]) => Buffer.concat([bytes.subarray(0, at), ...middle, bytes.subarray(to)]);
	return random.weighted([
		[3, () => spliced()],
		[2, () => spliced(bytes.subarray(at, to), bytes.subarray(at, to))],
		[3, () => spliced(Buffer.from(random.pick(junk)), bytes.subarray(at, to))],
		[2, () => spliced(random.bytes(random.int(1, 8)))],
		[1, () => bytes.subarray(0, at)],
		[1, () => spliced(Buffer.from("[".repeat(random.pick([300, 20_000]))), bytes.subarray(at, to))],
		[2, () => swapped(bytes, random)],
	])();
}

/** A value of JSON takes another's place. */
function swapped(bytes: Buffer, random: Random): Buffer {
	const text = bytes.toString("latin1");
	const found = [...text.matchAll(/(?<=":)(?:"[^"]*"|-?\d+|true|false|null|\{\}|\[\])/g)];
	const one = found.length ? random.pick(found) : undefined;
	if (!one) return bytes;
	const value = random.pick(["null", "7", '""', "[]", "{}", "true", '"x"', "[null]", '{"a":[]}', "-1", "1e308"]);
	return Buffer.from(text.slice(0, one.index) + value + text.slice(one.index + one[0].length), "latin1");
}

/** The same bytes in pieces of any size. */
export function pieces(bytes: Buffer, random: Random): Buffer[] {
	const parts: Buffer[] = [];
	for (let at = 0; at < bytes.length; ) {
		const size = random.pick([1, 2, 7, 100, 4096]);
		parts.push(bytes.subarray(at, at + size));
		at += size;
	}
	return parts;
}
