/**
 * Parts of regular expressions that match JSON on one line. A pattern of what programs usually write checks the JSON on the way, and is several
 * times cheaper than reading it and writing it again. The characters of the text are the bytes of its UTF-8.
 */

/** Characters of a text, up to the first that needs a second look. */
export const plainCharacters = '[^"\\\\\\x00-\\x1f]*';
export const number = "-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?";

export interface JsonPatterns {
	comma: string;
	string: string;
	/** Texts, numbers, true, false and null. */
	scalar: string;
	/** A scalar, or a list or an object of such values. */
	either(value: string): string;
	/** `"name":value` */
	member(name: string, value: string): string;
	/** Exactly these members. */
	object(...members: string[]): string;
	/** Any members with such values. */
	objectOf(value: string): string;
	listOf(item: string, times?: "*" | "+"): string;
	/** Any further members with such values, each with a comma in front of it. `names`: patterns of what they may not begin with. */
	membersExcept(value: string, ...names: string[]): string;
}

interface Spelling {
	/** Characters that need no second look. */
	plain: string;
	/** What may be between them. */
	special: string;
	/** What follows colons and commas: nothing or, in files of some programs, a space. */
	gap: string;
}

export function jsonPatterns({ plain, special, gap }: Spelling): JsonPatterns {
	const [colon, comma] = [`:${gap}`, `,${gap}`];
	const string = `"${plain}(?:${special}${plain})*"`;
	// One with an escape may be any name.
	const name = `"${plain}"`;
	// Each item is written once, for the size of the pattern: a comma may not be the last.
	const listOf = (item: string, times = "*") => `\\[(?:${item}(?:${comma}(?!\\])|(?=\\])))${times}\\]`;
	const objectOf = (value: string) => `\\{(?:${name}${colon}${value}(?:${comma}(?!\\})|(?=\\})))*\\}`;
	const scalar = `(?:${string}|${number}|true|false|null)`;
	return {
		comma,
		string,
		scalar,
		// Nothing matches in two ways: each of them would be tried again when the text turns out not to match.
		either: (value) => `(?:${scalar}|${objectOf(value)}|${listOf(value)})`,
		member: (name, value) => `"${name}"${colon}${value}`,
		object: (...members) => `\\{${members.join(comma)}\\}`,
		objectOf,
		listOf,
		membersExcept: (value, ...names) => `(?:${comma}(?!${names.join("|")})${name}${colon}${value})*`,
	};
}
