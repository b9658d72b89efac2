/** Runs changes of one file one after another, while different files change in parallel. */
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface MutationQueue {
	/** Runs the change when all earlier ones of the same real file are over. */
	run<Result>(path: string, change: () => Promise<Result>): Promise<Result>;
}

export function mutationQueue(): MutationQueue {
	const last = new Map<string, Promise<unknown>>();
	// Keys are found out one at a time too: otherwise a later call with a shorter way to its key could overtake.
	let finding: Promise<unknown> = Promise.resolve();

	async function enter<Result>(path: string, change: () => Promise<Result>): Promise<{ turn: Promise<Result> }> {
		const key = await realPath(path);
		const before = last.get(key) ?? Promise.resolve();
		const turn = before.then(change, change);
		last.set(key, turn);
		const forget = () => {
			if (last.get(key) === turn) last.delete(key);
		};
		turn.then(forget, forget);
		// Wrapped, so that entering does not wait for the turn itself.
		return { turn };
	}

	return {
		async run(path, change) {
			const entered = finding.then(
				() => enter(path, change),
				() => enter(path, change),
			);
			finding = entered;
			return (await entered).turn;
		},
	};
}

/** The path with all links followed; for something that does not exist yet, its directory's. */
export async function realPath(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch (error) {
		const parent = dirname(path);
		if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) return path;
		return join(await realPath(parent), basename(path));
	}
}
