/** Finds extensions without running any. Cheap: a start without extensions pays for a few directory listings. */
import { opendirSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import type { SourceInfo } from "./api.ts";
import type { ExtensionError } from "./link.ts";

export interface DiscoveryOptions {
	cwd: string;
	/** Searched one level deep, in this order. */
	directories: readonly ExtensionDirectory[];
	/** Files and directories from settings, with their owner. */
	settingsPaths?: readonly string[];
	settingsScope?: SourceInfo["scope"];
	/** Files and directories from packages. */
	packages?: readonly { directory: string; extensions: readonly string[] }[];
	packagesScope?: SourceInfo["scope"];
	/** Files and directories of `--extension`. */
	paths?: readonly string[];
	/** Only `paths` are loaded. */
	noExtensions?: boolean;
}

export interface ExtensionDirectory {
	path: string;
	scope: "project" | "user";
	/** Code in a directory that is not trusted is not loaded. */
	isTrusted: boolean;
}

export interface Discovery {
	/** In load order, each file once. */
	found: SourceInfo[];
	/** Named paths that do not exist, and packages that cannot be read. */
	errors: ExtensionError[];
	/** Omitted because their directory is not trusted. */
	untrusted: string[];
}

type Origin = Omit<SourceInfo, "path" | "origin">;

export function findExtensions(options: DiscoveryOptions): Discovery {
	const { cwd, directories, settingsPaths = [], packages = [], paths = [], noExtensions = false } = options;
	const { settingsScope = "temporary", packagesScope = "temporary" } = options;
	const errors: ExtensionError[] = [];
	const found: SourceInfo[] = [];
	const untrusted: string[] = [];
	const seen = new Set<string>();
	const add = (entries: SourceInfo[], list: SourceInfo[]) => {
		for (const entry of entries) {
			const real = realpathSync(entry.path);
			if (!seen.has(real)) list.push(entry);
			seen.add(real);
		}
	};
	const reported = (extensionPath: string, work: () => SourceInfo[]): SourceInfo[] => {
		try {
			return work();
		} catch (error) {
			errors.push({ extensionPath, event: "load", error: (error as Error).message });
			return [];
		}
	};
	for (const { path, scope, isTrusted } of noExtensions ? [] : directories) {
		if (isTrusted) add(inDirectory(path, { source: "local", scope, baseDir: path }, reported), found);
		else untrusted.push(...inDirectory(path, { source: "local", scope }, () => []).map((entry) => entry.path));
	}
	const named = (given: string, source: string, more: Partial<SourceInfo> = {}) => {
		const path = absolute(given, cwd);
		const entries = reported(path, () => byName(path, { source, scope: "temporary" }, reported));
		add(
			entries.map((entry) => ({ ...entry, ...more })),
			found,
		);
	};
	for (const path of noExtensions ? [] : settingsPaths) named(path, "settings", { scope: settingsScope });
	for (const { directory, extensions } of noExtensions ? [] : packages)
		for (const path of extensions) named(path, "settings", { scope: packagesScope, origin: "package", baseDir: directory });
	for (const path of paths) named(path, "cli");
	return { found, errors, untrusted };
}

type Reported = (path: string, work: () => SourceInfo[]) => SourceInfo[];

/** The files of a directory, its packages, and its subdirectories with an index file. */
function inDirectory(directory: string, origin: Origin, reported: Reported): SourceInfo[] {
	if (!isDirectory(directory)) return [];
	return namesIn(directory)
		.sort()
		.filter((name) => !name.startsWith(".") && name !== "node_modules")
		.flatMap((name) => {
			const path = join(directory, name);
			if (isDirectory(path)) return reported(path, () => inSubdirectory(path, origin) ?? []);
			return /\.[jt]s$/.test(name) && !name.endsWith(".d.ts") && isFile(path) ? [{ path, ...origin, origin: "top-level" as const }] : [];
		});
}

/** Maximum number of names in one directory; any further ones are ignored. */
const maxNames = 1000;
const maxManifestBytes = 1024 * 1024;

function namesIn(path: string): string[] {
	const names: string[] = [];
	const directory = opendirSync(path);
	try {
		for (let entry = directory.readSync(); entry && names.length < maxNames; entry = directory.readSync()) names.push(entry.name);
	} finally {
		directory.closeSync();
	}
	return names;
}

function inSubdirectory(directory: string, origin: Origin): SourceInfo[] | undefined {
	const listed = listedIn(join(directory, "package.json"));
	if (listed) {
		return listed.map((relative) => {
			const path = resolve(directory, relative);
			if (!isFile(path)) throw new Error(`package.json names ${relative}, which is not a file`);
			return { path, ...origin, origin: "package" as const, baseDir: directory };
		});
	}
	const index = ["index.ts", "index.js"].map((name) => join(directory, name)).find(isFile);
	return index === undefined ? undefined : [{ path: index, ...origin, origin: "top-level", baseDir: directory }];
}

/** The extensions that a package declares; nothing when it declares none. */
function listedIn(path: string): string[] | undefined {
	if (!isFile(path)) return undefined;
	let content: Record<string, { extensions?: unknown } | undefined>;
	try {
		content = JSON.parse(
			readRegularSync(path, maxManifestBytes)
				.toString("utf8")
				.replace(/^\uFEFF/, ""),
		);
	} catch (error) {
		throw new Error(`${basename(path)} cannot be read: ${(error as Error).message}`);
	}
	const listed = content?.bowline?.extensions ?? content?.pi?.extensions;
	if (listed === undefined) return undefined;
	if (!Array.isArray(listed) || !listed.every((each) => typeof each === "string"))
		throw new Error("package.json: extensions must be a list of paths");
	return listed;
}

/** A file, a package or a directory with an index file; otherwise a directory of extensions. */
function byName(path: string, origin: Origin, reported: Reported): SourceInfo[] {
	if (isFile(path)) return [{ path, ...origin, origin: "top-level" }];
	if (!isDirectory(path)) throw new Error("There is no such file or directory");
	const own = inSubdirectory(path, origin);
	if (own) return own;
	const inside = inDirectory(path, { ...origin, baseDir: path }, reported);
	if (inside.length === 0) throw new Error("There is no extension in this directory");
	return inside;
}

function absolute(path: string, cwd: string): string {
	return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path);
}

const isFile = (path: string) => factsOf(path)?.isFile() ?? false;
const isDirectory = (path: string) => factsOf(path)?.isDirectory() ?? false;

/** Returns undefined also where a link goes round, or a folder on the way is closed to us. */
function factsOf(path: string): Stats | undefined {
	try {
		return statSync(path, { throwIfNoEntry: false });
	} catch {
		return undefined;
	}
}
