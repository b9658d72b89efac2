import { describe, expect, test } from "vitest";
import type { ModelRequest, Outcome, StreamFunction } from "../../../src/agent/contracts.ts";
import { Doors } from "../../../src/agent/doors.ts";
import { ReplyBuilder } from "../../../src/models/builder.ts";
import { scriptedModel } from "../../../src/models/scripted/model.ts";
import { type CompactionSettings, limitsOf } from "../../../src/policies/compaction/limits.ts";
import { compactionPolicy } from "../../../src/policies/compaction/policy.ts";
import { CommandError } from "../../../src/protocol/command-error.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import type { AgentMessage, AssistantMessage } from "../../../src/protocol/messages.ts";
import type { Model } from "../../../src/protocol/model.ts";
import { branchOf, type CompactionBody, type Entry } from "../../../src/transcript/entries.ts";
import { contextMessages } from "../../../src/transcript/projection.ts";
import { calls, entryOf, reply, result, usageOf, user, words } from "./support.ts";

const defaults: CompactionSettings = { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000, thresholdPercent: -1, thresholdTokens: -1 };

describe("limits", () => {
	const model = (contextWindow: number, maxTokens = 32000): Model => ({ ...scriptedModel("x"), contextWindow, maxTokens });
	const stepped = (contextWindow: number, ...steps: number[]): Model => {
		const { cost, ...rest } = model(contextWindow);
		return { ...rest, cost: { ...cost, tiers: steps.map((inputTokensAbove) => ({ ...cost, inputTokensAbove })) } };
	};
	const rows: [what: string, model: Model, settings: Partial<CompactionSettings>, threshold: number, keep: number, summary: number][] = [
		["a common model", model(200_000), {}, 183_616, 20_000, 13_107],
		["a small window keeps half of itself, and a quarter of it stays", model(8000), {}, 4000, 2000, 3200],
		["a reply limit below the reserve", model(200_000, 4096), {}, 183_616, 20_000, 4096],
		["no reserve", model(200_000), { reserveTokens: 0 }, 200_000, 20_000, 1024],
		["a reserve below zero is none", model(200_000), { reserveTokens: -5 }, 200_000, 20_000, 1024],
		["a share of the window", model(100_000), { thresholdPercent: 50 }, 50_000, 20_000, 13_107],
		[
			"tokens beat the share, and the tail is at most half of them",
			model(100_000),
			{ thresholdPercent: 50, thresholdTokens: 3000 },
			3000,
			1500,
			13_107,
		],
		["no more than the window", model(1000), { thresholdTokens: 5000 }, 1000, 250, 1024],
		["a large window is not filled", model(1_000_000), {}, 250_000, 20_000, 13_107],
		["a window just above the limit keeps its reserve", model(260_000), {}, 243_616, 20_000, 13_107],
		["a window above it that is filled on demand, in tokens", model(1_000_000), { thresholdTokens: 900_000 }, 900_000, 20_000, 13_107],
		["and as a share", model(1_000_000), { thresholdPercent: 90 }, 900_000, 20_000, 13_107],
		["a price step, the lowest of them", stepped(1_000_000, 272_000, 128_000), {}, 128_000, 20_000, 13_107],
		["a price step above the window", stepped(200_000, 272_000), {}, 183_616, 20_000, 13_107],
		["a price step is passed on demand", stepped(1_000_000, 200_000), { thresholdTokens: 300_000 }, 300_000, 20_000, 13_107],
		["a window that is not known", model(0), { thresholdTokens: 10 }, Number.POSITIVE_INFINITY, 20_000, 13_107],
	];
	test.each(rows)("%s", (_, given, settings, threshold, keep, summary) => {
		expect(limitsOf(given, { ...defaults, ...settings })).toEqual({ threshold, keep, summary });
	});
});

// ── A conversation without a session ───────────────────────────────────────────────────────────────────

interface World {
	messages: AgentMessage[];
	model?: Partial<Model>;
	settings?: Partial<CompactionSettings>;
	answer?: (builder: ReplyBuilder) => void;
	continued?: () => ModelRequest | undefined;
	store?: () => void;
}

