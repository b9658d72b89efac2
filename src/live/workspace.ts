/** Where an agent works and with what: directories, environment, flags and the settings that follow from them. */

import { UsageError } from "../lib/usage-error.ts";
import type { Options } from "../protocol/flags.ts";
import type { Sandbox } from "../sandbox/index.ts";
import { userDirectory } from "../settings/directories.ts";
import { loadSettings, type SettingsView } from "../settings/settings.ts";
import type { UnknownFlag } from "./arguments.ts";
import type { Subagent } from "./as-subagent.ts";

export interface Workspace {
	cwd: string;
	/** Further directories of the project. */
	roots?: readonly string[];
	userDirectory: string;
	env: NodeJS.ProcessEnv;
	options: Options;
	/** Flags that are not in our table; extensions may have registered them. */
	unknown: readonly UnknownFlag[];
	settings: SettingsView;
	/** Set in a process that another agent of ours started. */
	subagent?: Subagent;
	/** The walls around what the model starts; absent in mode off. `open` builds and tries them. */
	sandbox?: Sandbox;
}

export interface WorkspaceInput {
	options: Options;
	/** A host drives the process: workflow settings are the same on every machine. */
	isRpc: boolean;
	cwd?: string;
	roots?: readonly string[];
	env?: NodeJS.ProcessEnv;
	unknown?: readonly UnknownFlag[];
	subagent?: Subagent;
}

export async function openWorkspace(input: WorkspaceInput): Promise<Workspace> {
	const { options, isRpc, cwd = process.cwd(), roots, env = process.env, unknown = [], subagent } = input;
	const directory = userDirectory(env);
	const settings =
		subagent?.settings ??
		(await loadSettings({
			userDirectory: directory,
			home: env.HOME,
			cwd,
			isHermetic: options.hermetic ?? false,
			approve: options["no-approve"] ? false : options.approve,
			config: options.config,
			assignments: [...(options.set ?? []), ...sandboxAssignment(options)],
			environment: env.BOWLINE_SETTINGS,
			isRpc,
			permissionMode: options["permission-mode"],
			isContained: options.contained,
		}));
	const sandbox = settings.get("sandbox.mode") === "off" ? undefined : await sandboxOf({ cwd, roots, userDirectory: directory, env, settings });
	return { cwd, roots, userDirectory: directory, env, options, unknown, settings, ...(subagent && { subagent }), ...(sandbox && { sandbox }) };
}

function sandboxAssignment({ sandbox, "no-sandbox": isOff }: Options): string[] {
	if (isOff && sandbox !== undefined && sandbox !== "off")
		throw new UsageError("--sandbox and --no-sandbox contradict each other: pass only one of them.");
	const mode = isOff ? "off" : sandbox;
	return mode === undefined ? [] : [`sandbox.mode=${mode}`];
}

async function sandboxOf({
	cwd,
	roots,
	userDirectory,
	env,
	settings,
}: Pick<Workspace, "cwd" | "roots" | "userDirectory" | "env" | "settings">): Promise<Sandbox> {
	const { Sandbox } = await import("../sandbox/index.ts");
	const rules = settings.get("permissions.rules").filter(({ path }) => path !== undefined);
	const pathRules = rules.length > 0 ? (await import("./sandbox-rules.ts")).pathRules(rules, { cwd, home: env.HOME }) : [];
	return new Sandbox({ cwd, roots, userDirectory, env, pathRules, setting: (name) => settings.get(name) });
}
