/** Prompts with a name: `prompts/*.md` and, in the family's other spelling, `commands/*.md`. */
import { basename } from "node:path";
import { readFrontMatter } from "../lib/front-matter.ts";
import { entriesOf, kindOf, type Origin, originOf, type Place, readText, realPath } from "./files.ts";

export interface Template extends Origin {
	/** The name of the file, without `.md`. */
	name: string;
	description: string;
	/** What to type behind the name, for people. */
	argumentHint?: string;
	path: string;
	/** The text with its placeholders. */
	body: string;
}

const longestDescription = 80;

/** In the order of the places; of several with one name the first is taken. */
export async function loadTemplates(places: readonly Place[], warnings: string[]): Promise<Template[]> {
	const templates = new Map<string, Template>();
	const seen = new Set<string>();
	for (const place of places) {
		for (const path of await templateFiles(place, warnings)) {
			const real = await realPath(path);
			if (seen.has(real)) continue;
			seen.add(real);
			const template = await readTemplate(path, place, warnings);
			const first = template && templates.get(template.name);
			if (first) warnings.push(`Prompt /${template.name} of ${template.path} is not used: ${first.path} has the same name.`);
			else if (template) templates.set(template.name, template);
		}
	}
	return [...templates.values()];
}

async function templateFiles(place: Place, warnings: string[]): Promise<string[]> {
	const kind = await kindOf(place.path);
	if (kind === "file") return [place.path];
	if (kind === undefined && place.isNamed) warnings.push(`Prompt template not found: ${place.path}`);
	const entries = kind === "directory" ? await entriesOf(place.path) : [];
	return entries.filter(({ kind, name }) => kind === "file" && /^[^.].*\.md$/i.test(name)).map(({ path }) => path);
}

async function readTemplate(path: string, place: Place, warnings: string[]): Promise<Template | undefined> {
	const name = basename(path).replace(/\.md$/i, "");
	if (/\s/.test(name)) {
		warnings.push(`Prompt ${path} is not used: its name has a blank, so that nobody could call it.`);
		return undefined;
	}
	const text = await readText(path, warnings, place.within);
	if (text === undefined) return undefined;
	const { attributes, body, problem } = await readFrontMatter(text);
	if (problem) warnings.push(`Prompt ${path}: the front matter cannot be read: ${problem}`);
	const { description, "argument-hint": hint } = attributes;
	return {
		name,
		description: typeof description === "string" && description.trim() ? description.trim() : firstLine(body),
		...(typeof hint === "string" ? { argumentHint: hint } : Array.isArray(hint) ? { argumentHint: `[${hint.join(", ")}]` } : {}),
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
