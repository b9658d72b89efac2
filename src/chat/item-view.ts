/** How each item of a conversation looks. */
import type { Item, ToolCallItem } from "./conversation.ts";
import { markdown } from "./markdown.ts";
import { type Line, plainLines, type Span, type Style, shortened, span, widthOf, wrapped } from "./text.ts";

/** The rest of a longer result is only in the session. */
const mostLines = 200;

const signs: Record<ToolCallItem["state"], [string, Style]> = {
	waiting: ["·", "dim"],
	running: ["▸", "yellow"],
	done: ["✓", "green"],
	failed: ["✗", "red"],
};
const levels = { info: "blue", warning: "yellow", error: "red" } as const;

export interface Look {
	width: number;
	/** Shows tool calls with arguments and results, and the model's thinking. */
	isExpanded: boolean;
}

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

function toolLines(item: ToolCallItem, { width, isExpanded }: Look): Line[] {
	const [sign, style] = signs[item.state];
	const summary = plainLines(gist(item.args)).join(" ");
	const title: Line = [span(`${sign} `, style), span(item.name, "bold"), span(" ")];
	const room = width - 3 - widthOf(item.name);
	if (!isExpanded) {
		const [reason] = item.state === "failed" ? plainLines(item.output.trim()) : [];
		return [[...title, span(shortened(reason ? `${summary}: ${reason}` : summary, room), "dim")]];
	}
	const shown = plainLines(item.output.trimEnd());
	const rows = [...plainLines(JSON.stringify(item.args ?? {}, undefined, 2)), "", ...shown.slice(0, mostLines)];
	if (shown.length > mostLines) rows.push(`… ${shown.length - mostLines} more lines`);
	return [[...title, span(shortened(summary, room), "dim")], ...rows.flatMap((row) => wrapped([span(row, "dim")], width, [span("    ")]))];
}

/** What a call is about, in a few words: the argument that says most. */
function gist(args: unknown): string {
	if (typeof args !== "object" || args === null) return "";
	const given = args as Record<string, unknown>;
	const telling = ["command", "path", "pattern", "query", "url", "task"].flatMap((name) => (typeof given[name] === "string" ? [given[name]] : []));
	return telling.length ? telling.join(" ") : JSON.stringify(args);
}
