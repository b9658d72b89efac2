/** The cache model of the benchmark: what is kept, what is found again, and what that costs. */
import { expect, test } from "vitest";
import { type Asked, difference, PromptCache } from "../../bench/economy/prompt-cache.ts";
import { TokenCounter } from "../../bench/economy/tokens.ts";

const mark = { cache_control: { type: "ephemeral" } };
/** About 1,200 tokens. */
const long = (word: string) => `${word} `.repeat(1200);
const said = (text: string, more: object = {}) => ({ role: "user" as const, content: [{ type: "text", text, ...more }] });
const tool = (name: string, more: object = {}) => ({ name, description: long("tool"), ...more });

function asked(more: Partial<Asked> = {}): Asked {
	return {
		model: "m",
		tools: [tool("a", mark)],
		system: [{ type: "text", text: long("system"), ...mark }],
		messages: [said(long("hi"), mark)],
		...more,
	};
}

const cache = () => new PromptCache(new TokenCounter());

test("a first request is written, the same again is read, and a forgotten one is written again", () => {
	const kept = cache();
	const first = kept.take(asked());
	expect(first).toMatchObject({ read: 0, plain: 0, written: first.marked });
	expect(first.usd).toBeCloseTo((first.written * 3.75) / 1e6, 12);
	const second = kept.take(asked());
	expect(second).toMatchObject({ read: first.marked, written: 0, plain: 0 });
	expect(second.usd).toBeCloseTo((first.marked * 0.3) / 1e6, 12);
	kept.forget();
	expect(kept.take(asked()).read).toBe(0);
});

test("what comes after the last mark is neither read nor written", () => {
	const kept = cache();
	const { marked } = kept.take(asked());
	const next = kept.take(asked({ messages: [said(long("hi")), said("more")] }));
	expect(next.read).toBe(next.fixed);
	expect(next.written).toBe(0);
	expect(next.plain).toBeGreaterThan(marked - next.fixed);
});

test("a mark finds what ends at most 20 blocks before it", () => {
	const more = (count: number) => [said(long("hi")), ...Array.from({ length: count - 1 }, () => said("x")), said("end", mark)];
	for (const [count, isFound] of [
		[19, true],
		[20, false],
	] as const) {
		const kept = cache();
		const { marked } = kept.take(asked());
		const next = kept.take(asked({ messages: more(count) }));
		expect(next.read).toBe(isFound ? marked : next.fixed);
	}
});

test("another thinking or tool choice loses the messages alone; another tool loses all that follows it", () => {
	const changed: Partial<Asked>[] = [{ thinking: { type: "enabled" } }, { tool_choice: { type: "any" } }];
	for (const more of changed) {
		const kept = cache();
		const { fixed } = kept.take(asked());
		expect(kept.take(asked(more)).read).toBe(fixed);
	}
	const kept = cache();
	const before = kept.take(asked());
	const after = kept.take(asked({ tools: [tool("a", mark), tool("b")] }));
	expect(after.read).toBe(before.blocks[0]?.tokens);
	expect(difference(before.blocks, after.blocks)).toBe("system: text became b");
});

test("less than 1,024 tokens are not kept", () => {
	const kept = cache();
	const short = asked({ tools: [], system: "Short.", messages: [said("hi", mark)] });
	expect(kept.take(short)).toMatchObject({ read: 0, written: 0 });
	expect(kept.take(short)).toMatchObject({ read: 0, written: 0 });
});

test("a mark may be inside of a tool result", () => {
	const kept = cache();
	const content = [{ type: "tool_result", content: [{ type: "text", text: long("result"), ...mark }] }];
	const request = asked({ messages: [{ role: "user", content }] });
	const { marked } = kept.take(request);
	expect(kept.take(request).read).toBe(marked);
});
