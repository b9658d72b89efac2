/** The line below the input: directory and branch, how full the context is, cost, model and thinking level. */
import { homedir } from "node:os";
import { basename } from "node:path";
import { type Line, lineWidth, plainLines, type Span, type Style, shortened, span } from "./text.ts";

export interface Facts {
	cwd: string;
	branch?: string;
	/** Nothing when none is chosen. */
	model?: { provider: string; id: string; input?: readonly string[] };
	/** Only of models that reason. */
	level?: string;
	context?: { percent: number | null; window: number };
	/** In USD. */
	cost?: number;
	/** Settings that are looser than contained; undefined where the session is not contained. */
	loosened?: readonly string[];
}

const gap = 2;

/** What does not fit is said shorter, then omitted: the directory first, the model last. */
export function statusLine(facts: Facts, width: number): Line {
	const branch = facts.branch === undefined ? [] : [span(` (${clean(facts.branch)})`, "dim")];
	const wholePlace = [span(home(clean(facts.cwd)), "dim")];
	const shortPlace = [span(clean(basename(facts.cwd) || facts.cwd), "dim")];
	const right = (isShort: boolean, ...more: (Span | undefined)[]) => joined([...more, ...modelOf(facts, isShort)]);
	const [used, shortUsed, cost, safety] = [contextOf(facts, false), contextOf(facts, true), costOf(facts), safetyOf(facts)];
	const variants: [Line, Line][] = [
		[[...wholePlace, ...branch], right(false, safety, used, cost)],
		[[...shortPlace, ...branch], right(false, safety, used, cost)],
		[[...shortPlace, ...branch], right(true, safety, shortUsed, cost)],
		[branch.length ? branch.map(({ text, styles }) => ({ text: text.trim(), styles })) : shortPlace, right(true, safety, shortUsed, cost)],
		[[], right(true, safety, shortUsed, cost)],
		[[], right(true, safety, shortUsed)],
		[[], right(true, shortUsed)],
	];
	const fitting = variants.find(([left, facts]) => lineWidth(left) + lineWidth(facts) + (left.length ? gap : 0) <= width);
	if (!fitting) return [span(shortened(text(right(true, shortUsed)), width), "dim")];
	const [left, facts_] = fitting;
	return [...left, span(" ".repeat(Math.max(0, width - lineWidth(left) - lineWidth(facts_)))), ...facts_];
}

function modelOf({ model, level }: Facts, isShort: boolean): Span[] {
	if (!model) return [span("no model: /model", "yellow")];
	const name = isShort ? (model.id.split("/").at(-1) ?? model.id) : `${model.provider}/${model.id}`;
	return [span(clean(name), "dim"), ...(level ? [span(level, "dim")] : [])];
}

function safetyOf({ loosened }: Facts): Span | undefined {
	if (!loosened) return undefined;
	return loosened.length === 0 ? span("contained", "dim") : span(`contained, but ${loosened.join(", ")}`, "yellow");
}

function contextOf({ context }: Facts, isShort: boolean): Span | undefined {
	if (context?.percent == null) return undefined;
	const { percent, window } = context;
	const style: Style = percent >= 90 ? "red" : percent >= 70 ? "yellow" : "dim";
	return span(`${Math.round(percent)}%${isShort ? "" : ` of ${shortNumber(window)}`}`, style);
}

function costOf({ cost }: Facts): Span | undefined {
	if (cost === undefined) return undefined;
	return span(`$${cost.toFixed(cost > 0 && cost < 0.1 ? 3 : 2)}`, "dim");
}

function joined(parts: readonly (Span | undefined)[]): Line {
	return parts.filter((part) => part !== undefined).flatMap((part, index) => (index === 0 ? [part] : [span(" · ", "dim"), part]));
}

const text = (line: Line) => line.map((part) => part.text).join("");
const clean = (text: string) => plainLines(text).join(" ");

function home(path: string): string {
	const own = homedir();
	return path === own || path.startsWith(`${own}/`) ? `~${path.slice(own.length)}` : path;
}

export function shortNumber(count: number): string {
	if (count >= 1_000_000) return `${+(count / 1_000_000).toFixed(1)}M`;
	return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}
