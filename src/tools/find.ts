/** The tool that finds files by name. */
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import { realTarget } from "../lib/real-path.ts";
import type { Shell } from "../lib/shell/index.ts";
import { formatSize, truncateHead } from "../lib/truncate.ts";
import Type from "../protocol/plain-schema.ts";
import { closedBelow, closedNotes, type LeftOut, leftOutOf } from "./closed-paths.ts";
import { pathCollector } from "./find-collector.ts";
import { withNotes } from "./found-lines.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { isDirectory, pathArgument, resolveExisting } from "./paths.ts";
import { type RipgrepFinder, runRipgrep, searchArguments } from "./ripgrep.ts";
import { type FoundPaths, searchWithoutRipgrep } from "./search-worker-host.ts";

const defaultLimit = 1000;

const parameters = Type.Object({
	pattern: Type.String({
		description: "Glob for names, such as *.ts; with a slash it is matched against the end of the path, such as src/**/*.test.ts.",
	}),
	path: Type.Optional(Type.String({ description: "Directory to search; default: the working directory." })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most paths to show; default ${defaultLimit}.` })),
});

export function findTool(options: Pick<ToolOptions, "cwd" | "shell" | "confined" | "searchShell" | "closedTo">, findRipgrep: RipgrepFinder): Tool {
	return {
		name: "find",
		label: "Find",
		effect: { kind: "read", paths: pathArgument },
		offered: "on request",
		view: { kind: "search", glyph: "⌕", pattern: "plain", path: "place" },
		description:
			"Find files and directories by name with a glob. Gives paths relative to the searched directory; directories end in a slash. Hidden files are found, ignored ones (.gitignore) and empty directories are not.",
		hint: "Find files by name",
		parameters: { ...parameters },
		concurrency: "shared",
		async execute({ args, signal }) {
			const { pattern, path = ".", limit = defaultLimit } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const target = await resolveExisting(options.cwd, path, options.confined);
			if (!(await isDirectory(target))) throw new Error(`${path} is not a directory.`);
			const directory = await realTarget(target);
			const leftOut = leftOutOf(options.closedTo?.("find", "names", directory), { real: directory, target, path, cwd: options.cwd });
			const wanted = { directory, pattern, limit, leftOut };
			const ripgrep = await findRipgrep();
			const found = ripgrep
				? await findWithRipgrep(options.searchShell ?? options.shell, ripgrep, wanted, signal)
				: await searchWithoutRipgrep<FoundPaths>(options, { kind: "find", ...wanted }, signal);
			found.notes.push(...closedNotes(leftOut));
			return present(found, limit);
		},
	};
}

type Wanted = { directory: string; pattern: string; limit: number; leftOut?: LeftOut };

async function findWithRipgrep(
	shell: Shell,
	program: string,
	{ directory, pattern, limit, leftOut }: Wanted,
	signal: AbortSignal,
): Promise<FoundPaths> {
	const isClosed = closedBelow(leftOut);
	const collected = await pathCollector(pattern, limit);
	const run = {
		program,
		args: ["--files", "--null", "--sort=path", ...searchArguments, "--", "./"],
		cwd: directory,
		separator: 0,
		signal,
		onRecord: (record: Buffer) => {
			const path = record.toString().replace(/^\.\//, "");
			return isClosed(path) || collected.add(path);
		},
	};
	await runRipgrep(shell, run);
	return { paths: collected.found(), isLimited: collected.isLimited(), notes: [] };
}

function present({ paths, isLimited, notes }: FoundPaths, limit: number) {
	if (paths.length === 0) return textResult(withNotes("No files found matching pattern", notes));
	const { text, truncation } = truncateHead(paths.join("\n"));
	const notices = [
		...(isLimited ? [`First ${limit} paths; ask with limit=${limit * 2} for more, or narrow the pattern`] : []),
		...(truncation.truncated
			? [`cut at ${truncation.truncatedBy === "bytes" ? formatSize(truncation.maxBytes) : `${truncation.maxLines} lines`}`]
			: []),
		...notes,
	];
	const details = { ...(isLimited ? { resultLimitReached: limit } : {}), ...(truncation.truncated ? { truncation } : {}) };
	return textResult(withNotes(text, notices), details);
}
