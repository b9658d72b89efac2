/** What a program wrote to a terminal: its sixteen colours and bold become classes, everything else that steers a terminal is dropped. */
import { h } from "./dom.ts";
import { withoutEscapes } from "./values.ts";

/** More of them in one text, and it is shown without colours: elements cost more than colours are worth. */
const mostColours = 2000;

export function terminalText(text: string): (Node | string)[] {
	if (!text.includes("\x1b[")) return [withoutEscapes(text)];
	// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
	const pieces = text.split(/\x1b\[([\d;]*)m/);
	if (pieces.length > 2 * mostColours) return [withoutEscapes(text)];
	const drawn: (Node | string)[] = [];
	let style = { colour: "", isBold: false };
	for (const [index, piece] of pieces.entries()) {
		if (index % 2 === 1) {
			style = styleAfter(style, piece);
			continue;
		}
		const shown = withoutEscapes(piece);
		const classes = [style.colour, style.isBold ? "a-bold" : ""].filter(Boolean).join(" ");
		if (shown) drawn.push(classes ? h("span", { class: classes }, shown) : shown);
	}
	return drawn;
}

interface Style {
	colour: string;
	isBold: boolean;
}

function styleAfter(style: Style, codes: string): Style {
	let next = style;
	const numbers = codes.split(";").map(Number);
	for (let at = 0; at < numbers.length; at++) {
		const code = numbers[at] as number;
		if (code === 0) next = { colour: "", isBold: false };
		else if (code === 1) next = { ...next, isBold: true };
		else if (code === 22) next = { ...next, isBold: false };
		else if (code >= 30 && code <= 37) next = { ...next, colour: `a-${code - 30}` };
		else if (code >= 90 && code <= 97) next = { ...next, colour: `a-${code - 90}` };
		else if (code === 39) next = { ...next, colour: "" };
		// 256 and true colours take further numbers.
		else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : numbers[at + 1] === 2 ? 4 : 0;
	}
	return next;
}
