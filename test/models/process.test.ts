/** The four formats through the whole program: a real process, a real socket, a real tool. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { assistant, call, chain, fileOf, header, result, said, user } from "../transcript/support.ts";
import { testUnless } from "../unless.ts";
import { Agent } from "../wire/support/agent.ts";
import { type Answer, Loopback, refuse, stream } from "./loopback.ts";
import { type ApiKind, askedBy, type Reply, spoken } from "./wire.ts";

const key = "canary-key-0123456789abcdef";
const apis: ApiKind[] = ["anthropic", "chat", "responses", "google"];

let server: Loopback;
let agent: Agent;

beforeEach(async () => {
	server = await Loopback.start();
});
afterEach(async () => {
	await agent.dispose();
	await server.stop();
});

const says = (api: ApiKind, reply: Reply): Answer => stream(Buffer.from(spoken(api, reply)));

function start(api: ApiKind, flags: string[] = [], files: Record<string, string> = {}): void {
	const { flags: model, env } = askedBy(api, server.url, key);
	agent = new Agent({
		flags: [...model, "--session-dir", "sessions", ...flags],
		env,
		files: { "note.txt": "forty-two\n", "leak.txt": key, ...files },
	});
}

/** Everything that could carry a secret: frames, diagnostics, session files. */
function everything(): string {
	const folder = join(agent.cwd, "sessions");
	const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
	return [JSON.stringify(agent.frames), agent.stderr, ...files].join("\n");
}

