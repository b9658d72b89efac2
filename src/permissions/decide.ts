/** What happens to a call: rules first, then grants, then the mode. */

import { digestOf } from "../lib/canonical-json.ts";
import type { PermissionMode, PermissionRule, PermissionSubject, SourcedRule } from "../protocol/permissions.ts";
import type { Grant } from "./grants.ts";
import { answerOfMode, type CallFacts, leavesSandbox, staysDenied } from "./modes.ts";
import { type CompiledRule, catches, coveredBy, type JudgedCall, rulesAbout } from "./rules.ts";

export type Decision =
	| { answer: "allow"; by: "rule" | "session" | "always" | "mode"; rule?: PermissionRule }
	| { answer: "deny"; by: "rule" | "mode"; rule?: SourcedRule }
	| { answer: "ask"; rule?: SourcedRule };

export interface RuleBook {
	deny: readonly CompiledRule[];
	ask: readonly CompiledRule[];
	allow: readonly CompiledRule[];
}

export type Call = JudgedCall & CallFacts;

export function decide(call: Call, book: RuleBook, grants: readonly Grant[], mode: PermissionMode): Decision {
	const denied = rulesAbout(book.deny, call).find((rule) => catches(rule, call));
	if (denied) return { answer: "deny", by: "rule", rule: denied.rule };
	const answer = answerOfMode(mode, call);
	if (answer === "deny" && staysDenied(mode, call.subject)) return { answer: "deny", by: "mode" };
	const asked = rulesAbout(book.ask, call).find((rule) => catches(rule, call));
	if (asked) return { answer: "ask", rule: asked.rule };
	// What the rule closes may be among it.
	const closing = call.isUnfiltered ? rulesAbout([...book.deny, ...book.ask], call).find(({ path, runsLater }) => path || runsLater) : undefined;
	if (closing) return { answer: "ask", rule: closing.rule };
	const holding = grants.filter(
		(grant) => holdsFor(grant, call) && (grant.server === undefined || grant.server === serverAskedAbout(call, mode)?.name),
	);
	return allowedBy(call, book, holding) ?? (answer === "allow" ? { answer, by: "mode" } : answer === "deny" ? { answer, by: "mode" } : { answer });
}

/** The MCP server that a question about the call is about as a whole. In a stricter mode it is about the call. */
export const serverAskedAbout = (call: Call, mode: PermissionMode): Call["server"] =>
	mode === "full" && leavesSandbox(call) ? call.server : undefined;

/** From weak to strong. */
const walls: readonly PermissionSubject["sandbox"][] = ["outside", "off", "external", "workspace-write", "read-only"];

/** A grant holds where its question was asked: in the same directory, and in walls that are as strong. */
function holdsFor({ sandbox = "off", cwd }: Grant, { subject }: Call): boolean {
	if (cwd !== undefined && cwd !== subject.cwd) return false;
	return sandbox === "off" || walls.indexOf(subject.sandbox) >= walls.indexOf(sandbox);
}

/** Neither rules nor grants cover a protected path or a way out of the walls: each one is asked about. */
function allowedBy(call: Call, book: RuleBook, grants: readonly Grant[]): Extract<Decision, { answer: "allow" }> | undefined {
	const { subject, script } = call;
	if (subject.kind === "protected" || subject.kind === "escalation") return undefined;
	const rule = coveredBy(book.allow, call);
	if (rule) return { answer: "allow", by: "rule", rule: rule.rule };
	const exact = grants.find((grant) => isExactly(grant, call));
	if (exact) return { answer: "allow", by: exact.scope, rule: exact.rule };
	const patterns = grants.filter((grant) => grant.script === undefined && grant.argsDigest === undefined && grant.server === undefined);
	// Rules and grants may each cover some of the commands of a script.
	const found = patterns.length ? coveredBy([...patterns.map(({ compiled }) => compiled), ...book.allow], call) : undefined;
	const grant = patterns.find(({ compiled }) => compiled === found) ?? (script && found ? patterns[0] : undefined);
	return grant ? { answer: "allow", by: grant.scope, rule: grant.rule } : undefined;
}

/** Grants that no pattern can describe: an opaque script, a tool with these arguments, or a server, whose grants hold for its calls alone. */
function isExactly({ script, argsDigest, server, rule }: Grant, { subject, script: given }: Call): boolean {
	if (server !== undefined) return true;
	if (script !== undefined) return subject.kind === "command" && given?.text === script;
	return argsDigest !== undefined && subject.kind === "tool" && rule.tool === subject.tool && argsDigest === digestOf(subject.args);
}
