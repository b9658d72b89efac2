/** A user's directory and a project, for tests of settings. */
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SettingsPlaces } from "../src/settings/settings.ts";

export function settingsPlaces(): { folder: string; places: SettingsPlaces } {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-settings-")));
	mkdirSync(join(folder, "project/.bowline"), { recursive: true });
	return { folder, places: placesIn(folder, join(folder, "project")) };
}

export function placesIn(folder: string, cwd: string): SettingsPlaces {
	return {
		userDirectory: join(folder, "user"),
		home: folder,
		cwd,
		isHermetic: false,
		approve: undefined,
		config: undefined,
		assignments: [],
		environment: undefined,
		isRpc: true,
	};
}
