import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cut, chooseCut as chooseCutOf } from "../../../src/policies/compaction/cut.ts";
import type { AgentMessage } from "../../../src/protocol/messages.ts";
import { branchOf, type Entry, type EntryBody } from "../../../src/transcript/entries.ts";
import { bash, branch, calls, compaction, entryOf, reply, result, user, words } from "./support.ts";

const chooseCut = (path: readonly Entry[], keep: number) => chooseCutOf(branchOf(path), keep);
const ids = (entries: readonly Entry[]) => entries.map(({ id }) => Number(id.slice(1)));
const shown = (cut: Cut) => ({ history: ids(cut.history), prefix: ids(cut.prefix), kept: ids(cut.kept) });
const small = { problem: "Nothing to compact (session too small)" };
const change: EntryBody = { type: "thinking_level_change", thinkingLevel: "low" };
const turn = (tokens: number): AgentMessage[] => [user(words(tokens)), reply(words(tokens))];

describe("where a conversation is cut", () => {
	const rows: [what: string, path: Entry[], keep: number, expected: object][] = [
		["an empty session", branch(), 10, small],
		["a session that fits", branch(...turn(5), ...turn(5)), 100, small],
		["between two turns", branch(...turn(10), ...turn(10), ...turn(10)), 20, { history: [0, 1, 2, 3], prefix: [], kept: [4, 5] }],
		["the message that fills the tail belongs to it", branch(...turn(10), ...turn(10)), 15, { history: [0, 1], prefix: [], kept: [2, 3] }],
		["through a turn", branch(...turn(10), ...turn(10)), 5, { history: [0, 1], prefix: [2], kept: [3] }],
		[
			"through the only turn",
			branch(user(words(5)), calls(["a", "read", {}]), result("a", words(50)), reply(words(5))),
			4,
			{ history: [], prefix: [0, 1, 2], kept: [3] },
		],
		[
			"never at a result",
			branch(...turn(5), user("x"), calls(["a", "read", {}]), result("a", words(50)), calls(["b", "read", {}]), result("b", words(50))),
			60,
			{ history: [0, 1], prefix: [2, 3, 4], kept: [5, 6] },
		],
		[
			"results that are too large stay with their calls",
			branch(...turn(5), user("x"), calls(["a", "read", {}], ["b", "read", {}]), result("a", words(50)), result("b", words(50))),
			20,
			{ history: [0, 1], prefix: [2], kept: [3, 4, 5] },
		],
		[
			"nothing comes between a call and its result",
			branch(...turn(9), user("x"), calls(["a", "read", {}], ["b", "read", {}]), result("a", "1"), bash("ls", words(30)), result("b", "2")),
			20,
			{ history: [0, 1], prefix: [2], kept: [3, 4, 5, 6] },
		],
		["a first message that is too large stays", branch(user(words(100))), 10, small],
		["a first message that is too large, and its reply", branch(user(words(100)), reply("ok")), 10, small],
		[
			"changes stay with what they are for",
			branch(...turn(10), change, change, ...turn(10)),
			20,
			{ history: [0, 1], prefix: [], kept: [2, 3, 4, 5] },
		],
		[
			"a command of the user starts a turn",
			branch(...turn(10), bash("ls", words(5)), reply(words(5))),
			10,
			{ history: [0, 1], prefix: [], kept: [2, 3] },
		],
		[
			"all that led to a reply belongs to its turn",
			branch(...turn(10), bash("ls", "x"), user("y"), reply(words(9))),
			9,
			{ history: [0, 1], prefix: [2, 3], kept: [4] },
		],
		["right after a compaction", branch(...turn(10), ...turn(10), compaction("e2")), 5, { problem: "Already compacted" }],
		["after a compaction and a mere change", branch(...turn(10), compaction("e1"), change), 5, { problem: "Already compacted" }],
		[
			"the next compaction summarizes what one kept",
			branch(...turn(10), ...turn(10), compaction("e2"), ...turn(10), ...turn(10)),
			20,
			{ history: [2, 3, 5, 6], prefix: [], kept: [7, 8] },
		],
		[
			"what a compaction kept may be kept again",
			branch(...turn(10), ...turn(10), ...turn(10), compaction("e2"), ...turn(1)),
			22,
			{ history: [2, 3], prefix: [], kept: [4, 5, 6, 7, 8] },
		],
		[
			"a compaction whose kept part is not on this branch",
			branch(...turn(10), compaction("elsewhere"), ...turn(10), ...turn(10)),
			20,
			{ history: [3, 4], prefix: [], kept: [5, 6] },
		],
		["without a tail", branch(...turn(10), ...turn(10)), 0, { history: [0, 1], prefix: [2], kept: [3] }],
	];
	test.each(rows)("%s", (_, path, keep, expected) => {
		const cut = chooseCut(path, keep);
		expect("problem" in cut ? cut : shown(cut)).toEqual(expected);
	});

	test("the summary before it is handed on", () => {
		const cut = chooseCut(branch(...turn(10), compaction("e1", "what was"), ...turn(10), ...turn(10)), 20);
		expect("previous" in cut && cut.previous?.summary).toBe("what was");
	});
});

