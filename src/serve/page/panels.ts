/** The right column: what goes on now, open questions, the plan, subagents, the budget, branches. */

import { type RunsLater, runsLaterName } from "../../lib/runs-later.ts";
import { button, type Child, h, setAttribute, setText } from "../../page/dom.ts";
import { KeyedList } from "../../page/list.ts";
import { duration, money, shortNumber } from "../../page/stats.ts";
import { endOf, type Node, pathTo } from "../../page/tree.ts";
import { type Fields, fieldsOf, numberOf, oneLine, plainText, textOf } from "../../page/values.ts";
import { type CacheFacts, CacheMeter, meter } from "./meter.ts";
import type { SessionModel } from "./model.ts";
import { stateWord } from "./session-list.ts";
import type { Check, SubagentView } from "./subagent-board.ts";

/** The parts of `get_state` that are shown. */
export interface Facts {
	context?: { tokens: number; contextWindow: number; percent: number };
	model?: string;
	thinkingLevel?: string;
	permissionMode?: string;
	sandbox?: string;
	/** With the names of settings that are looser. */
	safety?: string;
	stats?: { tokens: number; cost: number };
	ceilings?: Ceiling[];
	cache?: CacheFacts;
}

export interface Ceiling {
	name: string;
	used: number;
	limit: number;
	warnAt: number;
	text: (value: number) => string;
}

export interface PanelsInput {
	/** Shows the branch that ends there. */
	onBranch(leaf: Node | undefined): void;
	onFork(prompt: Node): void;
	onAsk(): void;
	onSubagent(view: SubagentView): void;
	onReadAll(): void;
	onShowChanges(): Promise<void>;
	onPutBack(): Promise<void>;
	mayDrive(): boolean;
}

export class Panels {
	readonly element = h("div", { class: "panels" });
	#input: PanelsInput;
	#now = panel("Now");
	#asks = panel("Approvals");
	#later = panel("Runs later");
	#todo = panel("Todo");
	#agents = panel("Subagents");
	#budget = panel("Budget");
	#used = h("div");
	#cache = new CacheMeter();
	#branches = panel("Branches");
	#elapsed = h("dd");
	#speed = h("dd");
	#agentRows: KeyedList<SubagentView>;
	#branchRows: KeyedList<BranchRow>;
	#readAll: HTMLElement;
	#askRows: KeyedList<Fields>;
	#shown = new Map<string, readonly unknown[]>();

