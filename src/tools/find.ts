/** The tool that finds files by name. */
import Type, { type Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import type { Shell } from "../lib/shell/index.ts";
import { formatSize, truncateHead } from "../lib/truncate.ts";
import { globTest } from "./glob-filter.ts";
import { refuseIfAborted, textResult } from "./options.ts";
import { isDirectory, resolveExisting } from "./paths.ts";
import { type RipgrepFinder, runRipgrep, searchArguments } from "./ripgrep.ts";
import { walk } from "./walk.ts";

const defaultLimit = 1000;

const parameters = Type.Object({
	pattern: Type.String({
		description: "Glob for names, such as *.ts; with a slash it is matched against the end of the path, such as src/**/*.test.ts.",
	}),
	path: Type.Optional(Type.String({ description: "Directory to search; default: the working directory." })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most paths to show; default ${defaultLimit}.` })),
});

export function findTool(options: { cwd: string; shell: Shell }, findRipgrep: RipgrepFinder): Tool {
	return {
		name: "find",
		label: "Find",
		description:
			"Find files and directories by name with a glob. Gives paths relative to the searched directory; directories end in a slash. Hidden files are found, ignored ones (.gitignore) and empty directories are not.",
		hint: "Find files by name",
		parameters: { ...parameters },
		concurrency: "shared",
		async execute({ args, signal }) {
			const { pattern, path = ".", limit = defaultLimit } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const directory = await resolveExisting(options.cwd, path);
			if (!(await isDirectory(directory))) throw new Error(`${path} is not a directory.`);
			const collected = await collector(pattern, limit);
			const ripgrep = await findRipgrep();
			if (ripgrep) {
				const run = {
					program: ripgrep,
					args: ["--files", "--null", "--sort=path", ...searchArguments, "--", "./"],
					cwd: directory,
					separator: 0,
					signal,
					onRecord: (record: Buffer) => collected.add(record.toString().replace(/^\.\//, "")),
				};
				await runRipgrep(options.shell, run);
			} else {
				for await (const file of walk(directory, signal)) {
					if (!collected.add(file)) break;
				}
			}
			return present(collected.found(), collected.isLimited(), limit);
		},
	};
}

/** Takes files as they are found and gives what matches, with the directories they are in. */
async function collector(pattern: string, limit: number) {
	const wantsDirectory = pattern.endsWith("/");
	const glob = pattern.replace(/^\.\//, "").replace(/\/+$/, "");
	const isPath = glob.includes("/");
	const matches = await globTest(isPath ? `**/${glob.replace(/^\/+/, "")}` : glob);
	const found: string[] = [];
	const seen = new Set<string>();
	let isLimited = false;

	function consider(path: string, isDirectory: boolean): void {
		if (wantsDirectory && !isDirectory) return;
		if (!matches(isPath ? path : path.slice(path.lastIndexOf("/") + 1))) return;
		if (found.length === limit) isLimited = true;
		else found.push(isDirectory ? `${path}/` : path);
	}

	return {
		/** False when there are more than the limit. */
		add(file: string): boolean {
			for (let slash = file.indexOf("/"); slash >= 0; slash = file.indexOf("/", slash + 1)) {
				const directory = file.slice(0, slash);
				if (seen.has(directory)) continue;
				seen.add(directory);
				consider(directory, true);
			}
			consider(file, false);
			return !isLimited;
		},
		found: () => found.toSorted((a, b) => (a < b ? -1 : 1)),
		isLimited: () => isLimited,
	};
}

function present(paths: string[], isLimited: boolean, limit: number) {
	if (paths.length === 0) return textResult("No files found matching pattern");
	const { text, truncation } = truncateHead(paths.join("\n"));
	const notices = [
		...(isLimited ? [`First ${limit} paths; ask with limit=${limit * 2} for more, or narrow the pattern`] : []),
		...(truncation.truncated
			? [`cut at ${truncation.truncatedBy === "bytes" ? formatSize(truncation.maxBytes) : `${truncation.maxLines} lines`}`]
			: []),
	];
	const details = { ...(isLimited ? { resultLimitReached: limit } : {}), ...(truncation.truncated ? { truncation } : {}) };
	return textResult(notices.length > 0 ? `${text}\n\n[${notices.join(". ")}]` : text, details);
}
