/** Where a process of ours finds itself: working directory, user directory, and the settings that follow from both and the flags. */

import { userDirectory } from "../settings/directories.ts";
import { loadSettings, type SettingsView } from "../settings/settings.ts";
import type { Options } from "./arguments.ts";

export interface Surroundings {
	cwd: string;
	userDirectory: string;
	settings: SettingsView;
}

/** `isRpc`: a host is on the other side, which gets the same workflow settings on every machine. `given`: settings that are known already. */
export async function surroundings(
	options: Options,
	isRpc: boolean,
	cwd = process.cwd(),
	env = process.env,
	given?: SettingsView,
): Promise<Surroundings> {
	const directory = await userDirectory(env);
	if (given) return { cwd, userDirectory: directory, settings: given };
	const settings = await loadSettings({
		userDirectory: directory,
		home: env.HOME,
		cwd,
		isHermetic: options.hermetic ?? false,
		approve: options["no-approve"] ? false : options.approve,
		config: options.config,
		assignments: options.set ?? [],
		environment: env.BOWLINE_SETTINGS,
		isRpc,
	});
	return { cwd, userDirectory: directory, settings };
}
