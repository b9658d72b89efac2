/** A short, stable hash of a text, for ids that a provider does not accept as they are. Not for secrets. */

/** Two halves of 32 bits each. */
function halves(text: string): [low: number, high: number] {
	let [low, high] = [0xdeadbeef, 0x41c6ce57];
	for (let at = 0; at < text.length; at += 1) {
		low = Math.imul(low ^ text.charCodeAt(at), 2654435761);
		high = Math.imul(high ^ text.charCodeAt(at), 1597334677);
	}
	return [low >>> 0, high >>> 0];
}

/** 16 hexadecimal digits. */
export function hexHash(text: string): string {
	return halves(text)
		.map((half) => half.toString(16).padStart(8, "0"))
		.join("");
}

/** Letters and digits, as many as asked for, up to 12. */
export function letterHash(text: string, length: number): string {
	const [low, high] = halves(text);
	return ((BigInt(high) << 32n) | BigInt(low)).toString(36).padStart(12, "0").slice(-length);
}
