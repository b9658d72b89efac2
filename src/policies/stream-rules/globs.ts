/** Globs of strangers, under the same limit of time as their regular expressions: the paths they are held against are the model's. */
import picomatch from "picomatch";
import type { TimeLimit } from "../../lib/in-time.ts";
import { patternLimitMs } from "./pattern.ts";

export type PathTest = (path: string) => boolean;

/** Whether a path, or the last part of it, fits one of the globs. Globs that took too long fit nothing any more. */
export function anyOf(globs: readonly string[], limit: TimeLimit, warn: (text: string) => void): PathTest {
	const options = { dot: true, nonegate: true };
	let tests = globs.flatMap((glob) => {
		const plain = glob.replace(/^\.\//, "");
		return [picomatch(plain, options), ...(/^(\/|\*\*)/.test(plain) ? [] : [picomatch(`**/${plain}`, options)])];
	});
	let last: { path: string; fits: boolean } | undefined;
	return (path) => {
		// With every piece of a call the same path is asked for.
		if (last?.path === path) return last.fits;
		const slashed = path.replaceAll("\\", "/").replace(/^\.\//, "");
		const name = slashed.slice(slashed.lastIndexOf("/") + 1);
		let fits = false;
		const look = () => {
			fits = tests.some((test) => test(slashed) || test(name));
		};
		// The machine may have been the slow one: it gets the time twice.
		if (!limit.run(look) && !limit.run(look)) {
			tests = [];
			warn(`the globs ${JSON.stringify(globs.join(", ").slice(0, 200))} took more than ${patternLimitMs} ms and are not used any more.`);
		}
		last = { path, fits };
		return fits;
	};
}
