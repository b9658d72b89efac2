/** One item of the conversation. */
import { cacheBreak } from "../protocol/cache.ts";
import { approvalLine } from "./approvals.ts";
import { button, type Child, h, icon } from "./dom.ts";
import { type Item, kindOf } from "./items.ts";
import { code, content, output, type Pen, picture, prose } from "./parts.ts";
import { modelName } from "./search.ts";
import { duration, money, shortNumber, timeOf } from "./stats.ts";
import { callCard, loneResult } from "./tools.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, cut, type Fields, fieldsOf, listOf, numberOf, oneLine, pretty, textOf } from "./values.ts";

/** `above`: the item in front of it. In the same reply the name is not said again. */
export function drawItem(pen: Pen, item: Item, above: Item | undefined): HTMLElement {
	const { node } = item;
	const continues = above?.node.message.role === "assistant" && node.message.role === "assistant" && above.node.message.model === node.message.model;
	const article = h("article", { class: `item ${kindOf(node)}${continues && !item.fork ? " continued" : ""}` });
	pen.register(node, article);
	if (item.fork) article.append(forkSwitch(pen, item.fork));
	try {
		for (const child of drawEntry(pen, item)) if (child) article.append(child);
	} catch (error) {
		// Whatever a file contains, one entry must not break the whole page.
		console.warn("Shown as data:", error);
		article.append(h("pre", { class: "plain" }, cut(pretty(node.entry), 20_000)));
	}
	return article;
}

function drawEntry(pen: Pen, item: Item): Child[] {
	const { node } = item;
	const { type, entry } = node;
	if (item.folded) return [beginning(pen, [node, ...item.folded])];
	switch (type) {
		case "message":
			return drawMessage(pen, item);
		case "compaction":
			return summaryCard(pen, node, "Context compacted", entry, `${shortNumber(numberOf(entry.tokensBefore))} tokens before`);
		case "branch_summary":
			return summaryCard(pen, node, "Summary of a branch that was left", entry, "");
		case "custom_message":
			return aside(pen, node, textOf(entry.customType), entry.content, entry.display === false);
		case "model_change":
		case "thinking_level_change":
			return settingNote(pen, node);
		case "removed":
			return note(pen, node, "A message was removed from the context here", "");
		case "context_edit":
			return note(pen, node, entry.replacement === null ? "A message was removed from the context" : "A message was edited", "");
		case "ttsr_injection":
			return note(pen, node, "Rules injected", listOf(entry.injectedRules).map(textOf).join(", "));
		default:
			if (type === "custom" && entry.customType === cacheBreak) return note(pen, node, `Cache lost: ${textOf(fieldsOf(entry.data).cause)}`, "");
			if (type === "custom" && entry.customType === "permission") return approvalNote(pen, node, fieldsOf(entry.data));
			return dataNote(pen, node, textOf(entry.customType) || type || "unknown", entry.data ?? entry);
	}
}

/** How a question about a call ended, in a line that opens to the whole record. */
function approvalNote(pen: Pen, node: Entry, record: Fields): Child[] {
	return [pen.folds.fold("data", [h("bdi", {}, approvalLine(record)), here(pen, node)], () => [code(pen, pretty(record), "json")])];
}

function drawMessage(pen: Pen, item: Item): Child[] {
	const { node } = item;
	const { message } = node;
	switch (message.role) {
		case "user": {
			const pictures = listOf(message.attachments)
				.map(fieldsOf)
				.filter((file) => file.type === "image");
			const attached = pictures.map((file) => picture({ data: file.content, mimeType: file.mimeType }));
			return [head(pen, node, message.synthetic ? "Prompt · made by the agent" : "Prompt"), ...content(pen, message.content, prose), ...attached];
		}
		case "assistant":
			return [head(pen, node, textOf(message.model) || "Model", meta(message)), ...reply(pen, item)];
		case "toolResult":
			return [loneResult(pen, node)];
		case "bashExecution":
			return shellCard(pen, node);
		case "compactionSummary":
			return summaryCard(pen, node, "Context compacted", message, `${shortNumber(numberOf(message.tokensBefore))} tokens before`);
		case "branchSummary":
			return summaryCard(pen, node, "Summary of a branch that was left", message, "");
		case "developer":
			return aside(pen, node, "Reminder", message.content, true);
		case "custom":
		case "hookMessage":
			return aside(pen, node, textOf(message.customType) || "Extension", message.content, message.display === false);
		case "fileMention":
			return [
				head(pen, node, "Files"),
				...listOf(message.files).map((value) => {
					const file = fieldsOf(value);
					return pen.folds.fold("quiet", [h("bdi", { class: "tool-about" }, textOf(file.path))], () => [output(pen, textOf(file.content))]);
				}),
			];
		default:
			return dataNote(pen, node, textOf(message.role) || "message", message);
	}
}

