import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { inlineBundlesForVite } from "./scripts/inline.mjs";

/** Files whose tests replace a module, or look at the children and the memory of their own process. All others share processes, which load each module once. */
const alone = ["lib/shell/*", "sandbox/parts", "tools/edit-large", "transcript/lock-first", "transcript/export/browser"].map(
	(name) => `test/${name}.test.ts`,
);

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
		setupFiles: ["test/later-hook.ts"],
		// Tests that start many processes take a while on a busy machine. Set here: files that share a process share their modules, so that a module
		// sets a timeout for the first file alone.
		testTimeout: 240_000,
		hookTimeout: 120_000,
		maxConcurrency: 6,
		// Most tests wait for processes: more files at once than there are cores.
		maxWorkers: Math.min(availableParallelism() + 1, 8),
		// Run in the order of their names: the long files first.
		projects: [
			{ extends: true, test: { name: "alone", include: alone } },
			{ extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: alone, isolate: false } },
			{ extends: true, test: { name: "wire", include: ["test/wire/*.wire"], isolate: false } },
		],
	},
});
