/**
 * Makes elements. Text goes in as text; there is no way here to turn it into markup. It goes in here alone, so that no place shows characters that
 * make a text look like another one: see `visible`.
 */
import { visible } from "../lib/visible.ts";

export type Child = Node | string | undefined | false;

interface Attributes {
	class?: string;
	title?: string;
	/** Only from `safeLink`, or a fragment of this page. */
	href?: string;
	[name: `aria-${string}` | `data-${string}`]: string;
	id?: string;
	for?: string;
	name?: string;
	role?: string;
	type?: string;
	placeholder?: string;
	tabindex?: string;
	dir?: "auto";
	onclick?: (event: MouseEvent) => void;
}

export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name === "onclick") element.addEventListener("click", value as unknown as EventListener);
		else if (value !== undefined) setAttribute(element, name, value as string);
	}
	append(element, ...children);
	return element;
}

/** Text in other attributes is an address or a name of ours, and stays as it is. */
const shownAttributes: ReadonlySet<string> = new Set(["title", "placeholder", "label", "alt", "aria-label"]);

export const setAttribute = (element: Element, name: string, value: string): void =>
	element.setAttribute(name, shownAttributes.has(name) ? visible(value) : value);

export function append(element: ParentNode, ...children: Child[]): void {
	for (const child of children) if (child) element.append(typeof child === "string" ? visible(child) : child);
}

export function fill(element: ParentNode, ...children: Child[]): void {
	element.replaceChildren();
	append(element, ...children);
}

/** Replaces what is inside. An element that says this already is left alone. */
export function setText(element: Element, text: string): void {
	const shown = visible(text);
	if (element.textContent !== shown) element.textContent = shown;
}

/** A choice of a list: what is sent stays as it is. */
export function option(value: string, text: string): HTMLOptionElement {
	const made = h("option", {}, text);
	made.value = value;
	return made;
}

export const textNode = (text: string): Text => document.createTextNode(visible(text));

/** Appends where that is enough: the browser then lays out one line, not all of them. */
export function extend(node: Text, text: string): void {
	const shown = visible(text);
	const { data } = node;
	if (shown === data) return;
	if (shown.length > data.length && shown.startsWith(data)) node.appendData(shown.slice(data.length));
	else node.data = shown;
}

export function setTitle(text: string): void {
	document.title = visible(text);
}

/** A text on it is its name; a picture alone needs the label. */
export function button(className: string, label: string, onclick: () => void, ...children: Child[]): HTMLButtonElement {
	const made = h("button", { class: className, type: "button", title: label, onclick }, ...children);
	if (!made.textContent) made.setAttribute("aria-label", label);
	return made;
}

const shapes = {
	menu: "M3 5h14M3 10h14M3 15h14",
	search: "M8.5 3a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11M12.5 12.5L17 17",
	up: "M5 12.5l5-5l5 5",
	down: "M5 7.5l5 5l5-5",
	left: "M12.5 5l-5 5l5 5",
	right: "M7.5 5l5 5l-5 5",
	sun: "M10 6.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M4 16l1.4-1.4M14.6 5.4L16 4",
	moon: "M16.5 11.5A7 7 0 1 1 8.5 3.5a5.6 5.6 0 0 0 8 8z",
	auto: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM10 3v14M10 6h4M10 10h6.5M10 14h4",
	unfold: "M6 7l4-4l4 4M6 13l4 4l4-4M3 10h14",
	send: "M10 16V4M5 9l5-5l5 5",
	stop: "M6 6h8v8h-8z",
	plus: "M10 4v12M4 10h12",
	picture: "M3 4.5h14v11H3zM3 13l4-4l4 4l2-2l4 4M13 8.2a.8.8 0 1 0 0-1.6a.8.8 0 0 0 0 1.6z",
	panel: "M3 4h14v12H3zM12.5 4v12",
	dots: "M4.5 9.2a.8.8 0 1 0 0 1.6a.8.8 0 0 0 0-1.6M10 9.2a.8.8 0 1 0 0 1.6a.8.8 0 0 0 0-1.6M15.5 9.2a.8.8 0 1 0 0 1.6a.8.8 0 0 0 0-1.6",
	keys: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7",
	file: "M5.5 2.5h6l3 3v12h-9zM11.5 2.5v3h3",
	close: "M5 5l10 10M15 5L5 15",
	branch: "M6 6.5v7M6 6.5a2 2 0 1 0 0-4a2 2 0 0 0 0 4zM6 17.5a2 2 0 1 0 0-4a2 2 0 0 0 0 4zM14 8.5a2 2 0 1 0 0-4a2 2 0 0 0 0 4zM14 8.5c0 3-8 2-8 5",
};

export function icon(name: keyof typeof shapes): SVGElement {
	const space = "http://www.w3.org/2000/svg";
	const drawing = document.createElementNS(space, "svg");
	for (const [key, value] of Object.entries({ viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" })) drawing.setAttribute(key, value);
	const path = document.createElementNS(space, "path");
	path.setAttribute("d", shapes[name]);
	drawing.append(path);
	return drawing;
}
