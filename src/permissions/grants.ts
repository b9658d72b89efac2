/** Rules that came from answers: those of the session in memory, those of the project in a file of the user's own, never in the project. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claim, holderOf, unclaim } from "../lib/claim.ts";
import type { Places } from "../lib/path-pattern.ts";
import type { PermissionGrant, PermissionRule, PermissionSubject } from "../protocol/permissions.ts";
import { type CompiledRule, compileRule } from "./rules.ts";

export interface Grant extends PermissionGrant {
	compiled: CompiledRule<PermissionRule>;
	/** Of the call that it was given for. */
	digest: string;
	/** The text of an opaque script, which no pattern can describe. */
	script?: string;
	/** The arguments of a tool: no other call of it is covered. */
	argsDigest?: string;
	/** The MCP server that it is about: all its tools. */
	server?: string;
	/** It was given for a call in this sandbox: without one it holds no longer. */
	sandbox?: PermissionSubject["sandbox"];
	/** It was given for a call of a subagent in this directory, and holds there alone. Undefined: in the project and its copies. */
	cwd?: string;
}

export interface GrantsParts {
	/** The user's file; nothing where none may be used. */
	file: string | undefined;
	/** The real path of the project. */
	project: string;
	places: Places;
	newId: () => string;
	now: () => number;
	warn: (text: string) => void;
}

interface StoredGrant {
	id: string;
	rule: PermissionRule;
	createdAt: string;
	digest: string;
	sandbox?: PermissionSubject["sandbox"];
	server?: string;
}
interface GrantsFile {
	version: 1;
	projects: Record<string, StoredGrant[]>;
}

export const grantsFileName = "permissions.jsonc";
const maxFileBytes = 1024 * 1024;
const lockPatienceMs = 2000;

export class Grants {
	#parts: GrantsParts;
	#session: Grant[] = [];
	#always: Grant[] = [];

	constructor(parts: GrantsParts) {
		this.#parts = parts;
		const { file, project, warn } = parts;
		if (file === undefined) return;
		try {
			this.#always = (read(file).projects[project] ?? []).map((stored) => this.#grant(stored, "always"));
		} catch (error) {
			warn(`${file} cannot be used: ${(error as Error).message}. It is ignored and left as it is.`);
		}
	}

	get all(): readonly Grant[] {
		return [...this.#session, ...this.#always];
	}

	/** Whether `always` can be offered. */
	get canKeep(): boolean {
		const { file } = this.#parts;
		if (file === undefined) return false;
		try {
			read(file);
			mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
			return (statSync(dirname(file)).mode & 0o200) !== 0;
		} catch {
			return false;
		}
	}

	add(scope: "session" | "always", given: Pick<Grant, "rule" | "digest" | "script" | "argsDigest" | "server" | "sandbox" | "cwd">): Grant {
		const { newId, now } = this.#parts;
		const stored = {
			id: newId(),
			rule: given.rule,
			createdAt: new Date(now()).toISOString(),
			digest: given.digest,
			...(given.sandbox && { sandbox: given.sandbox }),
			...(given.server !== undefined && { server: given.server }),
		};
		const grant = {
			...this.#grant(stored, scope),
			...(given.script === undefined ? {} : { script: given.script }),
			...(given.argsDigest === undefined ? {} : { argsDigest: given.argsDigest }),
			...(given.cwd === undefined ? {} : { cwd: given.cwd }),
		};
		// An answer that is given again takes the place of the earlier one.
		const isOther = (earlier: Partial<Grant>) => !isSame(earlier, given);
		if (scope === "always") {
			this.#change((grants) => [...grants.filter(isOther), stored]);
			this.#always = [...this.#always.filter(isOther), grant];
		} else this.#session = [...this.#session.filter(isOther), grant];
		return grant;
	}

	/** False when there is no such grant. Throws when the file cannot be written. */
	revoke(id: string): boolean {
		const isOther = (grant: { id: string }) => grant.id !== id;
		if (!this.all.some((grant) => grant.id === id)) return false;
		if (this.#always.some((grant) => grant.id === id)) this.#change((grants) => grants.filter(isOther));
		this.#session = this.#session.filter(isOther);
		this.#always = this.#always.filter(isOther);
		return true;
	}

	/** Another session begins. */
	forgetSession(): void {
		this.#session = [];
	}

	#grant(stored: StoredGrant, scope: "session" | "always"): Grant {
		return { ...stored, scope, compiled: compileRule(stored.rule, this.#parts.places, () => undefined) };
	}

	/** Under a lock, from the file as it is now, replaced in one step: another process may have added a grant of its own. */
	#change(change: (grants: StoredGrant[]) => StoredGrant[]): void {
		const { file, project } = this.#parts;
		if (file === undefined) throw new Error("There is no file for grants here.");
		mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
		const lock = `${file}.lock`;
		const own = JSON.stringify(holderOf(process.pid));
		const deadline = Date.now() + lockPatienceMs;
		while (claim(lock, own)) {
			if (Date.now() > deadline) throw new Error(`${lock} is held by another process.`);
			// Held for the time of one small write: a short pause without giving up the turn is simplest.
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
		}
		const temporary = join(dirname(file), `.${grantsFileName}.${process.pid}.tmp`);
		try {
			const content = read(file);
			const grants = change(content.projects[project] ?? []);
			const { [project]: _, ...others } = content.projects;
			const projects = grants.length ? { ...others, [project]: grants } : others;
			writeFileSync(temporary, `${JSON.stringify({ ...content, projects }, null, "\t")}\n`, { mode: 0o600 });
			chmodSync(temporary, 0o600);
			renameSync(temporary, file);
		} finally {
			rmSync(temporary, { force: true });
			unclaim(lock, own);
		}
	}
}

function isSame(one: Partial<Grant>, other: Partial<Grant>): boolean {
	const facts = ({ rule, script, argsDigest, server, sandbox, cwd }: Partial<Grant>) =>
		JSON.stringify([rule, script, argsDigest, server, sandbox, cwd]);
	return facts(one) === facts(other);
}

/** Throws when it is not what we wrote. */
function read(file: string): GrantsFile {
	let text: string;
	try {
		if (statSync(file).size > maxFileBytes) throw new Error(`it has more than ${maxFileBytes} bytes`);
		text = readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return { version: 1, projects: {} };
		throw error;
	}
	const content = JSON.parse(text) as Partial<GrantsFile>;
	const { version, projects } = content;
	if (version !== 1 || typeof projects !== "object" || projects === null) throw new Error("it is not a file of grants of version 1");
	const isGrant = (grant: Partial<StoredGrant> | null) =>
		typeof grant?.id === "string" && isAllowRule(grant.rule) && typeof grant.createdAt === "string";
	if (!Object.values(projects).every((grants) => Array.isArray(grants) && grants.every(isGrant)))
		throw new Error("it contains something that is not a grant");
	return content as GrantsFile;
}

function isAllowRule(rule: Partial<PermissionRule> | null | undefined): boolean {
	if (typeof rule !== "object" || rule === null || rule.action !== "allow") return false;
	const { tool, command, path, host } = rule as Record<string, unknown>;
	const isText = (member: unknown) => member === undefined || typeof member === "string";
	return [tool, command, path, host].every(isText) && (tool !== undefined || host !== undefined);
}
