/** A tool call with its result, as one card. */

import { type FileDiff, readFiles, readNumbered, replacement } from "../lib/read-diff.ts";
import { type EffectKind, factsOf, viewOf } from "../lib/tool-facts.ts";
import { languageOf } from "./code.ts";
import { diffView, tally } from "./diff.ts";
import { type Child, h } from "./dom.ts";
import { callSummary } from "./items.ts";
import { code, content, output, type Pen, prose } from "./parts.ts";
import { duration } from "./stats.ts";
import { subagentCards } from "./subagents.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, type Fields, fieldsOf, listOf, numberOf, oneLine, plainText, pretty, textOf } from "./values.ts";

/** Effects of built-in tools whose cards are open without being asked: what changed something, as is what went wrong. */
const openEffects: ReadonlySet<EffectKind | undefined> = new Set(["write", "run"] as const);

export function callCard(pen: Pen, call: Fields, result: Entry | undefined): HTMLDetailsElement {
	const name = textOf(call.name) || "(no name)";
	const args = fieldsOf(call.arguments);
	const changes = changesOf(name, args, result);
	const failed = result?.message.isError === true;
	const state = !result ? "open" : failed ? "failed" : "done";
	const id = textOf(call.id);
	const mark = h("span", { class: `state ${state}`, title: { open: "No result", failed: "Failed", done: "Done" }[state] });
	const tag = h("span", { class: "tag" }, "no result");
	const took = result && (pen.durationOf?.(id) ?? storedDuration(result));
	const summary = [
		mark,
		glyph(name),
		h("bdi", { class: "tool-name" }, name),
		h("bdi", { class: "tool-about" }, oneLine(textOf(call.intent) || callSummary(name, args), 220)),
		changes && tally(changes.flatMap(({ lines }) => lines)),
		failed && h("span", { class: "tag bad" }, "failed"),
		took !== undefined && took >= 100 && h("span", { class: "took" }, duration(took)),
		!result && tag,
	];
	const output = !result && pen.openCall ? h("div", { class: "result running" }) : undefined;
	const view = (): Child[] => (viewOf(name)?.tasks ? taskView(pen, call, result) : undefined) ?? callView(pen, call, result, changes);
	const card = pen.folds.fold("tool", summary, () => [...view(), output], failed || openEffects.has(factsOf(name)?.effect));
	if (result) pen.register(result, card);
	else if (output) pen.openCall?.(id, { card, state: mark, tag, output });
	return card;
}

/** The signs of tools of other programs, whose sessions can be shown too. */
const foreignGlyphs: Record<string, string> = { todo: "☑", web_fetch: "⇩" };

const glyph = (name: string): HTMLElement =>
	h("span", { class: "tool-glyph", "aria-hidden": "true" }, viewOf(name)?.glyph ?? foreignGlyphs[name] ?? "◆");

/** From the lines of the file: from the reply to the result, when nothing was between them. Several calls wait for each other, so they tell nothing. */
function storedDuration({ entry, parent }: Entry): number | undefined {
	if (parent?.message.role !== "assistant") return undefined;
	if (blocksOf(parent.message.content).filter(({ type }) => type === "toolCall").length !== 1) return undefined;
	const took = Date.parse(textOf(entry.timestamp)) - Date.parse(textOf(parent.entry.timestamp));
	return took > 0 ? took : undefined;
}

function callView(pen: Pen, call: Fields, result: Entry | undefined, changes: readonly FileDiff[] | undefined): Child[] {
	const name = textOf(call.name);
	const args = fieldsOf(call.arguments);
	return [...argumentsView(pen, name, call, changes), result && resultView(pen, name, args, result, changes)];
}

/** The subagents, then the other arguments and the report. Nothing when there are none, as after a refusal. */
function taskView(pen: Pen, call: Fields, result: Entry | undefined): Child[] | undefined {
	const args = fieldsOf(call.arguments);
	const cards = subagentCards(pen, args, result);
	if (!cards.length) return undefined;
	const report =
		result && pen.folds.fold("quiet report", ["Report to the model"], () => [resultView(pen, textOf(call.name), args, result, undefined)]);
	const failed = result?.message.isError === true;
	const rest = leftOver(pen, args, ["agent", "tasks"]);
	const others = rest.length > 0 && pen.folds.fold("quiet report", ["Other arguments"], () => rest);
	return [...cards, others, failed ? resultView(pen, textOf(call.name), args, result, undefined) : report];
}

