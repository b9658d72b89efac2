/** The tool that lists a directory. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Static } from "typebox";
import type { Tool } from "../agent/contracts.ts";
import { realTarget } from "../lib/real-path.ts";
import { formatSize, truncateHead } from "../lib/truncate.ts";
import Type from "../protocol/plain-schema.ts";
import { closedNotes, leftOutOf, openEntries } from "./closed-paths.ts";
import { withNotes } from "./found-lines.ts";
import { refuseIfAborted, type ToolOptions, textResult } from "./options.ts";
import { isDirectory, pathArgument, resolveExisting } from "./paths.ts";

const defaultLimit = 500;

const parameters = Type.Object({
	path: Type.Optional(Type.String({ description: "The directory; default: the working directory." })),
	limit: Type.Optional(Type.Integer({ minimum: 1, description: `Most entries to show; default ${defaultLimit}.` })),
});

export function lsTool(options: Pick<ToolOptions, "cwd" | "confined" | "closedTo">): Tool {
	return {
		name: "ls",
		label: "List",
		effect: { kind: "read", paths: pathArgument, reach: "entries" },
		offered: "on request",
		view: { kind: "search", glyph: "☰", path: "place" },
		description: "List what is in a directory, hidden entries included, in alphabetical order. Directories end in a slash.",
		hint: "List a directory",
		parameters: { ...parameters },
		concurrency: "shared",
		async execute({ args, signal }) {
			const { path = ".", limit = defaultLimit } = args as Static<typeof parameters>;
			refuseIfAborted(signal);
			const { confined: files } = options;
			const directory = await resolveExisting(options.cwd, path, files);
			if (!(await isDirectory(directory))) throw new Error(`${path} is not a directory.`);
			const real = await realTarget(directory);
			const leftOut = leftOutOf(options.closedTo?.("ls", "names", real), { real, target: directory, path, cwd: options.cwd });
			const all = files ? await files.list(directory) : await readdir(directory);
			const names = (await openEntries(all, leftOut)).toSorted(ignoringCase);
			const entries: string[] = [];
			let isLimited = false;
			for (const name of names) {
				refuseIfAborted(signal);
				if (entries.length === limit) {
					isLimited = true;
					break;
				}
				const entry = files ? name : await described(directory, name);
				if (entry !== undefined) entries.push(entry);
			}
			if (entries.length === 0) return textResult(withNotes("(empty directory)", closedNotes(leftOut)));
			const { text, truncation } = truncateHead(entries.join("\n"));
			const notices = [
				...(isLimited ? [`${limit} of ${names.length} entries; ask with limit=${limit * 2} for more`] : []),
				...(truncation.truncated
					? [`cut at ${truncation.truncatedBy === "bytes" ? formatSize(truncation.maxBytes) : `${truncation.maxLines} lines`}`]
					: []),
				...closedNotes(leftOut),
			];
			const details = { ...(isLimited ? { entryLimitReached: limit } : {}), ...(truncation.truncated ? { truncation } : {}) };
			return textResult(withNotes(text, notices), details);
		},
	};
}

/** Nothing for an entry that cannot be examined, such as a broken link. */
async function described(directory: string, name: string): Promise<string | undefined> {
	const [facts] = await Promise.allSettled([stat(join(directory, name))]);
	if (facts.status === "rejected") return undefined;
	return facts.value.isDirectory() ? `${name}/` : name;
}

function ignoringCase(a: string, b: string): number {
	const [first, second] = [a.toLowerCase(), b.toLowerCase()];
	if (first === second) return a < b ? -1 : 1;
	return first < second ? -1 : 1;
}
