/** The lists of skills and rules in the system prompt. Reads no files: the core makes the system prompt. */
import type { RuleFile } from "./rules.ts";
import type { Skill } from "./skills.ts";
import { escapeXml } from "./xml.ts";

/** The list of skills; empty when there are none that the model may use. */
export function skillList(skills: readonly Skill[]): string {
	const offered = skills.filter((skill) => !skill.isHidden);
	if (offered.length === 0) return "";
	const entries = offered.map(
		({ name, description, path }) =>
			`  <skill>\n    <name>${escapeXml(name)}</name>\n    <description>${escapeXml(description)}</description>\n    <location>${escapeXml(path)}</location>\n  </skill>`,
	);
	return [
		"Skills are instructions for particular tasks. When a task fits the description of one, read its file with the read tool before you start, and follow it. Relative paths in a skill are relative to the directory of its file.",
		`<available_skills>\n${entries.join("\n")}\n</available_skills>`,
	].join("\n\n");
}

const conditionKeys = ["condition", "ttsr_trigger", "ttsrTrigger"];

/** Rules without a condition that always apply: they are part of the system prompt. */
export function standingRules(rules: readonly RuleFile[]): RuleFile[] {
	return rules.filter(({ attributes, content }) => attributes.alwaysApply === true && content && !conditionKeys.some((key) => key in attributes));
}

/** Rules without a condition that say what they are about: the model may read them. */
export function describedRules(rules: readonly RuleFile[]): { path: string; description: string }[] {
	return rules.flatMap(({ attributes, path }) => {
		const { alwaysApply, description } = attributes;
		if (alwaysApply === true || typeof description !== "string" || conditionKeys.some((key) => key in attributes)) return [];
		return [{ path, description: description.trim() }];
	});
}