/** Who speaks, when, and the address of what is said. */
function head(pen: Pen, node: Entry, who: string, about?: Child): HTMLElement {
	const time = timeOf(node);
	const label = pen.labelOf(node);
	return h(
		"header",
		{ class: "head" },
		h("bdi", { class: "who" }, who),
		label !== undefined && h("bdi", { class: "tag label" }, label),
		h("span", { class: "space" }),
		about,
		...(pen.actionsOf?.(node) ?? []),
		time !== undefined && h("time", { title: new Date(time).toLocaleString() }, clock(time)),
		here(pen, node),
	);
}

const clock = (time: number) => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function meta(message: Fields): HTMLElement {
	const usage = fieldsOf(message.usage);
	const input = numberOf(usage.input) + numberOf(usage.cacheRead) + numberOf(usage.cacheWrite);
	const cost = numberOf(fieldsOf(usage.cost).total);
	const parts = [
		input || numberOf(usage.output) ? `${shortNumber(input)} in · ${shortNumber(numberOf(usage.output))} out` : "",
		cost ? money(cost) : "",
		numberOf(message.duration) ? duration(numberOf(message.duration)) : "",
	];
	const cached = numberOf(usage.cacheRead) ? `, of which ${shortNumber(numberOf(usage.cacheRead))} from cache` : "";
	return h(
		"span",
		{ class: "meta", title: `${textOf(message.provider)}/${textOf(message.model)}: ${input} tokens in${cached}` },
		parts.filter(Boolean).join(" · "),
	);
}

function reply(pen: Pen, { node, results }: Item): Child[] {
	const { message } = node;
	const drawn = blocksOf(message.content).map((block, position): Child => {
		switch (block.type) {
			case "text":
				return textOf(block.text).trim() ? prose(pen, textOf(block.text)) : undefined;
			case "thinking": {
				const text = textOf(block.thinking).trim();
				return text
					? pen.folds.fold("thinking", [h("span", { class: "fold-name" }, "Thinking"), h("span", { class: "peek" }, oneLine(text, 110))], () => [
							prose(pen, text),
						])
					: undefined;
			}
			case "redactedThinking":
				return h("p", { class: "missing" }, "Thinking that the provider keeps to itself");
			case "toolCall": {
				const card = callCard(pen, block, results.get(position));
				card.dataset.block = String(position);
				return card;
			}
			case "image":
				return picture(block);
			default:
				return code(pen, pretty(block), "json");
		}
	});
	return [...drawn, ending(message)];
}

/** How a reply ended, when it did not end well. */
function ending({ stopReason, errorMessage }: Fields): Child {
	if (stopReason === "error") return h("p", { class: "ending bad", dir: "auto" }, h("strong", {}, "Failed "), textOf(errorMessage));
	if (stopReason === "aborted") return h("p", { class: "ending" }, h("strong", {}, "Aborted "), textOf(errorMessage));
	if (stopReason === "length") return h("p", { class: "ending" }, "Cut off at the limit of tokens.");
	return undefined;
}

