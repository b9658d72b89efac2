import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { redactor } from "../../../src/lib/redact.ts";
import { Shell, type ShellOptions, type ShellUpdate } from "../../../src/lib/shell/index.ts";
import { eventually, isPresent, isRunning, processesWith, watchdogsOf } from "./processes.ts";

const directory = realpathSync(mkdtempSync(join(tmpdir(), "bowline shell's-")));
afterAll(() => rmSync(directory, { recursive: true }));

const shells: Shell[] = [];
afterEach(async () => {
	await Promise.all(shells.splice(0).map((shell) => shell.close()));
});

function makeShell(options: Partial<ShellOptions> = {}): Shell {
	const shell = new Shell({ cwd: directory, environment: () => process.env, redact: redactor(() => []), tempDir: directory, ...options });
	shells.push(shell);
	return shell;
}

/** Descriptors of our own pipes. */
function openPipes(): string[] {
	return readdirSync("/proc/self/fd").filter((name) => {
		try {
			return readlinkSync(`/proc/self/fd/${name}`).includes("bowline-pipes-");
		} catch (error) {
			// The one the listing itself was made with.
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
			throw error;
		}
	});
}

describe("what a command gives", () => {
	test("stdout and stderr in the order they were printed, and the exit code", async () => {
		const command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 3";
		const result = await makeShell().run({ command });
		const expected = [1, 2, 3, 4, 5].map((each) => `out ${each}\nerr ${each}\n`).join("");
		expect([result.output, result.exitCode, result.signal, result.timedOut, result.aborted]).toEqual([expected, 3, null, false, false]);
	});

	test.runIf(process.platform === "linux")("its output can be opened by name", async () => {
		const { output } = await makeShell().run({ command: "echo one > /dev/stderr; echo two | tee /dev/stderr; echo three > /dev/stdout" });
		expect(output).toBe("one\ntwo\ntwo\nthree\n");
	});

	test("without real pipes everything is the same but that", async () => {
		const shell = makeShell({ tempDir: join(directory, "missing") });
		const command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; readlink /proc/self/fd/1; exit 3";
		const { output, exitCode } = await shell.run({ command });
		const expected = [1, 2, 3, 4, 5].map((each) => `out ${each}\nerr ${each}\n`).join("");
		expect(output.startsWith(expected)).toBe(true);
		if (process.platform === "linux") expect(output).toContain("socket:");
		expect(exitCode).toBe(3);
		expect((await shell.run({ command: "fi" })).output).toContain("line 1: `fi'");
	});

	test.runIf(process.platform === "linux")("descriptors are used again, not used up", async () => {
		const shell = makeShell();
		for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 6 }, () => shell.run({ command: "echo x" })));
		await expect(shell.run({ command: `: ${"x".repeat(3_000_000)}` })).rejects.toThrow("too long");
		// Six at once, and six whose end has not been reported to us yet.
		expect(await eventually(() => openPipes().length <= 12, 20_000)).toBe(true);
		await shell.close();
		expect(await eventually(() => openPipes().length === 0, 20_000)).toBe(true);
	});

	test("output of one command never shows up in another", async () => {
		const shell = makeShell();
		await shell.run({ command: "(sleep 0.2; echo late) & echo now" });
		const later = await Promise.all([1, 2, 3, 4, 5, 6].map((each) => shell.run({ command: `sleep 0.3; echo ${each}` })));
		expect(later.map(({ output }) => output)).toEqual([1, 2, 3, 4, 5, 6].map((each) => `${each}\n`));
	});

	test("the shell's own words name the command as it was given", async () => {
		const { output, exitCode } = await makeShell().run({ command: "fi" });
		expect(output).toContain("line 1: `fi'");
		expect(output).toContain("syntax error");
		expect(exitCode).toBe(2);
	});

	test("death by signal is 128 + n", async () => {
		const { exitCode, signal } = await makeShell().run({ command: "kill -9 $$" });
		expect([exitCode, signal]).toEqual([137, "SIGKILL"]);
	});

	test("it has no input, no terminal, and runs in the working directory", async () => {
		const { output } = await makeShell().run({ command: "cat; tty; pwd; (: </dev/tty) 2>/dev/null || echo none" });
		expect(output).toBe(`not a tty\n${directory}\nnone\n`);
	});

	test("no one is asked to page or edit, and it can tell who runs it", async () => {
		const shell = makeShell({ environment: () => ({ PATH: process.env.PATH, PAGER: "less", EXTRA: "yes" }) });
		const { output } = await shell.run({ command: 'echo "$PAGER $GIT_PAGER $EDITOR $GIT_EDITOR $BOWLINE $AI_AGENT $EXTRA"; echo "$BOWLINE_RUN"' });
		expect(output).toMatch(/^cat cat true true 1 bowline yes\n[0-9a-f]+\.1;\n$/);
	});

	test("a Bowline inside a Bowline adds to the outer mark", async () => {
		const shell = makeShell({ environment: () => ({ PATH: process.env.PATH, BOWLINE_RUN: "outer.1;" }) });
		expect((await shell.run({ command: "echo $BOWLINE_RUN" })).output).toMatch(/^outer\.1;[0-9a-f]+\.1;\n$/);
	});

	test("the prefix is on a line of its own before the command", async () => {
		expect((await makeShell({ prefix: "greet() { echo hello $1; } # says hello" }).run({ command: "greet you" })).output).toBe("hello you\n");
	});

	test("another shell can be named", async () => {
		expect((await makeShell({ shellPath: "/bin/sh" }).run({ command: "echo $0" })).output).toBe("/bin/sh\n");
		await expect(makeShell({ shellPath: "/no/such/shell" }).run({ command: "true" })).rejects.toThrow("shellPath does not exist: /no/such/shell");
	});

	test("several commands run side by side", async () => {
		const shell = makeShell();
		const meeting = `touch a$N; while [ ! -e a$((3 - N)) ]; do sleep 0.01; done; echo met`;
		const results = await Promise.all([1, 2].map((each) => shell.run({ command: `N=${each}; ${meeting}`, timeoutMs: 5000 })));
		expect(results.map(({ output }) => output)).toEqual(["met\n", "met\n"]);
	});
});

