/** The whole screen, from the current state: the conversation above, below it the activity, the input and the status line. */
import type { Composer } from "./composer.ts";
import type { Conversation } from "./conversation.ts";
import { editorRows, type Questions } from "./dialogs.ts";
import { type Facts, statusLine } from "./status-line.ts";
import type { Frame } from "./terminal.ts";
import { type Line, plainLines, type Span, shortened, span, widthOf } from "./text.ts";
import type { Viewport } from "./viewport.ts";

export interface Widget {
	lines: string[];
	isBelow: boolean;
}

export interface Screen {
	conversation: Conversation;
	viewport: Viewport;
	composer: Composer;
	questions: Questions;
	isExpanded: boolean;
	/** The agent's activity, in a word; nothing when it is idle. */
	doing: string | undefined;
	/** Messages that wait for their turn. */
	queued: string[];
	/** The name of the session. */
	name: string;
	/** What the line below the input says. */
	facts: Facts;
	/** What extensions show. */
	statuses: Map<string, string>;
	widgets: Map<string, Widget>;
}

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const mostWidgetLines = 10;

export function frameOf(screen: Screen, { width, height }: { width: number; height: number }, now: number): Frame {
	const above = widgetRows(screen, false, width);
	const status = [statusLine(screen.facts, width - 1)];
	const queued = screen.queued.map((text): Line => [span(shortened(`↳ ${plainLines(text).join(" ")}`, width), "dim")]);
	const below = widgetRows(screen, true, width);
	const input = inputRows(screen, width, Math.max(1, Math.floor(height / 2) - 1));
	// Rows that do not fit are omitted from the top; the input is always there.
	const room = Math.max(0, height - 3 - input.rows.length);
	const menu = screen.questions.current ? [] : (screen.composer.menu?.rows(width - 1, Math.floor(room / 2)) ?? []);
	const around = [...[...above, ...queued].slice(0, Math.floor((room - menu.length) / 2)), ...menu];
	const tail = [...below.slice(0, Math.floor((room - around.length) / 2)), ...status];
	const visible = height - 1 - input.rows.length - around.length - tail.length;
	const look = { width: width - 1, isExpanded: screen.isExpanded };
	const said = screen.viewport.rows(screen.conversation.items, look, Math.max(1, visible));
	const rows = [...said, ...around, activityRow(screen, width, now), ...input.rows, ...tail].slice(0, height);
	const top = said.length + around.length + 1;
	return { rows, cursor: input.cursor && { row: top + input.cursor.row, column: input.cursor.column } };
}

/** How many rows the conversation has when nothing else asks for room. */
export const pageOf = (height: number) => Math.max(1, height - 5);

function inputRows({ composer, questions }: Screen, width: number, height: number): ReturnType<NonNullable<Questions["current"]>["frame"]> {
	if (questions.current) return questions.current.frame(width - 1, height);
	const { rows, row, column } = editorRows(composer.editor, width, height);
	return { rows, cursor: { row, column } };
}

function widgetRows({ widgets }: Screen, isBelow: boolean, width: number): Line[] {
	const lines = [...widgets.values()].filter((widget) => widget.isBelow === isBelow).flatMap((widget) => widget.lines);
	return lines.slice(0, mostWidgetLines).map((line) => [span(shortened(plainLines(line).join(" "), width - 1))]);
}

/** The line above the input: what goes on, what extensions say, and the name of the session. */
function activityRow({ doing, viewport, statuses, name }: Screen, width: number, now: number): Line {
	const left: Span[] = [];
	if (doing) left.push(span(`${spinner[Math.floor(now / 120) % spinner.length]} ${doing} `, "yellow"));
	if (!viewport.isAtEnd) left.push(span("↓ more below ", "cyan"));
	for (const text of statuses.values()) left.push(span(`${plainLines(text).join(" ")} `, "cyan"));
	const used = left.reduce((sum, { text }) => sum + widthOf(text), 0);
	if (used > width - 2) return [span(shortened(left.map(({ text }) => text).join(""), width - 1), "yellow")];
	const title = shortened(plainLines(name).join(" "), Math.max(0, width - used - 8));
	const right = title ? ` ${title} ──` : "";
	return [...left, span(`${"─".repeat(Math.max(0, width - used - widthOf(right) - 1))}${right}`, "dim")];
}
