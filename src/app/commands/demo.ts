/** `bowline demo`: the main job end to end, for the user to watch. A real agent process repairs a real repository. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RecordReader } from "../../lib/jsonl.ts";
import { makeDemoRepository } from "../demo-repository.ts";
import { showFrame, type Tally } from "./demo-view.ts";

const acts = [
	{ title: "First act: the agent repairs a test.", prompt: "The test in this repository fails. Find out why, repair it, and prove it." },
	{
		title: "Second act: a subagent works in a copy; its work is checked, repaired once, and merged.",
		prompt: "Now give large carts a discount. Let a subagent do it in a copy, and take it only when the tests pass.",
	},
];
const patienceMs = 60_000;

export async function demo(): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "bowline-demo-"));
	const repository = join(folder, "repository");
	makeDemoRepository(repository);
	const before = runTest(repository);
	console.log(`A small repository in ${repository}. Its test ${before.passed ? "passes already?!" : "fails"}.\n`);

	const tally: Tally = { turns: 0, toolCalls: 0, sessionFile: undefined, deltas: 0, atWork: undefined };
	const exitCode = await drive(repository, folder, tally);
	const after = runTest(repository);
	const verdict = after.passed ? "the test passes" : "the test still fails";
	console.log(`\n${changes(repository)}`);
	console.log(`\n${tally.turns} turns, ${tally.toolCalls} tool calls, ${verdict}. Session: ${tally.sessionFile ?? "none"}`);
	if (!after.passed) console.error(after.output);
	process.exitCode = after.passed && !before.passed && exitCode === 0 ? 0 : 1;
}

function runTest(cwd: string): { passed: boolean; output: string } {
	const { NODE_TEST_CONTEXT: _, ...env } = process.env;
	const { status, stdout, stderr } = spawnSync(process.execPath, ["--test"], { cwd, env, encoding: "utf8" });
	return { passed: status === 0, output: `${stdout}${stderr}` };
}

/** The changes in the working tree. */
function changes(cwd: string): string {
	const { stdout } = spawnSync("git", ["status", "--short"], { cwd, encoding: "utf8" });
	return `The working tree: ${stdout?.trim().split("\n").join(", ") || "nothing changed"}`;
}

/** Runs the agent on the repository, one act after another, and shows what happens. Returns its exit code. */
function drive(cwd: string, folder: string, tally: Tally): Promise<number | null> {
	const program = process.argv[1] as string;
	const model = ["--provider", "scripted", "--model", "demo"];
	const settings = ["--hermetic", "--updates", "delta", "--session-dir", join(folder, "sessions"), "--set", "task.isolation.mode=worktree"];
	const agent = spawn(process.execPath, [program, "--mode", "rpc", ...settings, ...model], {
		cwd,
		env: { ...process.env, BOWLINE_DIR: join(folder, "user") },
		stdio: ["pipe", "pipe", "inherit"],
	});
	const timer = setTimeout(() => {
		console.error(`The agent did not settle within ${patienceMs / 1000} s.`);
		agent.kill("SIGKILL");
	}, patienceMs);
	const send = (frame: object) => {
		const line = JSON.stringify(frame);
		showFrame("out", line, tally);
		agent.stdin.write(`${line}\n`);
	};
	const coming = [...acts];
	const goOn = () => {
		const act = coming.shift();
		if (!act) return void agent.stdin.end();
		console.log(`\n${act.title}\n`);
		send({ id: String(acts.indexOf(act) + 1), type: "prompt", message: act.prompt });
	};
	const reader = new RecordReader(
		{
			record(line) {
				const frame = JSON.parse(line) as { type: string };
				showFrame("in", line, tally);
				if (frame.type === "ready" || frame.type === "agent_settled") goOn();
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
