/** The bytes of a growing list: what did not change since the last time is not joined and encoded again. */

/** Texts per page: small enough that a changed end costs little, large enough that a long conversation is few pieces. */
const pageSize = 64;

interface Memory {
	texts: readonly string[];
	pages: Uint8Array[];
}

/** Joins texts by commas, in pieces. Remembers the pieces for as long as the owner of the list lives. */
export function pageMaker(): (owner: object | undefined, texts: readonly string[]) => Uint8Array[] {
	const memories = new WeakMap<object, Memory>();
	return (owner, texts) => {
		const known = owner && memories.get(owner);
		const pages: Uint8Array[] = [];
		for (let from = 0; from < texts.length; from += pageSize) {
			const to = Math.min(from + pageSize, texts.length);
			const page = known && isSame(known.texts, texts, from, to) ? known.pages[from / pageSize] : undefined;
			pages.push(page ?? Buffer.from((from === 0 ? "" : ",") + texts.slice(from, to).join(",")));
		}
		if (owner) memories.set(owner, { texts, pages });
		return pages;
	};
}

/** Whether a page contains the same texts, and ends where it ended before. */
function isSame(before: readonly string[], now: readonly string[], from: number, to: number): boolean {
	if (to - from < pageSize && before.length !== now.length) return false;
	for (let index = from; index < to; index += 1) if (before[index] !== now[index]) return false;
	return true;
}
