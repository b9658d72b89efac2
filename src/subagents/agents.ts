/** The available agents: those of the project and the user, which are Markdown files, and our own. The first with a name is used. */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readRegular, UnsuitableFile } from "../lib/bounded-file.ts";
import { readFrontMatter } from "../lib/front-matter.ts";
import { factsOf, type KnownTools } from "../lib/tool-facts.ts";
import { type ThinkingLevel, thinkingLevels } from "../protocol/levels.ts";
import { bundledAgents } from "./bundled-agents.ts";

export interface AgentDefinition {
	name: string;
	/** For the model that chooses. */
	description: string;
	/** The agent's instructions. */
	prompt: string;
	/** Only these tools; the usual ones when absent. */
	tools?: readonly string[];
	/** Agents that it may send in turn. */
	spawns: "*" | readonly string[];
	/** Patterns of models, the best first; the model of the sender when none can be asked. */
	model?: readonly string[];
	thinkingLevel?: ThinkingLevel;
	/** The shape of its answers. */
	output?: Record<string, unknown>;
	source: "bundled" | "user" | "project";
}

export interface AgentPlaces {
	cwd: string;
	/** Nothing but our own agents when absent. */
	userDirectory: string | undefined;
	/** Agents direct the user's tools, so only a trusted project may define some. */
	isTrusted: boolean;
	warn: (text: string) => void;
}

export interface Agents {
	list: readonly AgentDefinition[];
	/** The nearest directory of the project's agents. */
	projectDirectory: string | null;
}

const maxAgentBytes = 1024 * 1024;
/** In one directory. */
const maxAgents = 200;
const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

export async function loadAgents({ cwd, userDirectory, isTrusted, warn }: AgentPlaces): Promise<Agents> {
	const projectDirectories = userDirectory !== undefined && isTrusted ? await projectPlaces(cwd, userDirectory) : [];
	const places = [
		...projectDirectories.map((path) => ({ path, source: "project" as const })),
		...(userDirectory === undefined ? [] : [{ path: join(userDirectory, "agents"), source: "user" as const }]),
	];
	const byName = new Map<string, AgentDefinition>();
	const add = (agent: AgentDefinition) => {
		if (!byName.has(agent.name)) byName.set(agent.name, agent);
	};
	for (const { path, source } of places) (await agentsIn(path, source, warn)).forEach(add);
	bundledAgents.forEach(add);
	return { list: [...byName.values()], projectDirectory: projectDirectories[0] ?? null };
}

/** Whether the agent has no tool that can change anything. */
export function onlyReads({ tools, spawns }: Pick<AgentDefinition, "tools" | "spawns">, table?: KnownTools): boolean {
	return tools?.every((name) => factsOf(name, table)?.effect === "read") === true && spawns.length === 0;
}

/** From the working directory up to the top of its repository; without a repository there is nothing above that belongs to the project. */
async function projectPlaces(cwd: string, userDirectory: string): Promise<string[]> {
	const directories = [cwd];
	for (let at = cwd; !(await exists(join(at, ".git"))); ) {
		const parent = dirname(at);
		if (parent === at) {
			directories.length = 1;
			break;
		}
		directories.push(parent);
		at = parent;
	}
	const own = directories.map((directory) => join(directory, ".bowline", "agents")).filter((path) => path !== join(userDirectory, "agents"));
	const found = await Promise.all(own.map(exists));
	return own.filter((_, index) => found[index]);
}

async function exists(path: string): Promise<boolean> {
	const [facts] = await Promise.allSettled([stat(path)]);
	return facts.status === "fulfilled";
}

async function agentsIn(directory: string, source: "user" | "project", warn: (text: string) => void): Promise<AgentDefinition[]> {
	const [names] = await Promise.allSettled([readdir(directory)]);
	if (names.status === "rejected") return [];
	const files = names.value.filter((name) => /^[^.].*\.md$/i.test(name)).sort();
	if (files.length > maxAgents)
		warn(`${join(directory, files[maxAgents] as string)} and what comes after it is not used: there are more than ${maxAgents} agents.`);
	files.length = Math.min(files.length, maxAgents);
	const read = await Promise.all(files.map((name) => readAgent(join(directory, name), source)));
	return read.flatMap((result, index) => {
		if ("problem" in result) {
			warn(`Agent ${join(directory, files[index] as string)} is passed over: ${result.problem}.`);
			return [];
		}
		for (const note of result.notes) warn(`Agent ${join(directory, files[index] as string)}: ${note}.`);
		return [result.agent];
	});
}

type Read = { agent: AgentDefinition; notes: string[] } | { problem: string };

async function readAgent(path: string, source: "user" | "project"): Promise<Read> {
	try {
		const text = (await readRegular(path, maxAgentBytes)).toString("utf8");
		return await parseAgent(text, basename(path).replace(/\.md$/i, ""), source);
	} catch (error) {
		if (error instanceof UnsuitableFile) return { problem: error.message };
		return { problem: `it cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})` };
	}
}

/** An agent from the text of its file; `fileName` is its name where the head gives none. */
export async function parseAgent(text: string, fileName: string, source: "user" | "project"): Promise<Read> {
	const { attributes, body, problem } = await readFrontMatter(text);
	if (problem) return { problem: `its front matter cannot be read: ${problem}` };
	const name = attributes.name === undefined ? fileName : String(attributes.name);
	const { description } = attributes;
	if (!namePattern.test(name)) return { problem: `its name ${JSON.stringify(name)} must be made of letters, digits, dots, dashes and underscores` };
	if (typeof description !== "string" || description.trim() === "") return { problem: "it needs a description, which says when to use it" };
	if (body.trim() === "") return { problem: "it has no text, which would tell it what to do" };
	// Taken for nothing said, a list of another shape would give the agent every tool.
	if (attributes.tools !== undefined && attributes.tools !== null && !words(attributes.tools))
		return { problem: "its tools must be names with commas between them, or a list" };
	const notes: string[] = [];
	const tools = words(attributes.tools);
	if (tools?.some((name) => /^[+-]/.test(name)))
		return { problem: "its tools must be plain names: only --tools changes the default set with + and -" };
	const model = words(attributes.model);
	const level = attributes["thinking-level"] ?? attributes.thinkingLevel;
	const isLevel = (thinkingLevels as readonly unknown[]).includes(level);
	if (level !== undefined && !isLevel) notes.push(`thinking-level must be one of ${thinkingLevels.join(", ")}; it is ignored`);
	const { output } = attributes;
	const isSchema = typeof output === "object" && output !== null && !Array.isArray(output);
	if (output !== undefined && !isSchema) notes.push("output must be a schema, that is keys and values; it is ignored");
	return {
		notes,
		agent: {
			name,
			description: description.trim(),
			prompt: body.trim(),
			...(tools ? { tools } : {}),
			spawns: spawnsOf(attributes.spawns, tools),
			...(model ? { model } : {}),
			...(isLevel ? { thinkingLevel: level as ThinkingLevel } : {}),
			...(isSchema ? { output: output as Record<string, unknown> } : {}),
			source,
		},
	};
}

/** An agent that has `task` among its tools and names no agents may send all of them. */
function spawnsOf(given: unknown, tools: readonly string[] | undefined): "*" | string[] {
	const names = words(given);
	if (names?.includes("*")) return "*";
	if (names) return names.filter((name) => name !== "none");
	return given === undefined && tools?.includes("task") ? "*" : [];
}

/** `a, b` or a list; nothing when there is none. */
function words(value: unknown): string[] | undefined {
	const parts = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value.map(String) : undefined;
	return parts?.map((part) => part.trim()).filter((part) => part !== "");
}
