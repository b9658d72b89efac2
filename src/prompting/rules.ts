/** Rule files: Markdown with a head that says when the text is put in front of the model. The stream rules know what the head means. */
import { basename } from "node:path";
import { readFrontMatter } from "../lib/front-matter.ts";
import { entriesOf, type Place, readText } from "./files.ts";
import type { Reading } from "./reading.ts";

export interface RuleFile {
	/** The name of the file without its extension. */
	name: string;
	path: string;
	/** The text after the head. */
	content: string;
	/** The head, unchecked. */
	attributes: Record<string, unknown>;
}

/** In the order of the places; of several with one name the first is taken. */
export async function loadRules(places: readonly Place[], reading: Reading): Promise<RuleFile[]> {
	const rules = new Map<string, RuleFile>();
	for (const place of places) {
		for (const { kind, name, path } of await entriesOf(place.path, reading)) {
			if (kind !== "file" || !/^[^.].*\.mdc?$/i.test(name)) continue;
			const rule = await readRule(path, reading);
			if (rule && !rules.has(rule.name)) rules.set(rule.name, rule);
		}
	}
	return [...rules.values()];
}

async function readRule(path: string, reading: Reading): Promise<RuleFile | undefined> {
	const text = await readText(path, reading);
	if (text === undefined) return undefined;
	const { attributes, body, problem } = await readFrontMatter(text);
	if (problem) reading.warn(`Rule ${path}: the front matter cannot be read: ${problem}`);
	return { name: basename(path).replace(/\.mdc?$/i, ""), path, content: body.trim(), attributes };
}
