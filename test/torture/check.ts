/** Everything that must hold after a round. Returns the violations, in words. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkFrames } from "./check-frames.ts";
import { checkSessions } from "./check-sessions.ts";
import type { Played } from "./play.ts";
import type { World } from "./world.ts";

export function check(played: Played, world: World): string[] {
	return [...played.problems, ...played.lives.flatMap(checkFrames), ...checkSessions(played, world), ...checkFiles(played, world)];
}

/** No file is left except the logs that the program reported, and no other user may read what was written. */
function checkFiles({ lives }: Played, world: World): string[] {
	const everything = lives.flatMap(({ trace }) => trace.map(({ frame }) => JSON.stringify(frame))).join("\n");
	const wasKilled = lives.some(({ ending }) => ending?.how === "SIGKILL");
	const unknown = readdirSync(world.temp).filter((name) => !everything.includes(name) && !wasKilled);
	const problems = unknown.map((name) => `a temporary file is left: ${name}`);
	// If files cannot be removed either, a lock stays until a process opens the session again.
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
