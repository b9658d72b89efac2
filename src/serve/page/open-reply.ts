/**
 * The reply that is being written. Deltas go into the last text node; a block of Markdown is rendered when it is finished, and never again. The
 * finished message replaces all of it.
 */
import type { Colour } from "../../page/code.ts";
import { extend, h, setText, textNode } from "../../page/dom.ts";
import { markdown } from "../../page/markdown.ts";
import { blocksOf, type Fields, oneLine, textOf } from "../../page/values.ts";

interface OpenBlock {
	element: HTMLElement;
	update(block: Fields): void;
}

export class OpenReply {
	readonly element = h("article", { class: "item reply open-reply", "aria-hidden": "true" });
	#colour: Colour;
	#who = h("bdi", { class: "who" });
	#blocks: OpenBlock[] = [];
	#shown: Fields | undefined;

	constructor(colour: Colour) {
		this.#colour = colour;
		this.element.append(h("header", { class: "head" }, this.#who, h("span", { class: "writing" }, "writing")));
		this.element.hidden = true;
	}

	show(message: Fields | undefined): void {
		if (message === this.#shown) return;
		// Another reply: its first block is not a continuation of the last one.
		if (!message || (this.#shown && this.#shown.timestamp !== message.timestamp)) this.#clear();
		this.#shown = message;
		this.element.hidden = message === undefined;
		if (!message) return;
		setText(this.#who, textOf(message.model) || "Model");
		for (const [index, block] of blocksOf(message.content).entries()) {
			if (!this.#blocks[index]) {
				const made = this.#make(block);
				this.#blocks[index] = made;
				this.element.append(made.element);
			}
			(this.#blocks[index] as OpenBlock).update(block);
		}
	}

	#clear(): void {
		for (const { element } of this.#blocks) element.remove();
		this.#blocks = [];
	}

	#make(block: Fields): OpenBlock {
		if (block.type === "thinking") return openThinking();
		if (block.type === "toolCall") return openToolCall();
		return openText(this.#colour);
	}
}

function openThinking(): OpenBlock {
	const peek = h("span", { class: "peek" });
	const text = textNode("");
	const body = h("div", { class: "fold-body" }, h("pre", { class: "plain unboxed" }, text));
	const element = h("details", { class: "fold thinking" }, h("summary", {}, h("span", { class: "fold-name" }, "Thinking"), peek), body);
	return {
		element,
		update({ thinking }) {
			const said = textOf(thinking);
			extend(text, said);
			setText(peek, oneLine(said.slice(-160), 110));
		},
	};
}

function openToolCall(): OpenBlock {
	const name = h("bdi", { class: "tool-name" });
	const element = h(
		"div",
		{ class: "tool pending-call" },
		h("span", { class: "state running" }),
		name,
		h("span", { class: "tool-about" }, "is being written"),
	);
	return {
		element,
		update(block) {
			setText(name, textOf(block.name) || "tool call");
		},
	};
}

function openText(colour: Colour): OpenBlock {
	const rest = textNode("");
	const tail = h("div", { class: "tail", dir: "auto" }, rest);
	const element = h("div", { class: "prose-blocks" }, tail);
	let done = 0;
	return {
		element,
		update(block) {
			const text = textOf(block.text);
			const end = finishedUpTo(text, done);
			if (end > done) {
				tail.before(markdown(text.slice(done, end), colour));
				done = end;
			}
			const open = text.slice(done);
			const fence = /^ {0,3}(?:`{3,}|~{3,})[^\n]*\n/.exec(open);
			tail.classList.toggle("in-code", fence !== null);
			extend(rest, fence ? open.slice(fence[0].length) : open.replace(/^\n+/, ""));
		},
	};
}

/** Where the last block ends that nothing that comes can change. Blocks end at an empty line, outside code, when what follows begins another one. */
export function finishedUpTo(text: string, from: number): number {
	let end = from;
	let fence = "";
	for (let at = from; at < text.length; ) {
		const next = text.indexOf("\n", at);
		const line = next < 0 ? text.slice(at) : text.slice(at, next);
		const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
		const isClosing = fence !== "" && mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
		if (next < 0) break;
		if (isClosing) {
			fence = "";
			end = next + 1;
		} else if (fence === "" && mark !== undefined) {
			fence = mark;
			if (at > from) end = at;
		} else if (fence === "" && line.trim() === "" && startsBlock(text.slice(next + 1, next + 12))) end = next + 1;
		at = next + 1;
	}
	return end;
}

/** Lists and indented text may belong to what is above the empty line. */
const startsBlock = (text: string) => text !== "" && !/^(?:\s|[-*+>|]|\d{1,9}[.)]?(?:\s|$))/.test(text);
