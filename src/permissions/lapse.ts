/**
 * Answers for commands that run files of the project, such as `npm test`, lapse once those files change: what was approved is not what would run.
 * Changes are found by looking at the directory, so it does not matter which tool or command made them.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { setImmediate as nextTurn, setTimeout as passed } from "node:timers/promises";
import { printableLine } from "../lib/printable.ts";
import { runsLaterByName } from "../lib/runs-later.ts";
import type { PermissionLapse } from "../protocol/permissions.ts";
import type { Script } from "./command-patterns.ts";
import type { Grant } from "./grants.ts";
import { isBelow } from "./path-patterns.ts";
import { readsOnly } from "./programs.ts";

/** When a directory was looked at: a later look finds what has changed since. */
export interface Look {
	cwd: string;
	/** Undefined where the files cannot be compared. */
	number: number | undefined;
}

/** A look at more takes too long. */
const mostFiles = 100_000;
const filesPerSlice = 2000;
/** File systems tell times apart that are this long from each other. */
const tickMs = 20;
const mostListed = 20;
const mostNamed = 5;

/** Whether a script may run files of the project. What is not known does. */
export const runsProject = ({ commands }: Script): boolean => commands?.every(({ words: [name = "", ...rest] }) => readsOnly(name, rest)) !== true;

export interface LapsePlaces {
	/** Directories that may be written to without a question, as real paths. A command in one may run files of the others. */
	roots: () => readonly string[];
	/** What the real paths of files begin with that Bowline itself writes, such as the one of the session. */
	ownFiles: () => readonly string[];
}

export class Lapses {
	readonly #places: LapsePlaces;
	readonly #trees = new Map<string, Tree>();
	readonly #given = new Map<string, Look>();
	/** One look at a time. */
	#last: Promise<unknown> = Promise.resolve();
	/** Tool calls that run now; one that another one ran next to is in both. */
	readonly #running = new Set<string>();
	readonly #accompanied = new Set<string>();
	/** Calls that an answer covers, with the directory that they run in. */
	readonly #covered = new Map<string, string>();

	constructor(places: LapsePlaces) {
		this.#places = places;
	}

	/** Looks at the files of a directory. */
	look(cwd: string): Promise<Look> {
		return this.#next(async () => ({ cwd, number: await this.#tree(cwd).look("counts") }));
	}

