/** Where a path leads inside: links are followed by hand, hop by hop, because some names mean other places there. */
import { readlinkSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { isWithin, lookInto } from "./paths.ts";
import type { View } from "./view.ts";

export interface Located {
	/** The real path outside of what exists. */
	path: string;
	/** Names below it that do not exist. */
	missing: string[];
}

const mostHops = 40;

/** The place outside that a name inside means. Roots below /tmp are themselves; everything else there is the session's own. */
function placeOf(name: string, view: View): string {
	if ([...view.writable, ...view.shown].some((directory) => isWithin(name, directory))) return name;
	const [inside, directory] = Object.entries(view.temporary).find(([prefix]) => isWithin(name, prefix)) ?? [];
	return inside === undefined || directory === undefined ? name : directory + name.slice(inside.length);
}

/** The name inside of a place outside. */
export function nameOf(place: string, view: Pick<View, "temporary">): string {
	const [inside, directory] = Object.entries(view.temporary).find(([, path]) => isWithin(place, path)) ?? [];
	return inside === undefined || directory === undefined ? place : inside + place.slice(directory.length);
}

/** Follows an absolute path. Throws what the system says when the way is blocked. */
export function locate(path: string, view: View): Located {
	let names = resolve(nameOf(path, view)).split(sep).filter(Boolean);
	let at: string = sep;
	let hops = 0;
	// Folders that are there only because a root is below them.
	const leadsToRoot = (name: string) => [...view.writable, ...view.shown].some((directory) => directory !== name && isWithin(directory, name));
	for (let index = 0; index < names.length; index += 1) {
		const name = join(at, names[index] as string);
		if (leadsToRoot(name)) {
			at = name;
			continue;
		}
		const facts = lookInto(placeOf(name, view));
		if (!facts) return { path: placeOf(at, view), missing: names.slice(index) };
		if (!facts.isSymbolicLink()) {
			at = name;
			continue;
		}
		hops += 1;
		if (hops > mostHops) throw new Error(`Too many symbolic links: ${path}`);
		const target = resolve(dirname(name), readlinkSync(placeOf(name, view)));
		names = [...target.split(sep).filter(Boolean), ...names.slice(index + 1)];
		at = sep;
		index = -1;
	}
	return { path: placeOf(at, view), missing: [] };
}
