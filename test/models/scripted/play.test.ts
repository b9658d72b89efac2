import { describe, expect, test } from "vitest";
import type { ModelMessage, StreamEvent } from "../../../src/agent/contracts.ts";
import type { Reply, Script } from "../../../src/models/scripted/format.ts";
import { cutText } from "../../../src/models/scripted/play.ts";
import type { AssistantMessage } from "../../../src/protocol/messages.ts";
import { ask, assistant, last, player, reply, result, say, user } from "./ask.ts";

const once = (...replies: Reply[]) => player({ replies });
const short = (events: StreamEvent[]) => events.map((event) => ("delta" in event ? `${event.type} ${event.delta}` : event.type));

describe("a reply as it streams", () => {
	test("thinking, text and a call arrive in pieces and end in one message", async () => {
		const events = await ask(
			once({
				thinking: "Let me see",
				text: "I look.",
				blocks: [{ tool: "read", arguments: { path: "a.ts" } }],
				usage: { input: 10, output: 5 },
			}),
		);
		const thinking = { type: "thinking", thinking: "Let me see" } as const;
		const text = { type: "text", text: "I look." } as const;
		const call = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.ts" } } as const;
		const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
		const whole = [thinking, text, call];
		const upTo = (...content: AssistantMessage["content"]) => reply({ content });
		expect(events).toEqual([
			{ type: "start", partial: upTo() },
			{ type: "thinking_start", contentIndex: 0, partial: upTo({ type: "thinking", thinking: "" }) },
			{ type: "thinking_delta", contentIndex: 0, delta: "Let ", partial: upTo({ type: "thinking", thinking: "Let " }) },
			{ type: "thinking_delta", contentIndex: 0, delta: "me ", partial: upTo({ type: "thinking", thinking: "Let me " }) },
			{ type: "thinking_delta", contentIndex: 0, delta: "see", partial: upTo(thinking) },
			{ type: "thinking_end", contentIndex: 0, content: "Let me see", partial: upTo(thinking) },
			{ type: "text_start", contentIndex: 1, partial: upTo(thinking, { type: "text", text: "" }) },
			{ type: "text_delta", contentIndex: 1, delta: "I ", partial: upTo(thinking, { type: "text", text: "I " }) },
			{ type: "text_delta", contentIndex: 1, delta: "look.", partial: upTo(thinking, text) },
			{ type: "text_end", contentIndex: 1, content: "I look.", partial: upTo(thinking, text) },
			{ type: "toolcall_start", contentIndex: 2, id: "call_1", toolName: "read", partial: upTo(thinking, text, { ...call, arguments: {} }) },
			{ type: "toolcall_delta", contentIndex: 2, delta: '{"path":', partial: upTo(thinking, text, { ...call, arguments: {} }) },
			{ type: "toolcall_delta", contentIndex: 2, delta: '"a.ts"}', partial: upTo(...whole) },
			{ type: "toolcall_end", contentIndex: 2, toolCall: call, partial: upTo(...whole) },
			{
				type: "done",
				reason: "toolUse",
				message: reply({
					content: whole,
					stopReason: "toolUse",
					usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost },
				}),
			},
		]);
	});

	test.each<[string, Reply, string[]]>([
		["an empty reply", {}, ["start", "done"]],
		[
			"a fixed number of pieces",
			{ blocks: [{ text: "abcdef", pieces: 2 }] },
			["start", "text_start", "text_delta abc", "text_delta def", "text_end", "done"],
		],
		[
			"no more pieces than characters",
			{ blocks: [{ text: "ab", pieces: 9 }] },
			["start", "text_start", "text_delta a", "text_delta b", "text_end", "done"],
		],
		[
			"an emoji is not torn",
			{ blocks: [{ text: "😀😀", pieces: 4 }] },
			["start", "text_start", "text_delta 😀", "text_delta 😀", "text_end", "done"],
		],
		["an empty text", { text: "" }, ["start", "text_start", "text_end", "done"]],
		[
			"repeated text",
			{ repeat: { text: "x", count: 3 } },
			["start", "text_start", "text_delta x", "text_delta x", "text_delta x", "text_end", "done"],
		],
		["a call without arguments", { blocks: [{ tool: "ls", pieces: 1 }] }, ["start", "toolcall_start", "toolcall_delta {}", "toolcall_end", "done"]],
		["a failure after some text", { text: "a", fail: { status: 529 } }, ["start", "text_start", "text_delta a", "text_end", "error"]],
		["a failure at once", { fail: { status: 529 } }, ["start", "error"]],
		["a cut after a block", { text: "a", cut: true }, ["start", "text_start", "text_delta a", "text_end", "error"]],
		["a cut inside a block", { text: "a", cut: "mid-block" }, ["start", "text_start", "text_delta a", "error"]],
	])("%s", async (_, written, expected) => {
		expect(short(await ask(once(written)))).toEqual(expected);
	});
});

