/** A call as a question: its kind, its real targets, and what rules and modes look at. */

import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import type { PendingCall } from "../agent/policy.ts";
import { realTarget } from "../lib/real-path.ts";
import { changedInPackage, isPackageFile } from "../lib/runs-later.ts";
import type { PermissionKind, PermissionSubject } from "../protocol/permissions.ts";
import { Script } from "./command-patterns.ts";
import type { Call } from "./decide.ts";
import { isForeignProgram } from "./find-program.ts";
import { readScript } from "./lexer.ts";
import type { CallFacts } from "./modes.ts";
import { isBelow, isProtected } from "./path-patterns.ts";
import { isSecret, isUsual, type ReadingPlaces } from "./reading.ts";

/** What the gate has to know about the place where calls run. */
export interface Surroundings {
	/** The working directory, as a real path. */
	cwd: string;
	/** Directories that may be written to, as real paths; the working directory first. */
	roots: () => readonly string[];
	/** Real paths that the model was given, outside the roots: skills, its own output files. */
	given: () => Promise<readonly string[]>;
	/** What file tools may read outside the roots, and what is asked about even inside. */
	reading: () => ReadingPlaces;
	/** The session's own directories for temporary files, as real paths; only in a sandbox. */
	temporary?: () => readonly string[];
	/** Further protected files, as real paths: those that the configuration of git names. */
	protectedFiles: () => Promise<readonly string[]>;
	sandbox: () => { mode: PermissionSubject["sandbox"]; isVerified: boolean };
	/** A command may ask for a way out of the sandbox. */
	hasEscalation: boolean;
	/** Who brings a tool; nothing when it does not exist. */
	toolOf: (name: string, args: Record<string, unknown>) => Pick<CallFacts, "source" | "readOnly" | "server"> | undefined;
	/** The absolute path that a file tool would use for what the model wrote. */
	pathOf: (tool: string, path: string) => Promise<string>;
	/** The same as absolute paths without following links: a rule may name a link. */
	writtenPaths: (path: string) => readonly string[];
	/** The file system takes `.ENV` for `.env`. */
	ignoresCase?: boolean;
	/** What a call of `edit` or `write` would change; undefined where no rule asks for it. Throws where the call would fail. */
	changeOf?: (tool: string, args: Record<string, unknown>) => Promise<{ before: string; after: string }>;
	/** PATH of commands. */
	searchPath: () => Promise<string | undefined>;
	/** Whether the shell reads the small language as we do. */
	isKnownShell: boolean;
	/** The file of grants, which no tool reads or writes. */
	grantsFile: string | undefined;
}

const readers = ["read", "grep", "find", "ls"];
const writers = ["edit", "write"];
/** Nothing outside the conversation happens in them. */
const neverAsked = ["todo_write", "submit_result"];

/** The call as rules and modes see it; nothing for calls that are never asked about. Arguments are copied and frozen: what was judged is what runs. */
export async function judgedCall(call: PendingCall, place: Surroundings): Promise<Call | undefined> {
	const { toolName: tool, input } = call;
	const { source, readOnly, server } = place.toolOf(tool, input) ?? { source: "built-in" as const, readOnly: false };
	if (source === "built-in" && neverAsked.includes(tool)) return undefined;
	const args = frozen(structuredClone(input)) as Record<string, unknown>;
	if (source === "built-in" && tool === "bash") return commandCall(args, place);
	const isFileTool = source === "built-in" && (readers.includes(tool) || writers.includes(tool));
	if (!isFileTool) return callOf({ kind: "tool", tool, args, targets: [] }, place, { source, readOnly, ...(server && { server }) });
	const path = typeof args.path === "string" ? args.path : ".";
	const written = await place.pathOf(tool, path);
	const target = await realTarget(written);
	const roots = place.roots();
	const isWrite = writers.includes(tool);
	const kind = !isWrite ? "read" : isProtected(target, { roots, named: await place.protectedFiles() }) ? "protected" : "write";
	const isInside = roots.some((root) => isBelow(root, target));
	const isTree = await searchesBelow(tool, target);
	const isGiven = kind === "write" && !isInside && (place.temporary?.() ?? []).some((path) => isBelow(path, target));
	return callOf({ kind, tool, args, targets: [target] }, place, {
		source,
		readOnly,
		isInside,
		isGiven,
		isTree,
		isSecret: isSecret(place.reading(), target),
		...(isWrite && isPackageFile(target) && { keepsScripts: await keepsScripts(tool, args, place) }),
		...(kind === "read" && (await readingFacts(target, place))),
		writtenPaths: [...new Set([written, ...place.writtenPaths(path)])],
	});
}

/** What cannot be found out counts as a change. */
async function keepsScripts(tool: string, args: Record<string, unknown>, { changeOf }: Surroundings): Promise<boolean> {
	const change = await changeOf?.(tool, args).catch(() => undefined);
	return change !== undefined && changedInPackage(change.before || undefined, change.after).length === 0;
}

/** What is known about a path that is read. */
export async function readingFacts(target: string, place: Surroundings): Promise<Pick<CallFacts, "isGiven" | "isUsual">> {
	const isGiven = (await place.given()).some((path) => isBelow(path, target));
	return { isGiven, isUsual: isUsual(place.reading(), target) };
}

/** Returns whether a call reads below its target. */
export async function searchesBelow(tool: string, target: string): Promise<boolean> {
	if (tool !== "grep" && tool !== "find") return false;
	return stat(target).then(
		(facts) => facts.isDirectory(),
		() => false,
	);
}

async function commandCall(args: Record<string, unknown>, place: Surroundings): Promise<Call> {
	const path = await place.searchPath();
	const kind = place.hasEscalation && args.outsideSandbox !== undefined ? "escalation" : "command";
	return callOf({ kind, tool: "bash", args, targets: [] }, place, {
		script: scriptOf(String(args.command ?? ""), place),
		isForeign: (program) => isForeignProgram(program, path, place.roots()),
	});
}

export function scriptOf(text: string, { cwd, isKnownShell }: Pick<Surroundings, "cwd" | "isKnownShell">): Script {
	return new Script(text, isKnownShell ? readScript(text, (word) => leadsTo(cwd, word)) : undefined);
}

/** A call that code of ours asks about, such as a connection. */
export function callOf(
	{ kind, tool, args, targets }: { kind: PermissionKind; tool: string; args: Record<string, unknown>; targets: string[] },
	place: Pick<Surroundings, "cwd" | "sandbox">,
	facts: Partial<Omit<Call, "subject">> = {},
): Call {
	const { mode, isVerified } = place.sandbox();
	const sandbox = kind === "escalation" ? "outside" : mode;
	const subject = frozen({ v: 1 as const, kind, tool, args: frozen(args), cwd: place.cwd, targets, sandbox });
	return { subject, writtenPaths: [], isInside: false, isGiven: false, source: "built-in", readOnly: false, isVerified, ...facts };
}

/** A relative word that does not begin with a dot may be looked up elsewhere (CDPATH). */
function leadsTo(cwd: string, word: string): boolean {
	if (!isAbsolute(word) && !word.startsWith(".")) return false;
	try {
		return realpathSync(resolve(cwd, word)) === cwd;
	} catch {
		return false;
	}
}

function frozen<Value>(value: Value): Value {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
	for (const member of Object.values(value)) frozen(member);
	return Object.freeze(value);
}
