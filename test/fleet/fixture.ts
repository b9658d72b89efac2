/** A small fleet for tests: a repository, a model that works in steps, and workers that are real processes with directories of their own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Submission } from "../../src/fleet/queue.ts";

/** Tests and scripts are started at the top of the repository. */
export const program = resolve("dist/bowline.js");

export interface Fixture {
	folder: string;
	repository: string;
	/** Answers with one step after another, until the work is done. */
	script: string;
	/** Where each step notes that it ran: run, epoch, step. */
	effects: string;
	/** Lets the step that waits go on, and all later ones. */
	go(): void;
	remove(): void;
}

export const steps = 4;

/** Where each step notes that it ended. */
export const endedFile = (effects: string) => `${effects}-ended`;

/** `waitAt`: this step waits for `go`, so that a test has all the time it needs. `first`: replies that are looked at before the others. */
export function makeFixture({
	stepSeconds = 0,
	waitAt = 0,
	model = {},
	first = [],
}: {
	stepSeconds?: number;
	waitAt?: number;
	model?: object;
	first?: readonly object[];
} = {}): Fixture {
	const folder = mkdtempSync(join(tmpdir(), "bl-fl-"));
	const repository = join(folder, "repository");
	const effects = join(folder, "effects");
	const signal = join(folder, "go");
	writeFileSync(effects, "");
	writeFileSync(endedFile(effects), "");
	mkdirSync(repository);
	const step = `n=$(($(cat work.txt 2>/dev/null | wc -l) + 1))
echo "$BOWLINE_RUN_ID $BOWLINE_RUN_EPOCH $n" >> ${effects}
sleep ${stepSeconds}
if [ $n -eq ${waitAt} ]; then while [ -e ${effects} ] && [ ! -e ${signal} ]; do sleep 0.05; done; fi
echo "line $n" >> work.txt
echo "step $n is done"
if [ $n -ge ${steps} ]; then echo all-steps-done; fi
echo "$BOWLINE_RUN_ID $BOWLINE_RUN_EPOCH $n" >> ${endedFile(effects)}
`;
	writeFileSync(join(repository, "step.sh"), step);
	writeFileSync(join(repository, "readme.txt"), "hello\n");
	git(repository, "init", "-q", "-b", "main");
	git(repository, "add", "-A");
	git(repository, "commit", "-q", "-m", "first");
	const script = join(folder, "script.jsonc");
	const usage = { input: 1000, output: 100 };
	const explorers = ["One", "Two", "Three"].map((id) => ({ id, description: id, assignment: "Explore all." }));
	const replies = [
		...first,
		{
			when: { depth: 0, text: "Send explorers" },
			blocks: [{ tool: "task", arguments: { agent: "explore", tasks: explorers } }],
			times: "always",
			usage,
		},
		{ when: { depth: 0, tool: "task" }, text: "They are back.", times: "always", usage },
		...[1, 2, 3].map(() => ({ when: { agent: "explore" }, blocks: [{ tool: "ls", arguments: {} }], usage })),
		{ when: { agent: "explore" }, blocks: [{ tool: "submit_result", arguments: { result: { data: "ok" } } }], usage },
		{ when: { text: "all-steps-done" }, text: "Done.", times: "always", usage },
		{
			when: { text: "checks failed" },
			blocks: [{ tool: "bash", arguments: { command: "echo repaired > repaired.txt; echo all-steps-done" } }],
			times: "always",
			usage,
		},
		{ blocks: [{ tool: "bash", arguments: { command: "sh step.sh" } }], times: "always", usage },
	];
	writeFileSync(script, JSON.stringify({ model: { cost: { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0 }, ...model }, replies }));
	const go = () => writeFileSync(signal, "");
	return { folder, repository, script, effects, go, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export function git(cwd: string, ...args: string[]): string {
	return execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

export function submissionFor(
	{ repository, script }: Fixture,
	key: string,
	more: Omit<Partial<Submission>, "spec"> & { spec?: object } = {},
): Submission {
	const { spec, ...rest } = more;
	return {
		key,
		lane: "default",
		priority: 0,
		needs: [],
		maxAttempts: 5,
		...rest,
		spec: { repo: { url: repository }, prompt: "Take all steps.", provider: "scripted", model: script, ...spec },
	};
}

export interface WorkerProcess {
	child: ChildProcess;
	output: () => string;
	exited: Promise<number | null>;
}

/** `home`: a machine of its own. Without `sandbox.mode` runs have no sandbox; undefined leaves it to the worker. */
export function startWorker(
	home: string,
	flags: readonly string[],
	settings: Record<string, string | number | undefined>,
	more: Record<string, string> = {},
): WorkerProcess {
	mkdirSync(home, { recursive: true });
	const set = Object.entries({ "sandbox.mode": "off", ...settings }).flatMap(([name, value]) =>
		value === undefined ? [] : ["--set", `${name}=${value}`],
	);
	const child = spawn(process.execPath, [program, "fleet", "work", ...flags, ...set], {
		env: { ...process.env, BOWLINE_DIR: home, ...more },
		cwd: home,
		stdio: ["ignore", "ignore", "pipe"],
	});
	let output = "";
	child.stderr?.on("data", (chunk: Buffer) => {
		output += chunk.toString();
	});
	const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
	return { child, output: () => output, exited };
}

/** The environment of a machine whose clock is wrong by so much: of the worker, and of all programs in Node that it starts. */
export function wrongClock(folder: string, byMs: number): Record<string, string> {
	const path = join(folder, `clock${byMs}.cjs`);
	writeFileSync(
		path,
		`const by = ${byMs}; const Real = Date;
globalThis.Date = class extends Real { constructor(...args) { if (args.length === 0) super(Real.now() + by); else super(...args); } };
Date.now = () => Real.now() + by;\n`,
	);
	return { NODE_OPTIONS: `--require ${path}` };
}

/** The process and all that descend from it. */
export function familyOf(pid: number): number[] {
	const parents = new Map<number, number[]>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const stat = readFileSync(`/proc/${name}/stat`, "utf8");
			const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
			parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
		} catch {
			// It has ended meanwhile.
		}
	}
	const found: number[] = [];
	for (let next = [pid]; next.length > 0; next = next.flatMap((each) => parents.get(each) ?? [])) found.push(...next);
	return found;
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
	for (const pid of pids) {
		try {
			process.kill(pid, signal);
		} catch {
			// It has ended meanwhile.
		}
	}
}

/** Waits for a condition, not for a time. */
export async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false, what: string, deadlineMs = 120_000): Promise<T> {
	const end = Date.now() + deadlineMs;
	for (;;) {
		const found = await look();
		if (found) return found;
		if (Date.now() > end) throw new Error(`It did not come to pass in ${deadlineMs} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}