describe("the last message", () => {
	const call = { type: "toolCall", id: "call_1", name: "bash" } as const;
	const nothing = reply().usage;
	test.each<[string, Reply, Partial<AssistantMessage>]>([
		["stop said by the script", { text: "a", stop: "length" }, { content: [{ type: "text", text: "a" }], stopReason: "length" }],
		["a signature", { blocks: [{ thinking: "a", signature: "s" }] }, { content: [{ type: "thinking", thinking: "a", thinkingSignature: "s" }] }],
		["an id", { blocks: [{ tool: "bash", id: "x" }] }, { content: [{ ...call, id: "x", arguments: {} }], stopReason: "toolUse" }],
		[
			"raw arguments",
			{ blocks: [{ tool: "bash", arguments: '{"command": 1}' }] },
			{ content: [{ ...call, arguments: { command: 1 } }], stopReason: "toolUse" },
		],
		[
			"broken arguments",
			{ blocks: [{ tool: "bash", arguments: '{"command": "l' }] },
			{ content: [{ ...call, arguments: {}, argumentsError: expect.stringContaining("JSON") } as never], stopReason: "toolUse" },
		],
		[
			"arguments that are not an object",
			{ blocks: [{ tool: "bash", arguments: "[1]" }] },
			{ content: [{ ...call, arguments: {}, argumentsError: "The arguments are not a JSON object" } as never], stopReason: "toolUse" },
		],
		[
			"a call cut in the middle keeps what could be read",
			{ blocks: [{ tool: "bash", arguments: '{"command": "l' }], cut: "mid-block" },
			{ content: [{ ...call, arguments: { command: "l" } }], stopReason: "error", errorMessage: cutText, usage: nothing },
		],
		["a failure", { fail: { status: 529, body: "overloaded" } }, { stopReason: "error", errorMessage: "529 overloaded", usage: nothing }],
		["a failure without a body", { fail: { status: 503 } }, { stopReason: "error", errorMessage: "503 Service Unavailable", usage: nothing }],
		["a failure with an unknown status", { fail: { status: 529 } }, { stopReason: "error", errorMessage: "529", usage: nothing }],
		["a failure without a status", { fail: { body: "fetch failed" } }, { stopReason: "error", errorMessage: "fetch failed", usage: nothing }],
		["a failure without anything", { fail: {} }, { stopReason: "error", errorMessage: "The provider failed", usage: nothing }],
	])("%s", async (_, written, expected) => {
		expect(last(await ask(once(written)))).toEqual(reply({ usage: expect.anything(), ...expected }));
	});

	test.each<[string, Reply, unknown]>([
		["overloaded", { fail: { status: 529, body: "overloaded" } }, { kind: "transient", status: 529 }],
		["a wait asked for", { fail: { status: 429, retryAfterMs: 50 } }, { kind: "transient", status: 429, retryAfterMs: 50 }],
		["a wrong key", { fail: { status: 401, body: "invalid key" } }, { kind: "permanent", status: 401 }],
		["too long", { fail: { status: 400, body: "prompt is too long" } }, { kind: "overflow", status: 400 }],
		["a connection refused", { fail: { body: "connect ECONNREFUSED" } }, { kind: "transient" }],
		["a cut", { cut: true }, { kind: "transient" }],
	])("%s is classified as the providers' own failures are", async (_, written, failure) => {
		expect((await ask(once(written))).at(-1)).toMatchObject({ type: "error", reason: "error", failure });
	});

	test("usage is priced, and estimated where the script is silent", async () => {
		const script: Script = {
			model: { cost: { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 } },
			replies: [{ text: "12345678" }, { text: "12345678", usage: { cacheRead: 1000 } }, { cut: true, usage: { input: 3 } }],
		};
		const from = player(script);
		const usages = [];
		for (let n = 0; n < 3; n++) usages.push(last(await ask(from, { messages: [user("1234")] }, script))?.usage);
		const near = (value: number) => expect.closeTo(value, 12);
		expect(usages).toEqual([
			{
				...{ input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3 },
				cost: { input: near(1e-6), output: near(20e-6), cacheRead: 0, cacheWrite: 0, total: near(21e-6) },
			},
			{
				...{ input: 1, output: 2, cacheRead: 1000, cacheWrite: 0, totalTokens: 1003 },
				cost: { input: near(1e-6), output: near(20e-6), cacheRead: near(100e-6), cacheWrite: 0, total: near(121e-6) },
			},
			{
				...{ input: 3, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3 },
				cost: { input: near(3e-6), output: 0, cacheRead: 0, cacheWrite: 0, total: near(3e-6) },
			},
		]);
	});
});

