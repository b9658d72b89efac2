/** Shows characters that cannot be seen and that make a text look like another one. */

const names: Readonly<Record<string, string>> = {
	"\u00ad": "SHY",
	"\u061c": "ALM",
	"\u200b": "ZWSP",
	"\u200c": "ZWNJ",
	"\u200d": "ZWJ",
	"\u200e": "LRM",
	"\u200f": "RLM",
	"\u2028": "LS",
	"\u2029": "PS",
	"\u202a": "LRE",
	"\u202b": "RLE",
	"\u202c": "PDF",
	"\u202d": "LRO",
	"\u202e": "RLO",
	"\u2060": "WJ",
	"\u2066": "LRI",
	"\u2067": "RLI",
	"\u2068": "FSI",
	"\u2069": "PDI",
	"\ufeff": "BOM",
};

/** Scripts whose words are not parted by spaces: there a space without width says where a line may break. */
const unparted = String.raw`[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]`;
const ascii = String.raw`[\x20-\x7e]`;
/** A few others of the kind. */
const unseenGap = String.raw`[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{0,8}`;

/**
 * Marks of direction, controls other than line ends and tabs, and characters without width. Joiners between ASCII only: emoji and several scripts
 * need them elsewhere. Tags, which hide whole sentences, except the few after the flag that they belong to. What is looked at before and behind
 * has a bound: the text may be a long one that somebody made for this.
 */
export const unseen = new RegExp(
	[
		String.raw`[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]`,
		`(?<!${unparted})\\u200b|\\u200b(?!${unparted})`,
		`(?<=${ascii}${unseenGap})[\\u200c\\u200d](?=${unseenGap}${ascii})`,
		String.raw`(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{0,8})[\u{e0000}-\u{e007f}]`,
	].join("|"),
	"gu",
);

/** Returns the text with such characters as marks: `⟦RLO⟧`. */
export const visible = (text: string): string => text.replace(unseen, (found) => `⟦${names[found] ?? codeOf(found)}⟧`);

const codeOf = (character: string) => `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;
