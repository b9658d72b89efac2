/** Skills: instructions that the model reads when a task calls for them, or that the user calls by name. */
import { basename, dirname, join, relative } from "node:path";
import { readFrontMatter } from "../lib/front-matter.ts";
import { type IgnoreRules, ignoreRules } from "../lib/ignore-rules.ts";
import { type Entry, entriesOf, kindOf, mayEnter, type Origin, originOf, type Place, readText, realPath, toSlashes } from "./files.ts";
import type { Reading } from "./reading.ts";
import { escapeXml } from "./xml.ts";

export interface Skill extends Origin {
	name: string;
	description: string;
	/** The file. */
	path: string;
	/** What relative paths in it are relative to. */
	directory: string;
	/** The text after the front matter. */
	body: string;
	/** Only the user may call it. */
	isHidden: boolean;
}

const maxName = 64;
/** Longer ones are not used at all. */
const longestName = 256;
const maxDescription = 1024;
/** The list of skills is part of every request. */
const maxListLength = 64 * 1024;
const ignoreFiles = [".gitignore", ".ignore", ".fdignore"];

interface Rules {
	directory: string;
	rules: readonly IgnoreRules[];
}

/** In the order of the places; of several skills with one name the first is taken. */
export async function loadSkills(places: readonly Place[], reading: Reading): Promise<Skill[]> {
	const skills = new Map<string, Skill>();
	const seen = new Set<string>();
	for (const place of places) {
		for (const path of await skillFiles(place, reading)) {
			const real = await realPath(path);
			if (seen.has(real)) continue;
			seen.add(real);
			const skill = await readSkill(path, place, reading);
			const first = skill && skills.get(skill.name);
			if (first) reading.warn(`Skill ${skill.name} of ${skill.path} is not used: ${first.path} has the same name.`);
			else if (skill) skills.set(skill.name, skill);
		}
	}
	return listed([...skills.values()], reading);
}

/** Skills for which the list in the system prompt has no room can still be called by name. */
function listed(skills: readonly Skill[], reading: Reading): Skill[] {
	let room = maxListLength;
	let hidden = 0;
	const fitting = skills.map((skill): Skill => {
		if (skill.isHidden) return skill;
		room -= skill.name.length + skill.description.length + skill.path.length;
		if (room >= 0) return skill;
		hidden += 1;
		return { ...skill, isHidden: true };
	});
	if (hidden > 0)
		reading.warn(`${hidden} of ${skills.length} skills are not offered to the model: the list has room for ${maxListLength / 1024} KB.`);
	return fitting;
}

async function skillFiles(place: Place, reading: Reading): Promise<string[]> {
	const kind = await kindOf(place.path);
	if (kind === "file") return [place.path];
	if (kind === "directory") return search(place, reading);
	if (place.isNamed) reading.warn(`Skill not found: ${place.path}`);
	return [];
}

/** Directories that hold a SKILL.md, at any depth, and the plain Markdown files of the root. */
async function search({ path: root, within }: Place, reading: Reading): Promise<string[]> {
	const visited = new Set<string>();
	return descend(root, [], 0);

	async function descend(directory: string, above: readonly Rules[], depth: number): Promise<string[]> {
		if (!(await mayEnter(directory, within))) {
			reading.warn(`${directory} is not searched: it is a link out of a project that is not trusted (see --approve).`);
			return [];
		}
		const real = await realPath(directory);
		// Links may lead in a circle.
		if (visited.has(real) || !reading.reaches(depth, directory) || !reading.take("directories", 1, directory)) return [];
		visited.add(real);
		const entries = await entriesOf(directory, reading);
		// A file above may ignore a directory that one further down brought back. Then its rules do not apply inside.
		const isBroughtBack = ({ directory: top, rules }: Rules) => rules.some((each) => each.ignoresDirectory(toSlashes(relative(top, directory))));
		const rules = await rulesIn(
			directory,
			entries,
			above.filter((level) => !isBroughtBack(level)),
			reading,
			within,
		);
		const wanted = entries.filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules" && !isIgnored(entry, rules));
		const own = wanted.find((entry) => entry.kind === "file" && entry.name === "SKILL.md");
		if (own) return [own.path];
		const found: string[] = [];
		for (const { kind, name, path } of wanted) {
			if (kind === "directory") found.push(...(await descend(path, rules, depth + 1)));
			else if (directory === root && /\.md$/i.test(name)) found.push(path);
		}
		return found;
	}
}

async function rulesIn(
	directory: string,
	entries: readonly Entry[],
	above: readonly Rules[],
	reading: Reading,
	within: string | undefined,
): Promise<readonly Rules[]> {
	const files = entries.filter((entry) => entry.kind === "file" && ignoreFiles.includes(entry.name));
	if (files.length === 0) return above;
	const rules: IgnoreRules[] = [];
	for (const { path } of files) {
		const text = await readText(path, reading, within);
		const read = text === undefined ? undefined : ignoreRules(text);
		if (read && "problem" in read) reading.warn(`${path} is not used: ${read.problem}.`);
		else if (read) rules.push(read);
	}
	return [...above, { directory, rules }];
}

/** The nearest file that has a rule for the entry decides; in one directory the last of them. */
function isIgnored({ path, kind }: Entry, levels: readonly Rules[]): boolean {
	for (const { directory, rules } of levels.toReversed()) {
		for (const each of rules.toReversed()) {
			const verdict = each.verdict(toSlashes(relative(directory, path)), kind === "directory");
			if (verdict !== undefined) return verdict;
		}
	}
	return false;
}

async function readSkill(path: string, place: Place, reading: Reading): Promise<Skill | undefined> {
	const text = await readText(path, reading, place.within);
	if (text === undefined) return undefined;
	const { attributes, body, problem } = await readFrontMatter(text);
	const warn = (what: string) => reading.warn(`Skill ${path}: ${what}`);
	if (problem) warn(`the front matter cannot be read: ${problem}`);
	const directory = dirname(path);
	const usual = basename(path) === "SKILL.md" ? basename(directory) : basename(path).replace(/\.md$/i, "");
	const name = (word(attributes.name) || usual).trim();
	const description = word(attributes.description).trim();
	if (!description) {
		warn("it has no description and is not used.");
		return undefined;
	}
	if (name.length > longestName) {
		warn(`the name has more than ${longestName} characters, and the skill is not used.`);
		return undefined;
	}
	for (const what of nameProblems(name, usual)) warn(what);
	if (description.length > maxDescription) warn(`the description has ${description.length} characters, more than ${maxDescription}.`);
	const isHidden = attributes["disable-model-invocation"] === true;
	return { name, description: description.slice(0, maxDescription), path, directory, body: body.trim(), isHidden, ...originOf(place) };
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

/** The text that `/skill:name args` is replaced by. */
export function skillText({ name, path, directory, body }: Skill, args: string): string {
	const block = `<skill name="${escapeXml(name)}" location="${escapeXml(path)}">\nReferences are relative to ${directory}.\n\n${body}\n</skill>`;
	return args ? `${block}\n\n${args}` : block;
}

/** `.agents/skills` of the directory and those above it, up to the root of the repository. */
export async function sharedSkillDirectories(cwd: string): Promise<{ directory: string; path: string }[]> {
	const found: { directory: string; path: string }[] = [];
	for (let directory = cwd; ; directory = dirname(directory)) {
		found.push({ directory, path: join(directory, ".agents", "skills") });
		if ((await kindOf(join(directory, ".git"))) !== undefined || directory === dirname(directory)) return found;
	}
}
