/** The figures at the top of the page, and how figures are written. */
import type { Node, Tree } from "./tree.ts";
import { blocksOf, type Fields, fieldsOf, numberOf, textOf } from "./values.ts";

export interface Figures {
	prompts: number;
	replies: number;
	calls: number;
	failedCalls: number;
	branches: number;
	tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
	cost: number;
	/** Most used first. */
	models: string[];
	from: number | undefined;
	to: number | undefined;
}

export function figuresOf({ nodes, roots }: Tree, known: unknown): Figures {
	const figures: Figures = {
		prompts: 0,
		replies: 0,
		calls: 0,
		failedCalls: 0,
		branches: Math.max(1, roots.length),
		tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		cost: 0,
		models: [],
		from: undefined,
		to: undefined,
	};
	const models = new Map<string, number>();
	for (const node of nodes) {
		figures.branches += Math.max(0, node.children.length - 1);
		addTime(figures, timeOf(node));
		const { message } = node;
		if (message.role === "user") figures.prompts += 1;
		if (message.role === "toolResult" && message.isError === true) figures.failedCalls += 1;
		if (message.role === "assistant") {
			figures.replies += 1;
			figures.calls += blocksOf(message.content).filter((block) => block.type === "toolCall").length;
			const model = textOf(message.model);
			if (model) models.set(model, (models.get(model) ?? 0) + 1);
		}
		addUsage(figures, fieldsOf(message.role === "assistant" ? message.usage : node.entry.usage));
	}
	figures.models = [...models].sort(([, a], [, b]) => b - a).map(([name]) => name);
	return { ...figures, ...given(known) };
}

function addUsage(figures: Figures, usage: Fields): void {
	const { tokens } = figures;
	for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) {
		tokens[key] += numberOf(usage[key]);
		tokens.total += numberOf(usage[key]);
	}
	figures.cost += numberOf(fieldsOf(usage.cost).total);
}

function given(known: unknown): Partial<Pick<Figures, "tokens" | "cost">> {
	const { tokens, cost } = fieldsOf(known);
	if (tokens === undefined) return {};
	const { input, output, cacheRead, cacheWrite, total } = fieldsOf(tokens);
	return {
		tokens: {
			input: numberOf(input),
			output: numberOf(output),
			cacheRead: numberOf(cacheRead),
			cacheWrite: numberOf(cacheWrite),
			total: numberOf(total),
		},
		cost: numberOf(cost),
	};
}

/** Milliseconds. The time of a message is more exact than the time of its line. */
export function timeOf({ entry, message }: Node): number | undefined {
	if (typeof message.timestamp === "number" && message.timestamp > 0 && message.timestamp < 8.64e15) return message.timestamp;
	const time = Date.parse(textOf(entry.timestamp));
	return Number.isNaN(time) ? undefined : time;
}

function addTime(figures: Figures, time: number | undefined): void {
	if (time === undefined) return;
	figures.from = Math.min(figures.from ?? time, time);
	figures.to = Math.max(figures.to ?? time, time);
}

export function shortNumber(value: number): string {
	if (value < 1000) return String(Math.round(value));
	const [scaled, unit] = value < 999_500 ? [value / 1000, "k"] : value < 999_500_000 ? [value / 1e6, "M"] : [value / 1e9, "G"];
	return `${scaled < 99.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

export function money(value: number): string {
	if (value === 0) return "$0";
	if (value < 0.0001) return "<$0.0001";
	return `$${value < 0.1 ? value.toFixed(4) : value < 1 ? value.toFixed(3) : value.toFixed(2)}`;
}

export function duration(ms: number): string {
	const seconds = ms / 1000;
	if (seconds < 10) return `${seconds.toFixed(1)} s`;
	if (seconds < 90) return `${Math.round(seconds)} s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 90) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
	return `${Math.round(hours / 24)} days`;
}
