/** What this machine can do to keep commands inside walls, and how to get the rest. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PermissionRule } from "../../protocol/permissions.ts";
import type { SandboxState } from "../../protocol/sandbox.ts";
import type { SettingName } from "../../protocol/settings.ts";
import { Sandbox } from "../../sandbox/index.ts";
import type { Finding, Patient } from "./doctor.ts";

const run = promisify(execFile);

export async function sandbox(patient: Patient): Promise<Finding[]> {
	const isAsked = patient.sandbox !== undefined;
	// Nothing of a sandbox keeps a process alive, and here nothing else does.
	const hold = setInterval(() => undefined, 1000);
	try {
		const facts = { isAsked, isRoot: process.getuid?.() === 0, rules: patient.settings.get("permissions.rules") };
		const first = await tried(patient);
		return [first, ...closedGit(patient.sandbox?.closedGit ?? []), ...advice(facts), ...(isAsked ? await gitAdvice() : [])];
	} finally {
		clearInterval(hold);
	}
}

/** Builds the walls as a session would. Where none is asked for, in an empty directory: the doctor only says what could be. */
async function tried(patient: Patient): Promise<Finding> {
	if (patient.sandbox) {
		await patient.sandbox.open();
		const { state } = patient.sandbox;
		await patient.sandbox.close();
		return findingOf(state, true);
	}
	const folder = mkdtempSync(join(tmpdir(), "bowline-doctor-"));
	const settings: Partial<Record<SettingName, unknown>> = { "sandbox.mode": "workspace-write", "sandbox.required": true };
	const walls = new Sandbox({
		cwd: folder,
		userDirectory: join(folder, "..", `${folder.slice(folder.lastIndexOf("/") + 1)}.user`),
		env: patient.env,
		setting: (name) => (settings[name] ?? patient.settings.get(name)) as never,
	});
	try {
		await walls.open();
		return findingOf(walls.state, false);
	} finally {
		await walls.close();
		rmSync(folder, { recursive: true, force: true });
		rmSync(`${folder}.user`, { recursive: true, force: true });
	}
}

/** An earlier command may have made such a link, where Bowline was killed before it could look. */
export const closedGit = (reasons: readonly string[]): Finding[] =>
	reasons.map((reason) => ({
		state: "note",
		text: `commands inside cannot commit: ${reason}`,
		remedy: "Remove the link if you did not make it: git outside would write through it, too.",
	}));

/** What the walls are like here, whether a session would have them (`isAsked`) or could have them. */
export function findingOf(state: SandboxState, isAsked: boolean): Finding {
	const { active, mode, backend, reason, remedy } = state;
	if (!active) {
		const text = isAsked ? `not available: ${reason}` : `off, and not available: ${reason}`;
		return { state: isAsked ? "fail" : "note", text, ...(remedy && { remedy }) };
	}
	if (mode === "external") return { state: "note", text: "external: your container is the sandbox, and nothing was tested" };
	if (!isAsked) return { state: "ok", text: `off; it works here with ${backend}`, remedy: "Turn it on with --sandbox workspace-write." };
	return { state: "ok", text: `${mode}, ${backend}: every way out that was tried is closed${remark(state)}` };
}

function remark({ cell, seccomp, backend }: SandboxState): string {
	if (backend === "seatbelt") return "; on macOS commands have no processes and no loopback of their own, see docs/sandbox.md";
	return [
		cell ? "" : "; the cell cannot be entered or nsenter is missing, so background processes end with their command",
		seccomp ? "" : "; system calls are not filtered on this processor",
	].join("");
}

interface Facts {
	isAsked: boolean;
	isRoot: boolean;
	rules: readonly PermissionRule[];
}

export function advice({ isAsked, isRoot, rules }: Facts): Finding[] {
	const found: Finding[] = [];
	if (isAsked && isRoot)
		found.push({
			state: "note",
			text: "running as root: the sandbox protects less than for an ordinary user",
			remedy: "Run Bowline as an ordinary user.",
		});
	const hasPathRules = rules.some(({ action, path }) => path !== undefined && action !== "allow");
	if (!isAsked && hasPathRules)
		found.push({
			state: "note",
			text: "rules about paths hold for file tools only: commands can read and write these paths",
			remedy: "Turn the sandbox on, which closes them to commands, too.",
		});
	return found;
}

/** A command can make a directory look like a repository; git then runs what its configuration says. */
async function gitAdvice(): Promise<Finding[]> {
	const [value] = await Promise.allSettled([run("git", ["config", "--global", "safe.bareRepository"])]);
	if (value.status === "fulfilled" && value.value.stdout.trim() === "explicit") return [];
	return [
		{
			state: "note",
			text: "git takes any directory that looks like a bare repository for one",
			remedy: "Set git config --global safe.bareRepository explicit.",
		},
	];
}
