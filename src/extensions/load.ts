/** Runs the factories of extensions, TypeScript or JavaScript, and records their registrations. */
import { isBuiltin } from "node:module";
import { stderrLog } from "../lib/log.ts";
import type { Extension, SourceInfo } from "./api.ts";
import { extensionApi, type Others } from "./extension-api.ts";
import { fillMissing, mayMention } from "./family/imports.ts";
import { familyModules, type Module } from "./family/modules.ts";
import { type ExtensionError, Link, slowAfterMs, textOf } from "./link.ts";
import * as published from "./published.ts";
import { commandsOf, mcpServersOf, Registrations } from "./registrations.ts";

export interface LoadOptions {
	/** Where compiled extensions are kept, so that the next start is faster. Nothing is kept without it. Must belong to the user alone. */
	cacheDirectory?: string;
	/** Diagnostics, one line each. */
	warn?: (text: string) => void;
	/** An extension that has not loaded after this time is abandoned. */
	limitMs?: number;
}

export interface LoadedExtensions {
	/** Those that loaded, in load order. */
	extensions: Registrations[];
	/** Why others did not, with event `load`. */
	errors: LoadError[];
	link: Link;
	/** Whether one of them may look at the models. */
	usesModels: boolean;
}

export type LoadError = ExtensionError & { cause: unknown };

/** What is available besides the family's packages. */
const ours: ReadonlySet<string> = new Set(["bowline", "typebox", "@sinclair/typebox"]);

type Import = (path: string) => Promise<unknown>;

/** Never rejects: an extension that cannot be loaded is reported, and the others go on. */
export async function loadExtensions(found: readonly SourceInfo[], options: LoadOptions = {}): Promise<LoadedExtensions> {
	const { warn = (text) => stderrLog().error(text), limitMs = 30_000 } = options;
	const errors: LoadError[] = [];
	const link = new Link((error, cause) => errors.push({ ...error, cause }), warn);
	const extensions: Registrations[] = [];
	const others: Others = { commands: () => commandsOf(extensions), mcpServers: () => mcpServersOf(extensions) };
	const family = familyModules();
	const isOurs = (module: string) => Object.hasOwn(family, module) || ours.has(module) || isBuiltin(module);
	let usesModels = false;
	let load: Import | undefined;
	for (const sourceInfo of found) {
		const own = new Registrations(sourceInfo, link);
		try {
			load ??= await importer(options.cacheDirectory, family);
			const missing = fillMissing(sourceInfo.path, family);
			if (missing.length) warn(`Extension ${sourceInfo.path} imports what is not part of Bowline and throws when it is used: ${missing.join("; ")}.`);
			usesModels ||= mayMention(sourceInfo.path, /modelRegistry|scopedModels/, isOurs);
			await within(limitMs, sourceInfo.path, warn, start(load, own, link, others));
			extensions.push(own);
		} catch (cause) {
			own.isDropped = true;
			own.clear();
			link.report(own.path, "load", cause);
		}
	}
	return { extensions, errors, link, usesModels };
}

async function start(load: Import, own: Registrations, link: Link, others: Others): Promise<void> {
	let factory: unknown;
	try {
		factory = await load(own.path);
	} catch (cause) {
		// The parser's text has blanks in front of the line break and does not mention what failed when.
		throw new Error(
			textOf(cause)
				.replace(/\s*\n\s*/g, " at ")
				.trim(),
			{ cause },
		);
	}
	if (typeof factory !== "function") throw new Error("The module must have a function as its default export: export default (api) => { ... }");
	await (factory as Extension)(extensionApi(own, link, others));
}

/** jiti compiles what Node cannot run; our own package, typebox and the family's packages are available without installation. */
async function importer(cacheDirectory: string | undefined, family: Readonly<Record<string, Module>>): Promise<Import> {
	const [{ createJiti }, typebox] = await Promise.all([import("jiti"), import("typebox")]);
	const jiti = createJiti(process.cwd(), {
		// Never jiti's own choice: other users could put their code into a shared directory.
		fsCache: cacheDirectory ?? false,
		// Loading again runs the current code; files of one extension still share their modules.
		moduleCache: false,
		virtualModules: { ...family, bowline: published, typebox, "@sinclair/typebox": typebox },
	});
	return (path) => jiti.import(path, { default: true });
}

/** The work, or an error when it takes too long. A slow extension is reported by name before that. */
function within<T>(limitMs: number, path: string, warn: (text: string) => void, work: Promise<T>): Promise<T> {
	const named = setTimeout(() => warn(`Extension ${path} has been loading for ${slowAfterMs / 1000} s.`), slowAfterMs);
	let limit: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		limit = setTimeout(() => reject(new Error(`It has not loaded after ${limitMs / 1000} s and was given up`)), limitMs);
	});
	return Promise.race([work, late]).finally(() => {
		clearTimeout(named);
		clearTimeout(limit);
	});
}
