/** The head of a Markdown file between two lines of dashes, as people write it: mostly YAML. */

export interface FrontMatter {
	attributes: Record<string, unknown>;
	/** Everything after the head. */
	body: string;
	/** What is wrong with the head, when it could be read only in part. */
	problem?: string;
}

type Attributes = Record<string, unknown>;

/** A head is a few lines. A longer one could keep a YAML parser busy for a long time. */
const maxHeadLength = 32 * 1024;
/** Values inside a head, each alias counted with everything it repeats. */
const maxValues = 5000;
const maxDepth = 64;

/** A head is at the very beginning and has an end; anything else is text. Line ends become LF, a byte order mark is removed. */
export function splitFrontMatter(text: string): { head: string | undefined; body: string } {
	const clean = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
	const first = lineEnd(clean, 0);
	if (!isFence(clean.slice(0, first))) return { head: undefined, body: clean };
	for (let start = first + 1; start < clean.length; ) {
		const end = lineEnd(clean, start);
		if (clean.startsWith("---", start) && isFence(clean.slice(start, end)))
			return { head: clean.slice(first + 1, start), body: clean.slice(end + 1) };
		start = end + 1;
	}
	return { head: undefined, body: clean };
}

const lineEnd = (text: string, start: number) => {
	const end = text.indexOf("\n", start);
	return end < 0 ? text.length : end;
};
/** Three dashes, and nothing else but blanks. */
const isFence = (line: string) => line.startsWith("---") && /^[ \t]*$/.test(line.slice(3));

export async function readFrontMatter(text: string): Promise<FrontMatter> {
	const { head, body } = splitFrontMatter(text);
	if (head === undefined || head.trim() === "") return { attributes: {}, body };
	if (head.length > maxHeadLength) return { attributes: {}, body, problem: `it is longer than ${maxHeadLength / 1024} KB` };
	const { load } = await import("js-yaml");
	const yaml = (source: string): Attributes => {
		const value = load(source);
		if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("the front matter must be a list of keys and values");
		requireFewValues(value);
		return value as Attributes;
	};
	try {
		return { attributes: yaml(head), body };
	} catch (error) {
		const [reason] = (error as Error).message.split("\n");
		// Descriptions with a colon, globs such as *.ts and Windows paths in quotes are not YAML, but people write them.
		const attributes = error instanceof TooManyValues ? {} : readKeyByKey(head, yaml);
		return Object.keys(attributes).length > 0 ? { attributes, body } : { attributes, body, problem: reason };
	}
}

class TooManyValues extends Error {}

/** Aliases of aliases turn a few lines into millions of values as soon as code walks through them. */
function requireFewValues(root: object): void {
	let count = 0;
	const visit = (value: unknown, depth: number): void => {
		count += 1;
		if (count > maxValues) throw new TooManyValues(`it has more than ${maxValues} values, aliases counted`);
		if (depth > maxDepth) throw new TooManyValues(`it is nested deeper than ${maxDepth}`);
		if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) visit(inner, depth + 1);
	};
	visit(root, 0);
}

/** Reads each key separately: as YAML if it is valid, else as plain text. */
function readKeyByKey(head: string, yaml: (source: string) => Attributes): Attributes {
	const attributes: Attributes = {};
	for (const part of head.split(/^(?=[A-Za-z][\w-]*[ \t]*:)/m)) {
		const found = /^([A-Za-z][\w-]*)[ \t]*:/.exec(part);
		if (!found) continue;
		const [start, key = ""] = found;
		const end = lineEnd(part, 0);
		attributes[key] = yamlValue(part, key, yaml) ?? asWritten(part.slice(start.length, end).trim(), part.slice(end));
	}
	return attributes;
}

function yamlValue(part: string, key: string, yaml: (source: string) => Attributes): unknown {
	try {
		return yaml(part)[key];
	} catch {
		return undefined;
	}
}

function asWritten(value: string, more: string): unknown {
	const lines = more.split("\n").map((line) => line.trim());
	const items = lines.flatMap((line) => (/^-\s/.test(line) ? [unquoted(line.slice(1).trim())] : []));
	if (value === "" && items.length > 0) return items;
	if (value.startsWith("[") && value.endsWith("]") && value.length > 1)
		return value
			.slice(1, -1)
			.split(",")
			.map((item) => unquoted(item.trim()));
	return unquoted([value, ...lines].filter(Boolean).join(" "));
}

function unquoted(text: string): string {
	const quote = text.charAt(0);
	return (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote) ? text.slice(1, -1) : text;
}
