/** What a session's file says about the provider's cache. */
import { describe, expect, test } from "vitest";
import { cacheBreak, type PrefixBreak } from "../../src/protocol/cache.ts";
import type { AssistantMessage } from "../../src/protocol/messages.ts";
import { cacheUseOf, type Priced } from "../../src/transcript/cache-use.ts";
import type { Entry, EntryBody } from "../../src/transcript/entries.ts";
import { assistant, call, said, user } from "./support.ts";

const began = Date.parse("2026-01-01T00:00:00.000Z");
const minutes = (count: number) => began + count * 60_000;

interface Counts {
	input?: number;
	cacheRead?: number;
	cacheWrite?: number;
}

const marked = { api: "anthropic-messages", provider: "anthropic", model: "claude" };

/** A reply that began so many minutes after the session, at 3 dollars per million tokens, 0.30 from the cache and 3.75 into it. */
function reply(minute: number, { input = 0, cacheRead = 0, cacheWrite = 0 }: Counts, more: Partial<AssistantMessage> = {}): EntryBody {
	const cost = { input: (input * 3) / 1e6, output: 0, cacheRead: (cacheRead * 0.3) / 1e6, cacheWrite: (cacheWrite * 3.75) / 1e6, total: 0 };
	const usage = { input, output: 10, cacheRead, cacheWrite, totalTokens: input + 10 + cacheRead + cacheWrite, cost };
	return said(assistant("done", { ...marked, usage, timestamp: minutes(minute), ...more }));
}

const noted = (data: Partial<PrefixBreak> = {}): EntryBody => ({
	type: "custom",
	customType: cacheBreak,
	data: { segment: "tools", cause: 'MCP server "issues" changed its tools', lostTokens: 10_000, costUsd: 0.0345, ...data },
});

/** Entries that follow one another. `after` goes on from an earlier one. */
function entriesOf(...bodies: (EntryBody & { after?: number })[]): Entry[] {
	return bodies.map(({ after, ...body }, index) => {
		const parent = after ?? index - 1;
		return { ...body, id: `e${index}`, parentId: parent < 0 ? null : `e${parent}`, timestamp: new Date(minutes(index)).toISOString() } as Entry;
	});
}

const first = { input: 5, cacheWrite: 9995 };
const second = { input: 5, cacheRead: 9995, cacheWrite: 2000 };

test("a request finds what the one before had in all; the first finds nothing", () => {
	expect(cacheUseOf(entriesOf(said(user("hi")), reply(0, first), reply(1, second)))).toEqual({
		requests: 2,
		predictedReadTokens: 10_000,
		reportedReadTokens: 9995,
		breaks: [],
	});
});

describe("nothing is said", () => {
	test.each<[string, Entry[]]>([
		["of an empty session", []],
		["of replies whose provider decides alone what it keeps", entriesOf(reply(0, first, { api: "openai-responses" }))],
		["of requests that failed before they were counted", entriesOf(reply(0, {}, { stopReason: "error" }))],
		["of replies without counts", entriesOf(said({ ...assistant("old", { api: "anthropic-messages" }), usage: undefined } as never))],
		["of a break alone", entriesOf(noted())],
	])("%s", (_, entries) => {
		expect(cacheUseOf(entries)).toBeUndefined();
	});
});

test("a request that is smaller than what providers keep predicts nothing for the next one", () => {
	const use = cacheUseOf(entriesOf(reply(0, { cacheWrite: 1023 }), reply(1, { cacheRead: 0, cacheWrite: 3000 }), reply(2, { cacheRead: 3000 })));
	expect(use).toEqual({ requests: 3, predictedReadTokens: 3000, reportedReadTokens: 3000, breaks: [] });
});

test("a provider that says it keeps nothing is not expected to", () => {
	const use = cacheUseOf(entriesOf(reply(0, { input: 50_000 }), reply(1, { input: 52_000 })));
	expect(use).toEqual({ requests: 2, predictedReadTokens: 0, reportedReadTokens: 0, breaks: [] });
});

