import { expect, test } from "vitest";
import type { ModelRequest, StreamFunction } from "../../../src/agent/contracts.ts";
import { ReplyBuilder } from "../../../src/models/builder.ts";
import { scriptedModel } from "../../../src/models/scripted/model.ts";
import { summarizeBranch } from "../../../src/policies/compaction/branch.ts";
import type { Entry } from "../../../src/transcript/entries.ts";
import { branch, calls, compaction, reply, result, user, words } from "./support.ts";

async function ask(entries: readonly Entry[], window = 100_000) {
	const asked: ModelRequest[] = [];
	const stream: StreamFunction = async (request, { onEvent }) => {
		asked.push(request);
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		const index = builder.open({ type: "text", text: "" });
		builder.append(index, "gist");
		builder.close(index);
		builder.done("stop");
	};
	const parts = {
		stream,
		flow: { isOpen: true, whenOpen: async () => undefined },
		sleep: async () => "elapsed" as const,
		retry: () => ({ enabled: false, maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1 }),
		newSessionId: () => "fresh",
		now: () => 0,
	};
	const model = { ...scriptedModel("x"), contextWindow: window };
	const made = await summarizeBranch(parts, {
		entries,
		model,
		reserveTokens: 16_384,
		instructions: "mind the tests",
		signal: new AbortController().signal,
	});
	return { made, asked, text: JSON.stringify(asked[0]?.messages ?? "") };
}

test("one call that says what it is about, with the files of the branch and of summaries on it", async () => {
	const earlier = { ...compaction("e0", "long ago"), details: { readFiles: ["old.ts"], modifiedFiles: ["b.ts"] } };
	const { made, asked, text } = await ask(
		branch(user("wish"), earlier, calls(["a", "read", { path: "a.ts" }], ["b", "read", { path: "b.ts" }]), result("a", "A"), reply("done")),
	);
	expect(made).toMatchObject({ details: { readFiles: ["a.ts", "old.ts"], modifiedFiles: ["b.ts"] } });
	expect(made).toMatchObject({ text: "gist\n\n<read-files>\na.ts\nold.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>" });
	expect(asked).toMatchObject([
		{ maxTokens: 2048, tools: [], sessionId: "fresh", systemPrompt: expect.stringContaining("the branch that was left") },
	]);
	for (const part of ["a branch that was left", "## Goal", "mind the tests", "long ago"]) expect(text).toContain(part);
});

test("what does not fit is left out, the oldest first, and it stays one call", async () => {
	const { asked, text } = await ask(branch(user(`oldest ${words(3000)}`), reply(`middle ${words(1000)}`), user("newest")), 20_000);
	expect(asked).toHaveLength(1);
	expect(text).toContain("newest");
	expect(text).toContain("middle");
	expect(text).not.toContain("oldest word");
	const giant = await ask(branch(user(`oldest ${words(30_000)} end`)), 20_000);
	expect(giant.asked).toHaveLength(1);
	expect(giant.text).toContain("word end");
});

test("nothing was said: no one is asked", async () => {
	const { made, asked } = await ask(branch({ type: "custom", customType: "x" }));
	expect(made).toBeUndefined();
	expect(asked).toEqual([]);
});
