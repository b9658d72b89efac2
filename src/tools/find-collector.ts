/** Selects the files that the tool find is asked for from those that a search goes through. */
import { globTest } from "./glob-filter.ts";

export interface PathCollector {
	/** False when there are more than the limit. */
	add(file: string): boolean;
	found(): string[];
	isLimited(): boolean;
}

/** Takes files as they are found and gives what matches, with the directories they are in. */
export async function pathCollector(pattern: string, limit: number): Promise<PathCollector> {
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
		add(file) {
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
