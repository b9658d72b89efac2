/** Whether a text fits a pattern in which `*` stands for any characters. Takes time in proportion to the text: rules may come from a stranger. */
export const fitsStars = (pattern: string, text: string): boolean => starsPattern(pattern)(text);

/** The same, made ready once. */
export function starsPattern(pattern: string): (text: string) => boolean {
	const pieces = pattern.split("*");
	const first = pieces[0] as string;
	if (pieces.length === 1) return (text) => text === first;
	const last = pieces.at(-1) as string;
	const inner = pieces.slice(1, -1);
	return (text) => {
		if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
		let at = first.length;
		const end = text.length - last.length;
		for (const piece of inner) {
			const found = text.indexOf(piece, at);
			if (found < 0 || found + piece.length > end) return false;
			at = found + piece.length;
		}
		return true;
	};
}
