/** Reads values of which nothing is certain: session files are edited by hand, and written by others. */

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

export function textOf(value: unknown): string {
	if (typeof value === "string") return value;
	if (value === undefined || value === null) return "";
	return typeof value === "object" ? compact(value) : String(value);
}

/** Data for reading: in lines, unless it is nested so deep that most of it would be indentation. */
export function pretty(value: unknown): string {
	return isDeep(value) ? compact(value) : (JSON.stringify(value, null, 2) ?? "");
}

function compact(value: unknown): string {
	try {
		return JSON.stringify(value) ?? "";
	} catch {
		// Only nesting beyond all reason: the data itself came from JSON.
		return "(nested too deep to be shown)";
	}
}

const deepest = 60;

function isDeep(value: unknown): boolean {
	let level: unknown[] = [value];
	for (let depth = 0; level.length; depth++) {
		if (depth > deepest) return true;
		level = level.flatMap((found) => (typeof found === "object" && found !== null ? Object.values(found) : []));
	}
	return false;
}

/** Content that is a text or a list of blocks, always as blocks. */
export function blocksOf(content: unknown): Fields[] {
	if (typeof content === "string") return [{ type: "text", text: content }];
	return listOf(content).map((block) => (typeof block === "string" ? { type: "text", text: block } : fieldsOf(block)));
}

/** The text blocks, joined. */
export const plainText = (content: unknown): string =>
	blocksOf(content)
		.filter((block) => block.type === "text")
		.map((block) => textOf(block.text))
		.join("\n");

/** At most this many characters, never half of one. */
export function cut(text: string, most: number): string {
	if (text.length <= most) return text;
	const code = text.charCodeAt(most - 1);
	return text.slice(0, code >= 0xd800 && code <= 0xdbff ? most - 1 : most);
}

/** One line for a list. */
export function oneLine(text: string, most = 160): string {
	const line = cut(text, 4 * most)
		.replace(/\s+/g, " ")
		.trim();
	return line.length > most ? `${cut(line, most)}…` : line;
}

/** Colours and cursor movements of terminals say nothing on a page. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapes = /\x1b(?:\[[0-9;?:<=>]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_])/g;
export const withoutEscapes = (text: string): string => (text.includes("\x1b") ? text.replace(escapes, "") : text);
