/** Finds a script by its name and reads it. */
import { readFile } from "node:fs";
import { resolve } from "node:path";
import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { didYouMean } from "../../lib/nearest.ts";
import { isRecord, type ModelRecord, parseRecord } from "../records/format.ts";
import { builtInScripts } from "./built-in/index.ts";
import { explain } from "./explain.ts";
import type { Script } from "./format.ts";

export type LoadedScript = { script: Script; source: string } | { problem: string };
/** A file may also be the record of a real session. */
export type LoadedModel = LoadedScript | { record: ModelRecord; source: string };

/** Not from `node:fs/promises`: loading that takes longer than reading a script. */
function textOf(path: string): Promise<string> {
	return new Promise((resolve, reject) => readFile(path, "utf8", (error, text) => (error ? reject(error) : resolve(text))));
}

/** `name` is a built-in script, or a path relative to `cwd`. A problem is one line for the person who named or wrote the script. */
export async function loadScript(name: string, cwd: string): Promise<LoadedModel> {
	if (Object.hasOwn(builtInScripts, name)) return { script: builtInScripts[name] as Script, source: name };
	let text: string;
	try {
		text = await textOf(resolve(cwd, name));
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code !== "ENOENT" && code !== "ENOTDIR") return { problem: `Script cannot be read: ${name}: ${message}` };
		const names = Object.keys(builtInScripts);
		return { problem: `Script not found: ${name}.${didYouMean(name, names)} Name a .jsonc file or a built-in script (${names.join(", ")}).` };
	}
	if (!isRecord(text)) return parseScript(text, name);
	const record = parseRecord(text, name);
	return "problem" in record ? record : { record, source: name };
}

/** `source` is how problems name the text. */
export function parseScript(text: string, source: string): LoadedScript {
	try {
		return readScript(text, source);
	} catch (error) {
		if (error instanceof RangeError) return { problem: `${source}: nested too deep` };
		throw error;
	}
}

function readScript(text: string, source: string): LoadedScript {
	const jsonc = text.startsWith("\ufeff") ? text.slice(1) : text;
	const at = (offset: number) => `${source}:${position(jsonc, offset)}`;
	const errors: ParseError[] = [];
	const root = parseTree(jsonc, errors, { allowTrailingComma: true });
	const [error] = errors;
	if (error || !root) return { problem: `${at(error?.offset ?? 0)}: ${jsonc.trim() === "" ? "the script is empty" : inWords(error)}` };

	const [problem, ...more] = explain(root);
	if (!problem) return { script: getNodeValue(root), source };
	const count = more.length === 0 ? "" : ` (and ${more.length} more)`;
	const where = problem.path === "" ? "" : `${problem.path}: `;
	// It may quote the script; it is one line all the same.
	return { problem: `${at(problem.offset)}: ${where}${problem.message}${count}`.replace(/\s*[\r\n]+\s*/g, " ") };
}

/** `PropertyNameExpected` → `property name expected` */
function inWords(error: ParseError | undefined): string {
	if (!error) return "a value expected";
	return printParseErrorCode(error.error)
		.replace(/(?!^)[A-Z]/g, " $&")
		.toLowerCase();
}

/** `line:column`, both from 1. */
function position(text: string, offset: number): string {
	const before = text.slice(0, offset);
	return `${before.split("\n").length}:${offset - before.lastIndexOf("\n")}`;
}