describe("what an entry says was lost", () => {
	test("is not predicted, and is listed with its cause and its cost", () => {
		const use = cacheUseOf(entriesOf(reply(0, first), noted({ lostTokens: 7000 }), reply(1, { cacheRead: 3000, cacheWrite: 8000 })));
		const breaks = [{ at: minutes(1), segment: "tools", cause: 'MCP server "issues" changed its tools', costUsd: 0.0345 }];
		expect(use).toEqual({ requests: 2, predictedReadTokens: 3000, reportedReadTokens: 3000, breaks });
	});

	test("counts once when the request failed and was sent again", () => {
		const failed = reply(1, {}, { stopReason: "error" });
		const again = [noted(), failed, noted(), failed, noted(), reply(2, { cacheWrite: 10_000 })];
		const use = cacheUseOf(entriesOf(reply(0, first), ...again, noted(), reply(3, { cacheWrite: 10_000 })));
		expect(use?.breaks.map(({ at }) => at)).toEqual([minutes(1), minutes(7)]);
		expect(use?.predictedReadTokens).toBe(0);
	});

	test("by several of them is what the largest says", () => {
		const use = cacheUseOf(
			entriesOf(reply(0, first), noted({ segment: "messages", lostTokens: 6000 }), noted({ lostTokens: 8000 }), reply(1, { cacheRead: 2000 })),
		);
		expect([use?.predictedReadTokens, use?.breaks.length]).toEqual([2000, 2]);
	});

	test("is left out where another program wrote something else", () => {
		const odd = [
			undefined,
			null,
			"text",
			{ segment: "all", cause: "x" },
			{ segment: "tools", cause: 3 },
			{ segment: "tools", cause: "x", lostTokens: "y" },
		];
		const entries = entriesOf(reply(0, first), ...odd.map((data): EntryBody => ({ type: "custom", customType: cacheBreak, data })), reply(1, second));
		expect(cacheUseOf(entries)).toMatchObject({ predictedReadTokens: 10_000, breaks: [{ cause: "x", costUsd: 0 }] });
	});
});

test("after a compaction nothing is predicted, and nothing is missed", () => {
	const compaction: EntryBody = { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 9000 };
	const use = cacheUseOf(entriesOf(reply(0, first), compaction, reply(1, { cacheRead: 1800, cacheWrite: 2000 }), reply(2, { cacheRead: 3800 })));
	expect(use).toEqual({ requests: 3, predictedReadTokens: 3800, reportedReadTokens: 5600, breaks: [] });
});

describe("a request that found far less than predicted, with no word why,", () => {
	test("is a break with what it cost by the prices that replies show", () => {
		const use = cacheUseOf(entriesOf(reply(0, first), reply(1, second), reply(2, { input: 5, cacheWrite: 12_995 })));
		const cause = "the provider no longer had it; after a resume, other tools or instructions may be why";
		expect(use).toEqual({
			requests: 3,
			predictedReadTokens: 22_000,
			reportedReadTokens: 9995,
			breaks: [{ at: minutes(2), segment: "tools", cause, costUsd: expect.closeTo((12_000 * 3.45) / 1e6, 10) }],
		});
	});

	test("costs what its own reply paid: an hour in the cache costs more than five minutes", () => {
		const hour = { input: 0, output: 0, cacheRead: 0, cacheWrite: (13_000 * 6) / 1e6, total: 0 };
		const lost = said(
			assistant("", { ...marked, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 13_000, totalTokens: 13_000, cost: hour } }),
		);
		expect(cacheUseOf(entriesOf(reply(0, first), reply(1, second), lost))?.breaks[0]?.costUsd).toBeCloseTo((12_000 * 5.7) / 1e6, 10);
	});

	test("costs by the model's price, and the step of its size, where no reply shows one", () => {
		const usage = (cacheWrite: number, cost: number) => ({
			usage: {
				input: 0,
				output: 0,
				cacheRead: 0,
				cacheWrite,
				totalTokens: cacheWrite,
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: cost, total: 0 },
			},
		});
		const entries = entriesOf(said(assistant("", { ...marked, ...usage(150_000, 0) })), said(assistant("", { ...marked, ...usage(151_000, 0) })));
		const steps = [{ inputTokensAbove: 100_000, input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }];
		const listed: Priced = { provider: "anthropic", id: "claude", cost: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, tiers: steps } };
		const unknown = { ...listed, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unknown: true } };
		expect(cacheUseOf(entries, [listed])?.breaks[0]?.costUsd).toBeCloseTo((150_000 * 5.75) / 1e6, 10);
		for (const models of [[], [unknown]])
			expect(cacheUseOf(entries, models)?.breaks).toEqual([expect.not.objectContaining({ costUsd: expect.anything() })]);
		// Half of the price is in the replies.
		const paid = entriesOf(
			said(assistant("", { ...marked, ...usage(150_000, 1) })),
			said(assistant("", { ...marked, ...usage(151_000, 151_000 * 6e-6) })),
		);
		expect(cacheUseOf(paid)?.breaks).toEqual([expect.not.objectContaining({ costUsd: expect.anything() })]);
		expect(cacheUseOf(paid, [listed])?.breaks[0]?.costUsd).toBeCloseTo((150_000 * 5.5) / 1e6, 10);
	});

	test("begins in the messages where the rest was found", () => {
		expect(cacheUseOf(entriesOf(reply(0, first), reply(1, { cacheRead: 1800, cacheWrite: 9000 })))?.breaks).toMatchObject([{ segment: "messages" }]);
	});

	test("is no break where little is missing", () => {
		expect(cacheUseOf(entriesOf(reply(0, first), reply(1, { cacheRead: 8000, cacheWrite: 3000 })))?.breaks).toEqual([]);
		expect(cacheUseOf(entriesOf(reply(0, { cacheWrite: 1100 }), reply(1, { cacheRead: 100, cacheWrite: 3000 })))?.breaks).toEqual([]);
	});

	test("after a pause says how long it was, and what keeps the cache for longer", () => {
		const paused = (minute: number, counts: Counts) => cacheUseOf(entriesOf(reply(0, first), reply(minute, counts)));
		expect(paused(12, { cacheWrite: 10_100 })).toMatchObject({
			predictedReadTokens: 0,
			breaks: [{ segment: "tools", cause: "a pause of 12 min: the provider keeps it for 5 min; BOWLINE_CACHE_RETENTION=long keeps it for an hour" }],
		});
		expect(paused(150, { cacheWrite: 10_100 })?.breaks).toMatchObject([{ cause: "a pause of 2 h 30 min: the provider keeps it for 5 min" }]);
		// A provider that keeps it for longer has it.
		expect(paused(12, second)).toMatchObject({ predictedReadTokens: 0, reportedReadTokens: 9995, breaks: [] });
	});
});

