/** Paths inside a repository. Git's names are bytes, not always UTF-8: here each character is one byte (latin1), so that none is lost. */
import { join } from "node:path";

/** Relative to the top of a repository, `/` between the parts, one character per byte. */
export type RepositoryPath = string;

/** The text of a user or of the system, as git knows it. */
export const fromText = (text: string): RepositoryPath => Buffer.from(text).toString("latin1");

/** For people. */
export const toText = (path: RepositoryPath): string => Buffer.from(path, "latin1").toString("utf8");

/** Where it is on the disk. A Buffer: a string would be read as UTF-8. */
export function onDisk(top: string, path: RepositoryPath): Buffer {
	return path === "" ? Buffer.from(top) : Buffer.concat([Buffer.from(top.endsWith("/") ? top : `${top}/`), Buffer.from(path, "latin1")]);
}

/** A path below another. */
export const below = (directory: RepositoryPath, path: RepositoryPath): RepositoryPath =>
	directory === "" || path === "" ? directory + path : `${directory}/${path}`;

/** The directories above a path, nearest first, without the top itself. */
export function* above(path: RepositoryPath): Generator<RepositoryPath> {
	for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) yield path.slice(0, at);
}

/** A text that can be a part of a file's name anywhere. */
export function asFileName(text: string): string {
	const name = text.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80);
	return /^\.*$/.test(name) ? `_${name.length}` : name;
}

/** The first of `path`, `path-2`, `path-3`… that `take` gets. */
export async function firstFree<T>(path: string, take: (path: string) => Promise<T | undefined>): Promise<T> {
	for (let count = 1; ; count++) {
		const taken = await take(count === 1 ? path : `${path}-${count}`);
		if (taken !== undefined) return taken;
	}
}

/** Entries of output that ends each with NUL. */
export const entries = (output: string): string[] => (output === "" ? [] : output.slice(0, -1).split("\0"));

/** Some names of a list, for a sentence. */
export function listed(paths: readonly RepositoryPath[]): string {
	const shown = paths.slice(0, 10).map((path) => JSON.stringify(toText(path)).slice(1, -1));
	return paths.length > shown.length ? `${shown.join(", ")} and ${paths.length - shown.length} more` : shown.join(", ");
}

/** Where `inner` is below `outer`; nothing when it is not. */
export function inside(outer: string, inner: string): RepositoryPath | undefined {
	const top = join(outer, "/");
	return inner.startsWith(top) && inner !== top ? fromText(inner.slice(top.length).replace(/\/$/, "")) : undefined;
}

/** What is in front of a mark, and what comes after it; all of it when there is no mark. */
export function split(text: string, mark: string): string[] {
	const at = text.indexOf(mark);
	return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
