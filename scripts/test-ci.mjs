// Runs vitest as continuous integration does: node scripts/test-ci.mjs [arguments of vitest run]
//
// Files with a failure run once more, one after another, because CI machines are shared and noisy. A test that passes then is printed as FLAKY, so
// a race stays in sight; one that fails twice makes the run fail. The last lines count what was skipped and why. They go to the file in CI_SUMMARY
// where that is set, so a caller with several steps can print them at the end.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const scripts = dirname(fileURLToPath(import.meta.url));
const vitest = join(scripts, "../node_modules/vitest/vitest.mjs");
const folder = mkdtempSync(join(tmpdir(), "bowline-ci-"));
process.exitCode = secondLook(process.argv.slice(2));
rmSync(folder, { recursive: true, force: true });

/** Returns the exit code. */
function secondLook(args) {
	const first = run(args);
	if (!first.report) return conclude(["The tests did not run to their end."], first.code || 1);
	const failed = first.report.files.filter(({ hasPassed }) => !hasPassed);
	const lines = [];
	let code = first.report.unhandledErrors || failed.length === 0 ? first.code : 0;
	// Vitest fails such a run although every test passed. No file can be named that would show it again.
	if (first.report.unhandledErrors) lines.push(`FAILED: ${first.report.unhandledErrors} errors outside of tests`);
	for (const file of failed) {
		console.log(`\nRunning ${file.name} once more, alone`);
		const second = run([file.path]);
		const again = second.report?.files.find(({ path }) => path === file.path);
		const passed = new Set(again?.tests.filter(({ state }) => state === "passed").map(({ name }) => name));
		const broken = file.tests.filter(({ state }) => state === "failed").map(({ name }) => name);
		const flaky = broken.filter((name) => passed.has(name));
		const failing = again?.tests.filter(({ state }) => state === "failed").map(({ name }) => name) ?? [];
		// A file can also fail in an import or a hook, with no test to name.
		if (second.code === 0 && broken.length === 0) flaky.push("the file itself");
		if (second.code !== 0 && failing.length === 0) failing.push("the file itself");
		lines.push(...flaky.map((name) => `FLAKY: ${file.name}, ${name}`), ...failing.map((name) => `FAILED: ${file.name}, ${name}`));
		code ||= second.code;
	}
	return conclude([...lines, ...skipped(first.report)], code);
}

/** Runs vitest. `report` is undefined if it was killed, or found no test. */
function run(args) {
	const path = join(folder, "report.json");
	rmSync(path, { force: true });
	const reporters = ["--reporter=default", `--reporter=${join(scripts, "ci-reporter.mjs")}`];
	const env = { ...process.env, BOWLINE_TEST_REPORT: path };
	const code = spawnSync(process.execPath, [vitest, "run", ...reporters, ...args], { env, stdio: "inherit" }).status ?? 1;
	try {
		return { code, report: JSON.parse(readFileSync(path, "utf8")) };
	} catch {
		return { code, report: undefined };
	}
}

/** Counts the skipped tests by reason. The reason is the note of the test, or stands in its title or its group's. */
function skipped({ files }) {
	const tests = files.flatMap(({ name: file, tests }) => tests.map((test) => ({ ...test, file })));
	const counts = new Map();
	for (const { state, note, name, file } of tests) {
		if (state !== "skipped") continue;
		const reason = note ?? /\(left out: (.*?)\)(?: > |$)/s.exec(name)?.[1] ?? `no reason given in ${file}`;
		counts.set(reason, (counts.get(reason) ?? 0) + 1);
	}
	const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
	return [`${total} of ${tests.length} tests were skipped${total ? ":" : "."}`, ...[...counts].map(([reason, count]) => `  ${count}: ${reason}`)];
}

function conclude(lines, code) {
	const text = `${lines.join("\n")}\n`;
	if (process.env.CI_SUMMARY) appendFileSync(process.env.CI_SUMMARY, text);
	else process.stdout.write(`\n${text}`);
	return code;
}
