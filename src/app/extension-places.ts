/** Where extensions may be. Every start looks whether there is anything to look into. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./args.ts";
import type { SettingsView } from "./settings.ts";

export interface PlacesInput {
	options: Options;
	settings: SettingsView;
	cwd: string;
	userDirectory: string;
}

/** The directories that are searched. */
export const directoriesOf = ({ cwd, userDirectory }: PlacesInput) => ({
	project: join(cwd, ".bowline", "extensions"),
	user: join(userDirectory, "extensions"),
});

export function mayHaveExtensions(input: PlacesInput): boolean {
	const { options, settings } = input;
	if (options.extension) return true;
	if (options["no-extensions"]) return false;
	return settings.get("extensions").length > 0 || (!options.hermetic && Object.values(directoriesOf(input)).some((path) => existsSync(path)));
}