	/** The first look, against which answers of earlier processes are judged. Must be taken before the model can change anything. */
	async begin(cwd: string, grants: readonly Grant[]): Promise<void> {
		// What a covered command wrote is looked at before the next call can write anything.
		await this.#last;
		if (grants.every(({ scope, id }) => scope === "session" || this.#given.has(id))) return;
		const look = await this.look(cwd);
		for (const { scope, id } of grants) if (scope === "always" && !this.#given.has(id)) this.#given.set(id, look);
	}

	/** An answer holds from this look on. */
	give({ id }: Grant, look: Look): void {
		this.#given.set(id, look);
	}

	/** Whether the files are as they were when the answer was given, as far as the last look knows. */
	holds({ id }: Grant, cwd: string): boolean {
		const changed = this.#changedSince(this.#given.get(id), cwd);
		return changed !== undefined && changed.length === 0;
	}

	/** What has changed since an answer, for the question that asks again. */
	since({ id }: Grant, cwd: string): PermissionLapse {
		const changed = this.#changedSince(this.#given.get(id), cwd);
		if (!changed) return { files: [] };
		const isFirst = (path: string) => Number(runsLaterByName(path) === undefined);
		const files = changed.sort((one, two) => isFirst(one) - isFirst(two) || (one < two ? -1 : 1));
		return { files: files.slice(0, mostListed), more: Math.max(0, files.length - mostListed) };
	}

	started(toolCallId: string): void {
		this.#running.add(toolCallId);
		if (this.#running.size > 1) for (const id of this.#running) this.#accompanied.add(id);
	}

	/** An answer covers the call: what it writes itself, such as reports and caches, is no reason to ask again. */
	covers(toolCallId: string, cwd: string): void {
		if (this.#running.has(toolCallId)) this.#covered.set(toolCallId, cwd);
	}

	ended(toolCallId: string): void {
		const cwd = this.#covered.get(toolCallId);
		const isAlone = !this.#accompanied.delete(toolCallId);
		this.#running.delete(toolCallId);
		this.#covered.delete(toolCallId);
		if (cwd !== undefined && isAlone) void this.#next(() => this.#tree(cwd).look("is forgiven"));
	}

	#next<Value>(work: () => Promise<Value>): Promise<Value> {
		const next = this.#last.then(work);
		this.#last = next.catch(() => undefined);
		return next;
	}

	#tree(cwd: string): Tree {
		const tree = this.#trees.get(cwd) ?? new Tree(cwd, this.#places);
		this.#trees.set(cwd, tree);
		return tree;
	}

	#changedSince(look: Look | undefined, cwd: string): string[] | undefined {
		return look?.cwd === cwd && look.number !== undefined ? this.#tree(cwd).changedSince(look.number) : undefined;
	}
}

/** The files that a command in a directory may run, as they were at the last look. */
class Tree {
	readonly #top: string;
	readonly #places: LapsePlaces;
	#files: Map<string, string> | undefined;
	#isTooLarge = false;
	#looks = 0;
	/** The look that found a file changed, by its path. */
	readonly #changed = new Map<string, number>();

	constructor(top: string, places: LapsePlaces) {
		this.#top = top;
		this.#places = places;
	}

	/** Returns the number of the look; undefined where there are too many files. */
	async look(change: "counts" | "is forgiven"): Promise<number | undefined> {
		if (this.#isTooLarge) return undefined;
		const roots = this.#places.roots();
		const tops = roots.includes(this.#top) ? roots.filter((root) => !roots.some((outer) => outer !== root && isBelow(outer, root))) : [this.#top];
		const now = await filesBelow(tops, this.#places.ownFiles());
		this.#looks += 1;
		if (!now) {
			this.#isTooLarge = true;
			return undefined;
		}
		const before = this.#files;
		this.#files = now;
		if (!before || change === "is forgiven") return this.#looks;
		for (const [path, facts] of now) if (before.get(path) !== facts) this.#changed.set(path, this.#looks);
		for (const path of before.keys()) if (!now.has(path)) this.#changed.set(path, this.#looks);
		return this.#looks;
	}

	changedSince(look: number): string[] | undefined {
		if (this.#isTooLarge) return undefined;
		return [...this.#changed].flatMap(([path, found]) => (found > look ? [relative(this.#top, path)] : []));
	}
}

/**
 * What tells one state of a file from another: no program can set the time of the last change back. Git's own directories are not files of the
 * project. Undefined for more files than can be looked at.
 */
async function filesBelow(tops: readonly string[], own: readonly string[]): Promise<Map<string, string> | undefined> {
	const found = new Map<string, string>();
	const directories = [...tops];
	let seen = 0;
	let newest = 0;
	for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
		for (const entry of entriesOf(directory)) {
			if (entry.name === ".git") continue;
			const path = join(directory, entry.name);
			if (own.some((beginning) => path.startsWith(beginning))) continue;
			seen += 1;
			if (seen > mostFiles) return undefined;
			if (seen % filesPerSlice === 0) await nextTurn();
			if (entry.isDirectory()) directories.push(path);
			else {
				const facts = lstatSync(path, { throwIfNoEntry: false });
				if (!facts) continue;
				found.set(path, `${facts.ino} ${facts.size} ${facts.ctimeMs}`);
				newest = Math.max(newest, facts.ctimeMs);
			}
		}
	}
	// A change that follows at once must have another time.
	const ageMs = Date.now() - newest;
	if (ageMs < tickMs) await passed(Math.min(tickMs, tickMs - ageMs));
	return found;
}

/** A directory that cannot be read is closed to commands as well, or has just been removed. */
function entriesOf(directory: string) {
	try {
		return readdirSync(directory, { withFileTypes: true });
	} catch {
		return [];
	}
}

/** Why a command is asked about again. */
export function lapseInWords({ files, more }: PermissionLapse): string {
	if (more === undefined) return "You allowed it before, but Bowline cannot tell what has changed in this directory since.";
	const count = files.length + more;
	const named = files.slice(0, mostNamed).map(printableLine).join(", ");
	const rest = count > mostNamed ? ` and ${count - mostNamed} more` : "";
	return `You allowed it before ${count === 1 ? "a file" : `${count} files`} of the project changed: ${named}${rest}.`;
}
