/** The pages are in plain technical English: no words that readers have to translate. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const pages = ["README.md", "CONTRIBUTING.md", "clients/python/README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
const written = pages.filter((page) => page.endsWith(".md"));

/** A phrase, and what to write in its place. */
const phrases: [RegExp, string][] = [
	[/\bby (it|them)sel(f|ves)\b/i, "automatically"],
	[/\banew\b/i, "again"],
	[/\b(nobody|somebody|who wants)\b/i, "name the actor"],
	[/\bleft away\b/i, "omitted"],
	[/\bis told\b/i, "gets, receives"],
	[/\b(stands? (in|first|above|before|there|here)|as it stands)\b/i, "is, contains"],
	[/\b(it|that|which) is no (?!longer)[a-z]+\b/i, "is not a"],
	[/\b(comes?|came|are put|is put) behind\b|\bbehind (it|them|the (run|turn|prompt))\b/i, "after"],
	[/\bcondens(e|ed|es|ing)\b/i, "compact"],
	[/\bat the age of\b/i, "of the version"],
];

test.each(written)("%s", (page) => {
	const prose = readFileSync(join(root, page), "utf8")
		.replace(/^```.*?^```/gms, "")
		.replace(/`[^`\n]*`/g, "");
	const found = phrases.flatMap(([phrase, instead]) => {
		const [words] = phrase.exec(prose) ?? [];
		return words ? [`"${words}": write "${instead}"`] : [];
	});
	expect(found).toEqual([]);
});