function world({ messages, model = {}, settings = {}, answer = (builder) => speak(builder, "gist"), store, continued }: World) {
	const entries: Entry[] = messages.map(entryOf);
	const add = (body: AgentMessage | CompactionBody) => void entries.push(entryOf(body, entries.length));
	let live = [...messages];
	const events: AgentEvent[] = [];
	const stored: CompactionBody[] = [];
	const asked: string[] = [];
	const used = { ...scriptedModel("x"), contextWindow: 1000, ...model };
	const stream: StreamFunction = async (request, { onEvent }) => {
		asked.push(JSON.stringify(request.messages));
		answer(new ReplyBuilder(request.model, 0, onEvent));
	};
	const policy = compactionPolicy({
		conversation: {
			branch: () => branchOf(entries),
			messages: () => live,
			model: () => used,
			...(continued && { continued }),
			setup: async () => ({ model: used, thinkingLevel: "off", systemPrompt: "", tools: [] }),
			store(body) {
				store?.();
				stored.push(body);
				add(body);
				live = contextMessages(branchOf(entries));
			},
		},
		settings: () => ({ ...defaults, reserveTokens: 400, keepRecentTokens: 100, ...settings }),
		retry: () => ({ enabled: false, maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0 }),
		stream,
		newSessionId: () => "s",
		doors: new Doors(),
		log: { error: (text, cause) => console.error(text, cause), debug: () => undefined },
		emit: (event) => events.push(event),
		flow: { isOpen: true, whenOpen: async () => undefined },
		sleep: async () => "elapsed",
		now: () => 0,
	});
	const say = (message: AgentMessage) => {
		add(message);
		live.push(message);
		policy.observe?.({ type: "message_end", message });
	};
	const settle = (last: AssistantMessage, failure?: Outcome["failure"], signal = new AbortController().signal) =>
		policy.settle?.({ messages: [], last, failure }, signal, signal);
	return { policy, events, stored, asked, say, settle, names: () => events.map(({ type }) => type), live: () => live };
}

function speak(builder: ReplyBuilder, text: string): void {
	builder.close(builder.open({ type: "text", text }));
	builder.done("stop");
}

const full = (tokens: number) => reply("ok", { usage: usageOf(tokens) });
const overflow = { kind: "overflow" as const };
const failed = reply("", { stopReason: "error", errorMessage: "400 prompt is too long" });
const quiet = new AbortController().signal;
const turns = [user(words(50)), reply(words(50)), user(words(50)), reply(words(50)), user("x")];
const both = ["auto_compaction_start", "auto_compaction_end"];

describe("after a run", () => {
	test("the threshold is crossed, not touched", async () => {
		for (const [tokens, count] of [
			[600, 0],
			[601, 2],
		] as const) {
			const last = full(tokens);
			const { settle, names } = world({ messages: [...turns, last] });
			expect(await settle(last)).toBeUndefined();
			expect(names()).toHaveLength(count);
		}
	});

	test("an aborted run is left alone; a failed one does not hide a full context", async () => {
		const { settle, names } = world({ messages: [...turns, full(900)] });
		await settle(reply("", { stopReason: "aborted" }));
		expect(names()).toEqual([]);
		await settle(reply("", { stopReason: "error" }), { kind: "permanent" });
		expect(names()).toEqual(both);
	});

	test("a model whose window is not known is never compacted by a threshold", async () => {
		const last = full(1e9);
		const { settle, names } = world({ messages: [...turns, last], model: { contextWindow: 0 } });
		await settle(last);
		expect(names()).toEqual([]);
	});

	test("a failed attempt is not repeated before the user has said something", async () => {
		const last = full(900);
		const { settle, policy, names, say, asked } = world({
			messages: [...turns, last],
			answer: (builder) => builder.fail("401", { kind: "permanent" }),
		});
		await settle(last);
		await settle(last);
		await policy.prepare?.([], quiet);
		expect([names(), asked.length]).toEqual([both, 1]);
		say(user("again"));
		await policy.prepare?.([], quiet);
		expect(names()).toEqual([...both, ...both]);
	});

	test("a file that cannot be written is a failure, and the context stays", async () => {
		const last = full(900);
		const { settle, events, live } = world({
			messages: [...turns, last],
			store() {
				throw new CommandError("not_stored", "Session file could not be written: ENOSPC /x");
			},
		});
		await settle(last);
		expect(events.at(-1)).toMatchObject({
			result: null,
			aborted: false,
			errorMessage: "Auto-compaction failed: Session file could not be written: ENOSPC /x",
		});
		expect(live()).toHaveLength(6);
	});

	test("an abort while the summary is made stores nothing", async () => {
		const controller = new AbortController();
		const last = full(900);
		const { settle, events, stored } = world({
			messages: [...turns, last],
			answer(builder) {
				controller.abort();
				speak(builder, "too late");
			},
		});
		await settle(last, undefined, controller.signal);
		expect(events.at(-1)).toEqual({ type: "auto_compaction_end", result: null, aborted: true, willRetry: false });
		expect(stored).toEqual([]);
	});
});