/** A result whose call is not to be found. */
export function loneResult(pen: Pen, result: Entry): HTMLElement {
	const name = textOf(result.message.toolName) || "tool";
	const summary = [
		h("span", { class: "state done" }),
		glyph(name),
		h("bdi", { class: "tool-name" }, name),
		h("span", { class: "tag" }, "result without its call"),
	];
	return pen.folds.fold("tool", summary, () => [resultView(pen, name, {}, result, changesOf(name, {}, result))]);
}

function changesOf(name: string, args: Fields, result: Entry | undefined): FileDiff[] | undefined {
	const { patch, diff } = fieldsOf(result?.message.details);
	if (typeof patch === "string" && patch.includes("@@")) return readFiles(patch);
	if (typeof diff === "string" && diff) return diff.includes("@@ -") ? readFiles(diff) : [{ path: "", lines: readNumbered(diff) }];
	if (!viewOf(name)?.edits) return undefined;
	const edits = Array.isArray(args.edits) ? args.edits.map(fieldsOf) : [args];
	const lines = edits.flatMap((edit) => replacement(textOf(edit.oldText ?? edit.old_string), textOf(edit.newText ?? edit.new_string)));
	return lines.length ? [{ path: "", lines }] : undefined;
}

function argumentsView(pen: Pen, name: string, { arguments: given, intent }: Fields, changes: readonly FileDiff[] | undefined): Child[] {
	const args = fieldsOf(given);
	if (changes)
		return [diffView(pen, changes), ...leftOver(pen, args, ["path", "file_path", "edits", "oldText", "newText", "old_string", "new_string"])];
	const view = viewOf(name);
	if (view?.command && typeof args.command === "string") {
		return [h("div", { class: "command" }, code(pen, args.command, "bash", { lines: 30, characters: 4000 })), ...leftOver(pen, args, ["command"])];
	}
	if (view?.content && typeof args.content === "string") {
		return [code(pen, args.content, languageOf(textOf(args.path))), ...leftOver(pen, args, ["path", "content"])];
	}
	// A short path says everything in the head of the card already.
	const keys = Object.keys(args);
	if (!intent && keys.length === 1 && typeof args.path === "string" && args.path.length < 100) return [];
	if (typeof given === "string") return [code(pen, given, "json")];
	return leftOver(pen, args, []);
}

/** The other arguments, one row each. */
function leftOver(pen: Pen, args: Fields, shown: readonly string[]): Child[] {
	const rest = Object.entries(args).filter(([key]) => !shown.includes(key));
	if (!rest.length) return [];
	const list = h("dl", { class: "arguments" });
	for (const [key, value] of rest) {
		const isText = typeof value === "string";
		const shown =
			isText && !value.includes("\n") && value.length < 300 ? h("code", {}, value) : code(pen, isText ? value : pretty(value), isText ? "" : "json");
		list.append(h("dt", {}, h("bdi", {}, key)), h("dd", {}, shown));
	}
	return [list];
}

function resultView(pen: Pen, name: string, args: Fields, { message }: Entry, changes: readonly FileDiff[] | undefined): HTMLElement {
	const failed = message.isError === true;
	const body = h("div", { class: failed ? "result bad" : "result" });
	const text = plainText(message.content);
	if (changes && !failed) body.append(h("p", { class: "said" }, oneLine(text, 300)));
	else {
		const view = viewOf(name);
		const language = view?.kind === "read" && !failed ? languageOf(textOf(args.path)) : "";
		const draw = view?.tasks
			? prose
			: language
				? (_: Pen, shown: string) => code(pen, shown, language)
				: (_: Pen, shown: string) => output(pen, shown);
		for (const child of content(pen, message.content, draw)) if (child) body.append(child);
		if (!blocksOf(message.content).length) body.append(h("p", { class: "said" }, "(nothing)"));
	}
	const note = detailsNote(fieldsOf(message.details));
	if (note) body.append(h("p", { class: "said" }, note));
	return body;
}

/** Details of a result beyond its text that help a reader. */
function detailsNote(details: Fields): string {
	const { truncated, totalLines, outputLines } = fieldsOf(details.truncation);
	const parts = [
		truncated ? `The model saw ${numberOf(outputLines)} of ${numberOf(totalLines)} lines.` : "",
		details.fullOutputPath ? `Everything: ${textOf(details.fullOutputPath)}` : "",
		listOf(details.changedFiles).length ? `Changed: ${listOf(details.changedFiles).map(textOf).join(", ")}` : "",
	];
	return parts.filter(Boolean).join(" ");
}
