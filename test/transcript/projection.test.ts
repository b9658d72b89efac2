/** From entries to context: tables for the rules, properties for any tree. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { branchOf, type Entry, type EntryBody } from "../../src/transcript/entries.ts";
import { contextMessages, contextPlaces, levelOf, messageOf, modelOf, openCalls, todosEntry } from "../../src/transcript/projection.ts";
import { assistant, call, chain, result, said, user } from "./support.ts";

const compaction = (firstKeptEntryId: string): EntryBody => ({
	type: "compaction",
	summary: `from ${firstKeptEntryId}`,
	firstKeptEntryId,
	tokensBefore: 9,
});

/** The context as short words. */
function words(entries: Entry[]): string[] {
	return contextMessages(branchOf(entries)).map((message) => {
		if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary;
		if (message.role === "toolResult") return `result ${message.toolCallId}`;
		if (!("content" in message)) return message.role;
		if (typeof message.content === "string") return message.content;
		return message.content
			.map((block) => (block.type === "text" ? block.text : block.type === "toolCall" ? `call ${block.id}` : block.type))
			.join("");
	});
}

describe("the context of a branch", () => {
	const dropped = (entryId: string): EntryBody => ({ type: "custom", customType: "dropped_reply", data: { entryId } });
	const failed = (text: string) => said(assistant(text, { stopReason: "error" }));
	const cases: [string, Entry[], string[]][] = [
		["nothing", [], []],
		["all messages in order", chain(said(user("1")), said(assistant("2")), said(user("3"))), ["1", "2", "3"]],
		[
			"what is no part of the conversation is left out",
			chain(
				said(user("1")),
				{ type: "model_change", provider: "p", modelId: "m" },
				{ type: "custom", customType: "x", data: 1 },
				{ type: "label", targetId: "a", label: "l" },
				{ type: "session_info", name: "n" },
				{ type: "future_thing" },
				said(assistant("2")),
			),
			["1", "2"],
		],
		[
			"messages of extensions and summaries of branches",
			chain(
				{ type: "custom_message", customType: "x", content: "custom", display: true },
				{ type: "branch_summary", fromId: "z", summary: "was there" },
				said(user("1")),
			),
			["custom", "was there", "1"],
		],
		[
			"a summary, what it kept, what came after",
			chain(said(user("1")), said(assistant("2")), said(user("3")), said(assistant("4")), compaction("c"), said(user("5"))),
			["from c", "3", "4", "5"],
		],
		[
			"of two summaries the later",
			chain(said(user("1")), said(user("2")), compaction("b"), said(user("3")), compaction("d"), said(user("4"))),
			["from d", "3", "4"],
		],
		[
			"the later summary may keep what the earlier kept, but not the earlier itself",
			chain(said(user("1")), said(user("2")), compaction("b"), said(user("3")), compaction("b"), said(user("4"))),
			["from b", "2", "3", "4"],
		],
		["a kept entry that is not on the branch keeps nothing", chain(said(user("1")), compaction("zz"), said(user("2"))), ["from zz", "2"]],
		["a kept entry behind the summary keeps nothing", chain(said(user("1")), compaction("c"), said(user("2"))), ["from c", "2"]],
		["a failed reply that was tried again is gone", chain(said(user("1")), failed("no"), failed("no"), said(assistant("2"))), ["1", "2"]],
		[
			"with the results of its calls",
			chain(said(user("1")), said({ ...call("x"), stopReason: "error" }), said(result("x")), said(assistant("2"))),
			["1", "2"],
		],
		["a failed reply that was the last stays", chain(said(user("1")), failed("no")), ["1", "no"]],
		["a reply that was dropped is gone, whatever follows", chain(said(user("1")), failed("no"), dropped("b"), said(user("2"))), ["1", "2"]],
		["also when nothing follows", chain(said(user("1")), failed("no"), dropped("b")), ["1"]],
		["with its results only", chain(said(call("x")), said(result("x")), said(user("1")), dropped("a")), ["1"]],
		["other notes of programs drop nothing", chain(failed("no"), { type: "custom", customType: "x", data: { entryId: "a" } }), ["no"]],
		["nor does a note that cannot be read", chain(failed("no"), { type: "custom", customType: "dropped_reply", data: null }), ["no"]],
		["and stays when somebody spoke", chain(said(user("1")), failed("no"), said(user("2")), said(assistant("3"))), ["1", "no", "2", "3"]],
		["calls and results are no retry", chain(said(call("x")), said(result("x")), said(assistant("2"))), ["call x", "result x", "2"]],
		[
			"an overflow that was compacted and tried again",
			chain(said(user("1")), failed("too long"), compaction("a"), said(assistant("2"))),
			["from a", "1", "2"],
		],
		["a message without a message", chain({ type: "message" }, said(user("1"))), ["1"]],
	];
	test.each(cases)("%s", (_, entries, expected) => {
		expect(words(entries)).toEqual(expected);
	});
});

