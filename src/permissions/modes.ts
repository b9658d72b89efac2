/** What each mode says about a call that no rule decides. */
import type { PermissionMode, PermissionSubject } from "../protocol/permissions.ts";

export type Answer = "allow" | "ask" | "deny";

/** The facts about a call that the table looks at. */
export interface CallFacts {
	subject: PermissionSubject;
	/** All its targets are inside a directory that may be written to. */
	isInside: boolean;
	/** All its targets are paths that the model was given: skills, its own output files. */
	isGiven: boolean;
	/** A read of something that ordinary work reads outside the project, such as headers of the system. */
	isUsual?: boolean;
	/** Of a file tool: it is about something that holds credentials. */
	isSecret?: boolean;
	/** Of a file tool: it is about everything below a directory, whatever is there. */
	isTree?: boolean;
	/** Of a file tool: a host or an extension brings it, so it runs outside the sandbox. */
	isUnconfined?: boolean;
	/** Who brings the tool. */
	source: "built-in" | "extension" | "mcp" | "host";
	/** The MCP server that the call leads to, and the pattern of a rule about its tools. */
	server?: { name: string; tools: string };
	/** Of a call that is judged by the name of its tool: it changes nothing. */
	readOnly: boolean;
	/** The same: nothing is asked about it, because it does nothing outside the conversation, or each of its steps is judged. */
	isFree?: boolean;
	/** The walls around commands hold. */
	isVerified: boolean;
}

type Row = readonly [plan: Answer, ask: Answer, edit: Answer, full: Answer];
const columns = { plan: 0, ask: 1, edit: 2, full: 3 } as const;

const always: Row = ["allow", "allow", "allow", "allow"];
const never: Row = ["deny", "deny", "deny", "deny"];

export function answerOfMode(mode: PermissionMode, facts: CallFacts): Answer {
	return rowOf(facts)[columns[mode]];
}

function rowOf(facts: CallFacts): Row {
	const { subject, isInside, isGiven, isUsual, isSecret, isTree, isUnconfined, source, readOnly, isFree, isVerified } = facts;
	const isWalled = subject.sandbox !== "off";
	// A sandbox hides what must not be read, from the tools that are in it.
	const isHidden = isWalled && !(isUnconfined && isOurs(subject.sandbox));
	const planned = readOnly ? "allow" : "deny";
	switch (subject.kind) {
		case "read":
			if (isGiven || (isInside && (isHidden || !isSecret))) return always;
			return ["ask", "ask", isHidden || (isUsual && !isSecret) ? "allow" : "ask", "allow"];
		case "write":
			// Private temporary files.
			if (isGiven) return always;
			if (isInside) return ["deny", "ask", (isSecret && !isHidden) || isTree ? "ask" : "allow", "allow"];
			return isWalled ? never : ["deny", "ask", "ask", "allow"];
		case "protected":
			return ["deny", "ask", "ask", isWalled ? "deny" : "allow"];
		case "command":
			if (!isWalled || !isVerified) return ["deny", "ask", "ask", "allow"];
			return [subject.sandbox === "read-only" ? "allow" : "deny", "ask", "allow", "allow"];
		case "network":
			return ["deny", "ask", "ask", "deny"];
		case "escalation":
			return ["deny", "ask", "ask", "ask"];
		case "tool":
			if (isFree) return always;
			if (source === "host") return [planned, "allow", "allow", "allow"];
			return [planned, "ask", "ask", leavesSandbox({ subject, source }) ? "ask" : "allow"];
	}
}

/** Whether a call leads to an MCP server, which is not in the sandbox that holds the commands. */
export function leavesSandbox({ subject: { kind, sandbox }, source }: Pick<CallFacts, "subject" | "source">): boolean {
	return kind === "tool" && source === "mcp" && isOurs(sandbox);
}

/** Returns whether this agent made the sandbox: an external one holds the agent itself. */
const isOurs = (sandbox: PermissionSubject["sandbox"]): boolean => sandbox === "read-only" || sandbox === "workspace-write";

/** In this mode no allow rule lifts what the table denies for these kinds. */
export const staysDenied = (mode: PermissionMode, { kind }: PermissionSubject): boolean =>
	mode === "plan" && (kind === "write" || kind === "protected" || kind === "command" || kind === "escalation");
