/** The known word that the author probably meant; nothing when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
	const typed = word.toLowerCase();
	const ranked = known
		.map((candidate) => ({ candidate, distance: distance(typed, candidate.toLowerCase()) }))
		.sort((a, b) => a.distance - b.distance);
	const best = ranked[0];
	return best && best.distance <= Math.max(word.length, best.candidate.length) / 2 ? best.candidate : undefined;
}

/** Levenshtein: letters to add, drop or replace. */
function distance(from: string, to: string): number {
	let row = Array.from({ length: to.length + 1 }, (_, index) => index);
	for (let i = 1; i <= from.length; i++) {
		const next = [i];
		for (let j = 1; j <= to.length; j++) {
			const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[to.length] ?? 0;
}
