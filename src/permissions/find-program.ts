/** Which file a command word leads to. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isBelow } from "./path-patterns.ts";

/** Whether the word leads to a program outside every directory that may be written to. A relative entry of PATH may lead anywhere. */
export function isForeignProgram(word: string, path: string | undefined, roots: readonly string[]): boolean {
	if (word === "" || word.includes("/")) return false;
	for (const directory of (path ?? "").split(delimiter)) {
		if (!isAbsolute(directory)) return false;
		const file = join(directory, word);
		if (!isExecutable(file)) continue;
		const real = realpathSync(file);
		return !roots.some((root) => isBelow(root, file) || isBelow(root, real));
	}
	return false;
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
