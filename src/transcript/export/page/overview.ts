/** The head of the page: which session this is, its figures, its system prompt and tools. */
import { type Child, h } from "../../../page/dom.ts";
import { code, type Pen, prose } from "../../../page/parts.ts";
import { duration, figuresOf, money, shortNumber } from "../../../page/stats.ts";
import type { Tree } from "../../../page/tree.ts";
import { fieldsOf, listOf, oneLine, plainText, pretty, textOf } from "../../../page/values.ts";

export interface PageData {
	header?: unknown;
	entries?: unknown;
	leafId?: unknown;
	systemPrompt?: unknown;
	tools?: unknown;
	stats?: unknown;
	/** The conversations of subagents, by id. */
	subagents?: unknown;
}

export function sessionTitle(tree: Tree): string {
	const named = tree.nodes.findLast(({ type, entry }) => type === "session_info" && textOf(entry.name).trim());
	if (named) return oneLine(textOf(named.entry.name), 120);
	const prompt = tree.nodes.find(({ message }) => message.role === "user");
	return (prompt && oneLine(plainText(prompt.message.content), 120)) || "Session";
}

export function overview(pen: Pen, tree: Tree, data: PageData): HTMLElement {
	const header = fieldsOf(data.header);
	const started = Date.parse(textOf(header.timestamp));
	const facts: Child[] = [
		!Number.isNaN(started) && h("time", {}, new Date(started).toLocaleString([], { dateStyle: "long", timeStyle: "short" })),
		header.cwd !== undefined && h("bdi", { class: "path", title: "Working directory" }, textOf(header.cwd)),
		header.id !== undefined && h("bdi", { class: "path", title: "Session id" }, textOf(header.id)),
	];
	return h(
		"header",
		{ class: "overview" },
		h("p", { class: "kicker" }, "Bowline session"),
		h("h1", { dir: "auto" }, sessionTitle(tree)),
		h("p", { class: "facts" }, ...facts),
		figures(tree, data.stats),
		...toldToTheModel(pen, tree, data),
	);
}

function figures(tree: Tree, known: unknown): HTMLElement {
	const { prompts, replies, calls, failedCalls, branches, tokens, cost, models, from, to } = figuresOf(tree, known);
	const list = h("dl", { class: "figures" });
	const add = (name: string, value: string, about: string) => {
		if (value)
			list.append(
				h("div", {}, h("dt", {}, name), h("dd", {}, h("span", { class: "figure" }, value), about !== "" && h("span", { class: "about" }, about))),
			);
	};
	const parts = [`${shortNumber(tokens.input + tokens.cacheWrite)} in`, `${shortNumber(tokens.output)} out`];
	if (tokens.cacheRead) parts.push(`${shortNumber(tokens.cacheRead)} cached`);
	add("Messages", shortNumber(prompts + replies), `${counted(prompts, "prompt", "prompts")} · ${counted(replies, "reply", "replies")}`);
	add("Tool calls", calls ? shortNumber(calls) : "", failedCalls ? `${failedCalls} failed` : "none failed");
	add("Tokens", tokens.total ? shortNumber(tokens.total) : "", parts.join(" · "));
	add("Cost", cost ? money(cost) : "", "");
	add("Duration", from !== undefined && to !== undefined && to > from ? duration(to - from) : "", "first to last entry");
	add("Branches", branches > 1 ? String(branches) : "", "");
	add(
		models.length > 1 ? "Models" : "Model",
		oneLine(models[0] ?? "", 60),
		models.length > 1
			? `and ${models
					.slice(1, 4)
					.map((name) => oneLine(name, 40))
					.join(", ")}`
			: "",
	);
	if (models.length) list.lastElementChild?.classList.add("names");
	return list;
}

function toldToTheModel(pen: Pen, tree: Tree, { systemPrompt, tools }: PageData): Child[] {
	const init = tree.nodes.find(({ type }) => type === "session_init");
	const prompt = textOf(systemPrompt ?? init?.entry.systemPrompt);
	const list = listOf(tools ?? init?.entry.tools);
	const drawTool = (value: unknown): HTMLElement => {
		if (typeof value === "string") return h("div", { class: "tool-facts" }, h("bdi", { class: "tool-name" }, value));
		const { name, description, parameters } = fieldsOf(value);
		const schema = parameters !== undefined && pen.folds.fold("quiet", ["Parameters"], () => [code(pen, pretty(parameters), "json")]);
		return h("div", { class: "tool-facts" }, h("bdi", { class: "tool-name" }, textOf(name)), prose(pen, textOf(description)), schema);
	};
	return [
		prompt !== "" && pen.folds.fold("told", ["System prompt"], () => [prose(pen, prompt)]),
		list.length > 0 && pen.folds.fold("told", [`Tools (${list.length})`], () => list.map(drawTool)),
	];
}

function counted(count: number, one: string, many: string): string {
	return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
