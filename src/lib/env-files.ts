/** Finds the files that hold a project's variables, and so its secrets. */
import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { inDirectory, look } from "./links.ts";

const templates = /[._-](example|sample|template|tmpl|tpl|dist|schema)$/i;
const sources = /\.(d\.ts|[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|php|md|rst|html|css|scss|vue|svelte)$/i;
const named = /\.env($|[._~#-])|^\.envrc($|[._~#-])|^\.flaskenv($|[._~#-])|^\.dev\.vars($|[._~#-])|^\.secrets$/i;

/** Returns whether a file with this name holds variables, and is neither a template for them nor source code. */
export const isEnvFile = (name: string) => named.test(name) && !templates.test(name) && !sources.test(name);

const registries = /^(\.npmrc|\.yarnrc|\.yarnrc\.ya?ml|\.pypirc|pip\.conf|\.netrc|\.bunfig\.toml|bunfig\.toml)$/i;

/** Returns whether a file with this name is for a package manager: most have settings alone, and some have a token among them. */
export const isRegistryFile = (name: string) => registries.test(name);

/** Returns whether the sandbox may mask something in a file with this name. */
export const mayHoldSecrets = (name: string) => isEnvFile(name) || isRegistryFile(name);

/** What is in them belongs to others. */
const foreignFolders = new Set(["node_modules", "bower_components", "jspm_packages", "site-packages", ".git", ".hg", ".svn", ".tox", "__pycache__"]);
/** An answer that is not complete would leave the rest open. */
const mostFolders = 200_000;

/** Returns the files of variables below directories: their names, where links among them lead, and other names of the same files. Throws where there is too much to search. */
export function envFilesIn(roots: readonly string[]): string[] {
	const found: string[] = [];
	everyFile(roots, (path, name) => {
		if (mayHoldSecrets(name)) found.push(path);
	});
	const targets = found.flatMap((path) => target(path));
	return [...new Set([...found, ...targets, ...otherNames(targets, roots)])];
}

/** Returns those that have another name than such files and are no link's target: in a copy of the project they are files of their own. */
export const otherNamesIn = (files: readonly string[]) => files.filter((path) => !mayHoldSecrets(basename(path)) && identityOf(path) !== undefined);

function target(path: string): string[] {
	try {
		return [realpathSync.native(path)];
	} catch {
		return [];
	}
}

/** Without the other names of a file its values would be there. */
function otherNames(files: readonly string[], roots: readonly string[]): string[] {
	const identities = new Set(files.flatMap((path) => identityOf(path) ?? []));
	const found: string[] = [];
	if (identities.size > 0)
		everyFile(roots, (path) => {
			const identity = identityOf(path);
			if (identity !== undefined && identities.has(identity)) found.push(path);
		});
	return found;
}

/** Of a file that has more than one name. */
function identityOf(path: string): string | undefined {
	const facts = look(path);
	return facts?.isFile() && facts.nlink > 1 ? `${facts.dev} ${facts.ino}` : undefined;
}

/** Links count as files. Folders that are links are in another place, which is searched where it is a root. */
function everyFile(roots: readonly string[], visit: (path: string, name: string) => void): void {
	const waiting = [...roots];
	let count = 0;
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		count += 1;
		if (count > mostFolders)
			throw new Error(
				`There are more than ${mostFolders} folders to look for files such as .env in. Work in a smaller directory, or set sandbox.envFiles to shown.`,
			);
		for (const entry of entriesOf(directory)) {
			const path = inDirectory(directory, entry.name);
			if (!entry.isDirectory()) visit(path, entry.name);
			else if (!foreignFolders.has(entry.name)) waiting.push(path);
		}
	}
}

/** A folder of ours that cannot be listed now can be opened by a command later: what is in it must not be missed. */
function entriesOf(directory: string): Dirent[] {
	try {
		return readdirSync(directory, { withFileTypes: true });
	} catch (error) {
		const isClosed = (error as NodeJS.ErrnoException).code === "EACCES";
		const owner = look(directory)?.uid;
		if (isClosed && (owner === undefined || owner === process.getuid?.()))
			throw new Error(
				`Files such as .env cannot be looked for in ${directory}: the folder cannot be listed. Make it readable, or set sandbox.envFiles to shown.`,
			);
		return [];
	}
}