test("each model has a cache of its own, which a switch there and back finds again", () => {
	const other = { model: "other" };
	const use = cacheUseOf(
		entriesOf(reply(0, first), reply(1, { cacheWrite: 11_000 }, other), reply(2, second), reply(3, { cacheRead: 11_000 }, other)),
	);
	expect(use).toEqual({ requests: 4, predictedReadTokens: 21_000, reportedReadTokens: 20_995, breaks: [] });
});

test("on another branch a request finds what the branches have in common", () => {
	const entries = entriesOf(
		said(user("one")),
		reply(0, first),
		said(user("two")),
		reply(4, { cacheRead: 10_000, cacheWrite: 80_000 }),
		{ ...said(user("instead of two")), after: 1 },
		// The other branch has kept the beginning alive.
		reply(8, { cacheRead: 10_000, cacheWrite: 500 }),
	);
	expect(cacheUseOf(entries)).toEqual({ requests: 3, predictedReadTokens: 20_000, reportedReadTokens: 20_000, breaks: [] });
});

test("a fork goes on with what its parent had, and other branches of the parent are not in it", () => {
	const copied = entriesOf(said(user("one")), reply(0, first), noted({ lostTokens: 5000 }), reply(1, { cacheRead: 5000, cacheWrite: 5500 }));
	const fork = [...copied, ...entriesOf(...copied, reply(2, { cacheRead: 10_500, cacheWrite: 100 })).slice(copied.length)];
	expect(cacheUseOf(fork)).toMatchObject({ requests: 3, predictedReadTokens: 15_500, reportedReadTokens: 15_500, breaks: [{ segment: "tools" }] });
});

test("a request that was stopped counts when the provider counted it, and calls without an answer do not disturb", () => {
	const stopped = reply(1, second, { stopReason: "aborted" });
	const use = cacheUseOf(
		entriesOf(reply(0, first), said(call("c1")), stopped, reply(2, {}, { stopReason: "aborted" }), reply(3, { cacheRead: 12_000 })),
	);
	expect(use).toEqual({ requests: 3, predictedReadTokens: 22_000, reportedReadTokens: 21_995, breaks: [] });
});

test("odd counts, times and lines of other programs give figures that are numbers", () => {
	const usage = { input: "many", cacheRead: Number.NaN, cacheWrite: 5000, cost: { cacheWrite: -1 } } as never;
	const entries = [
		{ type: "message", id: "a", timestamp: "never" },
		{ type: "message", id: "b", parentId: "no such entry", message: { role: "assistant", api: "anthropic-messages", usage } },
		{ type: "message", id: "c", parentId: "b", message: { role: "assistant", api: "anthropic-messages", usage, timestamp: "now" } },
		{ type: "message", id: "d", parentId: "c", message: { role: "assistant", api: "anthropic-messages", usage, timestamp: minutes(3) } },
		{ type: "unknown", id: "d" },
	] as unknown as Entry[];
	expect(cacheUseOf(entries)).toMatchObject({
		requests: 3,
		predictedReadTokens: 10_000,
		reportedReadTokens: 0,
		breaks: [{ at: 0 }, { at: minutes(3) }],
	});
});