	constructor(input: PanelsInput) {
		this.#input = input;
		this.#agentRows = new KeyedList(h("ul", { class: "agents" }), {
			key: ({ id }) => id,
			make: () => makeAgent(),
			update: (row, view) => this.#drawAgent(row, view),
		});
		this.#branchRows = new KeyedList(h("ul", { class: "branch-tree" }), {
			key: ({ key }) => key,
			make: ({ prompt }) => h("li", {}, h("button", { type: "button" }, h("bdi", {}, oneLine(plainText(prompt.message.content), 80) || "(picture)"))),
			update: (row, branch) => this.#drawBranch(row, branch),
		});
		this.#readAll = button("more", "Read the whole session", () => this.#input.onReadAll(), "Earlier prompts are not read yet · read all");
		this.#askRows = new KeyedList(h("ul", { class: "ask-list" }), {
			key: (question) => textOf(question.id),
			make: (question) =>
				h(
					"li",
					{},
					h(
						"button",
						{ class: "row-button", type: "button", onclick: () => this.#input.onAsk() },
						h("span", { class: "dot needs", "aria-hidden": "true" }),
						h("bdi", {}, oneLine(textOf(question.title) || "A question", 60)),
						h("bdi", { class: "row-facts" }, oneLine(textOf(question.text), 60)),
					),
				),
		});
		this.#budget.body.append(this.#used, this.#cache.element);
		this.#agents.body.append(this.#agentRows.element);
		this.#asks.body.append(this.#askRows.element);
		this.#branches.body.append(this.#readAll, this.#branchRows.element);
		for (const { element } of [this.#now, this.#asks, this.#later, this.#todo, this.#agents, this.#budget, this.#branches])
			this.element.append(element);
	}

	/** Draws what has changed. A reply that grows changes nothing here but its speed, which the clock draws. */
	show(model: SessionModel, facts: Facts): void {
		const { phase, retry, queue, status, widgets, dialogs, todoPhases, budget, message } = model.live;
		const { session, runStartedAt, tree, shownLeaf, hasOlder } = model;
		this.#when("now", [phase, retry, queue, status, widgets, facts, session, runStartedAt, message === undefined], () => this.#drawNow(model, facts));
		this.#when("asks", [dialogs], () => {
			this.#asks.element.hidden = dialogs.length === 0;
			this.#askRows.show(dialogs.map(fieldsOf));
		});
		this.#when("later", [model.runsLater, this.#input.mayDrive()], () => this.#drawLater(model.runsLater));
		this.#when("todo", [todoPhases], () => {
			const phases = todoPhases.filter(({ tasks }) => tasks.length > 0);
			this.#todo.element.hidden = phases.length === 0;
			this.#todo.body.replaceChildren(...phases.map(drawPhase));
		});
		this.#when("agents", [model, model.subagents.version], () => {
			const agents = model.subagents.all;
			this.#agents.element.hidden = agents.length === 0;
			this.#agentRows.show(agents);
		});
		this.#when("budget", [facts, budget, session], () => this.#drawBudget(model, facts));
		this.#when("branches", [tree, tree.nodes.length, shownLeaf, hasOlder, this.#input.mayDrive()], () => this.#drawBranches(model));
	}

	/** Draws a part when what it shows is not what it showed. */
	#when(part: string, shows: readonly unknown[], draw: () => void): void {
		const before = this.#shown.get(part);
		if (before && before.length === shows.length && before.every((value, index) => value === shows[index])) return;
		this.#shown.set(part, shows);
		draw();
	}

	/** Once a second. */
	tick(model: SessionModel): void {
		setText(this.#elapsed, model.runStartedAt === undefined ? "" : duration(Date.now() - model.runStartedAt));
		setText(this.#speed, speedOf(model));
		for (const view of model.subagents.all) {
			const place = this.#agentRows.row(view.id)?.querySelector(".agent-time");
			if (place) setText(place, duration((view.endedAt ?? Date.now()) - view.startedAt));
		}
	}

	#drawNow(model: SessionModel, facts: Facts): void {
		const { phase, retry, queue, status, widgets } = model.live;
		const words = { idle: "Idle", running: "Working", retrying: "Waiting to ask again", compacting: "Compacting the conversation" };
		const isAwake = model.session.state === "idle" || model.session.state === "busy";
		const queued = [...queue.steering.map((text) => ["Steers", text]), ...queue.followUp.map((text) => ["Follows", text])];
		this.#now.body.replaceChildren(
			...rows([
				["Phase", isAwake ? words[phase] : `${stateWord(model.session).replace(/^./, (letter) => letter.toUpperCase())}`],
				["Elapsed", model.runStartedAt === undefined ? "" : this.#elapsed],
				["Speed", model.live.message ? this.#speed : ""],
				["Model", facts.model ?? model.session.model?.id ?? ""],
				["Thinking", facts.thinkingLevel && facts.thinkingLevel !== "off" ? facts.thinkingLevel : ""],
				["Approvals", facts.permissionMode ?? ""],
				["Safety", facts.safety ?? ""],
				["Sandbox", facts.sandbox ?? ""],
			]),
			...present([
				facts.context &&
					meter("Context", facts.context.percent / 100, 0.8, `${shortNumber(facts.context.tokens)} of ${shortNumber(facts.context.contextWindow)}`),
				retry !== null && h("p", { class: "said" }, `Attempt ${retry.attempt} of ${retry.maxAttempts}: ${oneLine(retry.errorMessage, 200)}`),
				queued.length > 0 &&
					h(
						"ul",
						{ class: "queue", "aria-label": "Waiting messages" },
						...queued.map(([how, text]) => h("li", {}, h("b", {}, how), " ", h("bdi", {}, oneLine(text ?? "", 120)))),
					),
				...Object.values(status).map((text) => h("p", { class: "said" }, h("bdi", {}, oneLine(text, 160)))),
				...Object.values(widgets).map((lines) => h("pre", { class: "plain widget" }, lines.join("\n"))),
			]),
		);
	}

	#drawLater(found: readonly RunsLater[]): void {
		this.#later.element.hidden = found.length === 0;
		this.#later.body.replaceChildren(
			h("p", { class: "said" }, "The last run changed files that run later. Look at them before they do."),
			h("ul", {}, ...found.map((each) => h("li", {}, h("bdi", {}, runsLaterName(each))))),
			h(
				"div",
				{ class: "choices" },
				slowButton("Show changes", () => this.#input.onShowChanges()),
				this.#input.mayDrive() && slowButton("Put files back", () => this.#input.onPutBack()),
			),
		);
	}

	#drawBudget(model: SessionModel, { ceilings, stats, cache }: Facts): void {
		const { budget } = model.live;
		const tokens = stats?.tokens ?? model.session.usage.totalTokens;
		const cost = stats?.cost ?? model.session.usage.costUsd;
		const used = [tokens ? `${shortNumber(tokens)} tokens` : "", cost ? money(cost) : ""].filter(Boolean).join(" · ");
		this.#budget.element.hidden = used === "" && !ceilings?.length;
		this.#cache.show(cache);
		this.#used.replaceChildren(
			...present([
				h("p", { class: "said" }, used || "Nothing used yet"),
				...(ceilings ?? []).map(({ name, used: value, limit, warnAt, text }) =>
					meter(name, limit > 0 ? value / limit : 1, warnAt, `${text(value)} of ${text(limit)}`),
				),
				budget?.status === "exceeded" &&
					h("p", { class: "ending bad" }, `The ceiling is reached: ${textOf(budget.reason).replaceAll("_", " ")}. Prompts are refused.`),
				budget?.status === "warning" && h("p", { class: "ending" }, `Near the ceiling: ${textOf(budget.reason).replaceAll("_", " ")}.`),
			]),
		);
	}

	/** Keeps the button of the row: a click is lost when the button is replaced between the press and the release. */
	#drawAgent(row: HTMLElement, view: SubagentView): void {
		const words = { running: "works", checking: "is checked", done: "done", failed: "failed" };
		const facts = [
			view.toolCount ? `${view.toolCount} calls` : "",
			view.tokens ? `${shortNumber(view.tokens)} tokens` : "",
			view.cost ? money(view.cost) : "",
		];
		const head = row.firstElementChild as HTMLButtonElement;
		head.onclick = () => this.#input.onSubagent(view);
		const [state, name, word, time] = head.children as unknown as [Element, Element, Element, Element];
		state.className = `state ${{ running: "running", checking: "running", done: "done", failed: "failed" }[view.status]}`;
		setText(name, view.taskId || view.id);
		setText(word, words[view.status]);
		setText(time, duration((view.endedAt ?? Date.now()) - view.startedAt));
		while (head.nextSibling) head.nextSibling.remove();
		row.append(
			...present([
				view.description !== "" && h("p", { class: "agent-about" }, h("bdi", {}, oneLine(view.description, 120))),
				view.currentTool !== "" && h("p", { class: "agent-tool" }, h("bdi", {}, oneLine(view.currentTool, 120))),
				h("p", { class: "row-facts" }, facts.filter(Boolean).join(" · ")),
				view.checks.length > 0 && h("ol", { class: "agent-checks" }, ...view.checks.map(drawCheck)),
				view.verdict !== "" && h("p", { class: `said verdict ${view.verdict}` }, `Checks ${view.verdict}`),
			]),
		);
	}

	#drawBranches(model: SessionModel): void {
		const prompts = model.tree.nodes.filter(({ message }) => message.role === "user" && message.synthetic !== true);
		const shown = new Set(pathTo(model.shownLeaf));
		this.#branches.element.hidden = prompts.length === 0;
		this.#readAll.hidden = !model.hasOlder;
		const depths = depthsOf(prompts);
		this.#branchRows.show(
			prompts.slice(-200).map((prompt, index) => ({
				// Entries without an id cannot be told apart between two drawings. They have no button that could be replaced.
				key: `${model.id} ${prompt.id || index}`,
				prompt,
				isShown: shown.has(prompt),
				depth: Math.min(8, depths.get(prompt) ?? 0),
			})),
		);
	}

	/** Keeps the buttons of the row, as a click is lost when one is replaced between the press and the release. */
	#drawBranch(row: HTMLElement, { prompt, isShown, depth }: BranchRow): void {
		const [go, fork] = row.children as unknown as [HTMLButtonElement, HTMLButtonElement | undefined];
		go.className = `row-button${isShown ? "" : " elsewhere"}`;
		go.onclick = () => this.#input.onBranch(isShown ? prompt : endOf(prompt));
		if (isShown) setAttribute(go, "aria-current", "true");
		else go.removeAttribute("aria-current");
		row.style.paddingInlineStart = `${depth * 12}px`;
		if (prompt.id === "" || !this.#input.mayDrive()) return fork?.remove();
		const button =
			fork ?? h("button", { class: "fork-here", type: "button", title: "Fork here: a new session from before this prompt" }, "Fork here");
		button.onclick = () => this.#input.onFork(prompt);
		if (!fork) row.append(button);
	}
}

