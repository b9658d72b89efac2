/** Skills: instructions that the model reads when a task calls for them, or that the user calls by name. */
import { basename, dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import { readFrontMatter } from "../lib/front-matter.ts";
import { type Entry, entriesOf, kindOf, type Origin, originOf, type Place, readText, realPath, toSlashes } from "./files.ts";
import { escapeXml } from "./xml.ts";

export interface Skill extends Origin {
	name: string;
	description: string;
	/** The file. */
	path: string;
	/** What relative paths in it are relative to. */
	directory: string;
	/** The text behind the front matter. */
	body: string;
	/** Only the user may call it. */
	isHidden: boolean;
}

const maxName = 64;
const maxDescription = 1024;
const ignoreFiles = [".gitignore", ".ignore", ".fdignore"];

interface Rules {
	directory: string;
	rules: Ignore;
}

/** In the order of the places; of several skills with one name the first is taken. */
export async function loadSkills(places: readonly Place[], warnings: string[]): Promise<Skill[]> {
	const skills = new Map<string, Skill>();
	const seen = new Set<string>();
	for (const place of places) {
		for (const path of await skillFiles(place, warnings)) {
			const real = await realPath(path);
			if (seen.has(real)) continue;
			seen.add(real);
			const skill = await readSkill(path, place, warnings);
			const first = skill && skills.get(skill.name);
			if (first) warnings.push(`Skill ${skill.name} of ${skill.path} is not used: ${first.path} has the same name.`);
			else if (skill) skills.set(skill.name, skill);
		}
	}
	return [...skills.values()];
}

async function skillFiles(place: Place, warnings: string[]): Promise<string[]> {
	const kind = await kindOf(place.path);
	if (kind === "file") return [place.path];
	if (kind === "directory") return search(place.path);
	if (place.isNamed) warnings.push(`Skill not found: ${place.path}`);
	return [];
}

/** Directories that hold a SKILL.md, at any depth, and the plain Markdown files of the root. */
async function search(root: string): Promise<string[]> {
	const visited = new Set<string>();
	return descend(root, []);

	async function descend(directory: string, above: readonly Rules[]): Promise<string[]> {
		const real = await realPath(directory);
		// Links may lead in a circle.
		if (visited.has(real)) return [];
		visited.add(real);
		const entries = await entriesOf(directory);
		// A file above may ignore a directory that one further down brought back; on what is in it, the former has no say.
		const levels = above.filter((level) => !level.rules.ignores(`${toSlashes(relative(level.directory, directory))}/`));
		const rules = await ignoreRules(directory, entries, levels);
		const wanted = entries.filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules" && !isIgnored(entry, rules));
		const own = wanted.find((entry) => entry.kind === "file" && entry.name === "SKILL.md");
		if (own) return [own.path];
		const found: string[] = [];
		for (const { kind, name, path } of wanted) {
			if (kind === "directory") found.push(...(await descend(path, rules)));
			else if (directory === root && /\.md$/i.test(name)) found.push(path);
		}
		return found;
	}
}

async function ignoreRules(directory: string, entries: readonly Entry[], above: readonly Rules[]): Promise<readonly Rules[]> {
	const files = entries.filter((entry) => entry.kind === "file" && ignoreFiles.includes(entry.name));
	if (files.length === 0) return above;
	const texts = await Promise.all(files.map((file) => readText(file.path, [])));
	return [...above, { directory, rules: ignore().add(texts.join("\n")) }];
}

/** The nearest file that has something to say decides. */
function isIgnored({ path, kind }: Entry, levels: readonly Rules[]): boolean {
	for (const { directory, rules } of levels.toReversed()) {
		const verdict = rules.test(toSlashes(relative(directory, path)) + (kind === "directory" ? "/" : ""));
		if (verdict.ignored) return true;
		if (verdict.unignored) return false;
	}
	return false;
}

async function readSkill(path: string, place: Place, warnings: string[]): Promise<Skill | undefined> {
	const text = await readText(path, warnings, place.within);
	if (text === undefined) return undefined;
	const { attributes, body, problem } = await readFrontMatter(text);
	const warn = (what: string) => warnings.push(`Skill ${path}: ${what}`);
	if (problem) warn(`the front matter cannot be read: ${problem}`);
	const directory = dirname(path);
	const usual = basename(path) === "SKILL.md" ? basename(directory) : basename(path).replace(/\.md$/i, "");
	const name = (word(attributes.name) || usual).trim();
	const description = word(attributes.description).trim();
	if (!description) {
		warn("it has no description and is not used.");
		return undefined;
	}
	for (const what of nameProblems(name, usual)) warn(what);
	if (description.length > maxDescription) warn(`the description has ${description.length} characters, more than ${maxDescription}.`);
	const isHidden = attributes["disable-model-invocation"] === true;
	return { name, description, path, directory, body: body.trim(), isHidden, ...originOf(place) };
}

function nameProblems(name: string, usual: string): string[] {
	const problems: string[] = [];
	if (name !== usual) problems.push(`the name "${name}" is not that of its directory, "${usual}".`);
	if (name.length > maxName) problems.push(`the name has ${name.length} characters, more than ${maxName}.`);
	if (!/^[a-z0-9-]+$/.test(name)) problems.push(`the name "${name}" has other characters than a-z, 0-9 and hyphens.`);
	if (/^-|-$|--/.test(name)) problems.push(`the name "${name}" begins or ends with a hyphen, or has two in a row.`);
	return problems;
}

/** YAML reads `name: 42` as a number; people mean a word. */
function word(value: unknown): string {
	return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** What `/skill:name args` stands for. */
export function skillText({ name, path, directory, body }: Skill, args: string): string {
	const block = `<skill name="${escapeXml(name)}" location="${escapeXml(path)}">\nReferences are relative to ${directory}.\n\n${body}\n</skill>`;
	return args ? `${block}\n\n${args}` : block;
}

/** `.agents/skills` of the directory and those above it, up to the root of the repository. */
export async function sharedSkillDirectories(cwd: string): Promise<string[]> {
	const found: string[] = [];
	for (let directory = cwd; ; directory = dirname(directory)) {
		found.push(join(directory, ".agents", "skills"));
		if ((await kindOf(join(directory, ".git"))) !== undefined || directory === dirname(directory)) return found;
	}
}
