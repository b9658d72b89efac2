import { join } from "node:path";
import { expect, test } from "vitest";
import { type Message, using } from "./editor.ts";

const small = join(import.meta.dirname, "../mcp/servers/small.mjs");
const server = (name: string, more: object = {}) => ({ name, command: process.execPath, args: [small], env: [], ...more });

test("servers of a session are that session's alone, with their variables", () =>
	using(
		{
			model: 'call #e mcp__tools__echo {"text":"hello"} + call #v mcp__tools__environment {} · say "done" · say "none here"',
			capabilities: { session: { notices: {} } },
		},
		async (editor) => {
			const session = await editor.session({ mcpServers: [server("tools", { env: [{ name: "COLOUR", value: "green" }] })] });
			const other = await editor.session();
			await editor.prompt(session, "go");
			const [echo, variables] = editor.calls();
			expect(echo).toMatchObject({
				toolCallId: "e",
				title: "tools: echo",
				kind: "read",
				status: "completed",
				content: [{ content: { text: "hello" } }],
			});
			expect(variables).toMatchObject({ kind: "other", status: "completed" });
			expect(JSON.stringify(variables?.content)).toContain("green");
			await editor.prompt(session, "/mcp");
			expect(editor.text()).toMatch(/- tools: ready, \d+ tools/);
			await editor.prompt(other, "/mcp");
			expect(editor.text()).toContain("This session has no MCP servers.");
		},
	));

test("a server that cannot be started does not hold up the session, and is told in a notice", () =>
	using({ model: 'say "works all the same"', capabilities: { session: { notices: {} } } }, async (editor) => {
		const session = await editor.session({ mcpServers: [server("gone", { command: "/no/such/program" })] });
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.updates("notice")).toMatchObject([{ severity: "warning", title: expect.stringContaining("could not be started") }]);
	}));

test("entries that are wrong are refused in words", () =>
	using({ model: 'say "x"' }, async (editor) => {
		const wrong: Message[][] = [
			[server("a"), server("a")],
			[{ name: "a", type: "acp", id: "x" }],
			[{ name: "a" }],
			[{ command: "x", args: [], env: [] }],
			[{ name: "a", command: 7, args: [], env: [] }],
		];
		for (const mcpServers of wrong) {
			const { error } = await editor.ask("session/new", { cwd: editor.cwd, mcpServers });
			expect(error, JSON.stringify(mcpServers)).toMatchObject({ code: -32602 });
		}
	}));

test("a call of a server is cancelled with its turn", () =>
	using({ model: 'call mcp__tools__wait {} · say "no"' }, async (editor) => {
		const session = await editor.session({ mcpServers: [server("tools")] });
		const answer = editor.prompt(session, "go");
		await editor.until((message) => message.params?.update?.status === "in_progress");
		// The call itself never ends.
		editor.notify("session/cancel", { sessionId: session });
		expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
	}));

const form = { type: "object", properties: { name: { type: "string", title: "Name" }, size: { type: "integer", default: 3 } }, required: ["name"] };
const eliciting = (request: object) => `call #q mcp__tools__elicit ${JSON.stringify({ request })} · say "done"`;

for (const [answer, expected] of [
	[
		{ action: "accept", content: { name: "Ann" } },
		{ action: "accept", content: { name: "Ann", size: 3 } },
	],
	[{ action: "accept", content: { name: 7 } }, { action: "cancel" }],
	[{ action: "decline" }, { action: "decline" }],
	[{ action: "cancel" }, { action: "cancel" }],
] as const) {
	test(`a form of a server is a form under its call, and ${JSON.stringify(answer)} is answered with ${JSON.stringify(expected)}`, () =>
		using(
			{ model: eliciting({ message: "Who are you?", requestedSchema: form }), capabilities: { elicitation: { form: {} } }, answer: () => answer },
			async (editor) => {
				const session = await editor.session({ mcpServers: [server("tools")] });
				await editor.prompt(session, "go");
				const { params } = await editor.until(({ method }) => method === "elicitation/create");
				expect(params).toEqual({ mode: "form", message: "tools: Who are you?", requestedSchema: form, sessionId: session, toolCallId: "q" });
				const shown = editor.calls()[0]?.content[0].content.text;
				expect(JSON.parse(shown)).toEqual(expected);
			},
		));
}

test("an address of a server is asked about where the client can show it, and declined elsewhere", async () => {
	const request = { mode: "url", message: "Log in", url: "https://example.org/login", elicitationId: "theirs" };
	await using({ model: eliciting(request), capabilities: { elicitation: { url: {} } }, answer: () => ({ action: "accept" }) }, async (editor) => {
		const session = await editor.session({ mcpServers: [server("tools")] });
		await editor.prompt(session, "go");
		const { params } = await editor.until(({ method }) => method === "elicitation/create");
		expect(params).toMatchObject({ mode: "url", url: "https://example.org/login", sessionId: session });
		expect(params.elicitationId).not.toBe("theirs");
		expect(JSON.stringify(editor.calls()[0]?.content)).toContain("accept");
	});
	await using({ model: eliciting(request), capabilities: { elicitation: { form: {} } } }, async (editor) => {
		await editor.prompt(await editor.session({ mcpServers: [server("tools")] }), "go");
		expect(JSON.stringify(editor.calls()[0]?.content)).toContain("decline");
	});
});

test("servers are not told of forms that nobody can fill in", () =>
	using({ model: 'call mcp__tools__capabilities {} · say "done"' }, async (editor) => {
		await editor.prompt(await editor.session({ mcpServers: [server("tools")] }), "go");
		expect(JSON.stringify(editor.calls()[0]?.content)).not.toContain("elicitation");
	}));