interface BranchRow {
	key: string;
	prompt: Node;
	/** The prompt is on the branch that is shown. */
	isShown: boolean;
	depth: number;
}

/** Makes the row of a subagent with its button, whose parts are filled in later. */
const makeAgent = () =>
	h(
		"li",
		{ class: "agent" },
		h(
			"button",
			{ class: "row-button agent-head", type: "button", title: "Show its conversation" },
			h("span", { "aria-hidden": "true" }),
			h("bdi", { class: "tool-name" }),
			h("span", { class: "row-state" }),
			h("span", { class: "agent-time" }),
		),
	);

/** How many forks are above each prompt. */
function depthsOf(prompts: readonly Node[]): Map<Node, number> {
	const wanted = new Set(prompts);
	const depths = new Map<Node, number>();
	for (const prompt of prompts) {
		let above: Node | undefined;
		let isFork = false;
		for (let node: Node = prompt; node.parent && !above; node = node.parent) {
			isFork ||= node.parent.children.filter((child) => child.type === "message" || child.children.length > 0).length > 1;
			if (wanted.has(node.parent)) above = node.parent;
		}
		depths.set(prompt, (above ? (depths.get(above) ?? 0) : 0) + (isFork ? 1 : 0));
	}
	return depths;
}

function panel(title: string): { element: HTMLElement; body: HTMLElement } {
	const body = h("div", { class: "panel-body" });
	return { element: h("section", { class: `panel ${title.toLowerCase()}` }, h("h2", {}, title), body), body };
}

