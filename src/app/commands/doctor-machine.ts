/** What the doctor checks on the machine: programs, directories, settings. */
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { proxyFor } from "../../lib/http/proxy.ts";
import { findShell } from "../../lib/shell/find-shell.ts";
import { directoryOf } from "../../live/start-session.ts";
import { ripgrepFinder } from "../../tools/ripgrep.ts";
import type { Finding, Patient } from "./doctor.ts";

const run = promisify(execFile);

export function node({ env }: Patient): Finding[] {
	// The command has checked that it is supported.
	const findings: Finding[] = [{ state: "ok", text: process.versions.node }];
	if (env.NODE_EXTRA_CA_CERTS) findings.push({ state: "note", text: "NODE_EXTRA_CA_CERTS is set: it costs Node some 70 ms at every start." });
	return findings;
}

export async function git(): Promise<Finding[]> {
	const found = await version("git");
	if (found) return [{ state: "ok", text: found }];
	return [{ state: "note", text: "not found", remedy: "Install git: isolated subagents need it, and the model is used to it." }];
}

export async function ripgrep({ env }: Patient): Promise<Finding[]> {
	const path = await ripgrepFinder({ environment: () => env })();
	const found = path && (await version(path));
	if (found) return [{ state: "ok", text: `${found} (${path})` }];
	const remedy = path ? `${path} does not run: install another one.` : "Install ripgrep, or name it with BOWLINE_RG.";
	return [{ state: "note", text: "not found: grep and find search without it, which is slower", remedy }];
}

export function shell({ settings, env }: Patient): Finding[] {
	return [{ state: "ok", text: findShell(settings.get("shellPath"), env.PATH) }];
}

export function directories(patient: Patient): Finding[] {
	const places: [string, string][] = [
		["user directory", patient.userDirectory],
		["session files", directoryOf(patient)],
		["temporary files", tmpdir()],
	];
	return places.map(([name, path]) => {
		const problem = unwritable(path);
		if (!problem) return { state: "ok", text: `${name}: ${path}` };
		return { state: "fail", text: `${name}: ${problem}`, remedy: "Make it writable, or name another: BOWLINE_DIR, --session-dir, TMPDIR." };
	});
}

export function settingsFiles({ options, settings, cwd, userDirectory }: Patient): Finding[] {
	const remedy = "Repair the file; docs/settings.md lists every setting.";
	const failures = settings.warnings.map((text): Finding => ({ state: "fail", text, remedy }));
	const notes = settings.misspelt.map((text): Finding => ({ state: "note", text, remedy }));
	if (failures.length || notes.length) return [...failures, ...notes];
	if (options.hermetic) return [{ state: "ok", text: "hermetic: no file is read" }];
	const files = [join(userDirectory, "settings.jsonc"), join(cwd, ".bowline", "settings.jsonc")].filter((path) => existsSync(path));
	return [{ state: "ok", text: files.length ? files.join(", ") : "none; defaults are used" }];
}

/** What `safety` asks for, and what is looser. */
export function safety({ settings }: Patient): Finding[] {
	const loosened = settings.contained?.loosenedNow();
	if (!loosened)
		return [
			{ state: "note", text: "an agent that obeys injected instructions is not held", remedy: 'Pass --contained, or set safety to "contained".' },
		];
	if (loosened.length === 0) return [{ state: "ok", text: `contained (${settings.origin("safety")})` }];
	return loosened.map((name) => ({
		state: "note",
		text: `contained, but ${name} is looser: ${JSON.stringify(settings.get(name))} (${settings.origin(name)})`,
		remedy: `Leave ${name} out to close it again.`,
	}));
}

export function trust({ settings, cwd }: Patient): Finding[] {
	if (settings.isTrusted) return [{ state: "ok", text: `${cwd} is trusted` }];
	if (!existsSync(join(cwd, ".bowline"))) return [{ state: "ok", text: "this project has no code or settings of its own" }];
	const remedy = "If you trust it: pass --approve, or add its path to trust.projects in your settings.";
	return [{ state: "note", text: "this project is not trusted: extensions and most settings in its .bowline are ignored", remedy }];
}

export function proxy({ env }: Patient): Finding[] {
	const found = proxyFor(new URL("https://api.anthropic.com"), env);
	return found ? [{ state: "note", text: `requests to providers go through ${found.protocol}//${found.host}` }] : [];
}

/** What a program says about its version, in short. */
async function version(program: string): Promise<string | undefined> {
	try {
		const { stdout } = await run(program, ["--version"], { timeout: 10_000 });
		return /\d+\.\d+[.\d]*/.exec(stdout)?.[0] ?? "unknown version";
	} catch {
		return undefined;
	}
}

/** Why the path is not writable. A missing directory is created when it is needed, if its parent allows that. */
function unwritable(path: string): string | undefined {
	let at = path;
	while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
	try {
		if (!statSync(at).isDirectory()) return `${at} is not a directory`;
		accessSync(at, constants.W_OK | constants.X_OK);
		// Only an attempt to write detects a disk that is full or mounted read-only.
		rmSync(mkdtempSync(join(at, ".bowline-doctor-")), { recursive: true });
		return undefined;
	} catch (error) {
		return `${at} cannot be written to: ${(error as NodeJS.ErrnoException).code}`;
	}
}
