/** Text for a terminal. Names of files, settings and models can contain sequences that move the cursor, retitle the window or hide text. */

/** Unsafe characters become escapes such as `\x1b`. Newlines and tabs stay. */
export function printable(text: string): string {
	// Controls except newline and tab, DEL, C1, and the marks that turn the direction of writing. Made here: V8 loads tables for it.
	return text.replace(/(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, escaped);
}

/** The same on one line. */
export function printableLine(text: string): string {
	return printable(text).replace(/[\n\t]/g, (character) => (character === "\n" ? "\\n" : "\\t"));
}

function escaped(character: string): string {
	const code = character.charCodeAt(0);
	return code > 0xff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\x${code.toString(16).padStart(2, "0")}`;
}
