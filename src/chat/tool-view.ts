/** How a tool call looks: a line with its gist, and below it what it changed or the end of what it printed. */
import { viewOf } from "../lib/tool-facts.ts";
import type { ToolCallItem } from "./conversation.ts";
import { changesOf, diffRows, tally } from "./diff-view.ts";
import { codeLines } from "./highlight.ts";
import { taskRows } from "./task-view.ts";
import { broken, type Line, lineWidth, plainLines, type Style, shortened, span, wrapped } from "./text.ts";

/** How much of a call is shown while it is folded. */
const folded = { diff: 12, context: 2, output: 5 };
/** The rest of a longer result is only in the session. */
const mostLines = 200;
/** A result that repeats what is in a file: the number of its lines says enough. */
const isReading = (name: string) => viewOf(name)?.kind === "read";

const signs: Record<ToolCallItem["state"], [string, Style]> = {
	waiting: ["·", "dim"],
	running: ["▸", "yellow"],
	done: ["✓", "green"],
	failed: ["✗", "red"],
};

export interface Look {
	width: number;
	/** Shows tool calls with arguments and results, and the model's thinking. */
	isExpanded: boolean;
}

export function toolLines(item: ToolCallItem, look: Look): Line[] {
	const { state, name, args, details } = item;
	const changes = state === "failed" ? undefined : changesOf(name, args, details);
	const output = plainLines(item.output.trimEnd());
	const count = item.output.trim() === "" ? 0 : output.length;
	const reason = state === "failed" && count === 1 ? output[0] : undefined;
	const facts = changes ? tally(changes) : isReading(name) && state === "done" && count > 0 ? [span(`${count} lines`, "dim")] : [];
	const title = titleLine(item, look.isExpanded ? undefined : reason, facts, look.width);
	const inner = look.width - 4;
	const indented = (rows: Line[]) => rows.map((row): Line => [span("    "), ...row]);
	if (changes) {
		const limits = look.isExpanded ? { mostLines } : { mostLines: folded.diff, context: folded.context };
		return [title, ...indented(diffRows(changes, { width: inner, ...limits }))];
	}
	const tasks = viewOf(name)?.tasks ? taskRows(details, inner) : [];
	if (!look.isExpanded) {
		if (tasks.length) return [title, ...indented(tasks)];
		const isQuiet = count === 0 || reason !== undefined || (isReading(name) && state !== "failed");
		return isQuiet ? [title] : [title, ...indented(lastRows(output, inner))];
	}
	const given = argumentLines(item).flatMap((line) => broken(line, inner));
	const rows = output.slice(0, mostLines).flatMap((line) => wrapped([span(line, "dim")], inner));
	if (output.length > mostLines) rows.push([span(`… ${output.length - mostLines} more lines`, "dim")]);
	return [title, ...indented([...given, ...tasks, ...(count ? [[], ...rows] : [])])];
}

function titleLine({ state, name, args }: ToolCallItem, reason: string | undefined, facts: Line, width: number): Line {
	const [sign, style] = signs[state];
	const summary = plainLines(gist(args)).join(" ").trim();
	const title: Line = [span(`${sign} `, style), span(name, "bold"), span(" ")];
	const room = width - lineWidth(title) - (facts.length ? lineWidth(facts) + 1 : 0);
	const about = span(shortened(reason ? `${summary}: ${reason}` : summary, room), "dim");
	return [...title, about, ...(facts.length ? [span(" "), ...facts] : [])];
}

/** The end of an output: it says how something went. */
function lastRows(output: readonly string[], width: number): Line[] {
	// One more line needs no more room than the row that counts it.
	const shown = output.length <= folded.output + 1 ? output : output.slice(-folded.output);
	const rows = shown.map((line): Line => [span(shortened(line, width), "dim")]);
	return shown.length < output.length ? [[span(`… ${output.length - shown.length} lines above`, "dim")], ...rows] : rows;
}

function argumentLines({ name, args }: ToolCallItem): Line[] {
	const { command } = (typeof args === "object" && args !== null ? args : {}) as Record<string, unknown>;
	if ((viewOf(name)?.command || name === "$") && typeof command === "string") return codeLines(command, "bash");
	return codeLines(JSON.stringify(args ?? {}, undefined, 2), "json");
}

/** What a call is about, in a few words: the argument that says most. */
function gist(args: unknown): string {
	if (typeof args !== "object" || args === null) return "";
	const given = args as Record<string, unknown>;
	const telling = ["command", "path", "pattern", "query", "url", "task"].flatMap((name) => (typeof given[name] === "string" ? [given[name]] : []));
	if (telling.length) return telling.join(" ");
	if (Array.isArray(given.tasks)) return given.tasks.map((task) => task?.description ?? task?.id ?? "").join(", ");
	return JSON.stringify(args);
}
