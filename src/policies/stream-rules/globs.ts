/** Untrusted globs, under the same time limit as untrusted regular expressions: the paths they are matched against come from the model. */
import picomatch from "picomatch";
import type { TimeLimit } from "../../lib/in-time.ts";
import { patternLimitMs } from "./pattern.ts";

export type PathTest = (path: string) => boolean;

/** Whether a path, or its last part, matches one of the globs. Globs that took too long no longer match anything. */
export function anyOf(globs: readonly string[], limit: TimeLimit, warn: (text: string) => void): PathTest {
	const options = { dot: true, nonegate: true };
	let tests = globs.flatMap((glob) => {
		const plain = glob.replace(/^\.\//, "");
		return [picomatch(plain, options), ...(/^(\/|\*\*)/.test(plain) ? [] : [picomatch(`**/${plain}`, options)])];
	});
	let last: { path: string; fits: boolean } | undefined;
	return (path) => {
		// Every piece of a call asks for the same path.
		if (last?.path === path) return last.fits;
		const slashed = path.replaceAll("\\", "/").replace(/^\.\//, "");
		const name = slashed.slice(slashed.lastIndexOf("/") + 1);
		let fits = false;
		const look = () => {
			fits = tests.some((test) => test(slashed) || test(name));
		};
		if (!limit.run(look)) {
			tests = [];
			warn(`the globs ${JSON.stringify(globs.join(", ").slice(0, 200))} took more than ${patternLimitMs} ms and are not used any more.`);
		}
		last = { path, fits };
		return fits;
	};
}
