/** Questions that wait for a person: approvals of tool calls, and dialogs of extensions. Cards above the composer; none takes the focus automatically. */
import { readFiles } from "../../lib/read-diff.ts";
import { factsOf } from "../../lib/tool-facts.ts";
import { visible } from "../../lib/visible.ts";
import { diffView } from "../../page/diff.ts";
import { type Child, fill, h, setText } from "../../page/dom.ts";
import { KeyedList } from "../../page/list.ts";
import { code, type Pen } from "../../page/parts.ts";
import { type Fields, fieldsOf, listOf, numberOf, pretty, textOf } from "../../page/values.ts";
import type { Frame } from "./link.ts";
import type { Resolution } from "./model.ts";

/** A button that appears under a hand that is about to click must not be pressed by it. */
const armedAfterMs = 500;
/** How long a card stays to say that it was settled elsewhere. */
const settledMs = 4000;

export interface AsksInput {
	pen: Pen;
	/** May answer: the token has scope `drive`. */
	mayAnswer(): boolean;
	answer(id: string, frame: Frame): void;
	resolutionOf(id: string): Resolution | undefined;
}

interface Card {
	question: Fields;
	settled?: string;
}

export class Asks {
	readonly element = h("section", { class: "asks", "aria-label": "Questions" });
	#input: AsksInput;
	#list: KeyedList<Card>;
	#cards: Card[] = [];
	/** Answered here: such a card goes at once. */
	#own = new Set<string>();

	constructor(input: AsksInput) {
		this.#input = input;
		this.#list = new KeyedList<Card>(this.element, {
			key: ({ question }) => textOf(question.id),
			make: ({ question }) => (isApproval(question) ? this.#approval(question) : this.#dialog(question)),
			update: (element, { settled }) => {
				if (settled === undefined || element.dataset.settled !== undefined) return;
				element.dataset.settled = "";
				for (const control of element.querySelectorAll<HTMLButtonElement>("button, input, textarea")) control.disabled = true;
				fill(element.querySelector(".ask-outcome") as ParentNode, settled);
			},
		});
	}

	get open(): Fields[] {
		return this.#cards.filter(({ settled }) => settled === undefined).map(({ question }) => question);
	}

	show(questions: readonly unknown[]): void {
		const now = questions.map(fieldsOf);
		const ids = new Set(now.map((question) => textOf(question.id)));
		const kept = this.#cards.flatMap((card): Card[] => {
			const id = textOf(card.question.id);
			if (ids.has(id) || card.settled !== undefined) return [card];
			if (this.#own.has(id)) return [];
			const settled = { ...card, settled: sentence(this.#input.resolutionOf(id)) };
			window.setTimeout(() => this.#forget(id), settledMs);
			return [settled];
		});
		const known = new Set(kept.map(({ question }) => textOf(question.id)));
		this.#cards = [
			...kept,
			...now.filter((question) => !known.has(textOf(question.id)) && !this.#own.has(textOf(question.id))).map((question) => ({ question })),
		];
		this.#list.show(this.#cards);
	}

	clear(): void {
		this.#cards = [];
		this.#list.show([]);
	}

	/** Once a second: how long there is left. */
	tick(): void {
		for (const { question, settled } of this.#cards) {
			const expiresAt = numberOf(question.expiresAt);
			const place = this.#list.row(textOf(question.id))?.querySelector(".ask-left");
			if (place && settled === undefined && expiresAt) setText(place, leftText(expiresAt - Date.now(), textOf(question.onTimeout)));
		}
	}

	/** Puts the focus on the next open question. Its choices need one more key. */
	focusNext(): HTMLElement | undefined {
		const rows = this.open.map((question) => this.#list.row(textOf(question.id))).filter((row) => row !== undefined);
		const at = rows.findIndex((row) => row.contains(document.activeElement));
		const next = rows[(at + 1) % rows.length];
		next?.focus();
		next?.scrollIntoView({ block: "nearest" });
		return next;
	}

	/** `y` or `x` on the card that has the focus. */
	press(isYes: boolean): void {
		const card = document.activeElement?.closest<HTMLElement>(".ask");
		card?.querySelector<HTMLButtonElement>(isYes ? "button.yes" : "button.no")?.click();
	}

	#forget(id: string): void {
		this.#cards = this.#cards.filter(({ question }) => textOf(question.id) !== id);
		this.#list.show(this.#cards);
	}

	#answer(id: string, frame: Frame): void {
		this.#own.add(id);
		this.#forget(id);
		this.#input.answer(id, frame);
	}

	#approval(question: Fields): HTMLElement {
		const { pen } = this.#input;
		const id = textOf(question.id);
		const subject = fieldsOf(question.subject);
		const origin = listOf(question.origin).map(fieldsOf);
		const proposal = fieldsOf(question.proposal);
		const rule = ["tool", "command", "path", "host"].map((key) => textOf(proposal[key])).filter(Boolean);
		const respond = (decision: "allow" | "deny", scope?: string) => {
			const note = card.querySelector<HTMLInputElement>(".ask-note")?.value.trim();
			const more = decision === "allow" ? { scope } : note ? { message: note } : {};
			this.#answer(id, { type: "permission_response", id, digest: textOf(question.digest), decision, ...more });
		};
		const text = textOf(question.text);
		const isCommand = factsOf(textOf(subject.tool))?.hasCommand;
		const exact = isCommand ? text : pretty(fieldsOf(subject.args));
		const facts: Child[] = [
			fact("Tool", textOf(subject.tool)),
			fact("Asked by", origin.length ? origin.map((each) => `${textOf(each.agent)} ${textOf(each.id)}`).join(" › ") : ""),
			fact("In", textOf(subject.cwd)),
			fact("Touches", listOf(subject.targets).map(textOf).join(", ")),
			fact("Sandbox", textOf(subject.sandbox) === "off" ? "no sandbox" : textOf(subject.sandbox)),
			fact("Why", textOf(question.reason)),
		];
		const diff = textOf(question.diff);
		const choices = listOf(question.choices).map(textOf);
		const allow = choices.map((scope) =>
			armed(
				`choice ${scope === "once" ? "yes primary" : ""}`,
				scopeNames[scope] ?? `Allow: ${scope}`,
				() => respond("allow", scope),
				ruleTitle(scope, rule),
			),
		);
		const card = h(
			"article",
			{ class: "ask approval", tabindex: "-1", "aria-labelledby": `ask-${id}` },
			h(
				"header",
				{ class: "ask-head" },
				h("span", { class: "dot needs", "aria-hidden": "true" }),
				h("h2", { id: `ask-${id}` }, h("bdi", {}, textOf(question.title) || "Approval")),
				h("span", { class: "ask-left" }),
			),
			h("div", { class: "ask-exact" }, code(pen, exact, isCommand ? "bash" : "json", { lines: 14, characters: 3000 })),
			diff !== "" && h("div", { class: "ask-diff" }, diffView(pen, readFiles(diff))),
			question.diffTruncated === true && h("p", { class: "said" }, "The change is longer than what is shown."),
			h("dl", { class: "facts-list" }, ...facts),
			this.#input.mayAnswer()
				? h(
						"div",
						{ class: "choices" },
						...allow,
						armed("choice no", "Deny", () => respond("deny"), "Deny this call"),
						h("input", { class: "ask-note", type: "text", placeholder: "Reason for a denial (optional)", "aria-label": "Reason for a denial" }),
					)
				: h("p", { class: "said" }, "You may watch, not answer: your token has scope read."),
			h("p", { class: "ask-outcome", role: "status" }),
		);
		return card;
	}

	#dialog(question: Fields): HTMLElement {
		const id = textOf(question.id);
		const method = textOf(question.method);
		const respond = (value: object) => this.#answer(id, { type: "extension_ui_response", id, ...value });
		const cancel = armed("choice no", method === "confirm" ? "No" : "Cancel", () =>
			respond(method === "confirm" ? { confirmed: false } : { cancelled: true }),
		);
		const field =
			method === "editor"
				? h("textarea", { class: "field", "aria-label": textOf(question.title) })
				: method === "input"
					? h("input", { class: "field", type: "text", "aria-label": textOf(question.title), placeholder: textOf(question.placeholder) })
					: undefined;
		// It stays as it is: it is sent back.
		const prefill = method === "editor" ? textOf(question.prefill) : "";
		if (field && prefill) field.value = prefill;
		const options =
			method === "select"
				? listOf(question.options).map((option) => armed("choice", textOf(option), () => respond({ value: textOf(option) })))
				: [
						armed("choice yes primary", method === "confirm" ? "Yes" : "Answer", () =>
							respond(method === "confirm" ? { confirmed: true } : { value: field?.value ?? "" }),
						),
					];
		return h(
			"article",
			{ class: "ask dialog-card", tabindex: "-1", "aria-labelledby": `ask-${id}` },
			h(
				"header",
				{ class: "ask-head" },
				h("span", { class: "dot needs", "aria-hidden": "true" }),
				h("h2", { id: `ask-${id}` }, h("bdi", {}, textOf(question.title) || "A question")),
			),
			textOf(question.message) !== "" && h("p", { class: "ask-text" }, textOf(question.message)),
			field,
			visible(prefill) !== prefill && h("p", { class: "said" }, `The text to edit has characters that cannot be seen: ${prefill}`),
			this.#input.mayAnswer()
				? h("div", { class: "choices" }, ...options, cancel)
				: h("p", { class: "said" }, "You may watch, not answer: your token has scope read."),
			h("p", { class: "ask-outcome", role: "status" }),
		);
	}
}

