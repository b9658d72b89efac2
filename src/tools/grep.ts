/** The tool that searches the content of files. */
import { basename, dirname } from "node:path";
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import { realTarget } from "../lib/real-path.ts";
import { formatSize, truncateHead } from "../lib/truncate.ts";
import Type from "../protocol/plain-schema.ts";
import { closedBelow, closedNotes, leftOutOf } from "./closed-paths.ts";
import { type Found, type FoundLine, longestLine, type Search, withNotes } from "./found-lines.ts";
import { searchWithRipgrep } from "./grep-ripgrep.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { isDirectory, pathArgument, resolveExisting } from "./paths.ts";
import type { RipgrepFinder } from "./ripgrep.ts";
import { searchWithoutRipgrep } from "./search-worker-host.ts";

const defaultLimit = 100;
/** More context than this is never shown. */
const maxContext = 1000;

const parameters = Type.Object({
	pattern: Type.String({ description: "What to look for: a regular expression, or plain text with literal." }),
	path: Type.Optional(Type.String({ description: "Directory or file to search; default: the working directory." })),
	glob: Type.Optional(Type.String({ description: "Only files that match, such as *.ts or src/**/*.md." })),
	ignoreCase: Type.Optional(Type.Boolean({ description: "Do not tell upper from lower case." })),
	literal: Type.Optional(Type.Boolean({ description: "Take the pattern as plain text." })),
	context: Type.Optional(Type.Integer({ minimum: 0, description: "Lines to show before and after each match." })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most matching lines to show; default ${defaultLimit}.` })),
});

export function grepTool(options: Pick<ToolOptions, "cwd" | "shell" | "confined" | "searchShell" | "closedTo">, findRipgrep: RipgrepFinder): Tool {
	return {
		name: "grep",
		label: "Grep",
		effect: { kind: "read", paths: pathArgument },
		offered: "on request",
		view: { kind: "search", glyph: "⌕", verb: "Search", pattern: "quoted", path: "place", hits: true },
		description:
			"Search the content of files for a regular expression or plain text. Gives path:line: text for every match. Hidden files are searched, ignored ones (.gitignore) are not. Lines longer than 500 characters are cut.",
		hint: "Search the content of files",
		parameters: { ...parameters },
		concurrency: "shared",
		async execute({ args, signal }) {
			const { pattern, path = ".", glob, ignoreCase = false, literal = false, context = 0, limit = defaultLimit } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const target = await resolveExisting(options.cwd, path, options.confined);
			const isWhole = await isDirectory(target);
			const real = await realTarget(target);
			const place = isWhole ? { directory: real } : { directory: dirname(target), file: basename(target) };
			const leftOut = leftOutOf(options.closedTo?.("grep", "contents", real), { real, target, path, cwd: options.cwd });
			if (!isWhole && closedBelow(leftOut)("")) return textResult(withNotes("No matches found", closedNotes(leftOut)));
			const search: Search = { ...place, leftOut, pattern, glob, ignoreCase, literal, context: Math.min(context, maxContext), limit };
			const ripgrep = await findRipgrep();
			const found = ripgrep
				? await searchWithRipgrep(options.searchShell ?? options.shell, ripgrep, search, signal)
				: await searchWithoutRipgrep<Found>(options, { kind: "grep", search }, signal);
			found.notes.push(...closedNotes(leftOut));
			return found.lines.length === 0 ? textResult(withNotes("No matches found", found.notes)) : present(found, limit);
		},
	};
}

function present(found: Found, limit: number) {
	let linesTruncated = false;
	const shown = inOrder(found.lines).map(({ path, line, text, isMatch }) => {
		const cut = cutLine(text);
		linesTruncated ||= cut !== text;
		return isMatch ? `${path}:${line}: ${cut}` : `${path}-${line}- ${cut}`;
	});
	const { text, truncation } = truncateHead(shown.join("\n"));
	const notices = [
		...(found.isLimited ? [`First ${limit} matches; ask with limit=${limit * 2} for more, or narrow the search`] : []),
		...(truncation.truncated
			? [`cut at ${truncation.truncatedBy === "bytes" ? formatSize(truncation.maxBytes) : `${truncation.maxLines} lines`}`]
			: []),
		...(linesTruncated ? [`some lines were cut at ${longestLine} characters; use read to see them whole`] : []),
		...found.notes,
	];
	const details = {
		...(found.isLimited ? { matchLimitReached: limit } : {}),
		...(linesTruncated ? { linesTruncated } : {}),
		...(truncation.truncated ? { truncation } : {}),
	};
	return textResult(withNotes(text, notices), details);
}

/** ripgrep searches in parallel and gives files as they come; the model gets the same order every time. */
function inOrder(lines: FoundLine[]): FoundLine[] {
	return lines.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

function cutLine(text: string): string {
	if (text.length <= longestLine) return text;
	// Not between the halves of one character.
	const code = text.charCodeAt(longestLine - 1);
	return `${text.slice(0, code >= 0xd800 && code < 0xdc00 ? longestLine - 1 : longestLine)}…`;
}
