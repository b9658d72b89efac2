/** The subagents of a `task` call: what each did, how it was checked and repaired, and its conversation. */
import { button, type Child, h } from "./dom.ts";
import { callSummary, type Item } from "./items.ts";
import { output, type Pen, prose } from "./parts.ts";
import { duration, money, shortNumber } from "./stats.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, type Fields, fieldsOf, listOf, numberOf, oneLine, plainText, textOf } from "./values.ts";

const repairOf = (id: string) => `${id}-repair`;
const mostSteps = 40;

/** The ids of the conversations that belong to a result. */
export function conversationIds(result: Entry): string[] {
	if (result.message.toolName !== "task") return [];
	return listOf(fieldsOf(result.message.details).results).flatMap((each) => {
		const id = textOf(fieldsOf(each).id);
		return [id, repairOf(id)];
	});
}

/** Nothing when neither the call nor its result names any. */
export function subagentCards(pen: Pen, args: Fields, result: Entry | undefined): Child[] {
	const results = listOf(fieldsOf(result?.message.details).results).map(fieldsOf);
	if (results.length) return [h("div", { class: "subagents" }, ...results.map((each) => card(pen, each)))];
	const tasks = listOf(args.tasks).map(fieldsOf);
	return tasks.length ? [h("div", { class: "subagents" }, ...tasks.map((task) => planned(pen, args, task)))] : [];
}

/** A task of a call that has no result. */
function planned(pen: Pen, args: Fields, task: Fields): HTMLElement {
	const head = headOf("open", textOf(task.id), textOf(task.description), [textOf(args.agent)], []);
	return h("section", { class: "subagent" }, head, assignment(pen, task));
}

function card(pen: Pen, result: Fields): HTMLElement {
	const { exitCode, error, durationMs, toolCalls, usage, patchPath, branchName } = result;
	const id = textOf(result.id);
	const { status, retriesUsed, attempts } = fieldsOf(result.verification);
	const hasFailed = exitCode !== 0;
	const tags: Child[] = [
		status === "passed" && h("span", { class: "tag good" }, "checks passed"),
		status === "failed" && h("span", { class: "tag bad" }, "checks failed"),
		status === "skipped" && h("span", { class: "tag" }, "not checked"),
		numberOf(retriesUsed) > 0 && h("span", { class: "tag" }, "repaired"),
		hasFailed && h("span", { class: "tag bad" }, result.aborted === true ? "aborted" : "failed"),
	];
	const cost = numberOf(fieldsOf(fieldsOf(usage).cost).total);
	const facts = [
		textOf(result.agent),
		counted(numberOf(toolCalls), "call"),
		durationMs === undefined ? "" : duration(numberOf(durationMs)),
		numberOf(result.tokens) ? `${shortNumber(numberOf(result.tokens))} tokens` : "",
		cost ? money(cost) : "",
	];
	const [first, repair] = [pen.conversationOf(id), pen.conversationOf(repairOf(id))];
	const checks = listOf(attempts).map(fieldsOf);
	return h(
		"section",
		{ class: "subagent" },
		headOf(hasFailed ? "failed" : "done", id, textOf(result.description), facts, tags),
		textOf(error) !== "" && h("p", { class: "ending bad", dir: "auto" }, textOf(error)),
		first && steps(first, "Steps"),
		checks[0] && attempt(pen, checks[0], checks.length > 1),
		repair && steps(repair, "Repair"),
		...checks.slice(1).map((each) => attempt(pen, each, true)),
		assignment(pen, result),
		textOf(result.output) !== "" && pen.folds.fold("quiet", ["Answer"], () => [prose(pen, textOf(result.output))]),
		conversation(pen, id, "Conversation"),
		conversation(pen, repairOf(id), "Conversation of the repair"),
		!first && numberOf(durationMs) > 0 && elsewhere(pen, id),
		(textOf(patchPath) !== "" || textOf(branchName) !== "") && h("p", { class: "said" }, `Its work: ${textOf(branchName) || textOf(patchPath)}`),
	);
}

function headOf(state: "open" | "failed" | "done", id: string, about: string, facts: readonly string[], tags: Child[]): HTMLElement {
	return h(
		"header",
		{ class: "subagent-head" },
		h("span", { class: `state ${state}`, title: { open: "No result", failed: "Failed", done: "Done" }[state] }),
		h("bdi", { class: "tool-name" }, id),
		h("bdi", { class: "subagent-about" }, oneLine(about, 200)),
		...tags,
		h("span", { class: "subagent-facts" }, facts.filter(Boolean).join(" · ")),
	);
}

