/** What of the changes between two states runs later on its own, or leads what runs later out of the tree. */
import { dirname, resolve } from "node:path";
import { changedInPackage, isPackageFile, type RunsLater, runsLaterByName } from "../lib/runs-later.ts";
import { below, toText } from "../snapshots/paths.ts";
import type { Entry } from "../snapshots/shadow.ts";
import type { State, TreeStore } from "./tree-store.ts";

/** Folders of packages and builds, which people make again. */
const made = /(?:^|\/)(?:node_modules|build|dist|out|target|\.?venv|\.tox|\.nox)\//;
/** A report for people: a clone of a large repository is named by its first files. */
const mostFound = 200;

/** Returns it from one state to another. `ignored`: what git ignored at the first; then the second is now, and what no state holds counts, too. */
export async function runsLaterBetween(store: TreeStore, from: State, to: State, ignored?: string): Promise<RunsLater[]> {
	const found = ignored === undefined ? [] : await hiddenSince(store, to, ignored);
	for (const { at, changes } of await store.changes(from, to)) {
		for (const { path, from: before, to: after } of changes) {
			// What is gone does not run.
			const whole = toText(below(at, path));
			const named = after && (runsLaterByName(whole) ?? (await linkOutOf(store, whole, after)));
			if (!named) continue;
			const parts = isPackageFile(named.path) ? changedInPackage(await textOf(store, before), await textOf(store, after)) : undefined;
			if (parts?.length === 0) continue;
			found.push(parts ? { ...named, what: parts.join(", ") } : named);
			if (found.length === mostFound) return sorted(found);
		}
	}
	return sorted(found);
}

/**
 * A line in a `.gitignore`, or filling, keeps a file out of the states, and `make` takes it all the same. What is installed or built is
 * known to be left out.
 */
async function hiddenSince(store: TreeStore, now: State, ignored: string): Promise<RunsLater[]> {
	const changed = store.ignored.changed(ignored, await store.takeIgnored(now)).filter((path) => !made.test(path));
	return [...new Set([...changed, ...store.leftOut])].flatMap((path) => runsLaterByName(toText(path)) ?? []).slice(0, mostFound);
}

const sorted = (found: RunsLater[]) => found.sort((one, two) => (one.path < two.path ? -1 : 1));

const linkMode = "120000";

/** A link out of the tree: a program that saves the file later writes to where the link leads. */
async function linkOutOf(store: TreeStore, path: string, entry: Entry): Promise<RunsLater | undefined> {
	if (entry.mode !== linkMode) return undefined;
	const target = resolve(store.top, dirname(path), (await textOf(store, entry)) ?? "");
	return target === store.top || target.startsWith(`${store.top}/`) ? undefined : { path, what: "link" };
}

async function textOf(store: TreeStore, entry: Entry | undefined): Promise<string | undefined> {
	return entry && toText(await store.shadow.git().run(["cat-file", "blob", entry.oid]));
}
