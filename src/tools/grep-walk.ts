/** Searches the content of files without ripgrep. Runs in a thread of its own: see search-worker.ts. */
import { join } from "node:path";
import { readRegular } from "../lib/bounded-file.ts";
import { TimeLimit } from "../lib/in-time.ts";
import { closedBelow } from "./closed-paths.ts";
import { type Found, type FoundLine, type Search, shortened, spansLines } from "./found-lines.ts";
import { globFilter } from "./glob-filter.ts";
import { walk } from "./walk.ts";

/** Patterns of ripgrep take linear time; those of JavaScript can take exponential time. */
const limitMs = 2000;
const maxFileBytes = 64 * 1024 * 1024;

export async function searchWithWalk(search: Search): Promise<Found> {
	const expression = compile(search);
	const matchesIn = spansLines(search) ? (text: string) => matchedSpans(text, expression) : (text: string) => matchedLines(text, expression);
	const isWanted = await globFilter(search.glob);
	const isClosed = closedBelow(search.leftOut);
	const found: Found = { lines: [], isLimited: false, notes: [] };
	const limit = new TimeLimit(limitMs);
	let matches = 0;
	for await (const path of search.file === undefined ? walk(search.directory, found.notes, isClosed) : [search.file]) {
		if (search.file === undefined && !isWanted(path)) continue;
		const [content] = await Promise.allSettled([readRegular(join(search.directory, path), maxFileBytes)]);
		if (content.status === "rejected" || content.value.includes(0)) continue;
		const text = content.value
			.toString()
			.replace(/^\ufeff/, "")
			.replace(/\r?\n$/, "");
		const hits: number[] = [];
		const before = matches;
		const isInTime = limit.run(() => {
			hits.length = 0;
			matches = before;
			for (const hit of text === "" ? [] : matchesIn(text)) {
				if (matches === search.limit) {
					found.isLimited = true;
					break;
				}
				matches += 1;
				for (const line of hit) hits.push(line);
			}
		});
		if (!isInTime) throw new Error(`The pattern takes too long in ${path}: it can match in too many ways. Use a simpler one, or literal.`);
		for (const line of hits.length === 0 ? [] : withContext(path, text.split(/\r?\n/), hits, search.context)) found.lines.push(line);
		if (found.isLimited) break;
	}
	return found;
}

/** Each match as the indexes of its lines. */
function* matchedLines(text: string, expression: RegExp): Generator<number[]> {
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (expression.test(line)) yield [index];
	}
}

/** The same for a pattern that spans lines. */
function* matchedSpans(text: string, expression: RegExp): Generator<number[]> {
	let first = 0;
	let counted = 0;
	for (const match of text.matchAll(new RegExp(expression, `${expression.flags.replace("m", "")}gm`))) {
		if (match[0] === "") continue;
		for (let at = text.indexOf("\n", counted); at >= 0 && at < match.index; at = text.indexOf("\n", at + 1)) {
			first += 1;
			counted = at + 1;
		}
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
	return [...shown].map(([index, isMatch]) => ({ path, line: index + 1, text: shortened(lines[index] as string), isMatch }));
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
