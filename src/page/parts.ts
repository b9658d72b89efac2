/** Pieces that messages are made of: pictures, output, code. */
import { terminalText } from "./ansi.ts";
import type { Colour } from "./code.ts";
import { button, type Child, h } from "./dom.ts";
import type { Folds } from "./folds.ts";
import type { Item } from "./items.ts";
import { pictureAddress, pictureBytes } from "./links.ts";
import { codeBlock, markdown } from "./markdown.ts";
import type { Node as Entry } from "./tree.ts";
import { blocksOf, type Fields, pretty, textOf } from "./values.ts";

/** What drawing needs. */
export interface Pen {
	folds: Folds;
	colour: Colour;
	/** Says which element shows an entry. */
	register(entry: Entry, element: HTMLElement): void;
	/** The address of an entry on this page; entries of subagents have none. */
	addressOf(entry: Entry): string | undefined;
	labelOf(entry: Entry): string | undefined;
	/** Shows the branch that an entry is on, and the entry. */
	visit(entry: Entry): void;
	/** The conversation of a subagent as items, if it is in the file. */
	conversationOf(id: string): readonly Item[] | undefined;
	/** Where sessions are live: a call without a result was drawn, and may still run. */
	openCall?(id: string, card: OpenCall): void;
	/** How long a call took, where that is known. */
	durationOf?(id: string): number | undefined;
	/** What else the head of an entry offers. */
	actionsOf?(entry: Entry): Child[];
	drawConversation(id: string): HTMLElement;
	/** Where conversations of subagents are read when they are asked for. */
	openConversation?(id: string): void;
}

/** The parts of a card that change while its call runs. */
export interface OpenCall {
	card: HTMLDetailsElement;
	state: HTMLElement;
	tag: HTMLElement;
	output: HTMLElement;
}

/** A larger picture is shown when it is asked for. */
const largestInline = 2 * 1024 * 1024;
export const outputLimits = { lines: 12, characters: 6000 };
export const proseLimits = { lines: 400, characters: 60_000 };

export const prose = ({ folds, colour }: Pen, text: string): Node => folds.shortened(text, proseLimits, (shown) => markdown(shown, colour));

export function output({ folds }: Pen, text: string, limits = outputLimits): Node {
	const draw = (shown: string) => h("pre", { class: "plain", dir: "auto" }, ...terminalText(shown));
	return folds.shortened(text.replace(/\n+$/, ""), limits, draw);
}

export const code = ({ folds, colour }: Pen, text: string, language: string, limits = outputLimits): Node =>
	folds.shortened(text.replace(/\n$/, ""), limits, (shown) => codeBlock(shown, language, colour));

export function picture(block: Fields): HTMLElement {
	const source = typeof block.source === "object" ? (block.source as Fields) : block;
	const data = textOf(source?.data);
	const type = textOf(source?.mimeType ?? source?.mediaType ?? source?.media_type);
	const address = pictureAddress(type, data);
	if (!address) return h("p", { class: "missing" }, `Picture (${type || "unknown type"}) that is not shown here`);
	const bytes = pictureBytes(data);
	if (bytes < largestInline) return shownPicture(type, address);
	const size = `${(bytes / 1024 / 1024).toFixed(1)} MB`;
	const show = button("more picture-more", "Show the picture", () => show.replaceWith(shownPicture(type, address)), `Show the picture (${size})`);
	return show;
}

function shownPicture(type: string, address: string): HTMLElement {
	const image = h("img", { class: "picture", tabindex: "0", title: "Click for full size", onclick: () => image.classList.toggle("full") });
	image.alt = "Picture in the conversation";
	image.decoding = "async";
	image.addEventListener("error", () => image.replaceWith(h("p", { class: "missing" }, `Picture (${type}) that cannot be read`)));
	image.src = address;
	return image;
}

/** Text and pictures in their order. */
export const content = (pen: Pen, value: unknown, text: (pen: Pen, text: string) => Node): Child[] =>
	blocksOf(value).flatMap((block) => {
		if (block.type === "image") return [picture(block)];
		if (block.type === "text") return textOf(block.text).trim() ? [text(pen, textOf(block.text))] : [];
		return [code(pen, pretty(block), "json")];
	});
