/** The narrow rule that an answer for more than one call would add. */
import { digestOf } from "../lib/canonical-json.ts";
import { literalGlob } from "../lib/path-pattern.ts";
import type { PermissionRule } from "../protocol/permissions.ts";
import type { Call } from "./decide.ts";
import type { Grant } from "./grants.ts";
import type { ScriptCommand } from "./lexer.ts";

export interface Proposal {
	/** Shown in the request. Nothing where a rule cannot describe the grant. */
	proposal?: PermissionRule;
	grant?: Pick<Grant, "rule" | "digest" | "script" | "argsDigest">;
}

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function proposalOf({ subject, script }: Call, digest: string): Proposal {
	const { kind, tool, targets } = subject;
	switch (kind) {
		case "command": {
			const commands = script?.commands;
			const rule: PermissionRule = { action: "allow", tool: "bash", command: commands ? spelled(commands) : (script?.text ?? "") };
			return { proposal: rule, grant: { rule, digest, ...(commands ? {} : { script: script?.text ?? "" }) } };
		}
		case "read":
		case "write": {
			const rule: PermissionRule = { action: "allow", tool: kind, path: literalGlob(targets[0] ?? "") };
			return { proposal: rule, grant: { rule, digest } };
		}
		case "network": {
			const rule: PermissionRule = { action: "allow", host: targets[0] ?? "" };
			return { proposal: rule, grant: { rule, digest } };
		}
		case "tool":
			// The name alone would cover any arguments.
			return { grant: { rule: { action: "allow", tool }, digest, argsDigest: digestOf(subject.args) } };
		default:
			return {};
	}
}

/** The commands with the quotes that they need. */
function spelled(commands: readonly ScriptCommand[]): string {
	return commands.map(({ words, joined }) => [...(joined === "" ? [] : [joined]), ...words.map(quoted)].join(" ")).join(" ");
}

function quoted(word: string): string {
	if (plainWord.test(word)) return word;
	return word
		.split("'")
		.map((piece) => `'${piece}'`)
		.join(`"'"`);
}
