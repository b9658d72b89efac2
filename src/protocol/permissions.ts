/** Approvals: what is asked about a tool call, how a host answers, and the rules that decide without asking. */
import Type, { type Static } from "typebox";
import { flag, frame, integer, jsonObject, list, optional, orNull, shape, text, words } from "./define.ts";
import { permissionModes } from "./permission-modes.ts";

export const PermissionMode = words(...permissionModes);
export type PermissionMode = Static<typeof PermissionMode>;

const rule = {
	action: words("allow", "ask", "deny"),
	tool: optional(
		text({ description: "A tool's name; `*` stands for any characters. `read` means read, grep, find and ls; `write` means edit and write." }),
	),
	command: optional(text({ description: "For `bash`: a pattern of words. Without it: every command." })),
	path: optional(text({ description: "For `read` and `write`: a glob on the real path." })),
	host: optional(text({ description: "For connections: `name`, `*.name` or an address, with `:port` or `:*`; without a port 443 and 80." })),
	runsLater: optional(
		flag({ description: "Instead of a tool: writes of files that run later on their own, see docs/security.md. Only to ask or to deny." }),
	),
	because: optional(text({ description: "The reason. The person sees it on ask, the model on deny." })),
	private: optional(flag({ description: "With `host`: also where its name leads to a private address." })),
};

export const PermissionRule = shape("PermissionRule", "A line of `permissions.rules`. The strictest rule that matches wins.", rule);
export type PermissionRule = Static<typeof PermissionRule>;

/** Where a rule comes from. */
export const ruleSources = ["user", "project", "config", "flags"] as const;
export const SourcedRule = shape("SourcedRule", "A rule and where it comes from.", { ...rule, source: words(...ruleSources) });
export type SourcedRule = Static<typeof SourcedRule>;

export const PermissionScope = words("once", "session", "always");
export type PermissionScope = Static<typeof PermissionScope>;

export const PermissionKind = words("read", "write", "protected", "command", "network", "escalation", "tool");
export type PermissionKind = Static<typeof PermissionKind>;

export const PermissionSubject = shape("PermissionSubject", "Exactly what is asked about and will run. The digest covers it.", {
	v: Type.Literal(1),
	kind: PermissionKind,
	tool: text(),
	args: jsonObject,
	cwd: text(),
	targets: list(text(), { description: "Real paths, or `host:port`." }),
	sandbox: words("off", "read-only", "workspace-write", "external", "outside"),
});
export type PermissionSubject = Static<typeof PermissionSubject>;

export const PermissionOrigin = shape("PermissionOrigin", "A subagent that a question comes from.", {
	id: text({ description: "Its id, as in `subagent_start`." }),
	agent: text(),
	toolCallId: text({ description: "The call of the task tool that sent it." }),
});
export type PermissionOrigin = Static<typeof PermissionOrigin>;

export const PermissionLapse = shape("PermissionLapse", "What has changed in the project since an earlier answer, which holds no longer.", {
	files: list(text(), { description: "The first 20, relative to the directory of the command; those that run later come first." }),
	more: optional(integer({ description: "How many others. Absent where the changes are not known." })),
});
export type PermissionLapse = Static<typeof PermissionLapse>;

/** The members of `permission_request`. */
export const permissionRequest = {
	id: text({ description: "A UUID." }),
	toolCallId: text(),
	subject: PermissionSubject,
	digest: text({ description: "`sha256:` and the hash of the canonical subject." }),
	title: text({ description: "What it is, in a few words." }),
	text: text({ description: "The command, the paths, `host:port`, or the arguments as JSON. Raw: escape it before a terminal shows it." }),
	words: optional({ ...orNull(list(list(text()))), description: "For commands: the words of each one; `null` when the script is opaque." }),
	diff: optional(text({ description: "For `write` and `protected`: what would change, the first 64 KiB." })),
	diffTruncated: optional(flag()),
	reason: text({ description: "Why it is asked." }),
	server: optional(text({ description: "The MCP server that it is about: an answer for the session covers all its tools." })),
	lapsed: optional({
		...PermissionLapse,
		description: "With `permissions.grantsLapse`: an earlier answer covered the command until these files changed.",
	}),
	rule: optional({ ...SourcedRule, description: "The ask rule." }),
	choices: list(PermissionScope, { description: "The scopes that an answer may have." }),
	proposal: optional({ ...PermissionRule, description: "The rule that `session` or `always` would add." }),
	timeoutMs: integer({ description: "0: no deadline." }),
	expiresAt: optional(integer({ description: "Milliseconds since 1970. Absent without a deadline." })),
	onTimeout: words("deny", "abort"),
	batch: Type.Object({ index: integer(), count: integer() }, { description: "Its place among the calls of the reply." }),
	origin: list(PermissionOrigin, { description: "Empty for the session itself; else the subagents, outermost first." }),
};
export const PermissionRequest = shape("PermissionRequest", "An open question about a tool call.", permissionRequest);
export type PermissionRequest = Static<typeof PermissionRequest>;

