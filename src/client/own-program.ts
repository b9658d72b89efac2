/** The program that this package ships. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** When built, the program is next to or above the client; in a checkout it is in `dist`. */
const places = ["bowline.js", "../bowline.js", "../../dist/bowline.js"];

export function ownProgram(): string {
	const found = places.map((place) => join(import.meta.dirname, place)).find(existsSync);
	if (!found) throw new Error("The program bowline is not next to its client; name it with `command`.");
	return found;
}
