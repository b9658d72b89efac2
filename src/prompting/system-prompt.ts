/** What the model is told about itself. Byte-stable from turn to turn, so that provider caches hit: the date, but no time. */
import type { Tool } from "../agent/contracts.ts";

export interface SystemPromptInput {
	tools: readonly Tool[];
	cwd: string;
	/** Replaces the description of role and guidelines. */
	custom: string | undefined;
	appended: readonly string[];
	now: () => number;
}

export function systemPrompt({ tools, cwd, custom, appended, now }: SystemPromptInput): string {
	const parts = [custom ?? standing(tools), ...appended, `Date: ${new Date(now()).toISOString().slice(0, 10)}\nWorking directory: ${cwd}`];
	return parts.join("\n\n");
}

function standing(tools: readonly Tool[]): string {
	const names = new Set(tools.map((tool) => tool.name));
	const lines = tools.map((tool) => `- ${tool.name}: ${tool.hint ?? tool.label}`);
	const guidelines = [
		names.has("read") && names.has("edit") ? "Read a file before you change it." : "",
		names.has("edit") ? "Change existing files with edit; its old text must match the file exactly." : "",
		names.has("write") ? "Use write only for new files or complete rewrites." : "",
		names.has("bash") && names.has("grep") ? "Prefer grep, find and ls to the same work in bash." : "",
		names.has("bash") ? "After a change, run what proves it: the tests, the build, the program." : "",
		"Be brief. Name files by their paths.",
	].filter(Boolean);
	return [
		"You are a coding agent. You work in the user's project through the tools below and go on until the task is done or you need an answer.",
		lines.length ? `Tools:\n${lines.join("\n")}` : "You have no tools in this session.",
		`Guidelines:\n${guidelines.map((line) => `- ${line}`).join("\n")}`,
	].join("\n\n");
}
