/** Looks through output four bytes at a time: with one byte at a time these loops were most of the cost of a command that prints 100 MB. */

const Tab = 0x09;
const Newline = 0x0a;
const Delete = 0x7f;
/** First UTF-8 byte of U+0080 to U+00BF, whose lower half are controls. */
export const c1Lead = 0xc2;

/** A chunk, and the same memory as words from its first aligned byte on. */
export interface Scannable {
	bytes: Buffer;
	words: Int32Array;
	firstAligned: number;
}

export function scannable(bytes: Buffer): Scannable {
	const firstAligned = Math.min(-bytes.byteOffset & 3, bytes.length);
	// An empty view must be aligned too.
	const start = (bytes.byteOffset + firstAligned) & ~3;
	const words = new Int32Array(bytes.buffer, start, (bytes.length - firstAligned) >> 2);
	return { bytes, words, firstAligned };
}

/** The first byte that is a control other than tab and newline, or may begin one. The length when there is none. */
export function firstControl({ bytes, words, firstAligned }: Scannable, from: number): number {
	const length = bytes.length;
	let at = from;
	while (at < length) {
		if (at >= firstAligned && ((at - firstAligned) & 3) === 0) {
			let word = (at - firstAligned) >> 2;
			while (word < words.length && isPlainWord(words[word] as number)) word += 1;
			at = firstAligned + word * 4;
			if (at >= length) return length;
		}
		if (isControl(bytes[at] as number)) return at;
		at += 1;
	}
	return length;
}

export function countNewlines(bytes: Buffer): number {
	const { words, firstAligned } = scannable(bytes);
	const wordsEnd = firstAligned + words.length * 4;
	let count = 0;
	for (let at = 0; at < firstAligned; at += 1) if (bytes[at] === Newline) count += 1;
	for (let word = 0; word < words.length; word += 1) {
		// A byte of `difference` is zero exactly where the word has a newline; the rest is the usual test for a zero byte.
		const difference = (words[word] as number) ^ 0x0a0a0a0a;
		if (((difference - 0x01010101) & ~difference & 0x80808080) === 0) continue;
		const start = firstAligned + word * 4;
		for (let at = start; at < start + 4; at += 1) if (bytes[at] === Newline) count += 1;
	}
	for (let at = wordsEnd; at < bytes.length; at += 1) if (bytes[at] === Newline) count += 1;
	return count;
}

function isControl(byte: number): boolean {
	return byte < 0x20 ? byte !== Newline && byte !== Tab : byte === Delete || byte === c1Lead;
}

/** Four bytes from 0x20 to 0x7e each. Never true for others; a carry between bytes only ever adds alarms. */
function isPlainWord(word: number): boolean {
	return (((word - 0x20202020) | (word + 0x01010101) | word) & 0x80808080) === 0;
}
