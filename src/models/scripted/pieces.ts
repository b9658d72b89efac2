/** How a text is cut into deltas. Joined again, the pieces are the text. */

/** One piece per word; white space goes with the word before it. */
export function words(text: string): string[] {
	return text.match(/\S+\s*|\s+/g) ?? [];
}

/** About equal pieces, `count` of them where the text has that many characters. A surrogate pair is not torn. */
export function parts(text: string, count: number): string[] {
	const pieces: string[] = [];
	let start = 0;
	for (let number = 1; number <= count && start < text.length; number++) {
		let end = Math.max(start + 1, Math.round((text.length * number) / count));
		if (isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))) end++;
		pieces.push(text.slice(start, end));
		start = end;
	}
	return pieces;
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;
