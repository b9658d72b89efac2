/** Which names an extension imports from the family's packages, found before it is loaded. */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Module } from "./modules.ts";

/** Finds `import { a, type B, c as d } from "x"`. A statement that imports types only is not found. */
const statement = /\b(?:import|export)\s+(?!type\b)(?:[\w$]+\s*,\s*)?(?:\{([^}]*)\}|\*(?:\s+as\s+[\w$]+)?|[\w$]+)\s*from\s*["']([^"']+)["']/g;
const mostFiles = 300;

interface Import {
	names: string[];
	from: string;
}

export function importsIn(code: string): Import[] {
	return [...code.matchAll(statement)].map(([, list = "", from = ""]) => {
		const parts = list.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "").split(",");
		const names = parts.map((part) => part.trim()).filter((part) => part !== "" && !/^type\s/.test(part));
		const pairs = names.map((name) => name.split(/\s+as\s+/) as [string, string?]);
		return { names: pairs.filter(([name, local = name]) => isValue(local, code)).map(([name]) => name), from };
	});
}

/** Types may be imported without `type`. A name with a capital letter is a type unless it is called, extended or accessed. */
function isValue(name: string, code: string): boolean {
	if (!/^[A-Z][a-z]/.test(name)) return true;
	return new RegExp(`\\b(?:new|extends)\\s+${name}\\b|\\b${name}\\s*[.(]`).test(code);
}

/** Puts a function that throws in place of every missing name. Returns a description of the missing names. */
export function fillMissing(path: string, modules: Readonly<Record<string, Module>>): string[] {
	const missing = new Map<string, Set<string>>();
	for (const { names, from } of allImports(path)) {
		const module = Object.hasOwn(modules, from) ? modules[from] : undefined;
		for (const name of module ? names : []) {
			const isThere = Object.hasOwn(module as Module, name);
			if (isThere && !isSubstitute((module as Module)[name])) continue;
			if (!isThere) (module as Module)[name] = substitute(name, from);
			missing.set(from, (missing.get(from) ?? new Set()).add(name));
		}
	}
	return [...missing].map(([from, names]) => `${[...names].join(", ")} of ${from}`);
}

const mark = Symbol("not part of Bowline");
const isSubstitute = (value: unknown) => typeof value === "function" && mark in value;

/** A function that can be called, constructed and extended, and then reports the problem. */
function substitute(name: string, from: string): unknown {
	// biome-ignore lint/complexity/useArrowFunction: an arrow function cannot be a base class.
	const missing = function () {
		throw new Error(`${name} of ${from} is not part of Bowline`);
	};
	return Object.assign(missing, { [mark]: true });
}

/** The imports of a file and of the neighbouring files that it imports. */
const allImports = (path: string): Import[] => filesOf(path).flatMap(({ imports }) => imports);

/** Loads code in a way that is not followed. */
const hiddenImport = /\brequire\s*\(|\bimport\s*(?:\(|["'])/;

/** Whether an extension may use one of these words: a file of it has one, or it loads code that is not looked at. */
export function mayMention(path: string, words: RegExp, isKnown: (module: string) => boolean): boolean {
	const files = filesOf(path);
	if (files.length >= mostFiles) return true;
	return files.some(
		({ code, imports }) => words.test(code) || hiddenImport.test(code) || imports.some(({ from }) => !from.startsWith(".") && !isKnown(from)),
	);
}

/** A file and the neighbouring files that it imports. */
function filesOf(path: string): { code: string; imports: Import[] }[] {
	const paths = [path];
	const found: { code: string; imports: Import[] }[] = [];
	for (let index = 0; index < paths.length && index < mostFiles; index++) {
		const file = paths[index] as string;
		const code = textOf(file);
		const imports = importsIn(code);
		found.push({ code, imports });
		for (const { from } of imports) {
			const next = from.startsWith(".") ? fileAt(resolve(dirname(file), from)) : undefined;
			if (next !== undefined && !paths.includes(next)) paths.push(next);
		}
	}
	return found;
}

/** The loader reports what cannot be read. */
function textOf(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}

function fileAt(path: string): string | undefined {
	const base = path.replace(/\.[cm]?js$/, "");
	const candidates = [path, `${base}.ts`, `${base}.js`, `${base}.mts`, `${base}.tsx`, `${path}/index.ts`, `${path}/index.js`];
	return candidates.find((each) => statSync(each, { throwIfNoEntry: false })?.isFile());
}
