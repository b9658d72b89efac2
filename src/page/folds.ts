/** What is folded or cut: made when it is opened, and found by a search before that. */
import { button, type Child, h } from "./dom.ts";
import { cut, withoutEscapes } from "./values.ts";

interface Limits {
	lines: number;
	characters: number;
}

interface CutText {
	text: string;
	showAll: () => void;
}

const linesPerPiece = 400;
const charactersPerPiece = 32 * 1024;

export class Folds {
	/** Everything is open from the start. */
	areAllOpen = false;
	#fills = new WeakMap<Element, () => void>();
	#cuts = new WeakMap<Element, CutText>();

	fold(className: string, summary: Child[], fill: () => Child[], isOpen = false): HTMLDetailsElement {
		const body = h("div", { class: "fold-body" });
		const touch = () => {
			details.dataset.touched = "";
			this.#fills.get(details)?.();
		};
		const head = h("summary", { onclick: touch }, ...summary);
		const details = h("details", { class: `fold ${className}` }, head, body);
		this.#fills.set(details, () => {
			this.#fills.delete(details);
			for (const child of fill()) if (child) body.append(child);
		});
		// A browser that finds something inside opens it without a click.
		details.addEventListener("toggle", () => details.open && this.#fills.get(details)?.());
		if (isOpen || this.areAllOpen) this.open(details);
		return details;
	}

	open(details: HTMLDetailsElement): void {
		this.#fills.get(details)?.();
		details.open = true;
	}

	/** The beginning of a long text, and a button for the rest. `draw` turns a short text into something better than plain. */
	shortened(text: string, { lines, characters }: Limits, draw: (shown: string) => Node): HTMLElement {
		const shown = beginning(text, lines, characters);
		if (shown.length === text.length) return h("div", { class: "text" }, draw(text));
		const holder = h("div", { class: "text cut" });
		const showAll = () => {
			this.#cuts.delete(holder);
			holder.classList.remove("cut");
			holder.replaceChildren(text.length > charactersPerPiece ? inPieces(text) : draw(text));
		};
		this.#cuts.set(holder, { text, showAll });
		const more = button("more", "Show everything", showAll, `Show all · ${sizeText(text)}`);
		holder.append(draw(shown), more);
		return holder;
	}

	/** Opens every fold inside that contains the searched text. */
	reveal(root: Element, wanted: string): void {
		for (const details of root.querySelectorAll("details.fold")) this.#fillDeep(details as HTMLDetailsElement);
		for (const holder of root.querySelectorAll(".cut")) {
			const found = this.#cuts.get(holder);
			if (found && !says(holder, wanted) && found.text.toLowerCase().includes(wanted)) found.showAll();
		}
		for (const details of root.querySelectorAll("details.fold")) {
			const body = details.querySelector(":scope > .fold-body");
			if (body && says(body, wanted)) (details as HTMLDetailsElement).open = true;
		}
	}

	setAll(root: Element, isOpen: boolean): void {
		this.areAllOpen = isOpen;
		for (const details of root.querySelectorAll("details.fold")) {
			if (isOpen) this.#fillDeep(details as HTMLDetailsElement);
			(details as HTMLDetailsElement).open = isOpen;
		}
	}

	#fillDeep(details: HTMLDetailsElement): void {
		this.#fills.get(details)?.();
		// What is filled may bring folds of its own.
		for (const inner of details.querySelectorAll("details.fold")) if (this.#fills.has(inner)) this.#fillDeep(inner as HTMLDetailsElement);
	}
}

const says = (element: Element, wanted: string) => (element.textContent ?? "").toLowerCase().includes(wanted);

function beginning(text: string, lines: number, characters: number): string {
	let at = -1;
	for (let count = 0; count < lines; count++) {
		at = text.indexOf("\n", at + 1);
		if (at < 0 || at > characters) return cut(text, characters);
	}
	// One or two lines more are shorter than a button.
	const rest = text.length - at;
	return rest < 120 && text.indexOf("\n", text.indexOf("\n", at + 1) + 1) <= at ? text : text.slice(0, at);
}

function sizeText(text: string): string {
	let lines = 1;
	for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
	return lines > 1 ? `${lines.toLocaleString("en")} lines` : `${text.length.toLocaleString("en")} characters`;
}

/** A text of any size, in pieces that the browser lays out only when they come into view. */
function inPieces(text: string): HTMLElement {
	const whole = h("pre", { class: "plain pieces", dir: "auto" });
	for (let from = 0; from < text.length; ) {
		let to = from;
		for (let count = 0; count < linesPerPiece && to >= 0 && to - from < charactersPerPiece; count++) to = text.indexOf("\n", to) + 1 || -1;
		if (to < 0 || to - from > 4 * charactersPerPiece)
			to = to < 0 && text.length - from <= charactersPerPiece ? text.length : from + charactersPerPiece;
		const piece = to >= text.length ? text.slice(from) : cut(text.slice(from, to), to - from);
		whole.append(h("span", { class: "piece" }, withoutEscapes(piece)));
		from += piece.length || 1;
	}
	return whole;
}