interface Step {
	name: string;
	about: string;
	state: "open" | "failed" | "done";
}

/** The tool calls of a conversation, in their order. */
export function stepsOf(items: readonly Item[]): Step[] {
	return items.flatMap(({ node, results }) =>
		node.message.role !== "assistant"
			? []
			: blocksOf(node.message.content).flatMap((block, position): Step[] => {
					if (block.type !== "toolCall") return [];
					const result = results.get(position);
					const state = !result ? "open" : result.message.isError === true ? "failed" : "done";
					return [{ name: textOf(block.name), about: oneLine(callSummary(textOf(block.name), block.arguments), 160), state }];
				}),
	);
}

function steps(items: readonly Item[], title: string): Child {
	const all = stepsOf(items);
	if (!all.length) return undefined;
	const rows = all
		.slice(0, mostSteps)
		.map(({ name, about, state }) =>
			h("li", {}, h("span", { class: `state ${state}` }), h("bdi", { class: "step-name" }, name), h("bdi", { class: "step-about" }, about)),
		);
	const more = all.length > mostSteps && h("li", { class: "missing" }, `${all.length - mostSteps} more, in the conversation`);
	return h("div", { class: "steps" }, h("p", { class: "steps-title" }, title), h("ol", {}, ...rows, more));
}

/** One run of all checks. */
function attempt(pen: Pen, given: Fields, isOneOfSeveral: boolean): HTMLElement {
	const status = textOf(given.status);
	const rows = listOf(given.commandResults)
		.map(fieldsOf)
		.map((check) => {
			const { exitCode, timedOut, optional, outputPreview } = check;
			const hasFailed = exitCode !== 0;
			const how = timedOut === true ? "timed out" : hasFailed ? `exit ${textOf(exitCode)}` : "passed";
			const facts = [how, duration(numberOf(check.durationMs)), optional === true ? "optional" : ""];
			const line: Child[] = [
				h("span", { class: `state ${hasFailed ? "failed" : "done"}` }),
				h("bdi", { class: "step-name" }, textOf(check.name)),
				h("bdi", { class: "step-about" }, oneLine(textOf(check.command), 160)),
				h("span", { class: "step-facts" }, facts.filter(Boolean).join(" · ")),
			];
			const text = textOf(outputPreview);
			return h("li", {}, text ? pen.folds.fold("check", line, () => [output(pen, text)], hasFailed) : h("div", { class: "check" }, ...line));
		});
	const title = `Checks${isOneOfSeveral ? `, attempt ${textOf(given.attempt)}` : ""}: ${status}`;
	const error = textOf(given.error);
	return h(
		"div",
		{ class: `steps checks ${status === "passed" || status === "failed" ? status : ""}` },
		h("p", { class: "steps-title" }, title),
		h("ol", {}, ...rows),
		!rows.length && error !== "" && h("p", { class: "said" }, error),
	);
}

function assignment(pen: Pen, task: Fields): Child {
	const text = textOf(task.assignment) || textOf(task.task);
	const peek = h("bdi", { class: "peek" }, oneLine(text, 110));
	return text !== "" && pen.folds.fold("quiet", [h("span", { class: "fold-name" }, "Assignment"), peek], () => [prose(pen, text)]);
}

/** A conversation that is not at hand: it can be fetched, or it is not there. */
function elsewhere(pen: Pen, id: string): Child {
	const { openConversation } = pen;
	if (!openConversation) return h("p", { class: "missing" }, "Its conversation is not in this file.");
	return button("more", "Show its conversation", () => openConversation(id), "Conversation");
}

function conversation(pen: Pen, id: string, title: string): Child {
	const items = pen.conversationOf(id);
	if (!items) return undefined;
	const replies = items.filter(({ node }) => node.message.role === "assistant");
	const last = replies.map(({ node }) => plainText(node.message.content)).findLast((text) => text.trim() !== "") ?? "";
	const name = h("span", { class: "fold-name" }, `${title} · ${counted(replies.length, "reply", "replies")}`);
	return pen.folds.fold("quiet conversation-fold", [name, h("bdi", { class: "peek" }, oneLine(last, 80))], () => [pen.drawConversation(id)]);
}

const counted = (count: number, one: string, many = `${one}s`) => (count === 0 ? "" : `${count} ${count === 1 ? one : many}`);
