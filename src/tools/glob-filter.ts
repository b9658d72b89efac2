/** Which files a search is about, by glob. */
import { basename } from "node:path";
import { TimeLimit } from "../lib/in-time.ts";

/** For one path. Nobody else would get a turn meanwhile, not even an abort. */
const limitMs = 2000;

/** Whether a path fits. Throws when that takes too long. */
export async function globTest(glob: string): Promise<(path: string) => boolean> {
	const { default: picomatch } = await import("picomatch");
	const matches = picomatch(glob, { dot: true, nonegate: true });
	if (!mayExplode(glob)) return matches;
	const limit = new TimeLimit(limitMs);
	return (path) => {
		let fits = false;
		const isInTime = limit.run(() => {
			fits = matches(path);
		});
		if (!isInTime) throw new Error(`The glob takes too long on ${path}: it can match in too many ways. Use one with fewer wildcards.`);
		return fits;
	};
}

/** Several wildcards in one part of the path, or groups that repeat, may be tried in any combination. Spares the others the limit, which costs. */
function mayExplode(glob: string): boolean {
	const wildcards = (part: string) => part.match(/\*+/g)?.length ?? 0;
	return /[*+?@!]\(/.test(glob) || glob.split("/").some((part) => wildcards(part) > 2) || (glob.match(/\*\*/g)?.length ?? 0) > 3;
}

/** Without a slash a glob is about names, with one about the path from the search directory; a leading `!` leaves out, also directories. */
export async function globFilter(glob: string | undefined): Promise<(path: string) => boolean> {
	if (glob === undefined) return () => true;
	const isNegated = glob.startsWith("!");
	const plain = isNegated ? glob.slice(1) : glob;
	const matches = await globTest(plain.replace(/^\//, ""));
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