// ── Any conversation, compacted any number of times ────────────────────────────────────────────────────

type Word = "user" | "reply" | "call" | "calls" | "bash" | "custom" | "branch" | "change" | "compact";
const word = fc.constantFrom<Word>("user", "user", "reply", "reply", "call", "calls", "bash", "custom", "branch", "change", "compact");

/** Grows a branch as a session would, compacting on the way, and checks each compaction. */
function grow(steps: readonly (readonly [Word, number, number])[]): void {
	const path: Entry[] = [];
	const add = (body: AgentMessage | EntryBody) => void path.push(entryOf(body, path.length));
	/** Entries that a summary replaces. */
	const compacted = new Set<string>();
	let call = 0;
	for (const [what, size, keep] of steps) {
		if (what === "user") add(user(words(size)));
		else if (what === "reply") add(reply(words(size)));
		else if (what === "bash") add(bash("ls", words(size)));
		else if (what === "custom") add({ type: "custom_message", customType: "x", content: words(size), display: true });
		else if (what === "branch") add({ type: "branch_summary", fromId: "e0", summary: words(size) });
		else if (what === "change") add(change);
		else if (what === "call" || what === "calls") {
			const made = Array.from({ length: what === "call" ? 1 : 3 }, () => `c${call++}`);
			add(calls(...made.map((id): [string, string, object & Record<string, unknown>] => [id, "read", {}])));
			for (const id of made) add(result(id, words(size)));
		} else {
			const cut = chooseCut(path, keep);
			if ("problem" in cut) continue;
			check(path, cut, compacted);
			for (const { id } of [...cut.history, ...cut.prefix]) compacted.add(id);
			add(compaction(cut.firstKeptEntryId));
			const lost = path.filter((entry) => isSaid(entry) && !compacted.has(entry.id) && !cut.kept.includes(entry));
			expect(lost).toEqual([]);
		}
	}
}

const isSaid = ({ type }: Entry) => type === "message" || type === "custom_message" || type === "branch_summary";

function check(path: readonly Entry[], cut: Cut, compacted: ReadonlySet<string>): void {
	const said = cut.kept.filter(isSaid);
	const [first] = said;
	expect(first && first.type === "message" && first.message.role === "toolResult").toBe(false);
	expect(cut.kept[0]?.id).toBe(cut.firstKeptEntryId);
	expect(cut.kept.at(-1)).toBe(path.at(-1));
	expect(cut.history.length + cut.prefix.length).toBeGreaterThan(0);
	// No entry is compacted twice, or both compacted and kept.
	for (const { id } of [...cut.history, ...cut.prefix, ...said]) expect(compacted.has(id)).toBe(false);
	const made = new Set(
		said.flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? callIds(entry.message.content) : [])),
	);
	const results = said.flatMap((entry) => (entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : []));
	expect(results.filter((id) => !made.has(id))).toEqual([]);
	expect(results.length).toBe(made.size);
	// The prefix is the beginning of one turn, and only a reply can be in the middle of one.
	if (cut.prefix.length) expect(first?.type === "message" && first.message.role).toBe("assistant");
}

const callIds = (content: readonly { type: string; id?: string }[]) =>
	content.flatMap((block) => (block.type === "toolCall" ? [block.id as string] : []));

test("every message is compacted once or kept, and no result is kept without its call", () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(word, fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 120 })), { maxLength: 60 }), (steps) =>
			grow(steps),
		),
		{ numRuns: 2000 },
	);
});
