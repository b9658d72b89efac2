/**
 * What a command can leave in a git directory for git outside to act on. Git follows a link in its directory and writes to wherever it leads: the
 * message of the next commit, an emptied FETCH_HEAD, lines of a log, new objects. And what is continued runs programs: a rebase the `exec` lines of
 * its list, a rebase or a cherry-pick its strategy of merging.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { entriesOf, follow, inDirectory, isWithin, look } from "./paths.ts";

export interface GitTrap {
	kind: "link" | "file" | "line" | "limit";
	/** The link, the file, the file with the line, or the directory with too many others. */
	path: string;
	/** The same for as long as the trap is: it tells what was there before the first command from what came later. */
	key: string;
	/** The reason, for people and the model. */
	text: string;
}

const todoName = "git-rebase-todo";
const runLine = /^[ \t]*(?:x|exec)[ \t]/;
/** Those of git itself. Any other name is the end of a program's name, and with a slash in it the program may be in the project. */
const strategies = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];
/** A list of a thousand commits has 100 KB. */
const mostBytes = 4 * 1024 * 1024;
const mostDirectories = 50_000;

/** Finds the traps in a git directory. Git itself makes no link but HEAD, which then leads to a branch. */
export function trapsIn(directory: string): GitTrap[] {
	const traps: GitTrap[] = [];
	const refs = inDirectory(directory, "refs");
	const modules = inDirectory(directory, "modules");
	const objects = basename(directory) === "objects" ? directory : inDirectory(directory, "objects");
	/** Folders of many others, which git and its extensions never write through when a file in them exists. */
	const stores = [objects, ...["lfs", "annex"].map((name) => inDirectory(inDirectory(directory, name), "objects"))];
	let level = [directory];
	let count = 0;
	// Level by level, so that many directories deep down cannot hide a link that is nearer.
	while (level.length > 0) {
		const next: string[] = [];
		for (const folder of level) {
			count += 1;
			if (count > mostDirectories)
				return [...traps, { kind: "limit", path: directory, key: `limit ${directory}`, text: `${directory} has too many directories to look at` }];
			const isModule = folder !== modules && isWithin(folder, modules) && look(inDirectory(folder, "HEAD")) !== undefined;
			if (isModule) {
				traps.push(...trapsIn(folder));
				continue;
			}
			for (const entry of entriesOf(folder)) {
				const path = inDirectory(folder, entry.name);
				if (entry.isSymbolicLink()) {
					if (!isWithin(follow(path).place, refs)) traps.push(...linkTrap(path));
				} else if (entry.isDirectory()) {
					// Hooks are the person's, links among them too: nothing inside can write there, and git only runs them.
					const isHooks = folder === directory && entry.name === "hooks";
					const isStored = stores.includes(folder) && entry.name.length <= 3;
					if (!isHooks && !isStored) next.push(path);
				} else traps.push(...fileTraps(path, basename(folder), entry.name));
			}
		}
		level = next;
	}
	return traps;
}

function linkTrap(path: string): GitTrap[] {
	try {
		const target = readlinkSync(path);
		return [{ kind: "link", path, key: `link ${path} ${target}`, text: `${path} is a link to ${target}, and git would write through it` }];
	} catch {
		// It is gone.
		return [];
	}
}

function fileTraps(path: string, folder: string, name: string): GitTrap[] {
	if (name === todoName) return (linesOf(path) ?? []).filter((line) => runLine.test(line)).map((line) => lineTrap(path, line.trim()));
	const isStrategy = folder === "rebase-merge" && name === "strategy";
	if (!isStrategy && !(folder === "sequencer" && name === "opts")) return [];
	const lines = linesOf(path) ?? [];
	const named = isStrategy ? [lines.join("\n").trim()] : lines.flatMap((line) => /^\s*strategy\s*=\s*(.*?)\s*$/i.exec(line)?.[1] ?? []);
	return named
		.filter((strategy) => strategy !== "" && !strategies.includes(strategy))
		.map((strategy) => ({
			kind: "file",
			path,
			key: `strategy ${path} ${strategy}`,
			text: `${path} names "${strategy.slice(0, 80)}", which git would run to merge`,
		}));
}

/** Git writes the rest of the list again after each step, so a line is known by its text. */
const lineTrap = (path: string, line: string): GitTrap => ({
	kind: "line",
	path,
	key: `line ${dirname(path)} ${line}`,
	text: `${path} has the line "${line.slice(0, 80)}", which git rebase --continue would run`,
});

/** Returns the list of a rebase without the lines that are traps. */
export function withoutTraps(path: string, traps: readonly GitTrap[]): string {
	const keys = new Set(traps.map(({ key }) => key));
	const lines = linesOf(path) ?? [];
	return lines.filter((line) => !runLine.test(line) || !keys.has(lineTrap(path, line.trim()).key)).join("\n");
}

/** Returns undefined where there is no file that git would read. One that is too long counts as a single line to run. */
function linesOf(path: string): string[] | undefined {
	const facts = look(path);
	if (!facts?.isFile()) return undefined;
	if (facts.size > mostBytes) return ["exec too long to look at"];
	try {
		return readFileSync(path, "utf8").split("\n");
	} catch {
		return undefined;
	}
}
