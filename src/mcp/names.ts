/** Names for the model. The same servers and tools have the same names on every machine. */
import { createHash } from "node:crypto";

export const namePrefix = "mcp__";
const longest = 64;
const hashDigits = 6;

/** `mcp__<server>__<tool>` in letters that every provider accepts, at most 64 of them. */
export function toolName(server: string, tool: string): string {
	const full = `${namePrefix}${clean(server)}__${clean(tool)}`;
	if (full.length <= longest) return full;
	const digest = createHash("sha256").update(full).digest("hex").slice(0, hashDigits);
	return `${full.slice(0, longest - hashDigits - 1)}_${digest}`;
}

/** The pattern that a permission rule about every tool of a server has. */
export const toolsOf = (server: string): string => `${namePrefix}${clean(server)}__*`;

/** Whether a pattern may fit the name of a tool of this server. */
export function mayName(pattern: string, server: string): boolean {
	const prefix = `${namePrefix}${clean(server)}__`;
	const [literal = ""] = pattern.split("*");
	return prefix.startsWith(literal) || literal.startsWith(prefix.slice(0, literal.length));
}

/** The name itself, or the first of `name_2`, `name_3` that is free. It is taken from then on. */
export function freeName(name: string, taken: Set<string>): string {
	let free = name;
	for (let number = 2; taken.has(free); number += 1) {
		const suffix = `_${number}`;
		free = `${name.slice(0, longest - suffix.length)}${suffix}`;
	}
	taken.add(free);
	return free;
}

const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]/g, "_");
