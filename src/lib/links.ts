/** Resolves absolute paths and lists the links on the way: whoever can replace one of them decides where the path leads. */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, parse, sep } from "node:path";

/** Returns whether the path is the directory or below it. */
export function isWithin(path: string, directory: string): boolean {
	if (!path.startsWith(directory)) return false;
	return path.length === directory.length || directory.endsWith(sep) || path.startsWith(sep, directory.length);
}

/** The path of a name in a directory that is written as the system writes it. Putting it in order again would be most of what a plan costs. */
export const inDirectory = (directory: string, name: string) => (directory.endsWith(sep) ? directory + name : directory + sep + name);

/** Returns what is at the path without following a link, and undefined where nothing is or the way to it is blocked. */
export function look(path: string): Stats | undefined {
	try {
		return lstatSync(path, { throwIfNoEntry: false });
	} catch {
		return undefined;
	}
}

export interface Way {
	/** The resolved path. Nothing need exist there. */
	place: string;
	/** Real places of the links on the way, in the order in which the system follows them. */
	links: string[];
}

/** As many as Linux follows. */
export const mostLinks = 40;

/** Windows knows two. */
const separators = sep === "/" ? sep : /[\\/]/;

/** Follows an absolute path as the system does: `..` after a link leaves the directory that the link leads to. */
export function follow(path: string): Way {
	const links: string[] = [];
	let at = parse(path).root;
	let names = path.slice(at.length).split(separators);
	for (let index = 0; index < names.length; index += 1) {
		const name = names[index] as string;
		if (name === "" || name === ".") continue;
		if (name === "..") {
			at = dirname(at);
			continue;
		}
		const next = inDirectory(at, name);
		const facts = look(next);
		if (!facts) return { place: join(next, ...names.slice(index + 1)), links };
		if (!facts.isSymbolicLink() || links.length >= mostLinks) {
			at = next;
			continue;
		}
		links.push(next);
		const target = targetOf(next);
		// It was taken away meanwhile.
		if (target === undefined) return { place: join(next, ...names.slice(index + 1)), links };
		const root = isAbsolute(target) ? parse(target).root : "";
		if (root !== "") at = root;
		names = [...target.slice(root.length).split(separators), ...names.slice(index + 1)];
		index = -1;
	}
	return { place: at, links };
}

function targetOf(link: string): string | undefined {
	try {
		return readlinkSync(link);
	} catch {
		return undefined;
	}
}

/** Returns the first link on the way that lies inside one of the directories: whoever writes there decides where the path leads. */
export const linkInside = ({ links }: Way, directories: readonly string[]): string | undefined =>
	links.find((link) => directories.some((directory) => isWithin(link, directory)));
