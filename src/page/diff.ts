/** The lines of a change, with their numbers and the words that differ. */
import type { DiffLine } from "../lib/read-diff.ts";
import { h } from "./dom.ts";
import type { Pen } from "./parts.ts";

const longestDiff = 60;

export function diffView(pen: Pen, lines: readonly DiffLine[]): HTMLElement {
	const body = h("div", { class: "diff", role: "group", "aria-label": "Changes" });
	const hasOld = lines.some((line) => line.oldNumber !== undefined && line.kind !== "gap");
	const draw = (from: number, to: number) => {
		for (const line of lines.slice(from, to)) body.append(diffRow(line, hasOld));
	};
	if (lines.length <= longestDiff + 10) {
		draw(0, lines.length);
		return body;
	}
	draw(0, longestDiff);
	const rest = pen.folds.fold("rest", [`${lines.length - longestDiff} more lines`], () => {
		const more = h("div", { class: "diff" });
		for (const line of lines.slice(longestDiff)) more.append(diffRow(line, hasOld));
		return [more];
	});
	return h("div", {}, body, rest);
}

function diffRow({ kind, oldNumber, newNumber, text, changed }: DiffLine, hasOld: boolean): HTMLElement {
	if (kind === "gap") return h("div", { class: "line gap" }, h("span", { class: "gap-text" }, text ? `⋯ ${text}` : "⋯"));
	const number = kind === "remove" ? oldNumber : newNumber;
	const sign = kind === "add" ? "+" : kind === "remove" ? "−" : "";
	const line = h("span", { class: "line-text" });
	if (changed) line.append(text.slice(0, changed[0]), h("mark", {}, text.slice(...changed)), text.slice(changed[1]));
	else line.append(text || "\u200b");
	return h(
		"div",
		{ class: `line ${kind}` },
		h("span", { class: hasOld || number !== undefined ? "line-number" : "line-number none" }, number === undefined ? "" : String(number)),
		h("span", { class: "line-sign" }, sign),
		line,
	);
}
