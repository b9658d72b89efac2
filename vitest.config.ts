import { defineConfig } from "vitest/config";
import { inlineBundlesForVite } from "./scripts/inline.mjs";

export default defineConfig({
	plugins: [inlineBundlesForVite()],
	test: {
		include: ["test/**/*.test.ts"],
		globalSetup: ["test/build.ts"],
		testTimeout: 40_000,
		maxConcurrency: 6,
		// Most tests wait for processes: more files at once than there are cores.
		maxWorkers: 2,
		// Real processes on a shared machine: one that was starved is tried again there, a real fault fails each time.
		retry: process.env.CI ? 2 : 0,
	},
});
