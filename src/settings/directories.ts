/** Where the user's files are. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `BOWLINE_DIR`, else `~/.bowline`. */
export function userDirectory(env: NodeJS.ProcessEnv): string {
	return resolve(env.BOWLINE_DIR || join(env.HOME || homedir(), ".bowline"));
}
