/** The shape of rules about tool calls, as people write them into settings. */

import { fileToolsOf, toolsWhere } from "../lib/tool-facts.ts";
import type { RuleLine } from "../protocol/settings.ts";

const actions = ["allow", "ask", "deny"];
const members = ["action", "tool", "command", "path", "host", "runsLater", "because", "private"];
const flags = ["runsLater", "private"];
/** The tools that a rule with a path can be about. */
const fileTools = [...fileToolsOf("read"), ...fileToolsOf("write")];
const commandTools = toolsWhere(({ hasCommand }) => hasCommand);

/** What is wrong with a list of rules; nothing when it can be used. A typing error must not turn a rule into one about everything. */
export function problemOfRules(value: unknown): string | undefined {
	if (!Array.isArray(value)) return "permissions.rules must be a list of rules";
	for (const [index, rule] of value.entries()) {
		const problem = problemOfRule(rule);
		if (problem) return `permissions.rules[${index}] ${problem}`;
	}
	return undefined;
}

/** The same for one rule. */
export function problemOfRule(rule: unknown): string | undefined {
	if (typeof rule !== "object" || rule === null || Array.isArray(rule)) return "must be an object";
	const unknown = Object.keys(rule).find((name) => !members.includes(name));
	if (unknown !== undefined) return `has an unknown member ${JSON.stringify(unknown)}: there are ${members.join(", ")}`;
	const given = rule as Record<string, unknown>;
	const notText = members.find(
		(name) => !flags.includes(name) && given[name] !== undefined && (typeof given[name] !== "string" || given[name].trim() === ""),
	);
	if (notText !== undefined) return `must have a text as ${notText}`;
	const { action, tool, command, path, host } = given as Partial<RuleLine>;
	if (action === undefined || !actions.includes(action)) return 'must have an action: "allow", "ask" or "deny"';
	if (given.private !== undefined && (typeof given.private !== "boolean" || host === undefined))
		return "can have private: true only together with a host";
	if (given.runsLater !== undefined) {
		if (given.runsLater !== true) return "can have runsLater: true only; leave it out otherwise";
		if (action === "allow") return "has runsLater, so its action must be ask or deny";
		return (tool ?? command ?? path ?? host) ? "must have either runsLater or a tool or a host" : undefined;
	}
	if (host !== undefined) return (tool ?? command ?? path) ? "must have either a host or a tool" : undefined;
	if (tool === undefined) return "must have a tool, a host or runsLater";
	if (command !== undefined && !commandTools.includes(tool))
		return `has a command, so its tool must be ${commandTools.map((name) => JSON.stringify(name)).join(" or ")}`;
	if (path !== undefined && !fileTools.includes(tool)) return `has a path, so its tool must be one of ${fileTools.join(", ")}`;
	return undefined;
}
