/** The arguments after a slash command, and the places in a template where they go. */

/**
 * Splits as a shell does: at blanks, except between quotes. There are no escapes, so that Windows paths stay what they are; a quote
 * without its partner and an apostrophe inside of a word are letters.
 */
export function splitArguments(text: string): string[] {
	const found: string[] = [];
	let word: string | undefined;
	for (let at = 0; at < text.length; at += 1) {
		const character = text.charAt(at);
		if (/\s/.test(character)) {
			if (word !== undefined) found.push(word);
			word = undefined;
			continue;
		}
		const isQuote = character === '"' || (character === "'" && !/[\p{L}\p{N}]$/u.test(word?.slice(-2) ?? ""));
		const end = isQuote ? text.indexOf(character, at + 1) : -1;
		if (end >= 0) {
			word = (word ?? "") + text.slice(at + 1, end);
			at = end;
		} else word = (word ?? "") + character;
	}
	if (word !== undefined) found.push(word);
	return found;
}

/** What a filled template may grow to: a few places for long arguments could otherwise take all memory. */
const maxFilledLength = 8 * 1024 * 1024;

const placeholder = /\$\{@:(\d{1,6})(?::(\d{1,6}))?\}|\$\{(\d{1,6}):-([^}]{0,1000})\}|\$(\d{1,6})|\$\{(\d{1,6})\}|\$@|\$ARGUMENTS(?!\w)/g;

/**
 * Puts the arguments into a template: `$1`, `$@` or `$ARGUMENTS` for all, `${@:N}` from the Nth on, `${@:N:L}` L of them,
 * `${1:-default}`. In one pass: what an argument says is never read as a place. Arguments that the template has no place for are
 * appended to it, because the user typed them.
 */
export function fillTemplate(template: string, typed: string): string {
	const args = splitArguments(typed);
	let hasPlaces = false;
	let length = template.length;
	const filled = template.replace(placeholder, (whole, ...groups) => {
		hasPlaces = true;
		const value = argumentAt(args, groups);
		length += value.length;
		return length > maxFilledLength ? whole : value;
	});
	return hasPlaces || typed === "" ? filled : `${filled.trimEnd()}\n\n${typed}`;
}

function argumentAt(args: readonly string[], groups: readonly unknown[]): string {
	const [from, length, optional, fallback, n, m] = groups as (string | undefined)[];
	if (from !== undefined) {
		const start = Math.max(Number(from) - 1, 0);
		return args.slice(start, length === undefined ? undefined : start + Number(length)).join(" ");
	}
	if (optional !== undefined) return args[Number(optional) - 1] || (fallback ?? "");
	const position = n ?? m;
	return position === undefined ? args.join(" ") : (args[Number(position) - 1] ?? "");
}
