/** The small repository of the demo: a cart with a bug, and a test that fails because of it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { demoRepository } from "../models/scripted/built-in/demo-repository.ts";

export function makeDemoRepository(directory: string): void {
	for (const [path, content] of Object.entries(demoRepository)) {
		mkdirSync(dirname(join(directory, path)), { recursive: true });
		writeFileSync(join(directory, path), content);
	}
	const git = (...args: string[]) => spawnSync("git", ["-c", "user.name=demo", "-c", "user.email=demo@localhost", ...args], { cwd: directory });
	git("init", "--quiet");
	git("add", "--all");
	git("commit", "--quiet", "--message", "A cart with a bug");
}
