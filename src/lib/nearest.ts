/** Guesses which known word a person meant. */

/** Nothing that is typed by a person is longer, and the comparison takes time that grows with the square. */
const longestWord = 80;

/** The known word that is closest; nothing when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
	if (word.length > longestWord) return undefined;
	const typed = word.toLowerCase();
	let best: { candidate: string; distance: number } | undefined;
	for (const candidate of known) {
		const length = Math.max(word.length, candidate.length);
		// The difference in length is a part of the distance.
		if (Math.abs(word.length - candidate.length) > length / 2) continue;
		// Between two that are as close, the one of the same length: letters were swapped more often than forgotten.
		const found = distance(typed, candidate.toLowerCase()) + Math.abs(word.length - candidate.length) / 1000;
		if (found <= length / 2 && found < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance: found };
	}
	return best?.candidate;
}

/** A sentence for the end of an error text: empty when no word is close. `shown` says how to write the word. */
export function didYouMean(word: string, known: readonly string[], shown: (meant: string) => string = (meant) => meant): string {
	const meant = close(word, known);
	return meant === undefined ? "" : ` Did you mean ${shown(meant)}?`;
}

/** Closer than `nearest` asks for: a wrong guess in an error text misleads. */
function close(word: string, known: readonly string[]): string | undefined {
	const meant = nearest(word, known);
	if (meant === undefined) return undefined;
	const [typed, found] = [word.toLowerCase(), meant.toLowerCase()];
	const isPart = typed.length >= 3 && (found.startsWith(typed) || typed.startsWith(found));
	return isPart || distance(typed, found) <= Math.max(1, Math.floor(Math.min(word.length, meant.length) / 3)) ? meant : undefined;
}

/** Letters to add, drop, replace or swap with their neighbour. */
function distance(from: string, to: string): number {
	let before: number[] = [];
	let row = Array.from({ length: to.length + 1 }, (_, index) => index);
	for (let i = 1; i <= from.length; i++) {
		const next = [i];
		for (let j = 1; j <= to.length; j++) {
			const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
			let least = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
			if (from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) least = Math.min(least, (before[j - 2] ?? Number.POSITIVE_INFINITY) + 1);
			next.push(least);
		}
		before = row;
		row = next;
	}
	return row[to.length] ?? 0;
}
