import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		globalSetup: ["test/build.ts"],
		testTimeout: 20_000,
		maxConcurrency: 4,
	},
});
