/** Prompts with a name: `prompts/*.md` and, in the family's other spelling, `commands/*.md`. */
import { basename } from "node:path";
import { readFrontMatter } from "../lib/front-matter.ts";
import { entriesOf, kindOf, mayEnter, type Origin, originOf, type Place, readText, realPath } from "./files.ts";
import type { Reading } from "./reading.ts";

export interface Template extends Origin {
	/** The name of the file, without `.md`. */
	name: string;
	description: string;
	/** What to type after the name, for people. */
	argumentHint?: string;
	path: string;
	/** The text with its placeholders. */
	body: string;
}

/** Of the description that is made of the first line. */
const longestDescription = 80;
const maxDescription = 1024;

/** In the order of the places; of several with one name the first is taken. */
export async function loadTemplates(places: readonly Place[], reading: Reading): Promise<Template[]> {
	const templates = new Map<string, Template>();
	const seen = new Set<string>();
	for (const place of places) {
		for (const path of await templateFiles(place, reading)) {
			const real = await realPath(path);
			if (seen.has(real)) continue;
			seen.add(real);
			const template = await readTemplate(path, place, reading);
			const first = template && templates.get(template.name);
			if (first) reading.warn(`Prompt /${template.name} of ${template.path} is not used: ${first.path} has the same name.`);
			else if (template) templates.set(template.name, template);
		}
	}
	return [...templates.values()];
}

async function templateFiles(place: Place, reading: Reading): Promise<string[]> {
	const kind = await kindOf(place.path);
	if (kind === "file") return [place.path];
	if (kind === undefined && place.isNamed) reading.warn(`Prompt template not found: ${place.path}`);
	const entries = kind === "directory" && (await mayEnter(place.path, place.within)) ? await entriesOf(place.path, reading) : [];
	return entries.filter(({ kind, name }) => kind === "file" && /^[^.].*\.md$/i.test(name)).map(({ path }) => path);
}

async function readTemplate(path: string, place: Place, reading: Reading): Promise<Template | undefined> {
	const name = basename(path).replace(/\.md$/i, "");
	if (/\s/.test(name)) {
		reading.warn(`Prompt ${path} is not used: its name has a blank, so that it cannot be called.`);
		return undefined;
	}
	const text = await readText(path, reading, place.within);
	if (text === undefined) return undefined;
	const { attributes, body, problem } = await readFrontMatter(text);
	if (problem) reading.warn(`Prompt ${path}: the front matter cannot be read: ${problem}`);
	const { description, "argument-hint": given } = attributes;
	const hint = Array.isArray(given) ? `[${given.join(", ")}]` : given;
	return {
		name,
		description: typeof description === "string" && description.trim() ? description.trim().slice(0, maxDescription) : firstLine(body),
		...(typeof hint === "string" ? { argumentHint: hint.slice(0, maxDescription) } : {}),
		path,
		body: body.trim(),
		...originOf(place),
	};
}

function firstLine(body: string): string {
	const line = body.trim().split("\n", 1)[0] as string;
	const characters = Array.from(line.slice(0, 2 * longestDescription));
	return characters.length > longestDescription ? `${characters.slice(0, longestDescription - 1).join("")}…` : line;
}