describe("which reply", () => {
	test("each is used once, in order, and `times` more often", async () => {
		const from = once({ text: "a" }, { text: "b", times: 2 }, { text: "c", times: "always" });
		const said = [];
		for (let n = 0; n < 5; n++) said.push(await say(from, user("hi")));
		expect(said).toEqual(["a", "b", "b", "c", "c"]);
	});

	test("nothing left is said with the request and its last message", async () => {
		const from = player({ replies: [{ text: "a" }] });
		await say(from, user("hi"));
		const events = await ask(from, { messages: [user(`two\nlines ${"x".repeat(100)}`)] });
		expect(events.at(-1)).toEqual({
			type: "error",
			reason: "error",
			error: reply({
				stopReason: "error",
				errorMessage: `Script test.jsonc has no reply left for request 2 (last message: "two lines ${"x".repeat(70)}"). Add a reply, or set "times": "always" on one.`,
			}),
			failure: { kind: "permanent" },
		});
	});

	const twoResults = [user("go"), assistant("ok"), result("bash", "exit 1", true), result("read", "const a")];
	test.each<[string, Reply["when"], ModelMessage[], boolean]>([
		["text of the prompt", { text: "weather" }, [user("the weather?")], true],
		["text of an earlier prompt", { text: "weather" }, [user("the weather?"), assistant("fine"), user("thanks")], false],
		["either of two new prompts", { text: "first" }, [assistant("a"), user("first"), user("second")], true],
		["text of a result", { text: "const" }, twoResults, true],
		["a pattern", { matches: "^exit \\d$" }, twoResults, true],
		["a pattern that does not match", { matches: "^\\d" }, twoResults, false],
		["a tool", { tool: "bash" }, twoResults, true],
		["another tool", { tool: "edit" }, twoResults, false],
		["an error", { isError: true }, twoResults, true],
		["conditions met by one message", { tool: "bash", isError: true, text: "exit" }, twoResults, true],
		["conditions met only by two messages", { tool: "read", isError: true }, twoResults, false],
		["a prompt is neither error nor not", { isError: false }, [user("hi")], false],
		["the last reply itself when nothing is newer", { text: "ok" }, [user("go"), assistant("ok")], true],
		["no message at all", { text: "" }, [], false],
		["no condition", {}, [], true],
		["the asker", { agent: "explore", depth: 2 }, [], true],
		["another agent", { agent: "main" }, [], false],
		["another depth", { depth: 0 }, [], false],
	])("%s", async (_, when, messages, isTaken) => {
		const from = player({ replies: [{ when, text: "yes" }, { text: "no" }] }, { agent: "explore", depth: 2 });
		expect(await say(from, ...messages)).toBe(isTaken ? "yes" : "no");
	});

	test("without options the asker is the session itself", async () => {
		expect(await say(once({ when: { agent: "main", depth: 0 }, text: "yes" }), user("hi"))).toBe("yes");
	});
});

describe("templates", () => {
	const messages = [user("say $& {{n}}"), assistant("ok"), result("bash", "42")];
	test("are filled in once, in text, thinking and strings inside arguments", async () => {
		const from = once({
			thinking: "{{n}}",
			text: "{{prompt}}, {{last}}, {{other}}",
			blocks: [
				{ tool: "bash", arguments: { command: "echo {{last}}", "{{n}}": ["{{n}}", 1, null] } },
				{ tool: "bash", arguments: '{"a":"{{n}}"}' },
			],
		});
		expect(last(await ask(from, { messages }))?.content).toEqual([
			{ type: "thinking", thinking: "1" },
			{ type: "text", text: "say $& {{n}}, 42, {{other}}" },
			{ type: "toolCall", id: "call_1", name: "bash", arguments: { command: "echo 42", "{{n}}": ["1", 1, null] } },
			{ type: "toolCall", id: "call_2", name: "bash", arguments: { a: "{{n}}" } },
		]);
	});
});

describe("what cannot be played", () => {
	test("a broken pattern in a script made in code ends in an error reply", async () => {
		expect(await say(once({ when: { matches: "(" } }), user("hi"))).toMatch(/^Script test\.jsonc could not be played: Invalid regular expression/);
	});

	test.each(["start", "text_start", "text_delta", "text_end", "done"])(
		"a listener that throws at %s gets at most one terminal event",
		async (type) => {
			const seen: string[] = [];
			const onEvent = (event: StreamEvent) => {
				seen.push(event.type);
				if (event.type === type) throw new Error("listener");
			};
			await ask(once({ text: "a" }), { onEvent });
			const order = ["start", "text_start", "text_delta", "text_end", "done"];
			expect(seen).toEqual([...order.slice(0, order.indexOf(type) + 1), ...(type === "done" ? [] : ["error"])]);
		},
	);

	test("a listener that always throws does not make the stream reject", async () => {
		const warnings: string[] = [];
		const onWarning = (warning: Error) => warnings.push(warning.message);
		process.on("warning", onWarning);
		const onEvent = () => {
			throw new Error("always");
		};
		await ask(once({ text: "a" }), { onEvent });
		await new Promise((resolve) => setImmediate(resolve));
		process.off("warning", onWarning);
		expect(warnings).toEqual(["always"]);
	});
});
