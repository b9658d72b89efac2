/** Markdown as models write it, for a terminal: headings, lists, quotes, code and inline marks. The rest is shown unchanged. */
import { broken, type Line, type Style, span, wrapped } from "./text.ts";

/** Longer lines are not searched for marks: that would be slow, and such lines are not prose. */
const longestLine = 4000;
const fence = /^\s*(```+|~~~+)\s*(\S*)/;
const heading = /^(#{1,6})\s+(.*?)\s*#*$/;
const listItem = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const quote = /^\s*>\s?(.*)$/;
const rule = /^\s*([-*_])(\s*\1){2,}\s*$/;
const table = /^\s*\|.*\|\s*$/;

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
			for (const code of lines.slice(index + 1, end)) rows.push(...codeRows(code, width));
			index = end;
		} else if (table.test(line)) rows.push(...broken([span(line.trim())], width));
		else rows.push(...textRows(line, width));
	}
	return rows;
}

/** Where a code block ends: at its fence, or at the end of the text. */
function closing(lines: readonly string[], from: number, opener: string): number {
	const found = lines.findIndex((line, index) => index >= from && line.trim().startsWith(opener) && fence.exec(line)?.[2] === "");
	return found < 0 ? lines.length : found;
}

function codeRows(code: string, width: number): Line[] {
	return broken([span(code, "cyan")], width - 2).map((row) => [span("  "), ...row]);
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

/** Code, bold, italic, struck, links: the first that matches wins, and what is inside bold may hold others. */
const marks =
	/(`+)(.+?)\1|\*\*(\S(?:.*?\S)?)\*\*|__(\S(?:.*?\S)?)__|\*(\S(?:[^*]*?\S)?)\*|(?<!\w)_(\S(?:[^_]*?\S)?)_(?!\w)|~~(.+?)~~|\[([^\][]+)\]\(([^()\s]+)\)/g;

export function inline(text: string, styles: readonly Style[] = []): Line {
	if (text.length > longestLine) return [{ text, styles }];
	const spans: Line = [];
	let from = 0;
	for (const found of text.matchAll(marks)) {
		const [whole, , code, bold, otherBold, italic, otherItalic, struck, label, target] = found;
		if (found.index > from) spans.push({ text: text.slice(from, found.index), styles });
		from = found.index + whole.length;
		const inner = (content: string, style: Style) => spans.push(...inline(content, [...styles, style]));
		if (code !== undefined) spans.push({ text: code, styles: [...styles, "cyan"] });
		else if (bold ?? otherBold) inner((bold ?? otherBold) as string, "bold");
		else if (italic ?? otherItalic) inner((italic ?? otherItalic) as string, "italic");
		else if (struck !== undefined) inner(struck, "strike");
		else {
			inner(label as string, "underline");
			if (label !== target) spans.push(span(` (${target})`, "dim"));
		}
	}
	if (from < text.length) spans.push({ text: text.slice(from), styles });
	return spans;
}
