/** Which files a search is about, by glob. */
import { basename } from "node:path";
import { expandBraces, matchesParts, pathGlob } from "../lib/glob.ts";
import { TimeLimit } from "../lib/in-time.ts";

/** For all paths of a search together. Nothing else runs meanwhile, not even an abort. */
const limitMs = 1000;
/** For one path. */
const pathLimitMs = 250;
/** What the limit itself may cost for a path does not count. */
const harmlessMs = 5;
const maxGlobLength = 4096;

/** Whether a path fits. Throws when that takes too long. */
export async function globTest(glob: string): Promise<(path: string) => boolean> {
	if (glob.length > maxGlobLength) throw new Error(`The glob has more than ${maxGlobLength} characters.`);
	const plain = hasGroups(glob) ? undefined : expandBraces(glob)?.map(pathGlob);
	if (!plain) return limitedTest(glob);
	return (path) => {
		const parts = path.split("/");
		return plain.some((each) => matchesParts(each, parts));
	};
}

/** `@(a|b)`, `+(a)`, `!(a)` and the like. */
const hasGroups = (glob: string) => /[*+?@!]\(/.test(glob);

/** Groups that repeat may be tried in any combination, so the time for them is limited. */
async function limitedTest(glob: string): Promise<(path: string) => boolean> {
	const { default: picomatch } = await import("picomatch");
	const matches = picomatch(glob, { dot: true, nonegate: true });
	const limit = new TimeLimit(pathLimitMs);
	let spentMs = 0;
	return (path) => {
		const before = process.cpuUsage();
		let fits = false;
		const isInTime = limit.run(() => {
			fits = matches(path);
		});
		spentMs += Math.max(0, process.cpuUsage(before).user / 1000 - harmlessMs);
		if (!isInTime || spentMs > limitMs)
			throw new Error(`The glob takes too long on ${path}: it can match in too many ways. Use one with fewer wildcards.`);
		return fits;
	};
}

/** Without a slash a glob is about names, with one about the path from the search directory; a leading `!` excludes, also directories. */
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
 * file type of our own. `globFilter` decides about what that lets through.
 */
export function ripgrepGlob(glob: string | undefined): string[] {
	if (glob === undefined) return [];
	if (glob.startsWith("!")) return [`--glob=${glob}`];
	const name = glob.slice(glob.lastIndexOf("/") + 1);
	// A slash inside braces: the rest is not a glob of its own.
	const isDivided = name.includes("}") && !name.includes("{");
	return name === "" || name === "**" || isDivided ? [] : [`--type-add=wanted:${name}`, "--type=wanted"];
}
