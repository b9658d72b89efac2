/** Returns a text of someone else's as a sentence with one stop at its end, for another sentence to follow. */
export function asSentence(text: string): string {
	const trimmed = text.trimEnd();
	return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Returns what went wrong without the word that its reader is about to put in front of it. */
export const withoutError = (text: string): string => text.replace(/^(?:Error: )+/, "");
