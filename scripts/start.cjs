// The rest of dist/bowline.js, after the check of Node's version. Old versions must be able to parse all of it.
keepCompiledCode();
require("./core.js");

/** Lets Node (22 and newer) keep the code that it compiles. A hermetic start leaves no files, and a cache that cannot be had is not missed. */
function keepCompiledCode() {
	const { enableCompileCache } = require("node:module");
	if (!enableCompileCache || process.argv.includes("--hermetic")) return;
	const { isAbsolute, join } = require("node:path");
	const { BOWLINE_DIR, HOME } = process.env;
	// The same as in src/settings/directories.ts, which is loaded with the core.
	const user = BOWLINE_DIR || join(HOME || require("node:os").homedir(), ".bowline");
	// Relative, it depends on --cwd, which is read later.
	if (!isAbsolute(user)) return;
	const directory = join(user, "cache", `compile-${require("./package.json").version}`);
	try {
		require("node:fs").mkdirSync(directory, { recursive: true, mode: 0o700 });
	} catch {
		return;
	}
	enableCompileCache(directory);
}
