import { defineConfig } from "vitest/config";
import { inlineBundlesForVite } from "./scripts/inline.mjs";

export default defineConfig({
	plugins: [inlineBundlesForVite()],
	test: {
		include: ["test/**/*.test.ts"],
		globalSetup: ["test/build.ts"],
		testTimeout: 20_000,
		maxConcurrency: 4,
	},
});