export const PermissionBy = words("host", "session", "always", "rule", "timeout", "digest", "mode", "changed", "gone", "nobody", "abort", "steer");
export type PermissionBy = Static<typeof PermissionBy>;

export const PermissionOutcome = words("allowed", "denied", "cancelled");
export type PermissionOutcome = Static<typeof PermissionOutcome>;

/** The members of `permission_resolved`. */
export const permissionResolved = {
	id: text(),
	toolCallId: text(),
	digest: text(),
	outcome: PermissionOutcome,
	by: PermissionBy,
	scope: optional(PermissionScope),
	note: optional(text({ description: "`rule_not_covering`: the rule of the answer does not cover the call, so the answer counts as `once`." })),
	waitedMs: integer(),
};
export const PermissionResolved = shape("PermissionResolved", "How a question ended.", permissionResolved);
export type PermissionResolved = Static<typeof PermissionResolved>;

/** One question and its end, for the pages. */
const sampleRequest: PermissionRequest = {
	id: "019b2c6e-5a6c-7d1e-9d53-0a8f0a4c2f11",
	toolCallId: "call_3",
	subject: { v: 1, kind: "command", tool: "bash", args: { command: "npm publish" }, cwd: "/w/shop", targets: [], sandbox: "off" },
	digest: "sha256:2a63a5386671e5e35f1d778b4bc956b90ab4b947d7edf03f05fdc400f568f3c4",
	title: "Run a command",
	text: "npm publish",
	words: [["npm", "publish"]],
	reason: "No rule covers it.",
	choices: ["once", "session", "always"],
	proposal: { action: "allow", tool: "bash", command: "npm publish" },
	timeoutMs: 300_000,
	expiresAt: 1_794_800_000_000,
	onTimeout: "deny",
	batch: { index: 0, count: 2 },
	origin: [],
};
const { id, toolCallId, digest } = sampleRequest;
const sampleResolved: PermissionResolved = { id, toolCallId, digest, outcome: "allowed", by: "host", scope: "session", waitedMs: 4120 };
export const permissionSamples = { request: sampleRequest, resolved: sampleResolved };

export const PermissionResponse = frame(
	"permission_response",
	{
		title: "PermissionResponse",
		description: "The answer to a `permission_request`. Unknown and closed ids are ignored. A digest that is missing or different denies.",
	},
	{
		id: text(),
		digest: optional(text({ description: "As in the request." })),
		decision: words("allow", "deny"),
		scope: optional({ ...PermissionScope, description: "Without it `once`; for a request with `server`: `session`." }),
		rule: optional({ ...PermissionRule, description: "Instead of the proposal. It must cover the call." }),
		message: optional(text({ description: "On deny: at most 2000 characters, for the model." })),
		by: optional({ ...PermissionBy, description: "From an agent to its subagent only: what decided." }),
	},
	{ id, digest, decision: "allow", scope: "session" },
);
export type PermissionResponse = Static<typeof PermissionResponse>;

export const PermissionGrant = shape("PermissionGrant", "A rule that came from an answer.", {
	id: text(),
	rule: PermissionRule,
	scope: words("session", "always"),
	createdAt: text(),
});
export type PermissionGrant = Static<typeof PermissionGrant>;

export { SandboxState } from "./sandbox.ts";

/** The data of the entry that records how a question ended, or that a call was denied without one. */
export interface PermissionRecord {
	requestId?: string;
	toolCallId: string;
	kind: PermissionKind;
	tool: string;
	/** The first 500 characters. */
	text: string;
	digest: string;
	outcome: PermissionOutcome;
	by: PermissionBy;
	scope?: PermissionScope;
	rule?: PermissionRule;
	waitedMs: number;
	origin: PermissionOrigin[];
	sandbox: PermissionSubject["sandbox"];
}
