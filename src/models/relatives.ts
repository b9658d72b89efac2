/** Which listed model an unlisted one is most like, by the words and numbers of their ids. Pure. */
import type { Model } from "../protocol/model.ts";

interface Parts {
	vendor: string;
	words: string[];
	/** 4.07 for `4-7`, or undefined. */
	version: number | undefined;
}

/** `anthropic/claude-opus-4-7-20260101` is of the vendor `anthropic`, has the words claude and opus, and the version 4.07. Dates do not count. */
function partsOf(id: string): Parts {
	const slash = id.lastIndexOf("/");
	const words: string[] = [];
	const numbers: number[] = [];
	for (const token of id
		.slice(slash + 1)
		.toLowerCase()
		.split(/[^a-z0-9]+/)) {
		const [, word = "", number = ""] = /^([a-z]*)(\d{1,2})$/.exec(token) ?? [];
		if (number !== "") numbers.push(Number(number));
		if (word !== "") words.push(word);
		if (number === "" && token !== "" && !/^\d+$/.test(token)) words.push(token);
	}
	const [major, minor = 0] = numbers;
	return { vendor: id.slice(0, Math.max(0, slash)).toLowerCase(), words, version: major === undefined ? undefined : major + minor / 100 };
}

/** Returns the listed model of the same family that shares most words with the id and is nearest to its version, or undefined. */
export function relativeOf(id: string, listed: readonly Model[]): Model | undefined {
	const wanted = partsOf(id);
	const candidates = listed.flatMap((model) => {
		const parts = partsOf(model.id);
		const isOfVendor = parts.vendor === wanted.vendor || parts.vendor === "" || wanted.vendor === "";
		if (wanted.words[0] === undefined || parts.words[0] !== wanted.words[0] || !isOfVendor) return [];
		const shared = parts.words.filter((word) => wanted.words.includes(word)).length;
		const others = parts.words.length + wanted.words.length - 2 * shared;
		const version = parts.version ?? 0;
		return [{ model, shared, others, version, distance: Math.abs(version - (wanted.version ?? Number.POSITIVE_INFINITY)) }];
	});
	const nearest = (a: (typeof candidates)[number], b: (typeof candidates)[number]) =>
		b.shared - a.shared || a.others - b.others || (a.distance === b.distance ? b.version - a.version : a.distance - b.distance);
	return candidates.sort(nearest)[0]?.model;
}