describe("what cannot be started is said plainly", () => {
	test("a working directory that is gone", async () => {
		await expect(makeShell({ cwd: join(directory, "gone") }).run({ command: "true" })).rejects.toThrow(
			`Working directory does not exist: ${directory}/gone`,
		);
	});

	test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31 * 1000])("a timeout of %s ms", async (timeoutMs) => {
		await expect(makeShell().run({ command: "true", timeoutMs })).rejects.toThrow("timeout must be more than 0 and at most 2147483 seconds");
	});

	test("a command longer than the system takes", async () => {
		await expect(makeShell().run({ command: `: ${"x".repeat(3_000_000)}` })).rejects.toThrow("too long to be started");
	});
});

describe("output", () => {
	test("long output is cut to its end, and all of it is in a file", async () => {
		const { output, truncation, fullOutputPath } = await makeShell().run({ command: "seq 1 50000" });
		const whole = Array.from({ length: 50_000 }, (_, at) => `${at + 1}\n`).join("");
		expect(output).toBe(whole.slice(whole.indexOf("48001\n")));
		expect(truncation).toMatchObject({ truncatedBy: "lines", totalLines: 50_000, totalBytes: whole.length, outputLines: 2000 });
		expect(readFileSync(fullOutputPath as string, "utf8")).toBe(whole);
	});

	test("secrets are replaced in the text and in the file, also between two writes", async () => {
		const shell = makeShell({ redact: redactor(() => ["sk-very-secret"]) });
		const { output, fullOutputPath } = await shell.run({ command: "seq 1 3000; printf sk-very; sleep 0.05; echo -secret" });
		expect(output).toContain("3000\n[redacted]\n");
		expect(readFileSync(fullOutputPath as string, "utf8")).not.toContain("very-secret");
	});

	test("terminal control is removed when asked for, also between two writes", async () => {
		const command = "printf '\\033[3'; sleep 0.05; printf '1mred\\033[0m\\r\\n'";
		expect((await makeShell().run({ command, stripControls: true })).output).toBe("red\n");
		expect((await makeShell().run({ command })).output).toBe("\x1b[31mred\x1b[0m\r\n");
	});

	test("a character printed in two halves arrives whole", async () => {
		const updates: string[] = [];
		const command = "printf '\\360\\237'; until [ -e half-seen ]; do sleep 0.02; done; printf '\\230\\200'";
		const onUpdate = (update: ShellUpdate) => {
			updates.push(update.output);
			writeFileSync(join(directory, "half-seen"), "");
		};
		const { output } = await makeShell().run({ command, onUpdate });
		expect([output, updates]).toEqual(["😀", ["", "😀"]]);
	});

	test("updates are cumulative, at most one per 100 ms, and the last one has everything", async () => {
		const updates: ShellUpdate[] = [];
		const start = Date.now();
		const command = "i=0; until [ -e three-seen ]; do echo $((i += 1)); sleep 0.03; done; echo end";
		const onUpdate = (update: ShellUpdate) => {
			if (updates.push(update) === 3) writeFileSync(join(directory, "three-seen"), "");
		};
		const { output } = await makeShell().run({ command, onUpdate });
		expect(updates.length).toBeLessThanOrEqual(Math.ceil((Date.now() - start) / 100) + 1);
		for (const [index, update] of updates.entries()) expect(update.output.startsWith(updates[index - 1]?.output ?? "")).toBe(true);
		expect(updates.at(-1)?.output).toBe(output);
	});

	test("a silent command sends no update", async () => {
		const updates: ShellUpdate[] = [];
		await makeShell().run({ command: "sleep 0.15", onUpdate: (update) => updates.push(update) });
		expect(updates).toEqual([]);
	});
});

