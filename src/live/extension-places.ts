/** Where extensions may be. Every start looks whether there is anything to look into. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "./workspace.ts";

export type Places = Pick<Workspace, "options" | "settings" | "cwd" | "userDirectory">;

/** The directories that are searched. */
export function directoriesOf({ options, settings, userDirectory }: Places): { path: string; scope: "project" | "user"; isTrusted: boolean }[] {
	if (options.hermetic) return [];
	const { projectDirectory, isTrusted } = settings;
	const project = projectDirectory === undefined ? [] : [{ path: join(projectDirectory, "extensions"), scope: "project" as const, isTrusted }];
	return [...project, { path: join(userDirectory, "extensions"), scope: "user", isTrusted: true }];
}

export function mayHaveExtensions(input: Places): boolean {
	const { options, settings } = input;
	if (options.extension) return true;
	if (options["no-extensions"]) return false;
	return settings.get("extensions").length + settings.get("packages").length > 0 || directoriesOf(input).some(({ path }) => existsSync(path));
}
