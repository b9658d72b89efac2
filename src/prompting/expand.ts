/** Replaces prompts that start with a slash by the text that they name, and lists the names. */
import type { Origin } from "./files.ts";
import { fillTemplate } from "./placeholders.ts";
import type { Resources } from "./resources.ts";
import { skillText } from "./skills.ts";

export interface SkillCommands {
	/** The setting of the same name: whether `/skill:name` is a command. */
	enableSkillCommands: boolean;
}

type Named = Pick<Resources, "skills" | "templates">;

/** The text that goes to the model. A text that names nothing we know is sent as it is. */
export function expandPrompt(text: string, { skills, templates }: Named, { enableSkillCommands }: SkillCommands): string {
	const found = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text);
	if (!found) return text;
	const name = found[1] as string;
	const args = (found[2] ?? "").trim();
	const skill = enableSkillCommands ? skills.find((each) => `skill:${each.name}` === name) : undefined;
	if (skill) return skillText(skill, args);
	const template = templates.find((each) => each.name === name);
	return template ? fillTemplate(template.body, args) : text;
}

/** A row of `get_commands`. */
export interface SlashCommand {
	name: string;
	description?: string;
	source: "prompt" | "skill";
	sourceInfo: { path: string; source: string; scope: Origin["scope"]; origin: "top-level" | "package"; baseDir?: string };
}

export function listCommands({ skills, templates }: Named, { enableSkillCommands }: SkillCommands = { enableSkillCommands: true }): SlashCommand[] {
	const row = (kind: SlashCommand["source"], name: string, from: Origin & { description: string; path: string }): SlashCommand => {
		const { description, path, source, scope, packageDirectory: baseDir } = from;
		const origin = baseDir === undefined ? { origin: "top-level" as const } : { origin: "package" as const, baseDir };
		return { name, ...(description ? { description } : {}), source: kind, sourceInfo: { path, source, scope, ...origin } };
	};
	return [
		...templates.map((template) => row("prompt", template.name, template)),
		...(enableSkillCommands ? skills.map((skill) => row("skill", `skill:${skill.name}`, skill)) : []),
	];
}
