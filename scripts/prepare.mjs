// Builds dist/ after an install in a clone and for `npm install git+…`: there the repository has no built program.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt, markBuilt } from "./fingerprint.mjs";

const here = dirname(fileURLToPath(import.meta.url));

function hasCompiler() {
	const { resolve } = createRequire(import.meta.url);
	try {
		return Boolean(resolve("esbuild") && resolve("typescript/package.json"));
	} catch {
		return false;
	}
}

if (!hasCompiler()) {
	// As after `npm ci --omit=dev`. The install itself must not fail.
	console.error("bowline: not built, because the development dependencies are not installed. Run `npm install && npm run build`.");
} else if (!isBuilt()) {
	for (const script of ["build.mjs", "declarations.mjs"]) {
		const { status } = spawnSync(process.execPath, [join(here, script)], { stdio: "inherit" });
		if (status !== 0) process.exit(1);
	}
	markBuilt();
}
