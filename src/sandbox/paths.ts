/** Questions about absolute paths. */
import { closeSync, constants, type Dirent, lstatSync, openSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isWithin, look } from "../lib/links.ts";

export { follow, inDirectory, isWithin, linkInside, look } from "../lib/links.ts";

/** Returns the entries of a directory with their types, and none where it cannot be read. */
export function entriesOf(directory: string): Dirent[] {
	try {
		return readdirSync(directory, { withFileTypes: true });
	} catch {
		return [];
	}
}

/** Does the same as `look`, but throws what the system says when the way is blocked. Synchronous: one look takes a microsecond, a thread takes twenty. */
export const lookInto = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/** The path without links; nothing where there is nothing. */
export function realPath(path: string): string | undefined {
	// Most paths that are asked about are missing, and an exception costs ten times a look.
	if (!look(path)) return undefined;
	try {
		return realpathSync.native(path);
	} catch {
		return undefined;
	}
}

/** The path itself, or the nearest one above it that exists. */
export function nearest(path: string): string {
	return look(path) || path === dirname(path) ? path : nearest(dirname(path));
}

/** The directories above a path, the nearest first, up to and without `top`. */
export function between(path: string, top: string): string[] {
	const found: string[] = [];
	for (let at = dirname(path); at !== top && isWithin(at, top) && at !== dirname(at); at = dirname(at)) found.push(at);
	return found;
}

/** Outer directories first; each path once, and none that another one contains. */
export function outermost(paths: Iterable<string>): string[] {
	const kept: string[] = [];
	for (const path of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
		if (!kept.some((outer) => isWithin(path, outer))) kept.push(path);
	}
	return kept;
}

/** Whether one of the outer directories contains the path, and no directory between them opens it again. */
export const isCovered = (path: string, outer: readonly string[], opened: readonly string[]) =>
	outer.some((each) => each !== path && isWithin(path, each) && !opened.some((inner) => isWithin(inner, each) && isWithin(path, inner)));

/** Outer directories first, so that a mount never covers one that was made before it. */
export const outerFirst = (a: string, b: string) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1);

function depthOf(path: string): number {
	let depth = 0;
	for (let at = path.indexOf(sep); at !== -1; at = path.indexOf(sep, at + 1)) depth += 1;
	return depth;
}

/** Opens the folder of a path, so that its name can lead nowhere else meanwhile, where the system has paths of descriptors. */
export function inFolder(path: string, act: (target: string, folder: string) => void): void {
	const descriptor = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		const held = `/proc/self/fd/${descriptor}`;
		const isHeld = look(held) !== undefined;
		act(isHeld ? join(held, basename(path)) : path, isHeld ? readlinkSync(held) : realpathSync.native(dirname(path)));
	} finally {
		closeSync(descriptor);
	}
}
