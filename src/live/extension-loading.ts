/** Finds the extensions of a process and loads them, at its start and again. */

import { join } from "node:path";
import { findExtensions } from "../extensions/discover.ts";
import { type ExtensionError, ExtensionHost, loadExtensions, type OnError } from "../extensions/index.ts";
import { asSentence } from "../lib/as-sentence.ts";
import { directoriesOf, type Places } from "./extension-places.ts";
import { readPackages } from "./packages.ts";

export interface LoadingParts extends Places {
	warn: (text: string) => void;
	/** Receives what they throw once they are loaded. */
	onError: OnError;
}

export interface LoadedHost {
	host: ExtensionHost;
	/** What could not be loaded, and why. */
	problems: ExtensionError[];
}

/** Never rejects for what an extension does. */
export async function loadHost(parts: LoadingParts): Promise<LoadedHost> {
	const { options, settings, cwd, userDirectory, warn, onError } = parts;
	const noExtensions = options["no-extensions"] ?? false;
	const { packages, problems: unusable } = readPackages(noExtensions ? [] : settings.get("packages"));
	const { found, errors, untrusted } = findExtensions({
		cwd,
		directories: directoriesOf(parts),
		settingsPaths: settings.get("extensions"),
		settingsScope: settings.scope("extensions"),
		packages,
		packagesScope: settings.scope("packages"),
		paths: options.extension ?? [],
		noExtensions,
	});
	if (untrusted.length) warn(`Extensions of this project were not loaded, because it is not trusted (see --approve): ${untrusted.join(", ")}.`);
	const cache = options.hermetic || options["no-session"] ? {} : { cacheDirectory: join(userDirectory, "cache", "extensions") };
	const loaded = await loadExtensions(found, { warn, ...cache });
	const problems = [
		...unusable.map(({ directory, problem }) => ({ extensionPath: directory, event: "load", error: problem })),
		...errors,
		...loaded.errors.map(({ extensionPath, event, error }) => ({ extensionPath, event, error })),
	];
	for (const { extensionPath, error } of problems) warn(`Extension ${extensionPath} could not be loaded: ${asSentence(error)}`);
	return { host: new ExtensionHost(loaded, { onError }), problems };
}
