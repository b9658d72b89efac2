/** Text for a terminal. Names of files, settings and models can contain sequences that move the cursor, retitle the window or hide text. */

import { unseen } from "./visible.ts";

/** Unsafe characters become escapes such as `\x1b`. Newlines and tabs stay. */
export function printable(text: string): string {
	return text.replace(unseen, escaped).replace(/[\r\f]/g, escaped);
}

/** The same on one line. */
export function printableLine(text: string): string {
	return printable(text).replace(/[\n\t]/g, (character) => (character === "\n" ? "\\n" : "\\t"));
}

function escaped(character: string): string {
	const code = character.codePointAt(0) as number;
	if (code > 0xffff) return `\\u{${code.toString(16)}}`;
	return code > 0xff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\x${code.toString(16).padStart(2, "0")}`;
}
