/** Where the user's files are. */
import { join, resolve } from "node:path";

/** `BOWLINE_DIR`, else `~/.bowline`. */
export async function userDirectory(env: NodeJS.ProcessEnv): Promise<string> {
	// node:os is loaded only where there is no HOME: it costs every start a little.
	return resolve(env.BOWLINE_DIR || join(env.HOME || (await import("node:os")).homedir(), ".bowline"));
}
