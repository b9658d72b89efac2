import { describe, expect, test } from "vitest";
import type { ModelRequest, ProviderFailure, StreamFunction } from "../../../src/agent/contracts.ts";
import { ReplyBuilder } from "../../../src/models/builder.ts";
import { scriptedModel } from "../../../src/models/scripted/model.ts";
import { type Cut, chooseCut } from "../../../src/policies/compaction/cut.ts";
import { type SummaryInput, summarize } from "../../../src/policies/compaction/summarize.ts";
import { branchOf, type Entry } from "../../../src/transcript/entries.ts";
import { branch, calls, compaction, reply, result, usageOf, user, words } from "./support.ts";

type Answer = string | { stop: "length"; text: string } | { fail: string; failure: ProviderFailure } | "stall" | "silence" | "throw";

/** A model that says what the test scripts, and remembers its requests. */
function model(...answers: (Answer | ((text: string) => Answer))[]) {
	const asked: ModelRequest[] = [];
	const texts: string[] = [];
	const stream: StreamFunction = async (request, { signal, onEvent }) => {
		asked.push(request);
		const text = (request.messages as unknown as { content: { text: string }[] }[])
			.flatMap(({ content }) => content.map((block) => block.text))
			.join();
		texts.push(text);
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		const next = answers.length > 1 ? answers.shift() : answers[0];
		const answer = typeof next === "function" ? next(text) : (next as Answer);
		builder.set({ usage: usageOf(10) });
		if (answer === "throw") throw new Error("thrown by the provider");
		if (answer === "silence") return;
		if (answer === "stall") {
			await new Promise((resolve) => signal.addEventListener("abort", resolve));
			return builder.abort();
		}
		if (typeof answer === "object" && "fail" in answer) return builder.fail(answer.fail, answer.failure);
		const index = builder.open({ type: "text", text: "" });
		builder.append(index, typeof answer === "string" ? answer : answer.text);
		builder.close(index);
		builder.done(typeof answer === "string" ? "stop" : answer.stop);
	};
	return { asked, texts, stream };
}

const waits: number[] = [];
function ask(stream: StreamFunction, cut: Cut, more: Partial<SummaryInput> & { window?: number } = {}) {
	waits.length = 0;
	const parts = {
		stream,
		flow: { isOpen: true, whenOpen: async () => undefined },
		sleep: async (milliseconds: number) => {
			waits.push(milliseconds);
			return "elapsed" as const;
		},
		retry: () => ({ enabled: true, maxRetries: 2, baseDelayMs: 10, maxDelayMs: 1000 }),
		newSessionId: () => "fresh",
		now: () => 0,
	};
	const { window = 100_000, ...input } = more;
	return summarize(parts, {
		cut,
		model: { ...scriptedModel("x"), contextWindow: window },
		maxTokens: 1000,
		instructions: undefined,
		signal: new AbortController().signal,
		...input,
	});
}

function cutOf(path: Entry[], keep: number): Cut {
	const cut = chooseCut(branchOf(path), keep);
	if ("problem" in cut) throw new Error(cut.problem);
	return cut;
}

const turns = cutOf(branch(user("first wish"), reply("done first"), user(words(20)), reply(words(20))), 40);
const split = cutOf(
	branch(user("first wish"), reply("done first"), user("second wish"), calls(["a", "read", { path: "a.ts" }]), result("a", "A"), reply(words(20))),
	20,
);

describe("one summary", () => {
	test("is asked for as text, without tools, under a session id of its own", async () => {
		const { stream, asked, texts } = model("## Goal\nall of it");
		expect(await ask(stream, turns)).toEqual({ text: "## Goal\nall of it", details: { readFiles: [], modifiedFiles: [] }, usage: usageOf(10) });
		expect(asked).toHaveLength(1);
		expect(asked[0]).toMatchObject({ tools: [], sessionId: "fresh", thinkingLevel: "off", maxTokens: 1000 });
		expect(asked[0]?.messages).toHaveLength(1);
		expect(texts[0]).toContain("<conversation>\n[User]: first wish\n\n[Assistant]: done first\n</conversation>");
		expect(texts[0]).not.toContain("previous-summary");
	});

	test("brings the one before up to date, without its file lists", async () => {
		const path = branch(
			user("a"),
			reply("b"),
			{ ...compaction("e1", "known\n\n<read-files>\nold.ts\n</read-files>"), details: { readFiles: ["old.ts"] } } as never,
			user("c"),
			reply(words(9)),
			user("d"),
			reply(words(9)),
		);
		const { stream, texts } = model("updated");
		const made = await ask(stream, cutOf(path, 10));
		expect(texts[0]).toContain("<previous-summary>\nknown\n</previous-summary>");
		expect(made).toMatchObject({ text: "updated\n\n<read-files>\nold.ts\n</read-files>", details: { readFiles: ["old.ts"], modifiedFiles: [] } });
	});

	test("an extension's details are not taken for file lists", async () => {
		const before = { ...compaction("e1"), fromHook: true, details: { readFiles: ["x"] } } as never;
		const made = await ask(model("s").stream, cutOf(branch(user("a"), reply("b"), before, user(words(9)), reply("d"), user(words(9))), 9));
		expect(made).toMatchObject({ details: { readFiles: [] } });
	});

	test("pays attention to what the user asks for", async () => {
		const { stream, texts } = model("s");
		await ask(stream, turns, { instructions: "the database schema" });
		expect(texts[0]).toMatch(/special attention to this:\nthe database schema$/);
	});
});

