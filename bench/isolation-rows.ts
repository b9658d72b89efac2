/** Rows about copies of repositories for subagents. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { redactor } from "../src/lib/redact.ts";
import { Shell } from "../src/lib/shell/index.ts";
import { gitIsolation } from "../src/subagents/isolation/index.ts";
import { inFolder } from "./process.ts";
import { type Figure, median } from "./table.ts";

const rounds = 7;

/** A copy of 10,000 files, some work in it, its patch and its end; beside a plain worktree that is added and removed. */
export async function worktree(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		const repo = join(folder, "repo");
		const environment = () => ({ PATH: process.env.PATH, HOME: folder });
		const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env: environment(), stdio: "ignore" });
		for (let directory = 0; directory < 200; directory++) {
			mkdirSync(join(repo, `d${directory}`), { recursive: true });
			for (let file = 0; file < 50; file++) writeFileSync(join(repo, `d${directory}`, `f${file}.ts`), `const x = ${file};\n`.repeat(100 + file));
		}
		git("init", "-q");
		git("add", "-A");
		git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "files");
		const shell = new Shell({ cwd: repo, environment, redact: redactor(() => []) });
		const isolation = gitIsolation({
			cwd: repo,
			root: join(folder, "worktrees"),
			sessionId: "bench",
			isTrusted: true,
			artifact: (id, suffix) => join(folder, `${id}.${suffix}`),
			shell: async () => shell,
			environment,
		});
		const { signal } = new AbortController();
		const plainly = () => {
			const path = join(folder, "plain");
			git("worktree", "add", "--detach", path);
			git("worktree", "remove", "-f", path);
		};
		const isolated = async () => {
			const frozen = await isolation.freeze(signal);
			if ("problem" in frozen) throw new Error(frozen.problem);
			const workspace = await frozen.checkOut("0-Bench", signal);
			appendFileSync(join(workspace.cwd, "d7/f7.ts"), "more\n");
			await workspace.capture();
			await workspace.remove();
			await frozen.release();
		};
		const timed = async (work: () => unknown) => {
			const began = performance.now();
			await work();
			return performance.now() - began;
		};
		const plain: number[] = [];
		const ours: number[] = [];
		for (let round = 0; round <= rounds; round++) {
			plain.push(await timed(plainly));
			ours.push(await timed(isolated));
		}
		await shell.close();
		// The first round warms the disk's cache.
		const [a, b] = [median(ours.slice(1)), median(plain.slice(1))];
		return [
			{
				what: "isolated copy of 10,000 files, with its patch",
				value: `${a.toFixed(0)} ms`,
				against: `git worktree add and remove ${b.toFixed(0)} ms`,
				ratio: (a / b).toFixed(2),
				goal: "<= 2",
				isMet: a / b <= 2,
			},
		];
	});
}
