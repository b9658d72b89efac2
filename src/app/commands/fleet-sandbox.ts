/** The sandbox of a worker's runs: tried once at its start, in a directory like those in which runs work. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { claim as claimFile, holderOf } from "../../lib/claim.ts";
import { uuid } from "../../lib/ids.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { SandboxState } from "../../protocol/sandbox.ts";
import type { Git } from "../../snapshots/git.ts";

export interface RunSandbox {
	/** For the agents of runs. Each of them tries its own sandbox, and reports it. */
	settings: { "sandbox.mode": string; "sandbox.required": boolean };
	/** Every way out that was tried is closed: the worker may take runs that need a sandbox. */
	isProven: boolean;
	/** One line for the worker's log. */
	text: string;
}

export interface SandboxTrial {
	workspace: Workspace;
	git: Git;
	/** The environment that agents get. */
	environment: Record<string, string | undefined>;
	/** The directory of all workers' checkouts. */
	directory: string;
	/** What an agent is started with when its sandbox is this one. */
	settingsWith(sandbox: RunSandbox["settings"]): Record<string, unknown>;
}

/** Throws where the worker's settings ask for a sandbox that cannot be had: its runs must not begin without one. */
export async function runSandbox(trial: SandboxTrial): Promise<RunSandbox> {
	const { settings } = trial.workspace;
	const origin = settings.origin("sandbox.mode");
	const isAsked = origin !== "default";
	const mode = isAsked ? settings.get("sandbox.mode") : "workspace-write";
	const required = settings.get("sandbox.required");
	if (mode === "off")
		return {
			settings: { "sandbox.mode": "off", "sandbox.required": required },
			isProven: false,
			text: `Runs are not inside a sandbox: sandbox.mode is off (${origin}).`,
		};
	const state = await tried(trial, { "sandbox.mode": mode, "sandbox.required": required });
	if (state.active && !state.verified)
		return {
			settings: { "sandbox.mode": mode, "sandbox.required": required },
			isProven: false,
			text: `Runs are in the sandbox of this process's container: sandbox.mode is ${mode} (${origin}), so nothing was tested, and the label sandbox is not given.`,
		};
	if (state.active)
		return {
			// A run that was taken because there is a sandbox must not go on without one.
			settings: { "sandbox.mode": mode, "sandbox.required": true },
			isProven: true,
			text: `Runs are inside a sandbox: ${mode}, ${state.backend ?? "an unknown program"}, network ${state.network ?? "off"}.`,
		};
	const why = `${state.reason ?? "no reason was given"}. ${state.remedy ?? "See bowline doctor."}`;
	if (required && (isAsked || settings.origin("sandbox.required") !== "default"))
		throw new Error(
			`The worker does not start: its settings ask for a sandbox (${mode}), and there is none: ${why} To let runs work without one, set sandbox.mode to off.`,
		);
	return { settings: { "sandbox.mode": mode, "sandbox.required": false }, isProven: false, text: `Runs are not inside a sandbox: ${why}` };
}

/** Builds the sandbox as the agent of a run would. The user's directory itself is refused by every sandbox. */
async function tried({ workspace, git, environment, directory, settingsWith }: SandboxTrial, wanted: RunSandbox["settings"]): Promise<SandboxState> {
	const own = join(directory, uuid(Date.now()));
	const tree = join(own, "tree");
	// Nothing of a sandbox keeps a process alive, and nothing else does yet.
	const hold = setInterval(() => undefined, 1000);
	try {
		mkdirSync(tree, { recursive: true, mode: 0o700 });
		// If this process is killed, the next worker removes the directory by this file.
		claimFile(join(own, "owner.lock"), JSON.stringify(holderOf(process.pid)));
		await git.with({ cwd: tree }).run(["init", "--quiet"]);
		const env = { ...environment, BOWLINE_SETTINGS: JSON.stringify(settingsWith(wanted)) } as NodeJS.ProcessEnv;
		const { sandbox } = await openWorkspace({ options: { hermetic: true }, isRpc: true, cwd: tree, env });
		if (!sandbox) throw new Error(`sandbox.mode became off (settings of the worker: ${workspace.settings.origin("sandbox.mode")})`);
		try {
			await sandbox.open();
			return sandbox.state;
		} finally {
			await sandbox.close();
		}
	} catch (error) {
		const reason = `it could not be tried: ${(error as Error).message.replace(/\.$/, "")}`;
		return { mode: "workspace-write", active: false, verified: false, reason, remedy: "See bowline doctor." };
	} finally {
		clearInterval(hold);
		rmSync(own, { recursive: true, force: true, maxRetries: 3 });
	}
}