export const isApproval = (question: Fields) => question.subject !== undefined;

const scopeNames: Record<string, string> = { once: "Allow once", session: "Allow in this session", always: "Always allow" };

function ruleTitle(scope: string, rule: readonly string[]): string {
	if (scope === "once") return "Allow this call";
	return rule.length ? `Also allow from now on: ${rule.join(" ")}` : "Also allow the same from now on";
}

/** A button that does nothing for a moment after it has appeared. */
function armed(className: string, label: string, onclick: () => void, title = label): HTMLButtonElement {
	const since = performance.now();
	const made = h("button", { class: `${className} arming`, type: "button", title }, h("bdi", {}, label));
	made.addEventListener("click", () => {
		if (performance.now() - since >= armedAfterMs) onclick();
	});
	window.setTimeout(() => made.classList.remove("arming"), armedAfterMs);
	return made;
}

function fact(name: string, value: string): Child {
	return value !== "" && h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, value)));
}

function leftText(ms: number, onTimeout: string): string {
	const seconds = Math.max(0, Math.ceil(ms / 1000));
	const left = seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${seconds} s`;
	return `${onTimeout === "abort" ? "stops" : "denied"} in ${left}`;
}

const byNames: Record<string, string> = {
	host: "by another reader",
	timeout: "at its deadline",
	mode: "by a change of the mode",
	rule: "by a rule",
	abort: "because the run was stopped",
	steer: "because a message came in between",
	gone: "because the call is gone",
	nobody: "because no one was there to ask",
};

function sentence(resolution: Resolution | undefined): string {
	if (!resolution) return "Settled elsewhere.";
	const { outcome, by } = resolution;
	const word = { allowed: "Allowed", denied: "Denied", cancelled: "Withdrawn", closed: "Settled" }[outcome] ?? "Settled";
	return `${word} ${byNames[by] ?? (by ? `by ${by}` : "elsewhere")}.`;
}
