import { version } from "../lib/version.ts";

/** What `--version` prints. Some hosts look for the version of pi or omp there: they get the one that their user names, and nothing else changes. */
export function versionText({ BOWLINE_REPORTED_VERSION: reported }: NodeJS.ProcessEnv): string {
	return reported || `bowline ${version} (node ${process.versions.node}, ${process.platform} ${process.arch})`;
}
