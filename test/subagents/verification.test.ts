/** Checks of isolated work: real commands, real logs. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { VerificationCommand } from "../../src/protocol/subagents.ts";
import type { VerificationPlan } from "../../src/verification/contracts.ts";
import { failedChecks, repairContext, verification } from "../../src/verification/index.ts";
import { eventually, processesWith } from "../lib/shell/processes.ts";

let folder: string;
let shell: Shell;
let home: Record<string, string>;
const secret = "sk-verification-secret";
const events: AgentEvent[] = [];

beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-verification-")));
	for (const name of ["work tree", "home", "artifacts"]) mkdirSync(join(folder, name));
	home = { PATH: process.env.PATH ?? "", HOME: join(folder, "home") };
	shell = new Shell({ cwd: folder, environment: () => home, redact: redactor(() => [secret]), tempDir: folder });
	events.length = 0;
});
afterEach(async () => {
	await shell.close();
	rmSync(folder, { recursive: true, force: true });
});

function plan(...commands: VerificationCommand[]): VerificationPlan {
	return { commands, onFailure: "return_failure", maxRetries: 1 };
}

function subject(signal = new AbortController().signal) {
	return {
		id: "0-Fix",
		taskId: "Fix",
		cwd: join(folder, "work tree"),
		artifact: (name: string) => join(folder, "artifacts", name),
		emit: (event: AgentEvent) => void events.push(event),
		signal,
	};
}

const verify = (given: VerificationPlan, signal?: AbortSignal, attempt = 1) =>
	verification({ shell: async () => shell, now: Date.now })(given, attempt, subject(signal));

const told = () =>
	events.map(({ type, ...facts }) => {
		const { commandName, exitCode, status } = facts as Record<string, unknown>;
		return [type.replace("subagent_verification_", ""), ...[commandName, exitCode, status].filter((fact) => fact !== undefined)].join(" ");
	});

const log = (name: string) => readFileSync(join(folder, "artifacts", name), "utf8");

test("a command that is refused is not run, and one that is replaced runs in its stead", async () => {
	const asked: string[] = [];
	const beforeCommand = async (command: string) => {
		asked.push(command);
		if (command.startsWith("rm")) return { reason: "No deleting here." };
		return command === "echo one" ? { command: "echo two" } : undefined;
	};
	writeFileSync(join(folder, "work tree/kept"), "");
	const given = plan({ name: "clean", command: "rm kept" }, { name: "say", command: "echo one" }, { name: "plain", command: "true" });
	const attempt = await verification({ shell: async () => shell, beforeCommand, now: Date.now })(given, 1, subject());
	expect(asked).toEqual(["rm kept", "echo one", "true"]);
	expect(attempt).toMatchObject({
		status: "failed",
		commandResults: [{ exitCode: 126, outputPreview: "No deleting here." }, { exitCode: 0 }, { exitCode: 0 }],
	});
	expect(log("0-Fix.verify.a1-2-say.log")).toBe("two\n");
	expect(existsSync(join(folder, "work tree/kept"))).toBe(true);
	expect(told()).toContain("command_end clean 126");
});

test("an abort while it is asked about a check ends the attempt, and the check does not run", async () => {
	const controller = new AbortController();
	const beforeCommand = async () => void controller.abort();
	const attempt = await verification({ shell: async () => shell, beforeCommand, now: Date.now })(
		plan({ name: "touch", command: "touch made" }),
		1,
		subject(controller.signal),
	);
	expect(attempt.status).toBe("skipped");
	expect(existsSync(join(folder, "work tree/made"))).toBe(false);
});

test("all checks run in the workspace, one after another, also after one has failed", async () => {
	const attempt = await verify({
		...plan(
			{ name: "lint", command: "pwd; echo odd >&2; echo first > order" },
			{ name: "Unit & e2e Tests!", command: "echo second >> order; exit 3" },
			{ name: "docs", command: "exit 4", optional: true },
			{ name: "silent", command: "cat order > /dev/null" },
		),
		profile: "ci",
	});
	const place = join(folder, "artifacts", "0-Fix.verify.a1-1-lint.log");
	expect(attempt).toEqual({
		attempt: 1,
		status: "failed",
		error: "One or more verification commands failed.",
		startedAt: expect.any(Number),
		endedAt: expect.any(Number),
		commandResults: [
			{
				name: "lint",
				command: "pwd; echo odd >&2; echo first > order",
				exitCode: 0,
				durationMs: expect.any(Number),
				artifactPath: place,
				outputPreview: `${join(folder, "work tree")}\nodd`,
			},
			{ name: "Unit & e2e Tests!", command: "echo second >> order; exit 3", exitCode: 3, durationMs: expect.any(Number) },
			{ name: "docs", command: "exit 4", exitCode: 4, durationMs: expect.any(Number), optional: true },
			{ name: "silent", command: "cat order > /dev/null", exitCode: 0, durationMs: expect.any(Number) },
		],
	});
	expect(readFileSync(join(folder, "work tree/order"), "utf8")).toBe("first\nsecond\n");
	expect(readFileSync(place, "utf8")).toBe(`${join(folder, "work tree")}\nodd\n`);
	expect(statSync(place).mode & 0o777).toBe(0o600);
	expect(told()).toEqual([
		"start",
		"command_start lint",
		"command_end lint 0",
		"command_start Unit & e2e Tests!",
		"command_end Unit & e2e Tests! 3",
		"command_start docs",
		"command_end docs 4",
		"command_start silent",
		"command_end silent 0",
		"end failed",
	]);
	expect(events[0]).toEqual({ type: "subagent_verification_start", id: "0-Fix", taskId: "Fix", attempt: 1, profile: "ci" });
	expect(events[2]).toMatchObject({ artifactId: place });
	expect(events[4]).not.toHaveProperty("artifactId");
	expect(failedChecks(attempt).map(({ name }) => name)).toEqual(["Unit & e2e Tests!"]);
	// A check that printed nothing has no log.
	expect(readdirSync(join(folder, "artifacts"))).toEqual(["0-Fix.verify.a1-1-lint.log"]);
});

test("an attempt passes when only optional checks failed; each attempt has logs of its own", async () => {
	const given = plan({ name: "a/../b", command: "echo $((1 + 1))" }, { name: "日本", command: "echo x; false", optional: true });
	expect((await verify(given)).status).toBe("passed");
	const again = await verify(given, undefined, 2);
	expect([again.attempt, again.status, again.error]).toEqual([2, "passed", undefined]);
	expect(readdirSync(join(folder, "artifacts")).sort()).toEqual([
		"0-Fix.verify.a1-1-a-b.log",
		"0-Fix.verify.a1-2-check.log",
		"0-Fix.verify.a2-1-a-b.log",
		"0-Fix.verify.a2-2-check.log",
	]);
});

test("a check that takes too long is ended with everything it started", async () => {
	const command = `(trap '' TERM; setsid sleep 7531) & echo begun; sleep 7531`;
	const attempt = await verify(plan({ name: "slow", command, timeoutMs: 1500 }, { name: "next", command: "true" }));
	expect(attempt.commandResults.map(({ exitCode, timedOut }) => [exitCode, timedOut])).toEqual([
		[124, true],
		[0, undefined],
	]);
	expect(attempt.commandResults[0]?.outputPreview).toBe("begun");
	expect(await repairContext(attempt, 200)).toMatch(/^Check "slow" timed out after \d+ ms \(exit code 124\)\./);
	expect(await eventually(() => processesWith(folder).length === 0, 10_000)).toBe(true);
});

test("what a check leaves in the background ends with it", async () => {
	await verify(plan({ name: "server", command: "nohup sleep 7532 > /dev/null 2>&1 & (setsid sleep 7533 &) ; echo up" }));
	expect(processesWith(folder)).toEqual([]);
	expect(log("0-Fix.verify.a1-1-server.log")).toBe("up\n");
});

test("an abort ends the running check, and the rest does not run", async () => {
	const controller = new AbortController();
	const running = verify(plan({ name: "slow", command: "echo on; sleep 7534" }, { name: "never", command: "touch ran" }), controller.signal);
	expect(await eventually(() => existsSync(join(folder, "artifacts/0-Fix.verify.a1-1-slow.log")), 10_000)).toBe(true);
	controller.abort();
	const attempt = await running;
	expect([attempt.status, attempt.error]).toEqual(["skipped", "Verification was aborted."]);
	expect(attempt.commandResults).toEqual([expect.objectContaining({ name: "slow", exitCode: 143, outputPreview: "on" })]);
	expect(told()).toEqual(["start", "command_start slow", "command_end slow 143", "end skipped"]);
	expect(existsSync(join(folder, "work tree/ran"))).toBe(false);
	expect(await eventually(() => processesWith(folder).length === 0, 10_000)).toBe(true);
});

test("an abort that came before still has its two events", async () => {
	expect(await verify(plan({ name: "a", command: "touch ran" }), AbortSignal.abort())).toMatchObject({ status: "skipped", commandResults: [] });
	expect(told()).toEqual(["start", "end skipped"]);
	expect(existsSync(join(folder, "work tree/ran"))).toBe(false);
});

test("the end of the session is an abort too", async () => {
	const running = verify(plan({ name: "slow", command: "echo on; sleep 7535" }, { name: "never", command: "true" }));
	expect(await eventually(() => existsSync(join(folder, "artifacts/0-Fix.verify.a1-1-slow.log")), 10_000)).toBe(true);
	await shell.close();
	expect((await running).status).toBe("skipped");
});

test("it is a login shell, whose profile finds no one to ask", async () => {
	const profile = 'export FROM_PROFILE=yes; read -p "Passphrase? " word; read word < /dev/tty; sleep 7536 &\n';
	writeFileSync(join(folder, "home/.bash_profile"), profile);
	const attempt = await verify(plan({ name: "profile", command: 'shopt -q login_shell && echo "$FROM_PROFILE"' }));
	expect(attempt.status).toBe("passed");
	expect(attempt.commandResults[0]?.outputPreview).toMatch(/\nyes$|^yes$/);
	expect(processesWith(folder)).toEqual([]);
});

test("credentials reach neither log nor preview, wherever a piece of them ends", async () => {
	const attempt = await verify(plan({ name: "leak", command: `printf 'sk-verification-'; sleep 0.2; printf 'secret\\n'; exit 1` }));
	expect(attempt.commandResults[0]?.outputPreview).toBe("[redacted]");
	expect(log("0-Fix.verify.a1-1-leak.log")).toBe("[redacted]\n");
	expect(await repairContext(attempt, 10)).not.toContain(secret);
});

test("the preview is the last 20 lines, at most 4000 characters, without terminal control", async () => {
	const attempt = await verify(
		plan(
			{ name: "lines", command: "seq 1 3000; printf '\\033[31mred\\033[0m\\n'" },
			{ name: "long", command: "printf '😀%.0s' $(seq 1 5000)" },
			{ name: "many long", command: "for i in $(seq 1 30); do printf 'x%.0s' $(seq 1 900); echo; done" },
		),
	);
	const [lines = "", long = "", many = ""] = attempt.commandResults.map(({ outputPreview }) => outputPreview);
	expect(lines.split("\n")).toEqual([...Array.from({ length: 19 }, (_, index) => String(2982 + index)), "red"]);
	expect(long).toBe("😀".repeat(2000));
	expect(many.length).toBe(4000);
	expect(log("0-Fix.verify.a1-1-lines.log").split("\n").length).toBe(3002);
});

test("output without end costs neither memory nor disk", async () => {
	const command = "head -c 40000000 /dev/zero | tr '\\0' 'a' | fold -w 100; echo; echo the very end; exit 1";
	const attempt = await verify(plan({ name: "flood", command }));
	const path = attempt.commandResults[0]?.artifactPath ?? "";
	expect(statSync(path).size).toBeLessThan(18 * 1024 * 1024);
	expect(readFileSync(path, "utf8")).toMatch(/^a{100}\n.*\n\[\d+ bytes left out\]\n.*the very end\n$/s);
	expect((await repairContext(attempt, 3)).split("\n").at(-1)).toBe("the very end");
});

test("what a repair run is told comes from the log, not from the preview", async () => {
	const attempt = await verify(
		plan({ name: "good", command: "echo fine" }, { name: "bad", command: "seq 1 500; exit 2" }, { name: "worse", command: "exit 1" }),
	);
	const last = (count: number) => Array.from({ length: count }, (_, index) => 501 - count + index).join("\n");
	const worse = 'Check "worse" failed with exit code 1.\nCommand: exit 1';
	const bad = 'Check "bad" failed with exit code 2.\nCommand: seq 1 500; exit 2';
	expect(await repairContext(attempt, 200)).toBe(`${bad}\nThe end of its output:\n${last(200)}\n\n${worse}`);
	expect(await repairContext(attempt, 0)).toBe(`${bad}\n\n${worse}`);
	// A log that is gone leaves what was shown of it.
	rmSync(join(folder, "artifacts"), { recursive: true });
	expect(await repairContext(attempt, 200)).toBe(`${bad}\nThe end of its output:\n${last(20)}\n\n${worse}`);
});

test("a log that cannot be written costs the log only", async () => {
	rmSync(join(folder, "artifacts"), { recursive: true });
	writeFileSync(join(folder, "artifacts"), "in the way");
	const attempt = await verify(plan({ name: "a", command: "echo said" }));
	expect(attempt.status).toBe("passed");
	expect(attempt.commandResults).toEqual([{ name: "a", command: "echo said", exitCode: 0, durationMs: expect.any(Number), outputPreview: "said" }]);
});

test("a check that cannot be started has failed, and says why", async () => {
	rmSync(join(folder, "work tree"), { recursive: true });
	const attempt = await verify(plan({ name: "a", command: "true" }));
	expect(attempt.status).toBe("failed");
	expect(attempt.commandResults[0]).toMatchObject({
		exitCode: 126,
		outputPreview: `Working directory does not exist: ${join(folder, "work tree")}`,
	});
});
