/** A reporter for vitest that writes how each test ended to the file in BOWLINE_TEST_REPORT, for scripts/test-ci.mjs. Vitest's own JSON lacks the notes of skipped tests. */
import { writeFileSync } from "node:fs";

export default class CiReporter {
	onTestRunEnd(modules, unhandledErrors) {
		const files = modules.map((module) => ({
			path: module.moduleId,
			name: module.relativeModuleId,
			hasPassed: module.ok(),
			tests: [...module.children.allTests()].map((test) => ({ name: test.fullName, state: test.result().state, note: test.result().note })),
		}));
		writeFileSync(process.env.BOWLINE_TEST_REPORT, JSON.stringify({ files, unhandledErrors: unhandledErrors.length }));
	}
}
