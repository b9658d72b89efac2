/** Tables of Markdown: columns side by side where they fit, else one cell below the other. */
import { inline } from "./inline.ts";
import { type Line, lineWidth, span, wrapped } from "./text.ts";

type Alignment = "left" | "right" | "centre";

/** A narrower column is hard to read. */
const narrowest = 6;
const between = " │ ";
/** More columns than any terminal shows. */
const mostColumns = 40;

/** How many lines from here are a table; 0 when it is not one. */
export function tableLength(lines: readonly string[], from: number): number {
	const [head = "", rule = ""] = [lines[from], lines[from + 1]];
	if (!head.includes("|") || !rule.includes("|") || !cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell))) return 0;
	let end = from + 2;
	while (lines[end]?.includes("|")) end++;
	return end - from;
}

export function tableRows(lines: readonly string[], width: number): Line[] {
	const [head = "", rule = "", ...rest] = lines;
	const titles = cellsOf(head).slice(0, mostColumns);
	const alignments = cellsOf(rule).map((cell): Alignment => (cell.endsWith(":") ? (cell.startsWith(":") ? "centre" : "right") : "left"));
	const cells = rest.map((line) => {
		const found = cellsOf(line);
		return titles.map((_, column) => inline(found[column] ?? ""));
	});
	const header = titles.map((title) => inline(title, ["bold"]));
	const widths = fitted(
		titles.map((_, column) => Math.max(1, ...[header, ...cells].map((row) => lineWidth(row[column] as Line)))),
		width - between.length * (titles.length - 1),
	);
	if (!widths) return stacked(header, cells, width);
	const line = widths.map((columns) => "─".repeat(columns)).join("─┼─");
	return [...rowLines(header, widths, alignments), [span(line, "dim")], ...cells.flatMap((row) => rowLines(row, widths, alignments))];
}

/** Takes from the widest columns until all fit; nothing when they cannot. */
function fitted(natural: readonly number[], room: number): number[] | undefined {
	const widths = [...natural];
	const total = () => widths.reduce((sum, each) => sum + each, 0);
	for (let excess = total() - room; excess > 0; excess = total() - room) {
		const widest = Math.max(...widths);
		if (widest <= narrowest) return undefined;
		const next = Math.max(narrowest, ...widths.filter((each) => each < widest));
		const wide = widths.filter((each) => each === widest).length;
		const step = Math.min(widest - next || widest - narrowest, Math.max(1, Math.floor(excess / wide)));
		let left = Math.min(excess, step * wide);
		for (const [column, each] of widths.entries()) {
			if (each !== widest || left <= 0) continue;
			widths[column] = each - Math.min(step, left);
			left -= step;
		}
	}
	return widths;
}

function rowLines(cells: readonly Line[], widths: readonly number[], alignments: readonly Alignment[]): Line[] {
	const columns = cells.map((cell, column) => wrapped(cell, widths[column] as number));
	const height = Math.max(...columns.map((rows) => rows.length));
	return Array.from({ length: height }, (_, index) =>
		columns.flatMap((rows, column): Line => {
			const isLast = column === columns.length - 1;
			const padded = aligned(rows[index] ?? [], widths[column] as number, alignments[column] ?? "left", isLast);
			return isLast ? padded : [...padded, span(between, "dim")];
		}),
	);
}

function aligned(row: Line, width: number, alignment: Alignment, isLast: boolean): Line {
	const free = Math.max(0, width - lineWidth(row));
	const before = alignment === "right" ? free : alignment === "centre" ? Math.floor(free / 2) : 0;
	const after = isLast ? 0 : free - before;
	return [...(before ? [span(" ".repeat(before))] : []), ...row, ...(after ? [span(" ".repeat(after))] : [])];
}

/** Title and cell, one below the other, with a line between the rows of the table. */
function stacked(header: readonly Line[], cells: readonly Line[][], width: number): Line[] {
	return cells.flatMap((row, index) => {
		const rows = row.flatMap((cell, column) => wrapped([...(header[column] as Line), span(": "), ...cell], width, [], [span("  ")]));
		return index === 0 ? rows : [[span("─".repeat(Math.min(width, 20)), "dim")], ...rows];
	});
}

/** The texts between the bars; a bar with a backslash is text. */
function cellsOf(line: string): string[] {
	const inner = line
		.trim()
		.replace(/^\|/, "")
		.replace(/(?<!\\)\|$/, "");
	return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
