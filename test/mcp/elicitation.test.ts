/** What servers ask people, as dialogs. */
import { expect, test } from "vitest";
import type { Elicit, Ui } from "../../src/agent/ui.ts";
import { answerElicitation } from "../../src/mcp/elicitation.ts";
import type { Json } from "../../src/mcp/peer.ts";
import { Servers, small } from "./support.ts";

/** Answers dialogs in order, and keeps what was asked. */
function person(...answers: (string | boolean | undefined)[]) {
	const asked: unknown[][] = [];
	const next =
		(method: string) =>
		async (...parts: unknown[]) => {
			asked.push([method, ...parts.slice(0, 2).filter((part) => part !== undefined)]);
			return answers.shift();
		};
	return { asked, ui: { select: next("select"), confirm: next("confirm"), input: next("input") } as unknown as Ui };
}

async function ask(params: Json, answers: (string | boolean | undefined)[] = [], elicit?: Elicit) {
	const { ui, asked } = person(...answers);
	const warnings: string[] = [];
	const answer = await answerElicitation(
		{ server: "s", params, signal: new AbortController().signal },
		{ ui, warn: (text) => void warnings.push(text), ...(elicit && { elicit }) },
	);
	return { answer, asked, warnings };
}

const form = (properties: Json, required: string[] = []) => ({ message: "About you", requestedSchema: { type: "object", properties, required } });

test("a form is one dialog for each property, in the server's name", async () => {
	const { answer, asked } = await ask(
		form(
			{
				name: { type: "string", title: "Your name", description: "first and last" },
				age: { type: "integer", minimum: 18, default: 30 },
				colour: {
					type: "string",
					oneOf: [
						{ const: "r", title: "Red" },
						{ const: "b", title: "Blue" },
					],
				},
				old: { type: "string", enum: ["a", "b"], enumNames: ["A!", "B!"] },
				sure: { type: "boolean" },
				pets: { type: "array", items: { type: "string", enum: ["cat", "dog"] } },
			},
			["name"],
		),
		["Ada", "", "Blue", "B!", "No", "cat, dog"],
	);
	expect(asked).toEqual([
		["input", "s: About you\nYour name (first and last)"],
		["input", "s: age", "30"],
		["select", "s: colour", ["Red", "Blue"]],
		["select", "s: old", ["A!", "B!"]],
		["select", "s: sure", ["Yes", "No"]],
		["input", "s: pets\ncat, dog"],
	]);
	expect(answer).toEqual({ action: "accept", content: { name: "Ada", age: 30, colour: "b", old: "b", sure: false, pets: ["cat", "dog"] } });
});

test.each([
	["a range", { type: "number", maximum: 3 }, "7", "x must be at most 3"],
	["a whole number", { type: "integer" }, "1.5", "x must be a whole number"],
	["a length", { type: "string", minLength: 3 }, "ab", "x must have at least 3 characters"],
	["a format", { type: "string", format: "email" }, "nobody", "x must be in the format email"],
	["a pattern", { type: "string", pattern: "^\\d+$" }, "abc", "x must match ^\\d+$"],
	["presence", { type: "string" }, "", "x is required"],
])("%s is checked, and asked for once more with the reason", async (_, schema, wrong, reason) => {
	const twice = await ask(form({ x: schema }, ["x"]), [wrong, wrong]);
	expect(twice.asked.map(([, title]) => title)).toEqual(["s: About you", `s: About you\n${reason}`]);
	expect(twice.answer).toEqual({ action: "cancel" });
});

test("a pattern that never ends is cut off", async () => {
	expect((await ask(form({ x: { type: "string", pattern: "^(a+)+$" } }, ["x"]), [`${"a".repeat(40)}!`, `${"a".repeat(40)}!`])).answer).toEqual({
		action: "cancel",
	});
});

