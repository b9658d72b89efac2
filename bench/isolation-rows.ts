/** Rows about copies of repositories for subagents. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { redactor } from "../src/lib/redact.ts";
import { Shell } from "../src/lib/shell/index.ts";
import { gitIsolation } from "../src/subagents/isolation/index.ts";
import type { Row } from "./row.ts";

/** A copy of 10,000 files, some work in it, its patch and its end; compared with adding and removing a plain worktree. */
export const worktree: Row = {
	name: "worktree",
	rounds: 7,
	isInProcess: true,
	prepare(shared) {
		const repo = join(shared, "repo");
		for (let directory = 0; directory < 200; directory++) {
			mkdirSync(join(repo, `d${directory}`), { recursive: true });
			for (let file = 0; file < 50; file++) writeFileSync(join(repo, `d${directory}`, `f${file}.ts`), `const x = ${file};\n`.repeat(100 + file));
		}
		const git = gitIn(shared);
		git("init", "-q");
		git("add", "-A");
		git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "files");
	},
	async measure({ folder, shared }) {
		const git = gitIn(shared);
		const plain = await timed(() => {
			git("worktree", "add", "--detach", join(folder, "plain"));
			git("worktree", "remove", "-f", join(folder, "plain"));
		});
		const cwd = join(shared, "repo");
		const environment = environmentIn(shared);
		const shell = new Shell({ cwd, environment, redact: redactor(() => []) });
		const isolation = gitIsolation({
			cwd,
			root: join(folder, "worktrees"),
			sessionId: "bench",
			isTrusted: true,
			artifact: (id, suffix) => join(folder, `${id}.${suffix}`),
			shell: async () => shell,
			environment,
		});
		const { signal } = new AbortController();
		const isolated = await timed(async () => {
			const frozen = await isolation.freeze(signal);
			if ("problem" in frozen) throw new Error(frozen.problem);
			const workspace = await frozen.checkOut("0-Bench", signal);
			appendFileSync(join(workspace.cwd, "d7/f7.ts"), "more\n");
			await workspace.capture();
			await workspace.remove();
			await frozen.release();
		});
		await shell.close();
		return [
			{ what: "isolated copy of 10,000 files, with its patch", value: isolated, unit: "ms" },
			{ what: "git worktree add and remove", value: plain, unit: "ms" },
			{ what: "the former over the latter", value: isolated / plain, unit: "", goal: { most: 2 } },
		];
	},
};

const environmentIn = (shared: string) => () => ({ PATH: process.env.PATH, HOME: shared });

function gitIn(shared: string): (...args: string[]) => void {
	const options = { cwd: join(shared, "repo"), env: environmentIn(shared)(), stdio: "ignore" } as const;
	return (...args) => void execFileSync("git", args, options);
}

async function timed(work: () => unknown): Promise<number> {
	const began = performance.now();
	await work();
	return performance.now() - began;
}
