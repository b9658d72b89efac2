/** Looks at what is at a path itself, without following a link. */
import { lstatSync, type Stats } from "node:fs";

/** Returns undefined where nothing is, also where a file has taken the place of a folder above. */
export function lookAt(place: string | Buffer): Stats | undefined {
	try {
		return lstatSync(place);
	} catch (error) {
		if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
		throw error;
	}
}
