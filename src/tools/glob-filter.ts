/** Which files a search is about, by glob. */
import { basename } from "node:path";

/** Without a slash a glob is about names, with one about the path from the search directory; a leading `!` leaves out, also directories. */
export async function globFilter(glob: string | undefined): Promise<(path: string) => boolean> {
	if (glob === undefined) return () => true;
	const { default: picomatch } = await import("picomatch");
	const isNegated = glob.startsWith("!");
	const plain = isNegated ? glob.slice(1) : glob;
	const matches = picomatch(plain.replace(/^\//, ""), { dot: true, nonegate: true });
	const isHit = (path: string) => (plain.includes("/") ? matches(path) : matches(basename(path)));
	if (!isNegated) return isHit;
	return (path) => {
		const parts = path.split("/");
		return !parts.some((_, index) => isHit(parts.slice(0, index + 1).join("/")));
	};
}

/**
 * The same for ripgrep, as far as it goes without its `--glob`, which would bring ignored files back: the last part of the path as a
 * file type of our own. What that lets through is for `globFilter` to decide.
 */
export function ripgrepGlob(glob: string | undefined): string[] {
	if (glob === undefined) return [];
	if (glob.startsWith("!")) return [`--glob=${glob}`];
	const name = glob.slice(glob.lastIndexOf("/") + 1);
	// A slash inside of braces: the rest is no glob of its own.
	const isDivided = name.includes("}") && !name.includes("{");
	return name === "" || name === "**" || isDivided ? [] : [`--type-add=wanted:${name}`, "--type=wanted"];
}