describe("before a model call", () => {
	test("what is about to be said counts", async () => {
		const { policy, names } = world({ messages: [...turns, full(500)] });
		await policy.prepare?.([user(words(100))], quiet);
		expect(names()).toEqual([]);
		await policy.prepare?.([user(words(101))], quiet);
		expect(names()).toEqual(both);
	});

	test("right after a compaction the old count does not bring another one", async () => {
		const { policy, names, say } = world({ messages: [...turns, full(900)] });
		await policy.prepare?.([], quiet);
		expect(names()).toEqual(both);
		say(user(words(500)));
		await policy.prepare?.([], quiet);
		expect(names()).toEqual(both);
		say(full(900));
		await policy.prepare?.([], quiet);
		expect(names()).toEqual([...both, ...both]);
	});

	test("a signal that has fired", async () => {
		const controller = new AbortController();
		controller.abort();
		const { policy, names } = world({ messages: [...turns, full(900)] });
		await policy.prepare?.([], controller.signal);
		expect(names()).toEqual([]);
	});
});

describe("when the newest messages take too much", () => {
	/** Window 1000, threshold 600. */
	const settings = { keepRecentTokens: 184 };

	test("half the tail is kept", async () => {
		const last = full(900);
		const messages = [
			user(words(200)),
			reply(words(120)),
			user(words(90)),
			reply(words(90)),
			user(words(500)),
			calls(["a", "read", {}]),
			result("a", words(90)),
			last,
		];
		const { settle, stored } = world({ messages, settings });
		await settle(last);
		// Half of it ends inside the turn, so that its large request is compacted too.
		expect(stored[0]?.firstKeptEntryId).toBe("e5");
	});

	test("a compaction that would free nothing is not made, and costs no model call", async () => {
		const last = calls(["a", "read", {}]);
		const messages = [user("hi"), { ...last, usage: usageOf(20) }, result("a", words(900))];
		const { policy, events, asked, stored } = world({ messages, settings });
		await policy.prepare?.([], quiet);
		expect(events.at(-1)).toMatchObject({
			result: null,
			errorMessage: expect.stringMatching(/^Auto-compaction failed: the newest messages alone take about 9\d\d tokens/),
		});
		expect([asked, stored]).toEqual([[], []]);
	});

	test("one that frees a good deal is, though the context stays full; then it rests", async () => {
		const messages = [user(words(900)), reply("ok"), user("hi"), { ...calls(["a", "read", {}]), usage: usageOf(950) }, result("a", words(700))];
		const { policy, names, stored, say } = world({ messages, settings });
		await policy.prepare?.([], quiet);
		expect(stored).toHaveLength(1);
		say(full(750));
		await policy.prepare?.([], quiet);
		expect(names()).toEqual(both);
	});
});

describe("an overflow", () => {
	const messages = [...turns, failed];

	test("is foreseen, compacted, and repeated without the reply that failed", async () => {
		const { policy, settle, events } = world({ messages });
		expect(policy.foresee?.({ messages: [], last: failed, failure: overflow })).toBe(true);
		const again = await settle(failed, overflow);
		expect([again?.dropFailedReply, await again?.due]).toEqual([true, true]);
		expect(events).toMatchObject([
			{ type: "auto_compaction_start", reason: "overflow" },
			{ type: "auto_compaction_end", willRetry: true, result: { summary: "gist" } },
		]);
	});

	test("of another model is not answered", async () => {
		const { policy, settle, names } = world({ messages, model: { id: "another" } });
		expect(policy.foresee?.({ messages: [], last: failed, failure: overflow })).toBe(false);
		expect(await settle(failed, overflow)).toBeUndefined();
		expect(names()).toEqual([]);
	});

	test("is answered once, and again after a good reply or a word of the user", async () => {
		for (const between of [full(5), user("try again")]) {
			const { policy, settle, events, say } = world({ messages });
			await settle(failed, overflow);
			say(failed);
			expect(policy.foresee?.({ messages: [], last: failed, failure: overflow })).toBe(false);
			expect(await settle(failed, overflow)).toBeUndefined();
			expect(events.slice(2)).toMatchObject([
				{ type: "auto_compaction_start", reason: "overflow" },
				{
					type: "auto_compaction_end",
					result: null,
					aborted: false,
					willRetry: false,
					errorMessage: expect.stringMatching(/^Context overflow recovery failed: /),
				},
			]);
			for (const message of [user(words(99)), full(1), user(words(99)), between]) say(message);
			expect(await settle(failed, overflow)).toBeDefined();
		}
	});

	test("does nothing where there is nothing to compact", async () => {
		const { policy, settle, names } = world({ messages: [user("x"), failed] });
		expect(policy.foresee?.({ messages: [], last: failed, failure: overflow })).toBe(false);
		expect(await settle(failed, overflow)).toBeUndefined();
		expect(names()).toEqual([]);
	});

	test("is not answered when automatic compaction is off", async () => {
		const { settle, names } = world({ messages, settings: { enabled: false } });
		expect(await settle(failed, overflow)).toBeUndefined();
		expect(names()).toEqual([]);
	});
});