test("the model is the one that was chosen or used last", () => {
	const change: EntryBody = { type: "model_change", provider: "x", modelId: "y/z" };
	expect(modelOf(branchOf(chain(said(user("1")))))).toBeUndefined();
	expect(modelOf(branchOf(chain(said(assistant("1")), change)))).toEqual({ provider: "x", id: "y/z" });
	expect(modelOf(branchOf(chain(change, said(assistant("1")), said(user("2")))))).toEqual({ provider: "p", id: "m" });
	const family = { type: "model_change", model: "x/y/z" };
	expect(modelOf(branchOf(chain(family)))).toEqual({ provider: "x", id: "y/z" });
});

test("the level is the one that was chosen last", () => {
	const level = (thinkingLevel: string): EntryBody => ({ type: "thinking_level_change", thinkingLevel });
	expect(levelOf(branchOf(chain(level("low"), level("high"), said(user("1")))))).toBe("high");
	expect(levelOf(branchOf(chain(said(user("1")))))).toBeUndefined();
});

test("the todo list is in the newest entry that has one", () => {
	const todo = (isError: boolean) => said(result("x", { toolName: "todo_write", isError, details: { phases: [] } }));
	const own: EntryBody = { type: "custom", customType: "todos", data: { phases: [] } };
	const found = (...bodies: EntryBody[]) => todosEntry(branchOf(chain(...bodies)))?.id;
	expect(found(own, todo(false), said(user("1")))).toBe("b");
	expect(found(todo(false), own, todo(true))).toBe("b");
	expect(found({ type: "custom", customType: "other" }, said(result("x")))).toBeUndefined();
});

test("calls without a result are those of the last reply only", () => {
	const open = (...bodies: EntryBody[]) => openCalls(branchOf(chain(...bodies))).map(({ id }) => id);
	expect(open(said(user("1")), said(call("x", "y", "z")), said(result("y")))).toEqual(["x", "z"]);
	expect(open(said(call("x")), said(result("x")))).toEqual([]);
	expect(open(said(call("x")), { type: "label", targetId: "a" })).toEqual(["x"]);
	expect(open(said(call("x")), said(user("1")))).toEqual([]);
	expect(open()).toEqual([]);
});

/** A tree: each entry hangs on any earlier one, or on none; compactions keep from any entry at all. */
const tree: fc.Arbitrary<Entry[]> = fc
	.array(
		fc.record({
			parent: fc.nat(),
			kind: fc.constantFrom("user", "assistant", "failed", "call", "result", "compaction", "model", "unknown"),
			kept: fc.nat(),
		}),
		{ minLength: 1, maxLength: 40 },
	)
	.map((plans) =>
		plans.map(({ parent, kind, kept }, index) => {
			const parentId = parent % (index + 1) === index ? null : `e${parent % (index + 1)}`;
			const base = { id: `e${index}`, parentId, timestamp: new Date(index * 1000).toISOString() };
			const bodies: Record<string, object> = {
				user: said(user(`u${index}`)),
				assistant: said(assistant(`a${index}`)),
				failed: said(assistant(`f${index}`, { stopReason: "error" })),
				call: said(call(`c${index}`)),
				result: said(result(`r${index}`)),
				compaction: compaction(`e${kept % (plans.length + 2)}`),
				model: { type: "model_change", provider: "p", modelId: "m" },
				unknown: { type: "from_the_future", x: index },
			};
			return { ...bodies[kind], ...base } as Entry;
		}),
	);

function pathTo(entries: Entry[], leaf: Entry): Entry[] {
	const path: Entry[] = [];
	for (let entry: Entry | undefined = leaf; entry; entry = entries.find((other) => other.id === entry?.parentId)) path.unshift(entry);
	return path;
}

test("on any branch of any tree: the newest summary first, nothing twice, nothing from elsewhere, order kept, nothing lost that was not summarised or retried", () => {
	fc.assert(
		fc.property(tree, fc.nat(), (entries, pick) => {
			const path = pathTo(entries, entries[pick % entries.length] as Entry);
			const branch = branchOf(path);
			const messages = contextMessages(branch);
			expect(contextPlaces(branch).length).toBe(messages.length);

			const newest = path.findLastIndex((entry) => entry.type === "compaction");
			const summaries = messages.filter((message) => message.role === "compactionSummary");
			expect(summaries).toEqual(newest < 0 ? [] : [messageOf(path[newest] as Entry)]);
			if (newest >= 0) expect(messages[0]?.role).toBe("compactionSummary");

			const places = messages
				.slice(newest < 0 ? 0 : 1)
				.map((message) => path.findIndex((entry) => entry.type === "message" && entry.message === message));
			expect(places.every((place) => place >= 0)).toBe(true);
			expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));

			const compacted = path[newest];
			const kept = compacted?.type === "compaction" ? path.slice(0, newest).findIndex((entry) => entry.id === compacted.firstKeptEntryId) : 0;
			const start = kept < 0 ? newest : kept;
			const missing = path.slice(start).filter((entry, index) => entry.type === "message" && !places.includes(start + index));
			for (const entry of missing) {
				const role = entry.type === "message" ? entry.message.role : "";
				// Only a failed reply that was tried again, and results after it.
				expect(["assistant", "toolResult"]).toContain(role);
				if (entry.type === "message" && entry.message.role === "assistant") expect(entry.message.stopReason).toBe("error");
			}
		}),
		{ numRuns: 500 },
	);
});
