/** The head of a Markdown file between two lines of dashes, as people write it: mostly YAML. */

export interface FrontMatter {
	attributes: Record<string, unknown>;
	/** Everything behind the head. */
	body: string;
	/** What is wrong with the head, when it could be read only in part. */
	problem?: string;
}

type Attributes = Record<string, unknown>;

/** A head is at the very beginning and has an end; anything else is text. Line ends become LF, a byte order mark goes. */
export function splitFrontMatter(text: string): { head: string | undefined; body: string } {
	const clean = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
	const found = /^---[ \t]*\n([\s\S]*?\n)??---[ \t]*(?:\n|$)/.exec(clean);
	if (!found) return { head: undefined, body: clean };
	return { head: found[1] ?? "", body: clean.slice(found[0].length) };
}

export async function readFrontMatter(text: string): Promise<FrontMatter> {
	const { head, body } = splitFrontMatter(text);
	if (head === undefined || head.trim() === "") return { attributes: {}, body };
	const plain = readPlainLines(head);
	if (plain) return { attributes: plain, body };
	const { load } = await import("js-yaml");
	const yaml = (source: string): Attributes => {
		const value = load(source);
		if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("the front matter must be a list of keys and values");
		return value as Attributes;
	};
	try {
		return { attributes: yaml(head), body };
	} catch (error) {
		// Descriptions with a colon, globs such as *.ts and Windows paths in quotes are no YAML, and are written all the same.
		const attributes = readKeyByKey(head, yaml);
		const [reason] = (error as Error).message.split("\n");
		return Object.keys(attributes).length > 0 ? { attributes, body } : { attributes, body, problem: reason };
	}
}

/** What nearly every head is made of. Spares the load of a YAML parser; gives nothing when that is needed to be sure. */
function readPlainLines(head: string): Attributes | undefined {
	const attributes: Attributes = {};
	for (const line of head.split("\n")) {
		if (line.trim() === "") continue;
		const found = /^([A-Za-z][\w-]*): +([A-Za-z][^:#]*)$/.exec(line);
		const [key = "", value = ""] = [found?.[1], found?.[2]?.trimEnd()];
		if (!found || key === "__proto__" || Object.hasOwn(attributes, key) || /^null$/i.test(value)) return undefined;
		attributes[key] = /^true$/i.test(value) ? true : /^false$/i.test(value) ? false : value;
	}
	return attributes;
}

/** Each key by itself: as YAML where it is, as it stands where it is not. */
function readKeyByKey(head: string, yaml: (source: string) => Attributes): Attributes {
	const attributes: Attributes = {};
	for (const part of head.split(/^(?=[A-Za-z][\w-]*[ \t]*:)/m)) {
		const found = /^([A-Za-z][\w-]*)[ \t]*:([^\n]*)((?:\n[^\n]*)*)/.exec(part);
		if (!found) continue;
		const [, key = "", value = "", more = ""] = found;
		attributes[key] = yamlValue(part, key, yaml) ?? asWritten(value.trim(), more);
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
	const items = [...more.matchAll(/^\s*-\s+(.*)$/gm)].map((found) => unquoted((found[1] as string).trim()));
	if (value === "" && items.length > 0) return items;
	if (/^\[.*\]$/.test(value))
		return value
			.slice(1, -1)
			.split(",")
			.map((item) => unquoted(item.trim()));
	const rest = more.split("\n").map((line) => line.trim());
	return unquoted([value, ...rest].filter(Boolean).join(" "));
}

function unquoted(text: string): string {
	return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}