function shellCard(pen: Pen, node: Entry): Child[] {
	const { message } = node;
	const { exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = message;
	const failed = cancelled === true || exitCode !== 0;
	const tags = [
		cancelled === true ? "cancelled" : typeof exitCode === "number" ? `exit ${exitCode}` : "killed",
		...(excludeFromContext === true ? ["not for the model"] : []),
		...(truncated === true ? ["output cut"] : []),
	];
	const summary = [
		h("span", { class: `state ${failed ? "failed" : "done"}` }),
		h("bdi", { class: "tool-name" }, "$"),
		h("bdi", { class: "tool-about" }, oneLine(textOf(message.command), 220)),
		...tags.map((tag, index) => h("span", { class: index === 0 && failed ? "tag bad" : "tag" }, tag)),
	];
	const fill = (): Child[] => [
		textOf(message.command).includes("\n") && h("div", { class: "command" }, code(pen, textOf(message.command), "bash")),
		h("div", { class: "result" }, output(pen, textOf(message.output) || "(no output)")),
		textOf(fullOutputPath) !== "" && h("p", { class: "said" }, `Everything: ${textOf(fullOutputPath)}`),
	];
	return [head(pen, node, "Command by the host"), pen.folds.fold("tool", summary, fill, true)];
}

function summaryCard(pen: Pen, node: Entry, who: string, { summary, shortSummary, details }: Fields, about: string): Child[] {
	const { readFiles, modifiedFiles } = fieldsOf(details);
	const files = (title: string, list: unknown) =>
		listOf(list).length > 0 &&
		pen.folds.fold("quiet", [`${title} (${listOf(list).length})`], () => [
			h("ul", { class: "files" }, ...listOf(list).map((file) => h("li", {}, h("bdi", {}, textOf(file))))),
		]);
	return [
		head(pen, node, who, about ? h("span", { class: "meta" }, about) : undefined),
		pen.folds.fold("summary", [oneLine(textOf(shortSummary), 140) || oneLine(textOf(summary).replace(/[#*`>]/g, ""), 140)], () => [
			prose(pen, textOf(summary)),
		]),
		files("Files changed", modifiedFiles),
		files("Files read", readFiles),
	];
}

function aside(pen: Pen, node: Entry, who: string, value: unknown, isFolded: boolean): Child[] {
	const body = () => content(pen, value, prose);
	const peek = oneLine(
		blocksOf(value)
			.map((block) => textOf(block.text))
			.join(" "),
		110,
	);
	return [head(pen, node, who), ...(isFolded ? [pen.folds.fold("quiet", [h("span", { class: "peek" }, peek)], body)] : body())];
}

/** The model and the thinking level that a session begins with, in one line. */
function beginning(pen: Pen, nodes: readonly Entry[]): HTMLElement {
	const settings = nodes.map(({ type, entry }) => (type === "model_change" ? modelName(entry) : `thinking ${textOf(entry.thinkingLevel)}`));
	const fold = pen.folds.fold("quiet", [h("span", { class: "fold-name" }, "Begins with"), h("bdi", { class: "peek" }, settings.join(" · "))], () =>
		nodes.flatMap((each) => settingNote(pen, each)),
	);
	for (const each of nodes) pen.register(each, fold);
	return fold;
}

function settingNote(pen: Pen, node: Entry): Child[] {
	const { type, entry } = node;
	return type === "model_change" ? note(pen, node, "Model", modelName(entry)) : note(pen, node, "Thinking", textOf(entry.thinkingLevel));
}

function note(pen: Pen, node: Entry, what: string, value: string): Child[] {
	return [h("p", { class: "note" }, h("span", {}, what), " ", h("bdi", { class: "value" }, value), here(pen, node))];
}

function dataNote(pen: Pen, node: Entry, what: string, value: unknown): Child[] {
	return [pen.folds.fold("data", [h("bdi", {}, what), here(pen, node)], () => [code(pen, pretty(value), "json")])];
}

function here(pen: Pen, node: Entry): Child {
	const href = node.id === "" ? undefined : pen.addressOf(node);
	return href !== undefined && h("a", { class: "here", href, title: "Link to this entry", "aria-label": "Link to this entry" }, "#");
}

function forkSwitch(pen: Pen, { branches, taken }: NonNullable<Item["fork"]>): HTMLElement {
	const go = (step: number) => () => {
		const target = branches[taken + step];
		if (target) pen.visit(target);
	};
	const previous = button("small", "Previous branch", go(-1), icon("left"));
	const next = button("small", "Next branch", go(1), icon("right"));
	previous.disabled = taken === 0;
	next.disabled = taken === branches.length - 1;
	return h(
		"nav",
		{ class: "fork", "aria-label": "Branches" },
		icon("branch"),
		previous,
		h("span", {}, `Branch ${taken + 1} of ${branches.length}`),
		next,
	);
}
