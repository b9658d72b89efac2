/** Changes of a file as coloured rows: for edits, for patches, for whatever asks before it changes something. */
import { countChanges, type DiffLine, readNumbered, readPatch, replacement } from "../lib/read-diff.ts";
import { viewOf } from "../lib/tool-facts.ts";
import { broken, harmless, type Line, type Span, shortened, span } from "./text.ts";

export type { DiffLine } from "../lib/read-diff.ts";

/** The changes that a call has made or wants to make: from its result, else from its arguments. */
export function changesOf(tool: string, args: unknown, details: unknown): DiffLine[] | undefined {
	const { patch, diff } = fieldsOf(details);
	if (typeof patch === "string" && patch.includes("@@")) return readPatch(patch);
	if (typeof diff === "string" && diff) return readNumbered(diff);
	const { edits, oldText, newText, content } = fieldsOf(args);
	const view = viewOf(tool);
	if (view?.content && typeof content === "string") return numbered(replacement("", content.replace(/\n$/, "")));
	if (!view?.edits) return undefined;
	const lines = (Array.isArray(edits) ? edits.map(fieldsOf) : [{ oldText, newText }]).flatMap((edit) =>
		replacement(textOf(edit.oldText), textOf(edit.newText)),
	);
	return lines.length ? lines : undefined;
}

/** `+2 −1`. */
export function tally(lines: readonly DiffLine[]): Span[] {
	const { added, removed } = countChanges(lines);
	return [...(added || !removed ? [span(`+${added}`, "green")] : []), ...(removed ? [span(`${added ? " " : ""}−${removed}`, "red")] : [])];
}

export interface DiffLook {
	width: number;
	/** The rest is counted in one row. */
	mostLines?: number;
	/** Unchanged lines that stay around each change. */
	context?: number;
}

/** Line numbers, signs and lines; the part of a line that differs from its counterpart is reversed. */
export function diffRows(lines: readonly DiffLine[], { width, mostLines = Number.POSITIVE_INFINITY, context }: DiffLook): Line[] {
	const near = context === undefined ? lines : nearChanges(lines, context);
	// One more line needs no more room than the row that counts it.
	const shown = near.length <= mostLines + 1 ? near : near.slice(0, mostLines);
	const digits = Math.max(0, ...shown.map((line) => String(numberOf(line) ?? "").length));
	const rows = shown.flatMap((line) => lineRows(line, digits, width));
	if (shown.length < near.length) rows.push([span(shortened(`${" ".repeat(digits)} … ${near.length - shown.length} more lines`, width), "dim")]);
	return rows;
}

function lineRows(line: DiffLine, digits: number, width: number): Line[] {
	const { kind, text, changed } = line;
	if (kind === "gap") return [[span(shortened(`${" ".repeat(digits)} ⋯ ${harmless(text)}`.trimEnd(), width), "dim")]];
	const sign = { add: "+", remove: "−", same: " " }[kind];
	const colour = ({ add: ["green"], remove: ["red"], same: ["dim"] } as const)[kind];
	const [from, to] = changed ?? [0, 0];
	const piece = (content: string) => harmless(content).replace(/\t/g, "    ").replaceAll("\n", " ");
	const spans: Line = [
		{ text: piece(text.slice(0, from)), styles: colour },
		{ text: piece(text.slice(from, to)), styles: [...colour, "reverse"] },
		{ text: piece(text.slice(to)), styles: colour },
	];
	const number = String(numberOf(line) ?? "").padStart(digits);
	const gutter = digits ? digits + 3 : 2;
	const empty = span(" ".repeat(gutter));
	const head: Line = [...(digits ? [span(`${number} `, "dim")] : []), { text: `${sign} `, styles: colour }];
	return broken(
		spans.filter((each) => each.text !== ""),
		// A character may be two columns wide.
		Math.max(2, width - gutter),
	).map((row, index) => [...(index === 0 ? head : [empty]), ...row]);
}

const numberOf = ({ kind, oldNumber, newNumber }: DiffLine) => (kind === "remove" ? oldNumber : newNumber);

function nearChanges(lines: readonly DiffLine[], context: number): DiffLine[] {
	const isChange = lines.map(({ kind }) => kind === "add" || kind === "remove");
	const isNear = (index: number) => isChange.slice(Math.max(0, index - context), index + context + 1).includes(true);
	const near: DiffLine[] = [];
	for (const [index, line] of lines.entries()) {
		if (line.kind !== "gap" && isNear(index)) near.push(line);
		else if (near.length && near.at(-1)?.kind !== "gap") near.push({ kind: "gap", text: "" });
	}
	if (near.at(-1)?.kind === "gap") near.pop();
	return near;
}

function numbered(lines: DiffLine[]): DiffLine[] {
	return lines.map((line, index) => ({ ...line, newNumber: index + 1 }));
}

const fieldsOf = (value: unknown) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
