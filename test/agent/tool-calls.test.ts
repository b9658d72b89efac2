/** Every call in a reply gets exactly one result: run, refused, skipped or aborted. */
import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/agent/policy.ts";
import { playLoop, resultTexts, tool, user } from "./support.ts";

const call = (id: string, name: string, args: Record<string, unknown> = {}) => ({ id, name, args });
const one = (...calls: ReturnType<typeof call>[]) => [{ calls }, { text: "done" }];
const strict = tool("strict", async ({ args }) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }), {
	parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
});

test("an unknown tool names those that exist", async () => {
	const played = await playLoop({ replies: one(call("1", "nope")), tools: [strict] });
	expect(resultTexts(played)["1"]).toBe("Tool nope not found. Available tools: strict.");
});

test("arguments that do not fit are shown with the problem, and the tool does not run", async () => {
	const played = await playLoop({ replies: one(call("1", "strict", {})), tools: [strict] });
	expect(resultTexts(played)["1"]).toMatch(/^The arguments of strict do not fit its schema:\n.*path/s);
});

test("a value that must be one of a few is answered with all of them", async () => {
	const properties = {
		level: { anyOf: [{ const: "low" }, { const: "high" }] },
		mode: { enum: ["read", "write"] },
		kind: { const: "file" },
		size: { anyOf: [{ type: "number" }, { type: "null" }] },
	};
	const choosy = tool("choosy", async () => ({ content: [] }), { parameters: { type: "object", properties } });
	const played = await playLoop({ replies: one(call("1", "choosy", { level: "deep", mode: "eat", kind: "dog", size: {} })), tools: [choosy] });
	const text = resultTexts(played)["1"] ?? "";
	for (const line of ['level: must be "low" or "high"', 'mode: must be "read" or "write"', 'kind: must be "file"', "size: must be number"])
		expect(text).toContain(line);
	expect(text).not.toContain("allowed values");
	expect(text.match(/level/g)).toHaveLength(2);
});

test("shared calls run at the same time, an exclusive one waits for those before it", async () => {
	const order: string[] = [];
	const timed = (name: string, concurrency: "shared" | "exclusive") =>
		tool(
			name,
			async () => {
				order.push(`${name} starts`);
				await new Promise((resolve) => setImmediate(resolve));
				order.push(`${name} ends`);
				return { content: [] };
			},
			{ concurrency },
		);
	const tools = [timed("a", "shared"), timed("b", "shared"), timed("c", "exclusive")];
	await playLoop({ replies: one(call("1", "a"), call("2", "b"), call("3", "c")), tools });
	expect(order).toEqual(["a starts", "b starts", "a ends", "b ends", "c starts", "c ends"]);
});

test("results are reported in the order of the calls, whichever ends first", async () => {
	const slow = tool("slow", async () => {
		await new Promise((resolve) => setImmediate(resolve));
		return { content: [] };
	});
	const { events } = await playLoop({ replies: one(call("1", "slow"), call("2", "quick")), tools: [slow, tool("quick")] });
	const ended = events.flatMap((event) => (event.type === "tool_execution_end" ? [event.toolCallId] : []));
	const told = events.flatMap((event) => (event.type === "message_end" && event.message.role === "toolResult" ? [event.message.toolCallId] : []));
	expect({ ended, told }).toEqual({ ended: ["2", "1"], told: ["1", "2"] });
});

test("steering skips the calls that have not run", async () => {
	const steering = [] as ReturnType<typeof user>[];
	const first = tool(
		"first",
		async () => {
			steering.push(user("stop that"));
			return { content: [{ type: "text", text: "ok" }] };
		},
		{ concurrency: "exclusive" },
	);
	const played = await playLoop({ replies: one(call("1", "first"), call("2", "first")), tools: [first], steering });
	expect(resultTexts(played)).toEqual({ "1": "ok", "2": "Skipped due to queued user message." });
});

test("credentials are removed from results and from progress", async () => {
	const leaky = tool("leaky", async ({ onUpdate }) => {
		onUpdate({ content: [{ type: "text", text: "my secret" }] });
		return { content: [{ type: "text", text: "the secret" }] };
	});
	const played = await playLoop({ replies: one(call("1", "leaky")), tools: [leaky] });
	expect(JSON.stringify(played.events)).not.toContain("secret");
});

describe("policies", () => {
	const audit = (seen: unknown[]): Policy => ({ name: "audit", beforeTool: async ({ input }) => void seen.push(input) });

	test("a denial is the result, and the tool does not run", async () => {
		const played = await playLoop({
			replies: one(call("1", "look")),
			tools: [tool("look", () => Promise.reject(new Error("ran")))],
			policies: [{ name: "gate", beforeTool: async () => ({ denied: "Not allowed here." }) }],
		});
		expect(resultTexts(played)).toEqual({ "1": "Not allowed here." });
		expect(played.events).toContainEqual(expect.objectContaining({ type: "tool_execution_end", isError: true }));
	});

	test("changed arguments are checked, then judged, then used", async () => {
		const seen: unknown[] = [];
		const changes: Policy = { name: "changes", beforeTool: async () => ({ input: { path: 7 } }) };
		const played = await playLoop({ replies: one(call("1", "strict", { path: "a" })), tools: [strict], policies: [changes, audit(seen)] });
		expect(seen).toEqual([{ path: "7" }]);
		expect(resultTexts(played)).toEqual({ "1": '{"path":"7"}' });
	});

	test("changed arguments that do not fit say who changed them", async () => {
		const seen: unknown[] = [];
		const changes: Policy = { name: "changes", beforeTool: async () => ({ input: {} }) };
		const played = await playLoop({ replies: one(call("1", "strict", { path: "a" })), tools: [strict], policies: [changes, audit(seen)] });
		expect(resultTexts(played)["1"]).toMatch(/^The arguments of strict, as an extension changed them, do not fit its schema/);
		expect(seen).toEqual([]);
	});

	test("a changed result is what the model and the host read", async () => {
		const policies: Policy[] = [
			{ name: "a", afterTool: async (_, result) => ({ ...result, content: [{ type: "text", text: "shorter" }], isError: true }) },
		];
		const played = await playLoop({ replies: one(call("1", "look")), tools: [tool("look")], policies });
		expect(resultTexts(played)).toEqual({ "1": "shorter" });
	});

	test("an abort while a policy decides is not overruled by its answer", async () => {
		const controller = new AbortController();
		const policies: Policy[] = [
			{
				name: "slow",
				async beforeTool() {
					controller.abort();
					return { input: {} };
				},
			},
		];
		const look = tool("look", () => Promise.reject(new Error("ran")));
		const played = await playLoop({ replies: one(call("1", "look")), tools: [look], policies, signal: controller.signal });
		expect(resultTexts(played)).toEqual({ "1": "Operation aborted" });
	});
});
