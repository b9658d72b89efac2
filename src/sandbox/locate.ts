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

/** What every step of a path asks a view. */
interface Ways {
	/** Directories that are seen where they are. */
	open: readonly string[];
	/** Folders that are there only because one of them is below. */
	above: ReadonlySet<string>;
	temporary: readonly (readonly [string, string])[];
}

function waysOf(view: View): Ways {
	const open = [...view.writable, ...view.shown];
	const above = new Set<string>();
	for (const directory of open) for (let at = directory; at !== dirname(at); at = dirname(at)) above.add(dirname(at));
	return { open, above, temporary: Object.entries(view.temporary) };
}

/** The place outside that a name inside means. Roots below /tmp are themselves; everything else there is the session's own. */
function placeOf(name: string, { open, temporary }: Ways): string {
	for (const directory of open) if (isWithin(name, directory)) return name;
	for (const [inside, directory] of temporary) if (isWithin(name, inside)) return directory + name.slice(inside.length);
	return name;
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
	const ways = waysOf(view);
	for (let index = 0; index < names.length; index += 1) {
		const name = join(at, names[index] as string);
		if (ways.above.has(name)) {
			at = name;
			continue;
		}
		const facts = lookInto(placeOf(name, ways));
		if (!facts) return { path: placeOf(at, ways), missing: names.slice(index) };
		if (!facts.isSymbolicLink()) {
			at = name;
			continue;
		}
		hops += 1;
		if (hops > mostHops) throw new Error(`Too many symbolic links: ${path}`);
		const target = resolve(dirname(name), readlinkSync(placeOf(name, ways)));
		names = [...target.split(sep).filter(Boolean), ...names.slice(index + 1)];
		at = sep;
		index = -1;
	}
	return { path: placeOf(at, ways), missing: [] };
}
