import fc from "fast-check";
import { expect, test } from "vitest";
import { applyReplacements, type Edit, planEdits, type Replacement } from "../../src/tools/edit-match.ts";

const plan = (file: string, edits: readonly Edit[]) => planEdits(file, edits, "f", true, async () => undefined);

const unit = fc.constantFrom("a", "b", " ", "\n", "\r\n", "“", "”", "’", "—", "\u00a0", "é", "e\u0301", "ﬁ", "😀", "\t", "가", "ᄀ", "ᅡ");
const text = (maxLength: number) => fc.string({ unit, maxLength });

/** How a careless writer would repeat the text. */
const careless = (value: string) =>
	value
		.normalize("NFKC")
		.replace(/[“”]/g, '"')
		.replace(/’/g, "'")
		.replace(/—/g, "-")
		.replaceAll("\r\n", "\n")
		.replace(/[ \t]+$/gm, "");

test("an edit, exact or not, changes no other byte", async () => {
	let landed = 0;
	let fuzzy = 0;
	await fc.assert(
		fc.asyncProperty(text(12), text(10), text(12), fc.boolean(), async (before, middle, after, isExact) => {
			const file = `${before}<${middle}>${after}`;
			const oldText = isExact ? `<${middle}>` : careless(`<${middle}>`);
			const planned = await plan(file, [{ oldText, newText: "NEW" }]);
			expect(applyReplacements(file, planned)).toBe(`${before}NEW${after}`);
			landed += 1;
			if (!file.replaceAll("\r\n", "\n").includes(oldText)) fuzzy += 1;
		}),
		{ numRuns: 500 },
	);
	expect(landed).toBeGreaterThanOrEqual(500);
	expect(fuzzy).toBeGreaterThan(50);
});

test("what is replaced is always between unchanged parts, wherever it is found", async () => {
	let found = 0;
	await fc.assert(
		fc.asyncProperty(text(20), text(3), async (file, oldText) => {
			let planned: Replacement[];
			try {
				planned = await plan(file, [{ oldText: careless(oldText), newText: "NEW" }]);
			} catch (error) {
				expect((error as Error).message).toMatch(/not found|occurs \d+ times|is empty/);
				return;
			}
			const [{ start, end }] = planned as [Replacement];
			found += 1;
			expect(applyReplacements(file, planned)).toBe(`${file.slice(0, start)}NEW${file.slice(end)}`);
			expect(careless(file.slice(start, end)).trimEnd()).toBe(careless(careless(oldText)).trimEnd());
			expect(file.slice(0, start).isWellFormed() && file.slice(end).isWellFormed()).toBe(true);
			expect(file[start - 1] === "\r" && file[start] === "\n").toBe(false);
			expect(file[end - 1] === "\r" && file[end] === "\n").toBe(false);
		}),
		{ numRuns: 1000 },
	);
	expect(found).toBeGreaterThan(50);
});

test("several edits land together as they would alone", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(text(6), { minLength: 1, maxLength: 6 }), async (parts) => {
			const file = parts.map((part, at) => `<${at}${part}>`).join("|");
			const edits = parts.map((part, at) => ({ oldText: `<${at}${part}>`, newText: `[${at}]` }));
			expect(applyReplacements(file, await plan(file, edits.toReversed()))).toBe(parts.map((_, at) => `[${at}]`).join("|"));
		}),
	);
});
