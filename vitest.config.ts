import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { inlineBundlesForVite } from "./scripts/inline.mjs";

/** Most tests in these rooms are about functions and objects and leave nothing in their process: they share one, which loads each module once. */
const pure = ["agent", "bench", "lib", "models", "permissions", "policies", "prompting", "protocol", "session", "tools", "transcript"].join("|");
/** Exceptions: they replace a module, or look at the children and the memory of their own process. */
const alone = ["lib/shell/*", "tools/edit-large", "transcript/lock-first", "transcript/export/browser"].map((name) => `test/${name}.test.ts`);

/** Makes each file of transcripts a test file, so that the workers share them. */
const transcripts = () => ({
	name: "transcripts",
	load: (path: string) =>
		path.endsWith(".wire") ? `import { playFile } from "/test/wire/support/suite.ts"; playFile(${JSON.stringify(path)});` : undefined,
});

export default defineConfig({
	plugins: [inlineBundlesForVite(), transcripts()],
	test: {
		globalSetup: ["test/build.ts"],
		testTimeout: 40_000,
		maxConcurrency: 6,
		// Most tests wait for processes: more files at once than there are cores.
		maxWorkers: Math.min(availableParallelism() + 1, 8),
		// Run in the order of their names: the long files first, the short ones fill the end.
		projects: [
			{ extends: true, test: { name: "processes", include: ["test/*.test.ts", `test/!(${pure})/**/*.test.ts`, ...alone] } },
			{ extends: true, test: { name: "wire", include: ["test/wire/*.wire"], isolate: false } },
			{ extends: true, test: { name: "pure", include: [`test/(${pure})/**/*.test.ts`], exclude: alone, isolate: false } },
		],
	},
});
