/** Everything that people write for the agent to know, found in one look at the disk. */
import { dirname, join } from "node:path";
import { loadContextFiles, type TextFile, textFile } from "./context-files.ts";
import { namedPath, type Origin, type Place } from "./files.ts";
import { Reading, type ReadLimits } from "./reading.ts";
import { loadRules, type RuleFile } from "./rules.ts";
import { loadSkills, type Skill, sharedSkillDirectories } from "./skills.ts";
import { loadTemplates, type Template } from "./templates.ts";

export interface ResourcePlaces {
	cwd: string;
	/** The user's directory, `~/.bowline`. Without one (hermetic) neither the user's nor the project's files are looked for, only named ones. */
	userDirectory: string | undefined;
	/** `.bowline` of the project; absent where that is the user's own. */
	projectDirectory: string | undefined;
	/** Where `.agents/skills` of the user is; not looked for without. */
	homeDirectory?: string;
	/** The project may replace the system prompt and bring rules. Its skills, prompts and context files are texts and need no trust. */
	isTrusted: boolean;
	/** Named on the command line or by an extension: always loaded, and they win. */
	skillPaths?: readonly string[];
	promptPaths?: readonly string[];
	/** From the settings `skills` and `prompts`. */
	settingsSkillPaths?: readonly string[];
	settingsPromptPaths?: readonly string[];
	/** Whose these settings are; the user's when nothing is said. */
	settingsScopes?: Record<"skills" | "prompts" | "packages", Origin["scope"]>;
	/** Files and directories that packages bring. */
	packages?: readonly { directory: string; skills: readonly string[]; prompts: readonly string[] }[];
	noSkills?: boolean;
	noPrompts?: boolean;
	noRules?: boolean;
	noContextFiles?: boolean;
	/** In place of the usual ones. */
	limits?: ReadLimits;
}

export interface Resources {
	skills: readonly Skill[];
	/** Slash files before prompt templates: the first with a name is used. */
	templates: readonly Template[];
	/** The user's first, the nearest last. */
	contextFiles: readonly TextFile[];
	/** SYSTEM.md, which replaces role and guidelines. */
	systemFile: TextFile | undefined;
	/** APPEND_SYSTEM.md. */
	appendFiles: readonly TextFile[];
	rules: readonly RuleFile[];
	/** What was skipped, and why. */
	warnings: readonly string[];
}

const user: Origin = { scope: "user", source: "auto" };
const project: Origin = { scope: "project", source: "auto" };

export async function loadResources(places: ResourcePlaces): Promise<Resources> {
	const { cwd, userDirectory, projectDirectory, isTrusted } = places;
	const readings: Reading[] = [];
	/** One for each kind of file: each has its limits, and the warnings come in the same order every time. */
	const list = () => {
		const reading = new Reading(places.limits);
		readings.push(reading);
		return reading;
	};
	const isHermetic = userDirectory === undefined;
	const own = isHermetic || projectDirectory === undefined ? [] : [projectDirectory];
	const ofProject = (directory: string, path: string): Place => ({ path, ...project, ...(isTrusted ? {} : { within: directory }) });
	const inBoth = (name: string): Place[] =>
		isHermetic ? [] : [{ path: join(userDirectory, name), ...user }, ...own.map((directory) => ofProject(dirname(directory), join(directory, name)))];
	const trusted = isHermetic ? [] : [...(isTrusted ? own : []), userDirectory];

	const shared = isHermetic || places.noSkills ? [] : (await sharedSkillDirectories(cwd)).map(({ directory, path }) => ofProject(directory, path));
	const skillDirectories = skillPlaces(places, inBoth("skills"), shared);
	const [skills, templates, contextFiles, systemFile, appendFile, rules] = await Promise.all([
		loadSkills(skillDirectories, list()),
		loadTemplates(promptPlaces(places, [...inBoth("commands"), ...inBoth("prompts")]), list()),
		isHermetic || places.noContextFiles ? [] : loadContextFiles({ userDirectory, cwd, isTrusted }, list()),
		firstFile(trusted, "SYSTEM.md", list()),
		firstFile(trusted, "APPEND_SYSTEM.md", list()),
		loadRules(places.noRules ? [] : trusted.map((directory) => ({ path: join(directory, "rules"), ...user })), list()),
	]);
	const warnings = readings.flatMap((reading) => reading.warnings);
	return { skills, templates, contextFiles, systemFile, appendFiles: appendFile ? [appendFile] : [], rules, warnings };
}

function skillPlaces(places: ResourcePlaces, usual: readonly Place[], shared: readonly Place[]): Place[] {
	const { cwd, homeDirectory, userDirectory, skillPaths = [], settingsSkillPaths = [] } = places;
	const flags = named(cwd, skillPaths, { scope: "temporary", source: "cli" });
	if (places.noSkills) return flags;
	const home = userDirectory === undefined || !homeDirectory ? [] : [{ path: join(homeDirectory, ".agents", "skills"), ...user }];
	return [...flags, ...usual, ...home, ...shared, ...named(cwd, settingsSkillPaths, settingsOrigin(places, "skills")), ...packed(places, "skills")];
}

function promptPlaces(places: ResourcePlaces, usual: readonly Place[]): Place[] {
	const { cwd, promptPaths = [], settingsPromptPaths = [], noPrompts } = places;
	const flags = named(cwd, promptPaths, { scope: "temporary", source: "cli" });
	return noPrompts
		? flags
		: [...flags, ...usual, ...named(cwd, settingsPromptPaths, settingsOrigin(places, "prompts")), ...packed(places, "prompts")];
}

function packed(places: ResourcePlaces, kind: "skills" | "prompts"): Place[] {
	const { cwd, packages = [] } = places;
	const origin = settingsOrigin(places, "packages");
	return packages.flatMap(({ directory, [kind]: paths }) => named(cwd, paths, { ...origin, packageDirectory: directory }));
}

function settingsOrigin({ settingsScopes }: ResourcePlaces, name: "skills" | "prompts" | "packages"): Origin {
	return { scope: settingsScopes?.[name] ?? "user", source: "settings" };
}

function named(cwd: string, paths: readonly string[], origin: Origin): Place[] {
	return paths.map((path) => ({ path: namedPath(cwd, path), ...origin, isNamed: true }));
}

async function firstFile(directories: readonly string[], name: string, reading: Reading): Promise<TextFile | undefined> {
	for (const directory of directories) {
		const file = await textFile(join(directory, name), reading);
		if (file) return file;
	}
	return undefined;
}
