/** Searches with ripgrep. */
import type { Shell } from "../lib/shell/index.ts";
import { closedBelow } from "./closed-paths.ts";
import { type Found, type FoundLine, type Search, shortened, spansLines } from "./found-lines.ts";
import { globFilter, ripgrepGlob } from "./glob-filter.ts";
import { runRipgrep, searchArguments } from "./ripgrep.ts";

/** A value of ripgrep's JSON output that is base64 when it is not UTF-8. */
type Value = { text: string } | { bytes: string };
type Message =
	| { type: "match" | "context"; data: { path: Value; lines: Value; line_number: number } }
	| { type: "begin" | "end" | "summary"; data: unknown };

const Newline = 0x0a;

export async function searchWithRipgrep(shell: Shell, program: string, search: Search, signal: AbortSignal): Promise<Found> {
	const args = [
		"--json",
		// So that $ matches at the end of a line that ends in CRLF.
		"--crlf",
		...(search.ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
		...(spansLines(search) ? ["--multiline"] : []),
		...(search.literal ? ["--fixed-strings"] : []),
		...(search.context > 0 ? [`--context=${search.context}`] : []),
		...(search.file === undefined ? ripgrepGlob(search.glob) : []),
		...searchArguments,
		"--",
		search.pattern,
		`./${search.file ?? ""}`,
	];
	const isWanted = await globFilter(search.glob);
	const isClosed = closedBelow(search.leftOut);
	const lines: FoundLine[] = [];
	let matches = 0;
	let isLimited = false;
	const onRecord = (record: Buffer): boolean => {
		const message = JSON.parse(record.toString()) as Message;
		if (message.type !== "match" && message.type !== "context") return true;
		const path = decoded(message.data.path).replace(/^\.\//, "");
		// Before anything is counted: a limit that a closed file uses up would tell what is in there.
		if (search.file === undefined && (!isWanted(path) || isClosed(path))) return true;
		const isMatch = message.type === "match";
		// The context after the last match is still wanted, so the end is the match that is one too many.
		if (isMatch && matches === search.limit) {
			isLimited = true;
			return false;
		}
		if (isMatch) matches += 1;
		const text = decoded(message.data.lines).replace(/\r?\n$/, "");
		// Several lines when the pattern spans them.
		for (const [index, each] of text.split(/\r?\n/).entries())
			lines.push({ path, line: message.data.line_number + index, text: shortened(each), isMatch });
		return true;
	};
	await runRipgrep(shell, { program, args, cwd: search.directory, separator: Newline, signal, onRecord });
	return { lines: isLimited ? withoutLooseContext(lines, search.context) : lines, isLimited, notes: [] };
}

const decoded = (value: Value) => ("text" in value ? value.text : Buffer.from(value.bytes, "base64").toString());

/** Removes the context of the match that is no longer shown. */
function withoutLooseContext(lines: readonly FoundLine[], context: number): FoundLine[] {
	return lines.filter((line, at) => {
		const near = lines.slice(Math.max(0, at - context), at + context + 1);
		return line.isMatch || near.some((other) => other.isMatch && other.path === line.path && Math.abs(other.line - line.line) <= context);
	});
}
