/** Searches without ripgrep. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { TimeLimit } from "../lib/in-time.ts";
import { globFilter } from "./glob-filter.ts";
import { type Found, type FoundLine, type Search, spansLines } from "./grep.ts";
import { walk } from "./walk.ts";

/** Patterns of ripgrep cannot explode; JavaScript's can, and nobody else would get a turn meanwhile. */
const limitMs = 2000;
const maxFileBytes = 64 * 1024 * 1024;

export async function searchWithWalk(search: Search, signal: AbortSignal): Promise<Found> {
	const expression = compile(search);
	const matchesIn = spansLines(search) ? (text: string) => matchedSpans(text, expression) : (text: string) => matchedLines(text, expression);
	const isWanted = await globFilter(search.glob);
	const found: Found = { lines: [], isLimited: false };
	const limit = new TimeLimit(limitMs);
	let matches = 0;
	for await (const path of search.file === undefined ? walk(search.directory, signal) : [search.file]) {
		if (search.file === undefined && !isWanted(path)) continue;
		const [content] = await Promise.allSettled([contentOf(join(search.directory, path))]);
		if (content.status === "rejected" || content.value.includes(0)) continue;
		const text = content.value
			.toString()
			.replace(/^\ufeff/, "")
			.replace(/\r?\n$/, "");
		const hits: number[] = [];
		const isInTime = limit.run(() => {
			for (const hit of text === "" ? [] : matchesIn(text)) {
				if (matches === search.limit) {
					found.isLimited = true;
					break;
				}
				matches += 1;
				hits.push(...hit);
			}
		});
		if (!isInTime) throw new Error(`The pattern takes too long in ${path}: it can match in too many ways. Use a simpler one, or literal.`);
		found.lines.push(...withContext(path, text.split(/\r?\n/), hits, search.context));
		if (found.isLimited) break;
	}
	return found;
}

async function contentOf(path: string): Promise<Buffer> {
	if ((await stat(path)).size > maxFileBytes) throw new Error("too large");
	return readFile(path);
}

/** Each match as the indexes of its lines. */
function* matchedLines(text: string, expression: RegExp): Generator<number[]> {
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (expression.test(line)) yield [index];
	}
}

/** The same for a pattern that spans lines. */
function* matchedSpans(text: string, expression: RegExp): Generator<number[]> {
	for (const match of text.matchAll(new RegExp(expression, `${expression.flags.replace("m", "")}gm`))) {
		if (match[0] === "") continue;
		const first = text.slice(0, match.index).split("\n").length - 1;
		const last = first + match[0].replace(/\n$/, "").split("\n").length;
		yield Array.from({ length: last - first }, (_, offset) => first + offset);
	}
}

function withContext(path: string, lines: readonly string[], hits: readonly number[], context: number): FoundLine[] {
	const shown = new Map<number, boolean>();
	for (const hit of hits) {
		for (let index = Math.max(0, hit - context); index <= Math.min(lines.length - 1, hit + context); index += 1) {
			shown.set(index, shown.get(index) === true || index === hit);
		}
	}
	return [...shown].map(([index, isMatch]) => ({ path, line: index + 1, text: lines[index] as string, isMatch }));
}

/** ripgrep's expressions are nearly JavaScript's; flags at the beginning are the usual exception. */
function compile({ pattern, literal, ignoreCase }: Search): RegExp {
	if (literal) return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), ignoreCase ? "i" : "");
	const [, inline = "", body = pattern] = /^\(\?([imsu]+)\)([\s\S]*)$/.exec(pattern) ?? [];
	const flags = [...new Set(`${inline.replace("u", "")}${ignoreCase ? "i" : ""}`)].join("");
	try {
		return new RegExp(body, `${flags}u`);
	} catch {
		// Needless escapes such as \- are errors only in Unicode mode.
		return new RegExp(body, flags);
	}
}
