/** Regular expressions from rule files, under a time limit: one that explodes costs a moment and is not used again. */
import { TimeLimit } from "../../lib/in-time.ts";

export interface Pattern {
	source: string;
	regex: RegExp;
	/** Cannot explode, because it repeats nothing. Skips the time limit, which costs more than the search. */
	isPlain: boolean;
	/** Words that every match contains, if known. Searching for them first is a hundred times cheaper than the time limit. */
	literal: string;
}

/** A pattern that takes longer than this for one check is no longer used. */
export const patternLimitMs = 50;
/** How often patterns that are slow together may delay a check before the slowest of them is no longer used. */
const mostLateLooks = 3;
/** Limit for all patterns of one check together. Nothing else runs meanwhile. */
const lookLimitMs = 300;

/** JavaScript's syntax without flags, except that a leading `(?i)` or similar sets some. */
export function patternOf(source: string): Pattern | { problem: string } {
	const found = /^\(\?([ims]+)\)/.exec(source);
	const bare = found ? source.slice(found[0].length) : source;
	try {
		return { source, regex: new RegExp(bare, found?.[1] ?? ""), isPlain: isPlain(bare), literal: found?.[1]?.includes("i") ? "" : literalOf(bare) };
	} catch (error) {
		return { problem: (error as Error).message };
	}
}

/** Prefers a wrong no to a wrong yes: repetition, back references and many alternatives may take more than linear time. */
function isPlain(source: string): boolean {
	if (/\\[1-9k]/.test(source)) return false;
	const bones = source
		.replace(/\\./g, "a")
		.replace(/\[[^\]]*\]/g, "a")
		.replace(/\(\?(?:[:=!]|<[=!]|<\w+>)/g, "(");
	const optional = bones.match(/\?/g)?.length ?? 0;
	const alternatives = bones.match(/\|/g)?.length ?? 0;
	return !/[*+{]/.test(bones) && optional <= 3 && (alternatives <= 3 || !bones.includes("("));
}

/** The longest run of characters outside groups and alternatives that must occur; empty when in doubt. */
export function literalOf(source: string): string {
	let best = "";
	let run = "";
	let depth = 0;
	const cut = () => {
		if (run.length > best.length) best = run;
		run = "";
	};
	for (const [token] of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|./gs)) {
		// Alternatives, and escapes that continue after their letter.
		if (token === "|" || /^\\[0-9cukpPx]/.test(token)) return "";
		if (token === "(") depth += 1;
		else if (token === ")") depth -= 1;
		// The preceding character may be missing.
		if (/^[*?{]/.test(token)) run = run.slice(0, -1);
		const literal = /^\\[^\w]$/.test(token) ? token.charAt(1) : /^[^\\[\]^$.()*+?{}]$/.test(token) ? token : undefined;
		if (depth > 0 || literal === undefined) cut();
		else run += literal;
	}
	cut();
	return best;
}

export class PatternSearch {
	#onTooSlow: (pattern: Pattern) => void;
	#tooSlow = new Set<Pattern>();
	#limit = new TimeLimit(patternLimitMs);
	#lateLooks = 0;

	constructor(onTooSlow: (pattern: Pattern) => void) {
		this.#onTooSlow = onTooSlow;
	}

	/** The patterns that occur in one of the texts. */
	find(patterns: readonly Pattern[], texts: readonly string[]): Set<Pattern> {
		const occurs = ({ regex }: Pattern) => texts.some((text) => regex.test(text));
		const isPossible = ({ literal }: Pattern) => literal === "" || texts.some((text) => text.includes(literal));
		const asked = patterns.filter((pattern) => !this.#tooSlow.has(pattern) && isPossible(pattern));
		const found = new Set(asked.filter((pattern) => pattern.isPlain && occurs(pattern)));
		const doubtful = asked.filter((pattern) => !pattern.isPlain);
		if (doubtful.length === 0) return found;
		if (this.#limit.run(() => collect(doubtful))) return found;
		// One of them was slow, or the machine was: each gets the time alone before it is blamed.
		this.#lateLooks += 1;
		let spent = 0;
		let slowest: { pattern: Pattern; ms: number } | undefined;
		for (const pattern of doubtful) {
			const before = process.cpuUsage();
			const isInTime = spent < lookLimitMs && this.#limit.run(() => collect([pattern]));
			// CPU time: a machine that is busy with other work is not the pattern's fault.
			const ms = process.cpuUsage(before).user / 1000;
			spent += ms;
			if (!isInTime) this.#drop(pattern);
			else if (!slowest || ms > slowest.ms) slowest = { pattern, ms };
		}
		if (slowest && slowest.ms > patternLimitMs / 5 && doubtful.length > 1 && this.#lateLooks >= mostLateLooks) {
			this.#drop(slowest.pattern);
			this.#lateLooks = 0;
		}
		return found;

		function collect(some: readonly Pattern[]): void {
			for (const pattern of some) if (occurs(pattern)) found.add(pattern);
		}
	}

	#drop(pattern: Pattern): void {
		this.#tooSlow.add(pattern);
		this.#onTooSlow(pattern);
	}
}