describe("a cut through a turn", () => {
	test("gives two summaries under one roof", async () => {
		const { stream, texts } = model((text) => (text.includes("Original Request") ? "the turn so far" : "the history"));
		const made = await ask(stream, split);
		expect(made).toEqual({
			text: "the history\n\n---\n\n# The turn under way: its first part (the rest follows word for word)\n\nthe turn so far\n\n<read-files>\na.ts\n</read-files>",
			details: { readFiles: ["a.ts"], modifiedFiles: [] },
			usage: usageOf(20),
		});
		expect(texts.map((text) => text.includes("second wish"))).toEqual([false, true]);
	});

	test("without a history, only that of the turn; but a summary from before is brought up to date", async () => {
		const alone = cutOf(branch(user("wish"), reply(words(9)), reply(words(9))), 9);
		expect(await ask(model("so far").stream, alone)).toMatchObject({ text: expect.stringMatching(/^# The turn under way.*\n\nso far$/s) });
		const path = branch(user("a"), reply("b"), compaction("e1", "known"), reply(words(9)), reply(words(9)));
		const { stream, texts } = model("so far");
		expect(await ask(stream, cutOf(path, 9))).toMatchObject({ text: "so far" });
		expect(texts[0]).toContain("<previous-summary>\nknown\n</previous-summary>");
		expect(texts).toHaveLength(1);
	});

	test("when one fails the other is stopped", async () => {
		const { stream } = model((text) => (text.includes("Original Request") ? "stall" : { fail: "400 no", failure: { kind: "permanent" } }));
		expect(await ask(stream, split)).toMatchObject({ problem: "400 no" });
	});
});

describe("no summary", () => {
	const rows: [what: string, answer: Answer, problem: string][] = [
		["when it is empty", "  \n", "The model gave no summary."],
		["when it was cut off", { stop: "length", text: "## Goal" }, "The summary reached its output limit before it was complete."],
		["when the model refuses", { fail: "400 no", failure: { kind: "permanent" } }, "400 no"],
		["when the provider throws", "throw", "thrown by the provider"],
		["when the stream just ends", "silence", "The stream ended without its last event."],
	];
	test.each(rows)("%s", async (_, answer, problem) => {
		expect(await ask(model(answer).stream, turns)).toMatchObject({ problem });
	});

	test("when it was aborted, at once", async () => {
		const controller = new AbortController();
		const made = ask(model("stall").stream, turns, { signal: controller.signal });
		controller.abort();
		expect(await made).toHaveProperty("problem");
		const { stream, asked } = model("never");
		expect(await ask(stream, turns, { signal: controller.signal })).toHaveProperty("problem");
		expect(asked).toEqual([]);
	});

	test("a passing failure is retried as the session's own replies are", async () => {
		const busy: Answer = { fail: "529", failure: { kind: "transient", retryAfterMs: 15 } };
		expect(await ask(model(busy, busy, "at last").stream, turns)).toMatchObject({ text: "at last" });
		expect(waits).toEqual([15, 20]);
		expect(await ask(model(busy).stream, turns)).toMatchObject({ problem: "529" });
	});
});

describe("a conversation that is too long to be summarised at once", () => {
	/** Refuses what does not fit. */
	const strict =
		(characters: number) =>
		(text: string): Answer =>
			text.length > characters ? { fail: "400 prompt is too long", failure: { kind: "overflow" } } : `so far: ${text.match(/wish \d+/g)?.join()}`;
	const wishes = Array.from({ length: 12 }, (_, n) => user(`wish ${n} ${words(500)}`));
	const cut = cutOf(branch(...wishes, user(words(10)), reply(words(10))), 20);

	test("is summarised in rounds, oldest first, each bringing the last up to date", async () => {
		const { stream, texts } = model(...Array.from({ length: 20 }, () => (text: string) => `round with ${text.match(/wish \d+/g)?.at(-1)}`));
		const made = await ask(stream, cut, { window: 6000 });
		expect(texts.length).toBeGreaterThan(1);
		expect(texts[0]).toContain("wish 0 ");
		expect(texts[0]).not.toContain("wish 11 ");
		expect(texts[1]).toContain("<previous-summary>\nround with");
		expect(texts.map((text) => text.match(/<conversation>[\s\S]*<\/conversation>/)?.[0]).join("")).toMatch(/wish 0 [\s\S]*wish 5 [\s\S]*wish 11 /);
		expect(made).toMatchObject({ text: "round with wish 11" });
	});

	test("goes on in smaller pieces when the estimate was wrong", async () => {
		const { stream, texts } = model(strict(12_000));
		const made = await ask(stream, cut);
		expect(texts[0]?.length).toBeGreaterThan(12_000);
		expect(made).toMatchObject({ text: expect.stringContaining("wish 11") });
	});

	test("gives up when even a small piece does not fit", async () => {
		const { stream, asked } = model(strict(10));
		expect(await ask(stream, cut)).toMatchObject({ problem: "400 prompt is too long" });
		expect(asked.length).toBeLessThan(10);
	});

	test("a message larger than the window is taken in parts, and what is beyond all measure loses its oldest part", async () => {
		const huge = cutOf(branch(user(`OLDEST ${words(100_000)} NEWEST`), reply("ok"), user(words(10)), reply(words(10))), 20);
		const { stream, texts } = model("s");
		await ask(stream, huge, { window: 6000 });
		expect(texts.length).toBeLessThanOrEqual(10);
		expect(texts.join()).not.toContain("OLDEST");
		expect(texts.join()).toContain("NEWEST");
		expect(texts[0]).toContain("The oldest part is left out");
	});
});

test("a model that ignores the limit of a summary is asked once, not again and again", async () => {
	const { stream, asked } = model((text) => text.repeat(10));
	const long = cutOf(branch(user(words(20_000)), reply(words(20_000)), user(words(20)), reply(words(20))), 40);
	expect(await ask(stream, long, { window: 10_000 })).toEqual({ problem: "The summary is longer than the 1000 tokens it may take." });
	expect(asked.length).toBe(1);
});

describe("where the provider still has the conversation", () => {
	const request: ModelRequest = {
		model: scriptedModel("x"),
		thinkingLevel: "high",
		systemPrompt: "You are an agent.",
		messages: [{ role: "user", content: [{ type: "text", text: "first wish" }], timestamp: 0 }],
		tools: [{ name: "read", description: "", parameters: {} }],
		sessionId: "the session",
		turn: { thinks: true },
	};
	const continued = { request, tokens: 50_000 };
	const asksApart = (text: string) => text.includes("<conversation>");

	test("it is asked at the end of it: everything before stays as it was, and calls are forbidden by words alone", async () => {
		const { stream, asked, texts } = model("## Goal\nall of it");
		expect(await ask(stream, turns, { continued, instructions: "the schema", keepsWords: true })).toEqual({
			text: "## Goal\nall of it",
			details: { readFiles: [], modifiedFiles: [] },
			usage: usageOf(10),
		});
		const [{ messages, maxTokens, keep, ...rest } = {} as ModelRequest] = asked;
		const { messages: before, ...same } = request;
		expect([asked.length, maxTokens, keep]).toEqual([1, 1000, "earlier"]);
		expect(rest).toEqual(same);
		expect(rest.turn).toBe(request.turn);
		expect(messages.slice(0, -1)).toEqual(before);
		expect(messages.at(-1)).toMatchObject({ role: "user" });
		const [text = ""] = texts;
		expect(text).toContain("Do not call any tool");
		expect(text).toContain(
			`The last 2 messages stay word for word behind your summary. The first of them begins like this:\n<first-message-that-stays>\n[User]: word`,
		);
		expect(text).toContain("Use this structure:\n\n## Goal");
		expect(text).toContain("The user's messages stay word for word next to your summary");
		expect(text).not.toMatch(/The turn under way|Bring that summary/);
		expect(text).toMatch(/special attention to this:\nthe schema$/);
	});

	test("one request covers both sides of a cut through a turn", async () => {
		const both = "the history\n\n# The turn under way: its first part (the rest follows word for word)\n\nthe turn so far";
		const { stream, asked, texts } = model(both);
		expect(await ask(stream, split, { continued })).toMatchObject({ text: `${both}\n\n<read-files>\na.ts\n</read-files>` });
		expect(asked).toHaveLength(1);
		expect(texts[0]).toMatch(/begin in the middle of a turn[\s\S]*## Goal[\s\S]*# The turn under way[\s\S]*## Original Request/);
	});

	test("a turn that is all there is gets its heading, and the summary before is brought up to date", async () => {
		const alone = cutOf(branch(user("wish"), reply(words(9)), reply(words(9))), 9);
		const { stream, texts } = model("so far");
		expect(await ask(stream, alone, { continued })).toMatchObject({ text: expect.stringMatching(/^# The turn under way.*\n\nso far$/s) });
		expect(texts[0]).not.toContain("## Goal");
		const later = cutOf(branch(user("a"), reply("b"), compaction("e1", "known"), reply(words(9)), reply(words(9))), 9);
		const again = model("so far");
		expect(await ask(again.stream, later, { continued })).toMatchObject({ text: "so far" });
		expect(again.texts[0]).toMatch(/The conversation begins with a summary of what came before it\. Bring that summary up to date[\s\S]*## Goal/);
	});

	const call =
		(text: string): StreamFunction =>
		async ({ model: asked }, { onEvent }) => {
			const builder = new ReplyBuilder(asked, 0, onEvent);
			if (text !== "") {
				const index = builder.open({ type: "text", text: "" });
				builder.append(index, text);
				builder.close(index);
			}
			builder.close(builder.open({ type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts" } }));
			builder.done("toolUse");
		};

	test("calls in the answer are ignored; an answer that is nothing else is replaced by asking the ordinary way, once", async () => {
		expect(await ask(call("## Goal\nto see it"), turns, { continued })).toMatchObject({ text: "## Goal\nto see it" });
		for (const text of ["", "Let me look at the file first."]) {
			const { stream, asked, texts } = model("gist");
			const first = call(text);
			const both: StreamFunction = (given, options) => (given.sessionId === "the session" ? first(given, options) : stream(given, options));
			expect(await ask(both, turns, { continued })).toMatchObject({ text: "gist" });
			expect([asked.length, asksApart(texts[0] ?? "")]).toEqual([1, true]);
		}
	});

	const failures: [what: string, answer: Answer][] = [
		["does not fit", { fail: "400 prompt is too long", failure: { kind: "overflow", status: 400 } }],
		["is refused", { fail: "400 thinking", failure: { kind: "permanent", status: 400 } }],
		["is cut off", { stop: "length", text: "## Goal" }],
		["is empty", " "],
	];
	test.each(failures)("when it %s, the ordinary way is tried once", async (_, answer) => {
		const { stream, asked, texts } = model((text) => (asksApart(text) ? "gist" : answer));
		expect(await ask(stream, turns, { continued })).toMatchObject({ text: "gist", usage: usageOf(20) });
		expect(asked.map(({ sessionId }) => sessionId)).toEqual(["the session", "fresh"]);
		expect(texts.map(asksApart)).toEqual([false, true]);
	});

	test("a failure that the ordinary way would meet as well is the end, after the usual retries", async () => {
		const key: Answer = { fail: "401 no key", failure: { kind: "permanent", status: 401 } };
		const refused = model(key);
		expect(await ask(refused.stream, turns, { continued })).toMatchObject({ problem: "401 no key" });
		expect(refused.asked).toHaveLength(1);
		const busy = model({ fail: "529", failure: { kind: "transient", status: 529 } }, "at last");
		expect(await ask(busy.stream, turns, { continued })).toMatchObject({ text: "at last" });
		expect(busy.asked.map(({ sessionId }) => sessionId)).toEqual(["the session", "the session"]);
	});

	test("an abort ends it, and nobody else is asked", async () => {
		const controller = new AbortController();
		const { stream, asked } = model("stall");
		const made = ask(stream, turns, { continued, signal: controller.signal });
		controller.abort();
		expect(await made).toHaveProperty("problem");
		expect(asked).toHaveLength(1);
	});

	test("where there is little room behind it, the summary is to be shorter", async () => {
		const { stream, texts } = model("gist");
		await ask(stream, turns, { continued: { request, tokens: 92_000 }, maxTokens: 8000 });
		await ask(stream, turns, { continued, maxTokens: 8000 });
		expect(texts.map((text) => /At most about (\d+) words/.exec(text)?.[1])).toEqual(["961", "1500"]);
	});

	test("where prompt and summary would not fit behind it, the ordinary way is taken at once", async () => {
		const { stream, texts } = model("gist");
		expect(await ask(stream, turns, { continued: { request, tokens: 93_000 } })).toMatchObject({ text: "gist" });
		expect(texts.map(asksApart)).toEqual([true]);
	});
});
