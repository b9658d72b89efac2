/** A call as a question: its kind, its real targets, and what rules and modes look at. */

import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { PendingCall } from "../agent/policy.ts";
import type { FileEffect, ToolEffect } from "../agent/tool.ts";
import { realTarget } from "../lib/real-path.ts";
import { changedInPackage, isPackageFile } from "../lib/runs-later.ts";
import type { PermissionKind, PermissionSubject } from "../protocol/permissions.ts";
import { Script } from "./command-patterns.ts";
import type { Call } from "./decide.ts";
import { isForeignProgram } from "./find-program.ts";
import { readScript } from "./lexer.ts";
import type { CallFacts } from "./modes.ts";
import { isBelow, isProtected } from "./path-patterns.ts";
import { holdsSecret, isSecret, isUsual, type ReadingPlaces } from "./reading.ts";

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
	/** The origin of a tool and the effect it declares. */
	toolOf: (name: string, args: Record<string, unknown>) => Pick<CallFacts, "source" | "server"> & { effect: ToolEffect };
	/** The absolute path that a file tool would use for what the model wrote. `replaces`: the tool makes a missing file and looks for no other spelling. */
	pathOf: (path: string, replaces?: boolean) => Promise<string>;
	/** The same as absolute paths without following links: a rule may name a link. */
	writtenPaths: (path: string) => readonly string[];
	/** The file system takes `.ENV` for `.env`. */
	ignoresCase?: boolean;
	/** A rule is about files that run later, so it matters which part of a file is changed. */
	looksAtChanges?: boolean;
	/** PATH of commands. */
	searchPath: () => Promise<string | undefined>;
	/** Whether the shell reads the small language as we do. */
	isKnownShell: boolean;
	/** The file of grants, which no tool reads or writes. */
	grantsFile: string | undefined;
}

type Args = Record<string, unknown>;

/** The call as rules and modes see it; nothing for calls that are never asked about. Arguments are copied and frozen: what was judged is what runs. */
export async function judgedCall(call: PendingCall, place: Surroundings): Promise<Call | undefined> {
	const { toolName: tool, input } = call;
	const { source, effect, server } = place.toolOf(tool, input);
	const { kind } = effect;
	const isQuiet = kind === "ask" || kind === "none";
	if (source === "built-in" && isQuiet) return undefined;
	const args = frozen(structuredClone(input)) as Args;
	if (kind === "run" && effect.command) return commandCall(tool, effect.command(args), args, place);
	const isFile = kind === "read" || kind === "write";
	const paths = isFile ? (effect.paths?.(args) ?? []) : [];
	if (isFile && paths.length > 0) return fileCall({ tool, source, effect, paths, args }, place);
	const isFree = isQuiet || (kind === "run" && effect.delegates === true);
	const readOnly = isQuiet || kind === "read" || (kind === "run" && effect.inPlan === true);
	return callOf({ kind: "tool", tool, args, targets: [] }, place, { source, readOnly, isFree, ...(server && { server }) });
}

interface FileCall {
	tool: string;
	source: CallFacts["source"];
	effect: FileEffect;
	/** As the model wrote them; at least one. */
	paths: readonly string[];
	args: Args;
}

async function fileCall({ tool, source, effect, paths, args }: FileCall, place: Surroundings): Promise<Call> {
	const { replaces = false } = effect;
	const written = (await Promise.all(paths.map((path) => meanings(path, source, replaces, place)))).flat();
	const targets = [...new Set(await Promise.all(written.map(realTarget)))];
	const roots = place.roots();
	const isWrite = effect.kind === "write";
	const named = isWrite ? await place.protectedFiles() : [];
	const kind = !isWrite ? "read" : targets.some((target) => isProtected(target, { roots, named })) ? "protected" : "write";
	const isInside = targets.every((target) => roots.some((root) => isBelow(root, target)));
	const temporary = place.temporary?.() ?? [];
	const isGiven = kind === "write" && !isInside && targets.every((target) => temporary.some((path) => isBelow(path, target)));
	const isTree = await searchesBelow(effect, targets);
	const isUnconfined = source !== "built-in";
	const isUnfiltered = isTree && isUnconfined;
	return callOf({ kind, tool, args, targets }, place, {
		source,
		isInside,
		isGiven,
		isTree,
		isUnfiltered,
		isUnconfined,
		isBlind: replaces,
		isSecret: targets.some((target) => isSecret(place.reading(), target) || (isUnfiltered && holdsSecret(place.reading(), target))),
		...(isWrite && targets.some(isPackageFile) && { keepsScripts: place.looksAtChanges === true && (await keepsScripts(effect, args)) }),
		...(kind === "read" && (await readingFacts(targets, place))),
		writtenPaths: [...new Set([...written, ...paths.flatMap(place.writtenPaths)])],
	});
}

/** Returns the paths that a tool may mean. Nobody knows whether a tool that is not ours takes `~` or a URL for what it stands for, so it may mean either. */
async function meanings(path: string, source: CallFacts["source"], replaces: boolean, place: Surroundings): Promise<string[]> {
	const usual = await place.pathOf(path, replaces);
	if (source === "built-in") return [usual];
	return [...new Set([usual, resolve(place.cwd, path), ...pathsInUrl(path, place.cwd)])];
}

/** A URL without slashes may be taken for one that is relative to the working directory, which the standard does not know. */
function pathsInUrl(text: string, cwd: string): string[] {
	if (!/^file:/i.test(text)) return [];
	const rest = text.slice("file:".length);
	const relative = rest.startsWith("/") ? [] : [resolve(cwd, rest)];
	try {
		return [fileURLToPath(text), ...relative];
	} catch {
		return relative;
	}
}

/** What cannot be found out counts as a change. */
async function keepsScripts({ plan }: FileEffect, args: Args): Promise<boolean> {
	const change = await plan?.(args).catch(() => undefined);
	return change !== undefined && changedInPackage(change.before || undefined, change.after).length === 0;
}

/** Facts about paths that are read. */
export async function readingFacts(targets: readonly string[], place: Surroundings): Promise<Pick<CallFacts, "isGiven" | "isUsual">> {
	const given = await place.given();
	return {
		isGiven: targets.length > 0 && targets.every((target) => given.some((path) => isBelow(path, target))),
		isUsual: targets.every((target) => isUsual(place.reading(), target)),
	};
}

/** Returns whether a call touches what is below one of its targets. */
export async function searchesBelow({ reach = "below" }: Pick<FileEffect, "reach">, targets: readonly string[]): Promise<boolean> {
	if (reach !== "below") return false;
	const found = await Promise.all(
		targets.map((target) =>
			stat(target).then(
				(facts) => facts.isDirectory(),
				() => false,
			),
		),
	);
	return found.includes(true);
}

async function commandCall(tool: string, command: string, args: Args, place: Surroundings): Promise<Call> {
	const path = await place.searchPath();
	const kind = place.hasEscalation && args.outsideSandbox !== undefined ? "escalation" : "command";
	return callOf({ kind, tool, args, targets: [] }, place, {
		script: scriptOf(command, place),
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
