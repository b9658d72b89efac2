/** What the packages of the setting `packages` provide: directories with a package.json that says so, or with the usual folders. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readRegularSync } from "../lib/bounded-file-sync.ts";

const kinds = ["extensions", "skills", "prompts"] as const;
const maxManifestBytes = 1024 * 1024;
type Kind = (typeof kinds)[number];

/** Files and directories, by what they hold. */
export type Package = Record<Kind, string[]> & { directory: string };

export interface PackageProblem {
	directory: string;
	problem: string;
}

/** A package that cannot be used is reported, and the others are read. */
export function readPackages(directories: readonly string[]): { packages: Package[]; problems: PackageProblem[] } {
	const packages: Package[] = [];
	const problems: PackageProblem[] = [];
	for (const directory of directories) {
		const found = readPackage(directory);
		if (typeof found === "string") problems.push({ directory, problem: found });
		else packages.push(found);
	}
	return { packages, problems };
}

/** What the package provides, or why it provides nothing. */
function readPackage(directory: string): Package | string {
	if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
		return "There is no such directory. Bowline installs no packages: name the directory of one";
	const manifest = manifestOf(directory);
	if (typeof manifest === "string") return manifest;
	const found: Package = { directory, extensions: [], skills: [], prompts: [] };
	for (const kind of kinds) {
		const listed = manifest?.[kind];
		if (listed !== undefined && !(Array.isArray(listed) && listed.every((path) => typeof path === "string")))
			return `package.json: ${kind} must be a list of paths`;
		// Without a manifest, the usual folders apply.
		const usual = manifest ? [] : [kind].filter((name) => existsSync(join(directory, name)));
		found[kind] = (listed ?? usual).map((path: string) => resolve(directory, path));
	}
	return kinds.some((kind) => found[kind].length > 0) ? found : "It brings no extensions, skills or prompts";
}

function manifestOf(directory: string): Record<string, unknown> | undefined | string {
	const path = join(directory, "package.json");
	if (!existsSync(path)) return undefined;
	try {
		const content = JSON.parse(
			readRegularSync(path, maxManifestBytes)
				.toString("utf8")
				.replace(/^\uFEFF/, ""),
		);
		const manifest = content?.bowline ?? content?.pi;
		if (manifest === undefined || (typeof manifest === "object" && manifest !== null)) return manifest;
		return "package.json: bowline must be an object";
	} catch (error) {
		return `package.json cannot be read: ${(error as Error).message}`;
	}
}
