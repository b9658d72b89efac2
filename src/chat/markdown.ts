/** Markdown as models write it, for a terminal: headings, lists, quotes, tables, code and inline marks. The rest is shown unchanged. */
import { codeLines } from "./highlight.ts";
import { inline } from "./inline.ts";
import { tableLength, tableRows } from "./table.ts";
import { broken, type Line, span, wrapped } from "./text.ts";

const fence = /^\s*(```+|~~~+)\s*(\S*)/;
const heading = /^(#{1,6})\s+(.*?)\s*#*$/;
const listItem = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const quote = /^\s*>\s?(.*)$/;
const rule = /^\s*([-*_])(\s*\1){2,}\s*$/;

/** Works on a text that is still growing: an open construct at its end is used as it is so far. */
export function markdown(text: string, width: number): Line[] {
	const rows: Line[] = [];
	const lines = text.split("\n");
	for (let index = 0; index < lines.length; index++) {
		const line = lines[index] as string;
		const opened = fence.exec(line);
		if (opened) {
			const end = closing(lines, index + 1, opened[1] as string);
			if (opened[2]) rows.push([span(`  ${opened[2]}`, "dim")]);
			const code = lines.slice(index + 1, end);
			if (code.length) for (const line of codeLines(code.join("\n"), opened[2] ?? "")) rows.push(...codeRows(line, width));
			index = end;
			continue;
		}
		const table = tableLength(lines, index);
		if (table) {
			rows.push(...tableRows(lines.slice(index, index + table), width));
			index += table - 1;
		} else rows.push(...textRows(line, width));
	}
	return rows;
}

/** Where a code block ends: at its fence, or at the end of the text. */
function closing(lines: readonly string[], from: number, opener: string): number {
	const found = lines.findIndex((line, index) => index >= from && line.trim().startsWith(opener) && fence.exec(line)?.[2] === "");
	return found < 0 ? lines.length : found;
}

function codeRows(code: Line, width: number): Line[] {
	return broken(code, width - 2).map((row) => [span("  "), ...row]);
}

function textRows(line: string, width: number): Line[] {
	if (rule.test(line)) return [[span("─".repeat(Math.min(width, 40)), "dim")]];
	const [, marks, title] = heading.exec(line) ?? [];
	if (marks !== undefined) return wrapped(inline(title as string, ["bold", ...(marks.length < 3 ? (["underline"] as const) : [])]), width);
	const [, indent, bullet, item] = listItem.exec(line) ?? [];
	if (bullet !== undefined) {
		const margin = " ".repeat(Math.min((indent as string).length, 12));
		const sign = /\d/.test(bullet) ? bullet : "•";
		return wrapped(inline(item as string), width, [span(`${margin}${sign} `)], [span(margin + " ".repeat(sign.length + 1))]);
	}
	const [, quoted] = quote.exec(line) ?? [];
	if (quoted !== undefined) return wrapped(inline(quoted, ["dim"]), width, [span("│ ", "dim")]);
	return wrapped(inline(line), width);
}