describe.each(apis)("%s", (api) => {
	test("a reply, a tool call with its result, and another reply", async () => {
		const call = { name: "read", arguments: ['{"pa', 'th":"note', '.txt"}'] };
		server.answer(says(api, { text: ["Let me ", "look."], call }), says(api, { text: ["It is ", "forty-two."] }));
		start(api);
		agent.send({ id: "1", type: "prompt", message: "what is in note.txt?" });
		const end = await agent.event("agent_end");
		expect(end.messages).toMatchObject([
			{ role: "user" },
			{
				role: "assistant",
				stopReason: "toolUse",
				content: [{ text: "Let me look." }, { type: "toolCall", name: "read", arguments: { path: "note.txt" } }],
			},
			{ role: "toolResult", toolName: "read", isError: false, content: [{ text: "forty-two\n" }] },
			{ role: "assistant", stopReason: "stop", content: [{ text: "It is forty-two." }], usage: { input: 5, output: 7, totalTokens: 12 } },
		]);
		expect(server.received).toHaveLength(2);
		expect(server.received[1]?.body).toContain("forty-two");
		expect(everything()).not.toContain(key);
	});

	// The chat model of these tests always thinks, and then refuses a tool choice.
	testUnless(api === "chat" && "the chat model of these tests refuses a tool choice")(
		"with todo.eager the first reply must call todo_write, the second need not",
		async () => {
			const call = { name: "todo_write", arguments: ['{"ops":[]}'] };
			server.answer(says(api, { call }), says(api, { text: ["ok"] }));
			start(api, ["--set", "todo.eager=true", "--thinking", "off"]);
			agent.send({ id: "1", type: "prompt", message: "go" });
			await agent.event("agent_settled");
			expect(server.received.map(({ body }) => /"(tool_choice|toolConfig)":\{[^[]*todo_write|allowedFunctionNames/.test(body))).toEqual([
				true,
				false,
			]);
		},
	);

	test("what a person removed from the context with another program goes to no provider and no host", async () => {
		const canary = "the canary sings";
		const edit = (targetId: string, replacement: unknown = null) => ({ type: "context_edit", targetId, replacement });
		const entries = chain(
			said({ role: "system", content: "a system message", timestamp: 1 } as never),
			said(user("first")),
			said(user(canary)),
			said(call("x", "y")),
			said(result("x", { content: [{ type: "text", text: canary }] })),
			said(result("y", { content: [{ type: "text", text: canary }] })),
			said(assistant(canary)),
			said(user("second")),
			edit("c"),
			edit("e"),
			edit("f", "nothing was found"),
			edit("g", canary),
			edit("g"),
			said(user("third")),
		);
		server.answer(says(api, { text: ["ok"] }));
		start(api, ["--session", "pi.jsonl", "--set", "compaction.keepRecentTokens=1"], { "pi.jsonl": fileOf(header, ...entries) });
		agent.send({ id: "1", type: "prompt", message: "fourth" });
		await agent.event("agent_settled");
		expect(server.received.at(-1)?.body).toMatch(/first.*second.*third.*fourth/);
		expect(server.received.at(-1)?.body).toContain("nothing was found");
		agent.send({ id: "2", type: "get_messages" });
		const { data } = await agent.response("2");
		expect((data as { messages: { role: string }[] }).messages.map(({ role }) => role)).toEqual([
			"user",
			"assistant",
			"toolResult",
			"user",
			"user",
			"user",
			"assistant",
		]);
		// The page of the session is of the context, too; what the file holds is in get_entries.
		agent.send({ id: "3", type: "export_html", outputPath: "page.html" });
		await agent.response("3");
		expect(readFileSync(join(agent.cwd, "page.html"), "utf8").includes(canary)).toBe(false);
		agent.send({ id: "4", type: "fork", entryId: "n" });
		await agent.response("4");
		agent.send({ id: "5", type: "prompt", message: "other" });
		await agent.event("agent_settled");
		agent.send({ id: "6", type: "switch_session", sessionPath: "pi.jsonl" });
		await agent.response("6");
		agent.send({ id: "7", type: "compact" });
		expect(await agent.response("7")).toMatchObject({ success: true });
		const summaries = server.received.slice(2).map(({ body }) => body);
		expect(summaries.join()).toContain("nothing was found");
		expect(JSON.stringify(server.received)).not.toMatch(new RegExp(`${canary}|a system message`));
		expect(JSON.stringify(agent.frames)).not.toMatch(new RegExp(`${canary}|a system message`));
		agent.send({ id: "8", type: "get_entries" });
		expect(JSON.stringify(await agent.response("8"))).toContain(canary);
	});

	test("an overloaded provider is asked again, and the key in its answer goes nowhere", async () => {
		server.answer(
			refuse(529, `{"error":"overloaded, ${key}"}`),
			refuse(503, "<html><body>Service Unavailable</body></html>"),
			says(api, { text: ["ok"] }),
		);
		start(api);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		const first = await agent.event("auto_retry_start");
		expect(first).toMatchObject({ attempt: 1, errorMessage: expect.stringContaining("529") });
		await agent.until((frame) => frame.type === "auto_retry_start" && frame.attempt === 2);
		expect(await agent.event("auto_retry_end")).toMatchObject({ success: true, attempt: 2 });
		await agent.event("agent_settled");
		expect(everything()).not.toContain(key);
		expect(everything()).toContain("[redacted]");
	});

	test("a wrong key is reported once and not retried", async () => {
		server.answer(refuse(401, '{"error":{"message":"invalid x-api-key"}}'));
		start(api);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		const end = await agent.event("agent_end");
		expect(end).toMatchObject({ willRetry: false, messages: [{}, { stopReason: "error", errorMessage: expect.stringContaining("401") }] });
		expect(server.received).toHaveLength(1);
	});

	test("a provider that never answers ends in a clear error", async () => {
		server.answer(() => undefined);
		start(api, ["--set", "stream.firstEventTimeoutMs=200", "--set", "retry.maxRetries=1"]);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		expect(await agent.event("auto_retry_start")).toMatchObject({ errorMessage: expect.stringMatching(/200 ms|0\.2 s|timed out|no answer/i) });
		expect(await agent.event("auto_retry_end")).toMatchObject({ success: false });
		await agent.event("agent_settled");
	});

	test("a reply that stalls or is cut in the middle is asked for again", async () => {
		const whole = Buffer.from(spoken(api, { text: ["one ", "two ", "three"] }));
		const half = whole.subarray(0, whole.indexOf("three"));
		const stalls: Answer = (response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.write(half);
		};
		const cuts: Answer = (response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.write(half, () => response.destroy());
		};
		server.answer(stalls, cuts, says(api, { text: ["whole"] }));
		start(api, ["--set", "stream.idleTimeoutMs=200"]);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		expect(await agent.event("auto_retry_start")).toMatchObject({ attempt: 1 });
		expect(await agent.event("auto_retry_start")).toMatchObject({ attempt: 2 });
		expect(await agent.event("auto_retry_end")).toMatchObject({ success: true });
		await agent.event("agent_settled");
	});

	test("garbage with status 200 ends in an error, not in silence", async () => {
		server.answer((response) => {
			response.writeHead(200, { "content-type": "text/html" });
			response.end("<html><body>Welcome to the proxy</body></html>");
		});
		start(api, ["--set", "retry.enabled=false"]);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		const end = await agent.event("agent_end");
		expect(end.messages).toMatchObject([{}, { stopReason: "error", errorMessage: expect.stringMatching(/./) }]);
	});

	test("abort closes the socket", async () => {
		server.answer((response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.write(spoken(api, { text: ["one "] }).slice(0, 300));
		});
		start(api);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		await agent.until((frame) => frame.type === "message_start" && (frame.message as { role: string }).role === "user");
		while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
		agent.send({ id: "2", type: "abort" });
		await agent.response("2");
		await server.whenTorn();
	});
});

test("a conversation goes on with another provider's model", async () => {
	server.answer(says("anthropic", { text: ["first"] }), says("responses", { text: ["second"] }));
	const [one, two] = [askedBy("anthropic", server.url, key), askedBy("responses", server.url, key)];
	agent = new Agent({ flags: one.flags, env: { ...one.env, ...two.env } });
	agent.send({ id: "1", type: "prompt", message: "hi" });
	await agent.event("agent_settled");
	agent.send({ id: "2", type: "set_model", provider: "openai", modelId: "gpt-5.5" });
	expect(await agent.response("2")).toMatchObject({ success: true });
	agent.send({ id: "3", type: "prompt", message: "and now?" });
	await agent.event("agent_settled");
	expect(server.received[1]?.body).toContain("first");
});