/** Makes a button that is disabled while its work is done. */
function slowButton(name: string, work: () => Promise<void>): HTMLButtonElement {
	const made = h("button", { class: "choice", type: "button" }, name);
	made.onclick = () => {
		made.disabled = true;
		void work().finally(() => {
			made.disabled = false;
		});
	};
	return made;
}

function rows(list: readonly (readonly [string, string | HTMLElement])[]): HTMLElement[] {
	const filled = list.filter(([, value]) => value !== "");
	const pairs = filled.map(([name, value]) => h("div", {}, h("dt", {}, name), typeof value === "string" ? h("dd", {}, h("bdi", {}, value)) : value));
	return [h("dl", { class: "pairs" }, ...pairs)];
}

const present = (children: Child[]): Node_[] => children.filter((child): child is Node_ => Boolean(child));
type Node_ = Exclude<Child, undefined | false>;

const todoMarks = { pending: "○", in_progress: "◐", completed: "●", abandoned: "×" };
const todoWords = { pending: "open", in_progress: "in progress", completed: "done", abandoned: "given up" };

function drawPhase({ name, tasks }: SessionModel["live"]["todoPhases"][number]): HTMLElement {
	const done = tasks.filter(({ status }) => status === "completed").length;
	return h(
		"div",
		{ class: "phase" },
		h("h3", {}, h("bdi", {}, name), h("span", { class: "group-count" }, `${done}/${tasks.length}`)),
		h(
			"ul",
			{},
			...tasks.map(({ content, status }) =>
				h(
					"li",
					{ class: `todo ${status}` },
					h("span", { class: "todo-mark", "aria-hidden": "true" }, todoMarks[status]),
					h("bdi", {}, content),
					h("span", { class: "unseen" }, ` (${todoWords[status]})`),
				),
			),
		),
	);
}

function drawCheck({ name, attempt, exitCode, durationMs, command, preview }: Check): HTMLElement {
	const state = exitCode === undefined ? "running" : exitCode === 0 ? "done" : "failed";
	const how = exitCode === undefined ? "runs" : exitCode === 0 ? "passed" : `exit ${exitCode}`;
	const facts = [how, durationMs === undefined ? "" : duration(durationMs), attempt > 1 ? `attempt ${attempt}` : ""].filter(Boolean).join(" · ");
	const line = [
		h("span", { class: `state ${state}`, "aria-hidden": "true" }),
		h("bdi", { class: "step-name" }, name),
		h("span", { class: "step-facts" }, facts),
	];
	if (!command && !preview) return h("li", { class: "agent-check" }, ...line);
	return h("li", { class: "agent-check" }, h("details", {}, h("summary", {}, ...line), h("pre", { class: "plain" }, `$ ${command}\n${preview}`)));
}

/** About four characters are a token; the provider tells the number at the end. */
function speedOf({ live: { message }, replyStartedAt }: SessionModel): string {
	if (!message || replyStartedAt === undefined) return "";
	const seconds = (Date.now() - replyStartedAt) / 1000;
	const characters = message.content.reduce((sum, block) => sum + textOf(fieldsOf(block).text ?? fieldsOf(block).thinking).length, 0);
	const tokens = numberOf(fieldsOf(message.usage).output) || characters / 4;
	return seconds > 0.5 && tokens > 0 ? `≈ ${Math.round(tokens / seconds)} tokens/s` : "";
}