describe("background processes", () => {
	test("do not hold up the command that started them", async () => {
		const { output } = await makeShell().run({ command: "sleep 100 & echo $BOWLINE_RUN" });
		expect(processesWith(output.trim())).toContain("sleep 100");
	});

	test("that never stop printing do not either", async () => {
		const { output } = await makeShell().run({ command: "while :; do echo $BOWLINE_RUN; sleep 0.02; done & echo $BOWLINE_RUN" });
		expect(processesWith(output.split("\n")[0] as string)).not.toEqual([]);
	});

	test("live on when they print after the call, and end with the session", async () => {
		const shell = makeShell();
		const file = join(directory, "alive");
		await shell.run({ command: `(sleep 0.3; echo late; echo later; touch ${JSON.stringify(file)}; exec sleep 100) & echo $BOWLINE_RUN` });
		const mark = (await shell.run({ command: "echo $BOWLINE_RUN" })).output.split(".")[0] as string;
		expect(await eventually(() => processesWith(mark).includes("sleep 100"), 20_000)).toBe(true);
		await shell.close();
		expect(processesWith(mark)).toEqual([]);
	});
});

/** Deaf to SIGTERM, a child in another session, a daemon that left its parents. */
const stubborn =
	"trap '' TERM; echo $BOWLINE_RUN; setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM; while :; do sleep 1000; done' &) ; while :; do sleep 1000; done";

