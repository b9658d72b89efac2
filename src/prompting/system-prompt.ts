/** The system prompt. The same from turn to turn and day to day, so that provider caches hit: the messages say which day it is. */
import type { Tool } from "../agent/contracts.ts";
import type { TextFile } from "./context-files.ts";
import { describedRules, skillList, standingRules } from "./lists.ts";
import type { RuleFile } from "./rules.ts";
import type { Skill } from "./skills.ts";
import { escapeXml } from "./xml.ts";

export interface SystemPromptInput {
	/** In an order that does not change from turn to turn. */
	tools: readonly Pick<Tool, "name" | "label" | "hint">[];
	cwd: string;
	/** Replaces the description of role and guidelines: `--system-prompt`, else SYSTEM.md. */
	custom: string | undefined;
	/** `--append-system-prompt`, else APPEND_SYSTEM.md. */
	appended: readonly string[];
	/** Where our own documentation is. */
	docsDirectory?: string;
	contextFiles?: readonly TextFile[];
	skills?: readonly Skill[];
	rules?: readonly RuleFile[];
	/** What commands inside a sandbox may write and reach. */
	sandbox?: string;
}

export function systemPrompt(input: SystemPromptInput): string {
	const { tools, cwd, custom, appended, docsDirectory, contextFiles = [], skills = [], rules = [], sandbox } = input;
	const canRead = tools.some((tool) => tool.name === "read");
	const parts = [
		custom ?? standing(tools, docsDirectory),
		...appended,
		projectContext([...contextFiles, ...standingRules(rules)]),
		canRead ? ruleList(rules) : "",
		canRead ? skillList(skills) : "",
		sandbox === undefined ? "" : `Commands and file tools are in a sandbox: ${sandbox}.`,
		`Working directory: ${cwd}`,
	];
	return parts.filter(Boolean).join("\n\n");
}

function standing(tools: SystemPromptInput["tools"], docsDirectory: string | undefined): string {
	const names = new Set(tools.map((tool) => tool.name));
	const lines = tools.map((tool) => `- ${tool.name}: ${tool.hint ?? tool.label}`);
	const guidelines = [
		names.has("read") && names.has("edit") ? "Read a file before you change it." : "",
		names.has("edit") ? "Change existing files with edit; its old text must match the file exactly." : "",
		names.has("write") ? "Use write only for new files or complete rewrites." : "",
		names.has("bash") && names.has("grep") ? "Prefer grep, find and ls to the same work in bash." : "",
		names.has("bash") ? "After a change, run what proves it: the tests, the build, the program." : "",
		names.has("todo_write") ? "Keep the plan of a longer task with todo_write, and mark what is done as soon as it is." : "",
		"Be brief. Name files by their paths.",
	].filter(Boolean);
	return [
		"You are a coding agent. You work in the user's project through the tools below and go on until the task is done or you need an answer.",
		lines.length ? `Tools:\n${lines.join("\n")}` : "You have no tools in this session.",
		`Guidelines:\n${guidelines.map((line) => `- ${line}`).join("\n")}`,
		...(docsDirectory === undefined || !names.has("read")
			? []
			: [`You run in Bowline. Its documentation is in ${docsDirectory}; read it only when you are asked about Bowline itself.`]),
	].join("\n\n");
}

function projectContext(files: readonly TextFile[]): string {
	if (files.length === 0) return "";
	const blocks = files.map(({ path, content }) => `<context_file path="${escapeXml(path)}">\n${content}\n</context_file>`);
	return ["Instructions of the user and the project. Where they differ, the later ones hold.", ...blocks].join("\n\n");
}

function ruleList(rules: readonly RuleFile[]): string {
	const lines = describedRules(rules).map(({ path, description }) => `- ${path}: ${description}`);
	return lines.length === 0 ? "" : `Rules of the project. Read the file of one before you do what it is about.\n${lines.join("\n")}`;
}
