/** The lines of a change, with their numbers and the words that differ: one below the other, or side by side where there is room. */
import { countChanges, type DiffLine, type FileDiff } from "../lib/read-diff.ts";
import { append, h, setAttribute } from "./dom.ts";
import type { Pen } from "./parts.ts";

const longestDiff = 60;

/** One file as it is; of several files each in a fold with its name and counts. */
export function diffView(pen: Pen, files: readonly FileDiff[]): HTMLElement {
	const [only] = files;
	if (only && files.length === 1) return fileView(pen, only.lines);
	return h(
		"div",
		{ class: "diff-files" },
		...files.map(({ path, lines }) =>
			pen.folds.fold("diff-file", [h("bdi", { class: "tool-about" }, path || "(no name)"), tally(lines)], () => [fileView(pen, lines)], true),
		),
	);
}

export function tally(lines: readonly DiffLine[]): HTMLElement {
	const { added, removed } = countChanges(lines);
	return h("span", { class: "tally" }, h("span", { class: "plus" }, `+${added}`), " ", h("span", { class: "minus" }, `−${removed}`));
}

function fileView(pen: Pen, lines: readonly DiffLine[]): HTMLElement {
	const hasOld = lines.some((line) => line.oldNumber !== undefined && line.kind !== "gap");
	const body = h("div", { class: "diff", role: "group", "aria-label": "Changes" });
	const isLong = lines.length > longestDiff + 10;
	fill(body, isLong ? lines.slice(0, longestDiff) : lines, hasOld);
	const rest =
		isLong &&
		pen.folds.fold("rest", [`${lines.length - longestDiff} more lines`], () => {
			const more = h("div", { class: "diff" });
			fill(more, lines.slice(longestDiff), hasOld);
			return [more];
		});
	return h("div", { class: "diff-room" }, body, rest);
}

/** Lines that go and come together share a block: side by side, those that go are on its left. A line that stays is there twice, once hidden. */
function fill(body: HTMLElement, lines: readonly DiffLine[], hasOld: boolean): void {
	let block: HTMLElement | undefined;
	let isAdding = false;
	for (const line of lines) {
		if (line.kind === "gap") {
			block = undefined;
			body.append(h("div", { class: "line gap" }, h("span", { class: "gap-text" }, line.text ? `⋯ ${line.text}` : "⋯")));
			continue;
		}
		if (line.kind === "same") {
			block = undefined;
			const before = diffRow(line, line.oldNumber, hasOld);
			before.classList.add("before");
			setAttribute(before, "aria-hidden", "true");
			body.append(h("div", { class: "sides" }, before, diffRow(line, line.newNumber, hasOld)));
			continue;
		}
		if (!block || (isAdding && line.kind === "remove")) {
			block = h("div", { class: "sides" });
			body.append(block);
		}
		isAdding = line.kind === "add";
		block.append(diffRow(line, isAdding ? line.newNumber : line.oldNumber, hasOld));
	}
}

function diffRow({ kind, text, changed }: DiffLine, number: number | undefined, hasOld: boolean): HTMLElement {
	const sign = kind === "add" ? "+" : kind === "remove" ? "−" : "";
	const line = h("span", { class: "line-text" });
	if (changed) append(line, text.slice(0, changed[0]), h("mark", {}, text.slice(...changed)), text.slice(changed[1]));
	else if (text) append(line, text);
	// Gives an empty line its height.
	else line.append("\u200b");
	return h(
		"div",
		{ class: `line ${kind}` },
		h("span", { class: hasOld || number !== undefined ? "line-number" : "line-number none" }, number === undefined ? "" : String(number)),
		h("span", { class: "line-sign" }, sign),
		line,
	);
}
