/** Leaves out of searches and listings what rules close. */
import { join } from "node:path";
import { type ClosedPaths, closedTest } from "../lib/path-pattern.ts";
import { realTarget } from "../lib/real-path.ts";
import { resolvePath } from "./paths.ts";

/** Paths that a search of a directory leaves out. */
export interface LeftOut {
	/** The spellings of the directory: its real path and as it was asked for, because a rule may name either. */
	directories: readonly string[];
	closed: ClosedPaths;
}

interface Asked {
	/** As absolute paths. */
	real: string;
	target: string;
	/** By the model. */
	path: string;
	cwd: string;
}

export function leftOutOf(closed: ClosedPaths | undefined, { real, target, path, cwd }: Asked): LeftOut | undefined {
	return closed && { directories: [...new Set([real, target, resolvePath(cwd, path)])], closed };
}

/** Returns whether a path below the directory is closed. */
export function closedBelow(leftOut: LeftOut | undefined): (path: string) => boolean {
	if (!leftOut) return () => false;
	const { directories, closed } = leftOut;
	const isClosed = closedTest(closed);
	return (path) => directories.some((directory) => isClosed(join(directory, path)));
}

/** Returns the entries of a directory that are not closed. A link to a closed file would tell that the file exists. */
export async function openEntries(names: readonly string[], leftOut: LeftOut | undefined): Promise<readonly string[]> {
	if (!leftOut) return names;
	const { directories, closed } = leftOut;
	const isNameClosed = closedBelow(leftOut);
	const isClosed = closedTest(closed);
	const isOpen = async (name: string) => !isNameClosed(name) && !isClosed(await realTarget(join(directories[0] as string, name)));
	const open = await Promise.all(names.map(isOpen));
	return names.filter((_, index) => open[index]);
}

/** Returns the note of a result. It depends on the rules alone: one that depends on what was left out would tell what is in there. */
export function closedNotes(leftOut: LeftOut | undefined): string[] {
	return leftOut && leftOut.closed.patterns.length > 0 ? ["Files that a rule closes to you are left out"] : [];
}
