/** Where an agent works and with what: directories, environment, flags and the settings that follow from them. */

import type { Options } from "../protocol/flags.ts";
import { userDirectory } from "../settings/directories.ts";
import { loadSettings, type SettingsView } from "../settings/settings.ts";
import type { UnknownFlag } from "./arguments.ts";
import type { Subagent } from "./as-subagent.ts";

export interface Workspace {
	cwd: string;
	userDirectory: string;
	env: NodeJS.ProcessEnv;
	options: Options;
	/** Flags that are not in our table; extensions may have registered them. */
	unknown: readonly UnknownFlag[];
	settings: SettingsView;
	/** Set in a process that another agent of ours started. */
	subagent?: Subagent;
}

export interface WorkspaceInput {
	options: Options;
	/** A host drives the process: workflow settings are the same on every machine. */
	isRpc: boolean;
	cwd?: string;
	env?: NodeJS.ProcessEnv;
	unknown?: readonly UnknownFlag[];
	subagent?: Subagent;
}

export async function openWorkspace(input: WorkspaceInput): Promise<Workspace> {
	const { options, isRpc, cwd = process.cwd(), env = process.env, unknown = [], subagent } = input;
	const directory = await userDirectory(env);
	const settings =
		subagent?.settings ??
		(await loadSettings({
			userDirectory: directory,
			home: env.HOME,
			cwd,
			isHermetic: options.hermetic ?? false,
			approve: options["no-approve"] ? false : options.approve,
			config: options.config,
			assignments: options.set ?? [],
			environment: env.BOWLINE_SETTINGS,
			isRpc,
			permissionMode: options["permission-mode"],
		}));
	return { cwd, userDirectory: directory, env, options, unknown, settings, ...(subagent && { subagent }) };
}