describe.runIf(process.platform === "linux")("what is killed leaves nothing", () => {
	test("after a timeout", async () => {
		const shell = makeShell();
		const result = await shell.run({ command: stubborn, timeoutMs: 200 });
		expect([result.timedOut, result.aborted, result.exitCode]).toEqual([true, false, null]);
		expect(processesWith(result.output.trim())).toEqual([]);
	});

	test("after an abort", async () => {
		const shell = makeShell();
		const abort = new AbortController();
		let mark = "";
		const run = shell.run({ command: stubborn, signal: abort.signal, onUpdate: ({ output }) => (mark = output.trim()) });
		expect(await eventually(() => mark !== "" && processesWith(mark).length >= 5, 20_000)).toBe(true);
		abort.abort();
		const { aborted, timedOut, exitCode } = await run;
		expect([aborted, timedOut, exitCode, processesWith(mark)]).toEqual([true, false, null, []]);
	});

	test("an abort of one command spares the others", async () => {
		const shell = makeShell();
		const abort = new AbortController();
		const other = shell.run({ command: "sleep 0.6; echo fine" });
		const run = shell.run({ command: "sleep 100", signal: abort.signal });
		abort.abort();
		expect([(await run).aborted, (await other).output]).toEqual([true, "fine\n"]);
	});

	// The time for it is short, and a busy machine may need all of it to start a shell.
	test("a command that cleans up on SIGTERM may do so", { retry: 3 }, async () => {
		const abort = new AbortController();
		const { output, aborted } = await makeShell().run({
			command: "trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.02; done",
			signal: abort.signal,
			onUpdate: () => abort.abort(),
		});
		expect(output).toMatch(/cleaned\n$/);
		expect(aborted).toBe(true);
	});

	test("abortAll ends every command, and the shell goes on to work", async () => {
		const shell = makeShell();
		const runs = [shell.run({ command: "sleep 100" }), shell.run({ command: "sleep 100 & sleep 100" })];
		const { child } = await shell.start("/bin/sleep", ["100"]);
		await shell.abortAll();
		expect((await Promise.all(runs)).map(({ aborted }) => aborted)).toEqual([true, true]);
		expect(isRunning(child.pid as number)).toBe(false);
		expect((await shell.run({ command: "echo again" })).output).toBe("again\n");
	});

	test("a signal that has already fired starts nothing", async () => {
		const marker = join(directory, "never");
		const result = await makeShell().run({ command: `touch ${marker}`, signal: AbortSignal.abort() });
		expect([result.aborted, result.output]).toEqual([true, ""]);
		expect(() => readFileSync(marker)).toThrow("ENOENT");
	});

	test("the watchdog is there with the first command and gone after close", async () => {
		const shell = makeShell();
		const before = new Set(watchdogsOf(process.pid));
		const own = () => watchdogsOf(process.pid).filter((pid) => !before.has(pid));
		expect(own()).toEqual([]);
		await shell.run({ command: "true" });
		const [watchdog] = own();
		expect(watchdog).toBeDefined();
		await shell.close();
		expect(await eventually(() => !isRunning(watchdog as number), 20_000)).toBe(true);
		await expect(shell.run({ command: "true" })).rejects.toThrow("session is over");
	});

	test("a watchdog that was killed is replaced", async () => {
		const shell = makeShell();
		const before = new Set(watchdogsOf(process.pid));
		const own = () => watchdogsOf(process.pid).filter((pid) => !before.has(pid) && isRunning(pid));
		await shell.run({ command: "true" });
		const first = own()[0] as number;
		process.kill(first, "SIGKILL");
		expect(await eventually(() => !isPresent(first), 20_000)).toBe(true);
		await shell.run({ command: "true" });
		expect(own()).toHaveLength(1);
	});
});

test("100 MB of output cost little memory", async () => {
	const shell = makeShell({ tempDir: directory });
	writeFileSync(join(directory, "block"), Buffer.alloc(1_000_000, "eighty characters of output\n"));
	const before = process.memoryUsage.rss();
	let peak = 0;
	const watch = setInterval(() => {
		peak = Math.max(peak, process.memoryUsage.rss());
	}, 10);
	const result = await shell.run({ command: "i=0; while [ $i -lt 100 ]; do cat block; i=$((i+1)); done", stripControls: true });
	clearInterval(watch);
	rmSync(result.fullOutputPath as string);
	expect(result.truncation.totalBytes).toBe(100_000_000);
	expect(peak - before).toBeLessThan(60_000_000);
});