test("every request ends: cancelled, declined, or not asked at all", async () => {
	expect((await ask(form({ x: { type: "string" } }), [undefined])).answer).toEqual({ action: "cancel" });
	expect((await ask(form({ x: { type: "string" } }), [""])).answer).toEqual({ action: "accept", content: {} });
	expect(await ask(form({}), [true])).toMatchObject({ answer: { action: "accept", content: {} }, asked: [["confirm", "s: About you", ""]] });
	expect((await ask(form({}), [false])).answer).toEqual({ action: "decline" });
	const secret = await ask(form({ api_key: { type: "string" } }));
	expect(secret).toMatchObject({ answer: { action: "decline" }, asked: [], warnings: [expect.stringContaining('"s" asked for api_key')] });
});

test("an address is shown whole with its host in front; only safe ones are asked about", async () => {
	const url = { mode: "url", message: "Log in", url: "https://example.com/a?b=c", elicitationId: "1" };
	expect(await ask(url, [true])).toMatchObject({
		answer: { action: "accept" },
		asked: [["confirm", "s: Log in", "example.com: https://example.com/a?b=c"]],
	});
	expect((await ask(url, [false])).answer).toEqual({ action: "decline" });
	for (const unsafe of ["http://example.com/", "javascript:alert(1)", "file:///etc/passwd", "nonsense"])
		expect(await ask({ ...url, url: unsafe })).toMatchObject({ answer: { action: "decline" }, asked: [] });
	expect((await ask({ ...url, url: "http://localhost:3000/" }, [true])).answer).toEqual({ action: "accept" });
});

test("a host that shows forms is asked in one go; defaults are filled in, and a wrong value cancels", async () => {
	const requests: unknown[] = [];
	const answering =
		(content: Json): Elicit =>
		async (request) => {
			requests.push(request);
			return { action: "accept", content };
		};
	const asked = form({ x: { type: "integer", default: 5 }, y: { type: "string" } }, ["x"]);
	expect((await ask(asked, [], answering({ y: "z" }))).answer).toEqual({ action: "accept", content: { x: 5, y: "z" } });
	expect(requests).toEqual([{ server: "s", message: "s: About you", form: asked.requestedSchema }]);
	expect((await ask(asked, [], answering({ x: "five" }))).answer).toEqual({ action: "cancel" });
});

test("a server that asks in the middle of a call gets the answer, and its clock pauses", async () => {
	const toolCalls: unknown[] = [];
	await using servers = await new Servers(
		{ s: { ...small(), timeout: 1 } },
		{
			elicit: async ({ params, toolCallId }) => {
				toolCalls.push(toolCallId);
				await new Promise((resolve) => setTimeout(resolve, 1500));
				return { action: "accept", content: { said: params.message } };
			},
		},
	).prepare();
	expect(JSON.parse(await servers.say("mcp__s__capabilities")).capabilities).toEqual({ roots: {}, elicitation: { form: {}, url: {} } });
	expect(await servers.say("mcp__s__elicit", { request: { message: "who" } })).toBe('{"action":"accept","content":{"said":"who"}}');
	expect(toolCalls).toEqual(["c"]);
});

test("where nobody can answer, the question is refused", async () => {
	await using servers = await new Servers({ s: small() }).prepare();
	expect(await servers.say("mcp__s__elicit", { request: { message: "who" } })).toContain("-32601");
});

test("prompts fill their arguments in order, and a missing one is named", async () => {
	await using servers = new Servers({ s: small() });
	const { signal } = new AbortController();
	expect(await servers.registry.expand('/mcp__s__greet "Ada L" with joy and care', signal)).toEqual([
		{ type: "text", text: "Greet Ada L with joy and care." },
		{ type: "text", text: "The prompt has the assistant say:\n> Gladly." },
	]);
	await expect(servers.registry.expand("/mcp__s__greet", signal)).rejects.toThrow("/mcp__s__greet needs who");
	expect(await servers.registry.expand("/mcp__s__other", signal)).toBeUndefined();
	expect(servers.registry.commands()).toEqual([
		{
			name: "mcp__s__greet",
			description: "Greets.",
			source: "prompt",
			sourceInfo: { path: "mcp:s", source: "mcp:s", scope: "user", origin: "top-level" },
		},
	]);
});
