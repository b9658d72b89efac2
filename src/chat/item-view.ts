/** How each item of a conversation looks. */
import type { Item } from "./conversation.ts";
import { markdown } from "./markdown.ts";
import { type Line, plainLines, type Span, type Style, span, widthOf, wrapped } from "./text.ts";
import { type Look, toolLines } from "./tool-view.ts";

const levels = { info: "cyan", warning: "yellow", error: "red" } as const;

export function linesOf(item: Item, { width, isExpanded }: Look): Line[] {
	switch (item.kind) {
		case "user":
			return marked(item.text, span("› ", "green", "bold"), width, "bold");
		case "text":
			return markdown(plainLines(item.text.trim()).join("\n"), width);
		case "thinking":
			return isExpanded ? marked(item.text.trim(), span("∴ ", "dim"), width, "dim", "italic") : [[span("∴ thought", "dim")]];
		case "notice":
			return plainLines(item.text.trimEnd()).flatMap((line) => wrapped([span(line, levels[item.level])], width));
		case "tool":
			return toolLines(item, { width, isExpanded });
	}
}

/** Lines with a mark in front of the first. */
function marked(text: string, mark: Span, width: number, ...styles: Style[]): Line[] {
	const margin = [span(" ".repeat(widthOf(mark.text)))];
	return plainLines(text).flatMap((line, index) => wrapped([span(line, ...styles)], width, index === 0 ? [mark] : margin, margin));
}
