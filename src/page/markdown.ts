/** Markdown as elements. Markup inside it is shown as the text it is; pictures from elsewhere become links. */
import { lexer, type Token, type Tokens } from "marked";
import type { Colour } from "./code.ts";
import { h, setAttribute, textNode } from "./dom.ts";
import { decodeEntities, safeLink } from "./links.ts";

/** Longer texts, and such as are nested out of all reason, stay plain. */
const longest = 200_000;
const deepest = 40;

export function markdown(text: string, colour: Colour): Node {
	try {
		if (text.length > longest) throw new RangeError("too long to be read as Markdown");
		const holder = h("div", { class: "prose", dir: "auto" });
		holder.append(...drawAll(lexer(text, { gfm: true, breaks: true }), { colour, depth: 0 }));
		return holder;
	} catch (error) {
		// The parser recurses: what was made to break it is shown unparsed.
		if (error instanceof RangeError) return h("pre", { class: "plain", dir: "auto" }, text);
		console.warn("Shown without formatting:", error);
		return h("pre", { class: "plain", dir: "auto" }, text);
	}
}

interface Place {
	colour: Colour;
	depth: number;
}

function drawAll(tokens: readonly Token[] | undefined, { colour, depth }: Place): Node[] {
	if (depth > deepest) throw new RangeError("nested too deep");
	const drawn: Node[] = [];
	for (const token of tokens ?? []) {
		const made = draw(token as Tokens.Generic, { colour, depth: depth + 1 });
		if (made) drawn.push(made);
	}
	return drawn;
}

function draw(token: Tokens.Generic, place: Place): Node | undefined {
	const inner = () => drawAll(token.tokens, place);
	switch (token.type) {
		case "space":
		case "def":
			return undefined;
		case "paragraph":
			return h("p", {}, ...inner());
		case "heading":
			return h(headings[Math.min(6, Math.max(1, token.depth)) - 1] ?? "h6", {}, ...inner());
		case "strong":
			return h("strong", {}, ...inner());
		case "em":
			return h("em", {}, ...inner());
		case "del":
			return h("del", {}, ...inner());
		case "blockquote":
			return h("blockquote", {}, ...inner());
		case "hr":
			return h("hr");
		case "br":
			return h("br");
		case "codespan":
			return h("code", {}, token.text);
		case "code":
			return codeBlock(token.text, /^[^\s{,:]*/.exec(token.lang ?? "")?.[0] ?? "", place.colour);
		case "list":
			return list(token as Tokens.List, place);
		case "table":
			return table(token as Tokens.Table, place);
		case "checkbox":
			return textNode(token.checked ? "☑ " : "☐ ");
		case "link":
			return link(token, inner());
		case "image":
			return link(token, [textNode(`🖼 ${decodeEntities(token.text) || token.href}`)]);
		case "html":
			return /^<br\s*\/?>$/i.test(token.raw.trim()) ? h("br") : token.block ? h("p", { class: "raw" }, token.raw.trimEnd()) : textNode(token.raw);
		case "escape":
			return textNode(token.text);
		case "text":
			return token.tokens ? fragment(inner()) : textNode(decodeEntities(token.text));
		default:
			return textNode(token.raw);
	}
}

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

function fragment(nodes: Node[]): DocumentFragment {
	const made = document.createDocumentFragment();
	for (const node of nodes) made.append(node);
	return made;
}

export function codeBlock(code: string, language: string, colour: Colour): HTMLElement {
	return h("pre", { class: "code" }, h("code", {}, colour(code, language.toLowerCase())));
}

function list(token: Tokens.List, place: Place): HTMLElement {
	const made = h(token.ordered ? "ol" : "ul");
	if (token.ordered && typeof token.start === "number" && token.start !== 1) setAttribute(made, "start", String(token.start));
	for (const item of token.items) {
		const hasBox = item.tokens.some((inner) => inner.type === "checkbox" || (inner as Tokens.Generic).tokens?.[0]?.type === "checkbox");
		const box = item.task && !hasBox ? (item.checked ? "☑ " : "☐ ") : undefined;
		made.append(h("li", item.task ? { class: "task" } : {}, box, ...drawAll(item.tokens, place)));
	}
	return made;
}

function table({ header, rows, align }: Tokens.Table, place: Place): HTMLElement {
	const cell = (tag: "th" | "td", { tokens }: Tokens.TableCell, column: number) =>
		h(tag, align[column] ? { class: `at-${align[column]}` } : {}, ...drawAll(tokens, place));
	const head = h("thead", {}, h("tr", {}, ...header.map((found, column) => cell("th", found, column))));
	const body = h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((found, column) => cell("td", found, column)))));
	return h("div", { class: "scroll" }, h("table", {}, head, body));
}

function link(token: Tokens.Generic, content: Node[]): HTMLElement {
	const href = decodeEntities(String(token.href ?? ""));
	const address = safeLink(href);
	if (!address) return h("span", { class: "no-link", title: href }, ...content);
	const made = h("a", { href: address, title: address }, ...content);
	made.rel = "noopener noreferrer";
	made.target = "_blank";
	return made;
}
