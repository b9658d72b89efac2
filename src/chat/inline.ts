/** Marks inside a line of Markdown: code, bold, italic, struck, links. */
import { type Line, type Style, span } from "./text.ts";

/** Longer lines are not searched for marks: that would be slow, and such lines are not prose. */
const longestLine = 4000;

/** The first that matches wins, and what is inside bold may hold others. */
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
