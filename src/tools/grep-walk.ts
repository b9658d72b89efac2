/** Searches without ripgrep. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { globFilter } from "./glob-filter.ts";
import type { Found, FoundLine, Search } from "./grep.ts";
import { walk } from "./walk.ts";

export async function searchWithWalk(search: Search, signal: AbortSignal): Promise<Found> {
	const expression = compile(search);
	const isWanted = await globFilter(search.glob);
	const found: Found = { lines: [], isLimited: false };
	let matches = 0;
	for await (const path of search.file === undefined ? walk(search.directory, signal) : [search.file]) {
		if (search.file === undefined && !isWanted(path)) continue;
		const [content] = await Promise.allSettled([readFile(join(search.directory, path))]);
		if (content.status === "rejected" || content.value.includes(0)) continue;
		const lines = content.value
			.toString()
			.replace(/^\ufeff/, "")
			.split("\n");
		if (lines.at(-1) === "") lines.pop();
		const hits: number[] = [];
		for (const [index, line] of lines.entries()) {
			if (!expression.test(line.replace(/\r$/, ""))) continue;
			if (matches === search.limit) {
				found.isLimited = true;
				break;
			}
			matches += 1;
			hits.push(index);
		}
		found.lines.push(...withContext(path, lines, hits, search.context));
		if (found.isLimited) break;
	}
	return found;
}

function withContext(path: string, lines: readonly string[], hits: readonly number[], context: number): FoundLine[] {
	const shown = new Map<number, boolean>();
	for (const hit of hits) {
		for (let index = Math.max(0, hit - context); index <= Math.min(lines.length - 1, hit + context); index += 1) {
			shown.set(index, shown.get(index) === true || index === hit);
		}
	}
	return [...shown].map(([index, isMatch]) => ({ path, line: index + 1, text: (lines[index] as string).replace(/\r$/, ""), isMatch }));
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
