/** Everything that must hold after a round. Gives what does not, in words. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkFrames } from "./check-frames.ts";
import { checkSessions } from "./check-sessions.ts";
import type { Played } from "./play.ts";
import type { World } from "./world.ts";

export function check(played: Played, world: World): string[] {
	return [...played.problems, ...played.lives.flatMap(checkFrames), ...checkSessions(played, world), ...checkFiles(played, world)];
}

/** Nothing lies around but the logs that somebody was told of, and nobody else may read what was written. */
function checkFiles({ lives }: Played, world: World): string[] {
	const everything = lives.flatMap(({ trace }) => trace.map(({ frame }) => JSON.stringify(frame))).join("\n");
	const wasKilled = lives.some(({ ending }) => ending?.how === "SIGKILL");
	const unknown = readdirSync(world.temp).filter((name) => !everything.includes(name) && !wasKilled);
	const problems = unknown.map((name) => `a temporary file is left: ${name}`);
	// Where nothing may be removed either, a lock stays until somebody opens the session again.
	const wasReadOnly = lives.some(({ trace }) => trace.some(({ frame }) => (frame.disk as { fault?: string } | undefined)?.fault === "EROFS"));
	const litter = world.litter().filter((name) => !(wasKilled && name.startsWith("temp/")) && !(wasReadOnly && name.endsWith(".lock")));
	if (litter.length) problems.push(`left behind: ${litter}`);
	const copies = world.worktrees();
	// After a kill the next isolation of a process collects them; perhaps there was none.
	if (copies.length && !wasKilled) problems.push(`worktrees are left: ${copies}`);
	for (const folder of [world.sessions, world.temp]) {
		for (const name of readdirSync(folder)) {
			const mode = statSync(join(folder, name)).mode & 0o777;
			if (mode & 0o077) problems.push(`${name} can be read by others: ${mode.toString(8)}`);
		}
	}
	return problems;
}
