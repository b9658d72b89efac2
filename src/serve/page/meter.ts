/** Meters: how full something is, and how much of the input came from the provider's cache. */
import { h, setText } from "../../page/dom.ts";
import { money, shortNumber } from "../../page/stats.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../../page/values.ts";

/** `warnAt`: from this share on it is nearly full. Without it more is better. */
export function meter(name: string, ratio: number, warnAt: number | undefined, text: string): HTMLElement {
	const share = Math.max(0, Math.min(1, ratio));
	const fill = h("span", { class: "meter-fill" });
	fill.style.width = `${share * 100}%`;
	const level = warnAt === undefined ? "" : ratio >= 1 ? "over" : ratio >= warnAt ? "near" : "";
	const word = level === "over" ? " · reached" : level === "near" ? " · near the end" : "";
	return h(
		"div",
		{ class: `meter ${level}` },
		h("div", { class: "meter-text" }, h("span", {}, name), h("span", {}, `${text}${word}`)),
		h("div", { class: "meter-bar", role: "img", "aria-label": `${name}: ${Math.round(share * 100)} percent` }, fill),
	);
}

/** What of `get_session_stats` the meter of the cache shows. */
export interface CacheFacts {
	/** Tokens of all input, and those of them that came from the cache. */
	input: number;
	found: number;
	/** Absent where requests mark nothing: then nothing is predicted. */
	use?: { predicted: number; reported: number; breaks: readonly CacheLoss[] };
}

interface CacheLoss {
	at: number;
	segment: string;
	cause: string;
	costUsd?: number;
}

/** Undefined where there is nothing to show. */
export function cacheFactsOf({ tokens, cache }: Fields): CacheFacts | undefined {
	const { input, cacheRead, cacheWrite } = fieldsOf(tokens);
	const found = numberOf(cacheRead);
	const facts = { input: numberOf(input) + found + numberOf(cacheWrite), found };
	if (cache === undefined) return found > 0 ? facts : undefined;
	const { predictedReadTokens, reportedReadTokens, breaks } = fieldsOf(cache);
	const losses = listOf(breaks).map((each): CacheLoss => {
		const { at, segment, cause, costUsd } = fieldsOf(each);
		return { at: numberOf(at), segment: textOf(segment), cause: textOf(cause), ...(typeof costUsd === "number" && { costUsd }) };
	});
	return { ...facts, use: { predicted: numberOf(predictedReadTokens), reported: numberOf(reportedReadTokens), breaks: losses } };
}

/** The share of the input that came from the cache. What was lost, and why, unfolds by mouse and keyboard, and stays unfolded when figures change. */
export class CacheMeter {
	readonly element = h("div", { class: "cache" });
	#bar = h("div");
	#losses = h("summary");
	#list = h("ul");
	#counts = h("p", { class: "said" });
	#more = h("details", { class: "fold" }, this.#losses, this.#list, this.#counts);

	constructor() {
		this.element.hidden = true;
		this.element.append(this.#bar, this.#more);
	}

	show(facts: CacheFacts | undefined): void {
		this.element.hidden = facts === undefined;
		if (!facts) return;
		const { input, found, use } = facts;
		const share = input > 0 ? found / input : 0;
		this.#bar.replaceChildren(meter("From the cache", share, undefined, `${Math.round(share * 100)} % of ${shortNumber(input)} input`));
		this.#more.hidden = use === undefined;
		if (!use) return;
		setText(this.#losses, lossesText(use.breaks));
		// The last one first: it is the one that a person asks about.
		this.#list.replaceChildren(...[...use.breaks].reverse().map(drawLoss));
		setText(this.#counts, `${shortNumber(use.predicted)} tokens predicted, ${shortNumber(use.reported)} found. The two may differ.`);
	}
}

function lossesText(losses: readonly CacheLoss[]): string {
	if (losses.length === 0) return "Nothing lost";
	const cost = losses.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
	return `Lost ${losses.length === 1 ? "once" : `${losses.length} times`}${cost > 0 ? ` · ${money(cost)} more` : ""}`;
}

const segments: Record<string, string> = { tools: "from the tools on", system: "from the system prompt on", messages: "in the messages" };

function drawLoss({ at, segment, cause, costUsd }: CacheLoss): HTMLElement {
	const time = at > 0 ? new Date(at).toLocaleString([], { dateStyle: "short", timeStyle: "short" }) : "";
	const facts = [time, segments[segment] ?? "", costUsd === undefined ? "price not known" : money(costUsd)];
	return h("li", {}, h("bdi", {}, cause), h("span", { class: "row-facts" }, facts.filter(Boolean).join(" · ")));
}
