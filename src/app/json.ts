/** Output of subcommands for programs: `--json`. */

/** One JSON value and a newline. Characters that a terminal acts on are written as escapes. */
export function printJson(value: unknown): void {
	const unsafe = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
	const text = JSON.stringify(value, null, 2).replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
	process.stdout.write(`${text}\n`);
}
