/** `bowline demo`: the main job end to end, for a person to watch. A real agent process repairs a real repository. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RecordReader } from "../../lib/jsonl.ts";
import { demoRepository } from "../../models/scripted/built-in/demo-repository.ts";
import { showFrame, type Tally } from "./demo-view.ts";

const prompt = "The test in this repository fails. Find out why, repair it, and prove it.";
const patienceMs = 25_000;

export async function demo(): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "bowline-demo-"));
	const repository = join(folder, "repository");
	makeRepository(repository);
	const before = runTest(repository);
	console.log(`A small repository in ${repository}. Its test ${before.passed ? "passes already?!" : "fails"}.\n`);

	const tally: Tally = { turns: 0, toolCalls: 0, sessionFile: undefined, deltas: 0 };
	const exitCode = await drive(repository, join(folder, "sessions"), tally);
	const after = runTest(repository);
	const verdict = after.passed ? "the test passes" : "the test still fails";
	console.log(`\n${tally.turns} turns, ${tally.toolCalls} tool calls, ${verdict}. Session: ${tally.sessionFile ?? "none"}`);
	if (!after.passed) console.error(after.output);
	process.exitCode = after.passed && !before.passed && exitCode === 0 ? 0 : 1;
}

function makeRepository(directory: string): void {
	for (const [path, content] of Object.entries(demoRepository)) {
		mkdirSync(dirname(join(directory, path)), { recursive: true });
		writeFileSync(join(directory, path), content);
	}
	const git = (...args: string[]) => spawnSync("git", ["-c", "user.name=demo", "-c", "user.email=demo@localhost", ...args], { cwd: directory });
	git("init", "--quiet");
	git("add", "--all");
	git("commit", "--quiet", "--message", "A cart with a bug");
}

function runTest(cwd: string): { passed: boolean; output: string } {
	const { NODE_TEST_CONTEXT: _, ...env } = process.env;
	const { status, stdout, stderr } = spawnSync(process.execPath, ["--test"], { cwd, env, encoding: "utf8" });
	return { passed: status === 0, output: `${stdout}${stderr}` };
}

/** Runs the agent on the repository until it has settled, showing what passes. Gives its exit code. */
function drive(cwd: string, sessions: string, tally: Tally): Promise<number | null> {
	const program = process.argv[1] as string;
	const flags = ["--mode", "rpc", "--hermetic", "--updates", "delta", "--session-dir", sessions, "--provider", "scripted", "--model", "demo"];
	const agent = spawn(process.execPath, [program, ...flags], { cwd, stdio: ["pipe", "pipe", "inherit"] });
	const timer = setTimeout(() => {
		console.error(`The agent did not settle within ${patienceMs / 1000} s.`);
		agent.kill("SIGKILL");
	}, patienceMs);
	const send = (frame: object) => {
		const line = JSON.stringify(frame);
		showFrame("out", line, tally);
		agent.stdin.write(`${line}\n`);
	};
	const reader = new RecordReader(
		{
			record(line) {
				const frame = JSON.parse(line) as { type: string };
				showFrame("in", line, tally);
				if (frame.type === "ready") send({ id: "1", type: "prompt", message: prompt });
				if (frame.type === "agent_settled") agent.stdin.end();
			},
			tooLong: () => undefined,
		},
		Number.POSITIVE_INFINITY,
	);
	agent.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
	return new Promise((resolve) => {
		agent.on("close", (code) => {
			clearTimeout(timer);
			resolve(code);
		});
	});
}