describe("on demand", () => {
	test("the settings do not matter, there are no events, and the whole result comes back", async () => {
		const { policy, names, stored } = world({ messages: [...turns, full(300)], settings: { enabled: false } });
		const made = await policy.compactNow(undefined, quiet);
		expect(made).toMatchObject({
			summary: "gist",
			firstKeptEntryId: "e2",
			tokensBefore: 300,
			details: { readFiles: [], modifiedFiles: [] },
			estimatedTokensAfter: 103,
		});
		expect(stored).toMatchObject([{ type: "compaction", summary: "gist", tokensBefore: 300, usage: { totalTokens: 0 } }]);
		expect(names()).toEqual([]);
	});

	test("it says why not", async () => {
		const { policy } = world({ messages: [...turns, full(300)] });
		await policy.compactNow(undefined, quiet);
		await expect(policy.compactNow(undefined, quiet)).rejects.toThrow("Already compacted");
		await expect(world({ messages: [user("hi")] }).policy.compactNow(undefined, quiet)).rejects.toThrow("Nothing to compact (session too small)");
		const broken = world({ messages: [...turns], answer: (builder) => builder.fail("500 oops", { kind: "permanent" }) });
		await expect(broken.policy.compactNow(undefined, quiet)).rejects.toThrow("Compaction failed: 500 oops");
	});
});

describe("a conversation that the provider still has", () => {
	const kept: ModelRequest = { model: scriptedModel("x"), thinkingLevel: "off", systemPrompt: "", messages: [], tools: [], sessionId: "kept" };
	const large = { contextWindow: 100_000 };

	test("is summarised where it is, by hand and at the threshold, but not after an overflow", async () => {
		const made = (last: AssistantMessage) =>
			world({ messages: [...turns, last], model: large, settings: { thresholdTokens: 600 }, continued: () => kept });
		const byHand = made(full(900));
		await byHand.policy.compactNow(undefined, quiet);
		const atThreshold = made(full(900));
		await atThreshold.settle(full(900));
		const overflowing = made(failed);
		await overflowing.settle(failed, overflow);
		const inPlace = [byHand, atThreshold, overflowing].map(({ asked }) => asked.map((text) => !text.includes("<conversation>")));
		expect(inPlace).toEqual([[true], [true], [false]]);
	});

	test("is not, where a prompt and a summary do not fit behind it", async () => {
		const { policy, asked } = world({ messages: [...turns, full(95_000)], model: large, continued: () => kept });
		await policy.compactNow(undefined, quiet);
		expect(asked).toEqual([expect.stringContaining("<conversation>")]);
	});
});

describe("the words of the user", () => {
	const settings = { keepRecentTokens: 2000, thresholdTokens: 5000 };
	const model = { contextWindow: 100_000 };
	const wish = (n: number) => user(`wish ${n}, please`);

	test("are in the summary that is stored, and stay there when it is compacted again; no summary is made of them", async () => {
		const messages = [wish(1), reply(words(100)), wish(2), reply(words(3000)), user("kept"), reply(words(2000))];
		const { policy, stored, asked, say } = world({ messages, model, settings });
		await policy.compactNow(undefined, quiet);
		const [first = { summary: "" }] = stored;
		expect(first.summary).toMatch(/gist\n\n<user-messages>\n[\s\S]*wish 1, please[\s\S]*wish 2, please[\s\S]*<\/user-messages>$/);
		const before = asked.length;
		for (const message of [wish(3), reply(words(100)), user("kept, too"), reply(words(2000))]) say(message);
		await policy.compactNow(undefined, quiet);
		const { summary } = stored[1] as CompactionBody;
		for (const said of ["wish 1, please", "wish 2, please", "\nkept\n", "wish 3, please"]) expect(summary.split(said)).toHaveLength(2);
		const later = asked.slice(before).join();
		expect(later).toMatch(/<previous-summary>\\ngist[\s\S]*gist\\n<\/previous-summary>/);
		expect(later).not.toMatch(/wish 1|wish 2|user-messages/);
	});

	test("leave out the oldest where they are more than half of what is kept", async () => {
		const wishes = Array.from({ length: 100 }, (_, n) => user(`wish ${n} ${words(40)}`));
		const { policy, stored } = world({ messages: [...wishes, reply(words(2000)), user("kept")], model, settings });
		await policy.compactNow(undefined, quiet);
		const [{ summary } = { summary: "" }] = stored;
		expect(summary).toContain("wish 99 ");
		expect(summary).not.toContain("wish 1 ");
		expect(summary.length).toBeLessThan(1000 * 4 + 10);
	});
});
