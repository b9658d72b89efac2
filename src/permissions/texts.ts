/** What a person and the model read. The first sentence of a denial is fixed: hosts and tests match on it. */
import { printable } from "../lib/printable.ts";
import { ruleInWords } from "../lib/rule-words.ts";
import { factsOf } from "../lib/tool-facts.ts";
import type { PermissionMode, PermissionOrigin, PermissionRule, PermissionSubject } from "../protocol/permissions.ts";

export const abortText = "Operation aborted";
export const skipText = "Skipped due to queued user message.";
const advice = "Find another way, or tell the user what to run.";
const lastAdvice = "Do not try again; finish with what you have.";

export type Denial =
	| { by: "host"; message?: string }
	| { by: "rule"; rule?: PermissionRule }
	| { by: "mode"; mode: PermissionMode }
	| { by: "timeout"; seconds: number }
	| { by: "nobody" | "gone"; isRepeated: boolean }
	| { by: "changed" | "digest" }
	| { by: "abort" | "steer" };

export function denialText(denial: Denial): string {
	switch (denial.by) {
		case "host":
			return ["Denied by the user.", denial.message?.trim(), advice].filter(Boolean).join(" ");
		case "rule":
			return `Denied by a rule: ${becauseOf(denial.rule)}. ${advice}`;
		case "mode":
			return `Not allowed in mode ${denial.mode}. ${advice}`;
		case "timeout":
			return `Nobody answered within ${denial.seconds} seconds. ${advice}`;
		case "nobody":
		case "gone":
			return `This needs an approval and nobody can be asked. ${advice}${denial.isRepeated ? ` ${lastAdvice}` : ""}`;
		case "changed":
		case "digest":
			return `The approval did not fit what was about to run. ${advice}`;
		case "abort":
			return abortText;
		case "steer":
			return skipText;
	}
}

function becauseOf(rule: PermissionRule | undefined): string {
	if (!rule) return "it is not allowed here";
	return (rule.because ?? ruleInWords(rule)).replace(/\.\s*$/, "");
}

/** The first sentence of a request. */
export function titleOf({ kind, tool, args }: PermissionSubject): string {
	switch (kind) {
		case "read":
			return readingTitle(tool);
		case "write":
			return writingTitle(tool);
		case "protected":
			return "Change a protected file";
		case "command":
			return "Run a command";
		case "network":
			return "Open a connection";
		case "escalation":
			return typeof args.outsideSandbox === "string"
				? `Run a command outside the sandbox: ${args.outsideSandbox}`
				: "Run a command outside the sandbox";
		case "tool":
			return `Call the tool ${tool}`;
	}
}

const readings = { file: "Read a file", entries: "List a directory", below: "Search files" };

function readingTitle(tool: string): string {
	const facts = factsOf(tool);
	return facts ? readings[facts.reach ?? "below"] : `Read files with the tool ${tool}`;
}

function writingTitle(tool: string): string {
	const facts = factsOf(tool);
	return facts ? (facts.replaces ? "Write a file" : "Edit a file") : `Change files with the tool ${tool}`;
}

/** What it is about, raw. */
export function textOf({ kind, args, targets }: PermissionSubject): string {
	switch (kind) {
		case "read":
		case "write":
		case "protected":
		case "network":
			return targets.join("\n");
		case "command":
		case "escalation":
			return String(args.command ?? "");
		case "tool":
			return JSON.stringify(args);
	}
}

/** Everything that a person must see, for a host that shows a list of options under a text. */
export function dialogTitle(subject: PermissionSubject, text: string, reason: string, origin: readonly PermissionOrigin[]): string {
	const lines = [
		`${titleOf(subject)}? ${reason}`,
		"",
		text,
		"",
		`In ${subject.cwd}`,
		...(origin.length ? [`Asked by ${origin.map(({ agent, id }) => `${agent} (${id})`).join(" → ")}`] : []),
		`Sandbox: ${subject.sandbox}`,
	];
	return printable(lines.join("\n"));
}
