/** What an agent says about the walls around its commands. */
import Type, { type Static } from "typebox";
import { flag, integer, list, optional, shape, text, words } from "./define.ts";

export const SandboxState = shape("SandboxState", "Whether commands and file tools are confined, and how that is known.", {
	mode: words("off", "read-only", "workspace-write", "external"),
	active: flag({ description: "Commands run inside. False with a mode other than `off`: see `reason`." }),
	verified: flag({ description: "Every probe was blocked before the session began." }),
	backend: optional(text({ description: "The program that makes the sandbox, and its version." })),
	cell: optional(flag({ description: "All commands of the session share their processes and their loopback network." })),
	seccomp: optional(flag({ description: "A filter refuses system calls that lead out." })),
	network: optional(words("off", "hosts", "on")),
	writable: optional(list(text(), { description: "The directories that commands and tools may write to." })),
	hidden: optional(integer({ description: "How many paths cannot be read." })),
	protected: optional(integer({ description: "How many paths inside writable directories cannot be written." })),
	limits: optional(Type.Object({ processes: optional(integer()) })),
	uncovered: optional(list(text(), { description: "What runs outside: extensions, their tools, host tools, MCP servers." })),
	probes: optional(list(Type.Object({ name: text(), result: words("blocked", "open", "works", "failed") }))),
	checkedMs: optional(integer({ description: "How long the probes took." })),
	required: optional(flag({ description: "It is not active, and prompts are refused because of that." })),
	reason: optional(text({ description: "Why it is not active." })),
	remedy: optional(text({ description: "What to do about it." })),
});
export type SandboxState = Static<typeof SandboxState>;

export const SandboxUse = shape(
	"SandboxUse",
	"The sandbox of one command: the member `sandbox` of the details of a `bash` call, and of a `BashResult`.",
	{
		applied: flag({ description: "It ran inside. False after an approval to run outside." }),
		mode: optional(words("read-only", "workspace-write")),
		network: optional(words("off", "hosts", "on")),
		denied: optional(list(text(), { description: "What was refused by name, such as `host a.example:443`." })),
		note: optional(
			text({ description: "Why the sandbox may have made the command fail, why it was rebuilt meanwhile, and what was undone after the command." }),
		),
	},
);
export type SandboxUse = Static<typeof SandboxUse>;

export const SafetyState = shape("SafetyState", "What `safety` holds this session to. Absent where it is off.", {
	name: words("contained"),
	loosened: list(text(), { description: "Settings that are looser than the word says; see docs/security.md." }),
});
export type SafetyState = Static<typeof SafetyState>;
