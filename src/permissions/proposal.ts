/** The narrow rule that an answer for more than one call would add. */
import { digestOf } from "../lib/canonical-json.ts";
import { literalGlob } from "../lib/path-pattern.ts";
import type { PermissionRule } from "../protocol/permissions.ts";
import type { Call } from "./decide.ts";
import type { Grant } from "./grants.ts";
import type { ScriptCommand } from "./lexer.ts";

/** A grant as an answer gives it. */
export type Given = Pick<Grant, "rule" | "digest" | "script" | "argsDigest" | "server" | "sandbox" | "cwd">;

export interface Proposal {
	/** Shown in the request. Nothing where a rule cannot describe the grant. */
	proposal?: PermissionRule;
	grant?: Given;
}

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** `cwd`: the working directory of this agent. `server`: what the question is about as a whole. */
export function proposalOf(call: Call, digest: string, { cwd = call.subject.cwd, server }: { cwd?: string; server?: Call["server"] } = {}): Proposal {
	if (server) {
		const rule: PermissionRule = { action: "allow", tool: server.tools };
		return { proposal: rule, grant: { rule, digest, server: server.name } };
	}
	const { proposal, grant } = proposed(call, digest);
	return { ...(proposal && { proposal }), ...(grant && { grant: { ...grant, ...placeOf(call, cwd) } }) };
}

/** Returns what the question showed of the place of a command or a tool: the grant holds there alone. */
export function placeOf({ subject }: Call, cwd: string): Pick<Grant, "sandbox" | "cwd"> {
	if (subject.kind !== "command" && subject.kind !== "tool") return {};
	return { ...(subject.sandbox !== "off" && { sandbox: subject.sandbox }), ...(subject.cwd !== cwd && { cwd: subject.cwd }) };
}

function proposed({ subject, script }: Call, digest: string): Proposal {
	const { kind, tool, targets } = subject;
	switch (kind) {
		case "command": {
			const commands = script?.commands;
			const rule: PermissionRule = { action: "allow", tool, command: commands ? spelled(commands) : (script?.text ?? "") };
			return { proposal: rule, grant: { rule, digest, ...(commands ? {} : { script: script?.text ?? "" }) } };
		}
		case "read":
		case "write": {
			const rule: PermissionRule = { action: "allow", tool, path: literalGlob(targets[0] ?? "") };
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
