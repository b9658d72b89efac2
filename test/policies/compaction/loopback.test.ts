/** What goes over the wire when a conversation is compacted: a real process, a real socket. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Answer, Loopback, refuse, stream } from "../../models/loopback.ts";
import { askedBy, type Reply, spoken } from "../../models/wire.ts";
import { assistant, call, chain, fileOf, header, result, said, user } from "../../transcript/support.ts";
import { Agent, type AgentOptions } from "../../wire/support/agent.ts";

interface Body {
	system: { text: string }[];
	tools?: object[];
	tool_choice?: object;
	thinking?: object;
	messages: { role: string; content: { type: string; text?: string }[] }[];
}

let server: Loopback;
let agent: Agent;

beforeEach(async () => {
	server = await Loopback.start();
});
afterEach(async () => {
	await agent.dispose();
	await server.stop();
});

const says = (reply: Reply): Answer => stream(Buffer.from(spoken("anthropic", { cacheWriteTokens: 5000, ...reply })));
const bodies = () => server.received.map(({ body }) => JSON.parse(body) as Body);
const bare = (value: unknown) => JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, "");
const lastText = ({ messages }: Body) => messages.at(-1)?.content.at(-1)?.text ?? "";

function start(more: AgentOptions = {}): Agent {
	const { flags: model, env } = askedBy("anthropic", server.url, "canary-key-0123456789abcdef");
	const few = ["--set", "compaction.keepRecentTokens=200"];
	const flags = [...model, "--thinking", "high", "--session-dir", "sessions", ...few, ...(more.flags ?? [])];
	return new Agent({ env, files: { "note.txt": "forty-two\n" }, ...more, flags });
}

async function prompt(message: string): Promise<void> {
	agent.send({ id: message, type: "prompt", message });
	await agent.event("agent_settled");
}

const compact = async () => {
	agent.send({ id: "compact", type: "compact" });
	return agent.response("compact");
};

test("a summary is asked for behind the conversation that the provider has in its cache, and no call in it is run", async () => {
	const write = { name: "write", arguments: ['{"path":"made.txt","content":"x"}'] };
	server.answer(
		says({ call: { name: "read", arguments: ['{"path":"note.txt"}'] } }),
		says({ text: ["It is forty-two. ".repeat(60)] }),
		says({ text: ["## Goal\nto know the answer"], call: write }),
		says({ text: ["ok"] }),
	);
	agent = start();
	await prompt("what is in note.txt?");
	expect(await compact()).toMatchObject({ success: true, data: { summary: expect.stringContaining("## Goal\nto know the answer") } });
	await prompt("thanks");
	const [, before, summary, after] = bodies() as [Body, Body, Body, Body];
	expect(bodies()).toHaveLength(4);
	const { messages: earlier, max_tokens: _, ...fixed } = before as Body & { max_tokens: number };
	const { messages, max_tokens: __, ...same } = summary as Body & { max_tokens: number };
	expect(same).toEqual(fixed);
	expect(same.tool_choice).toBeUndefined();
	expect(same.thinking).toMatchObject({ type: "adaptive" });
	expect(bare(messages.slice(0, earlier.length))).toBe(bare(earlier));
	expect(messages.slice(earlier.length).map(({ role }) => role)).toEqual(["assistant", "user"]);
	expect(lastText(summary)).toContain("Do not call any tool");
	// What was marked last is marked again, and nothing else.
	expect(JSON.stringify(messages[earlier.length - 1])).toContain("cache_control");
	expect(JSON.stringify(messages.slice(earlier.length))).not.toContain("cache_control");
	expect(existsSync(join(agent.cwd, "made.txt"))).toBe(false);
	expect(bare(after.messages[0])).toContain("to know the answer");
	expect(bare(after.messages[0])).toContain("<message>\\nwhat is in note.txt?\\n</message>");
});

test("a summary that is refused there is asked for on its own, without cache marks", async () => {
	server.answer(
		says({ text: ["one ".repeat(300)] }),
		says({ text: ["two ".repeat(300)] }),
		refuse(400, '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1 tokens > 0 maximum"}}'),
		says({ text: ["the gist"] }),
	);
	agent = start();
	await prompt("first");
	await prompt("second");
	expect(await compact()).toMatchObject({ success: true, data: { summary: expect.stringMatching(/^the gist/) } });
	const alone = bodies().slice(3);
	expect(alone.length).toBeGreaterThan(0);
	for (const body of alone) {
		expect(body.tools).toBeUndefined();
		expect(lastText(body)).toContain("<conversation>");
		expect(JSON.stringify(body)).not.toContain("cache_control");
	}
});

test("a conversation that the provider does not keep is summarised on its own at once", async () => {
	server.answer(
		says({ text: ["one ".repeat(300)], cacheWriteTokens: 0 }),
		says({ text: ["two ".repeat(300)], cacheWriteTokens: 0 }),
		says({ text: ["the gist"] }),
	);
	agent = start();
	await prompt("first");
	await prompt("second");
	expect(await compact()).toMatchObject({ success: true });
	expect(bodies().slice(2).map(lastText)).toEqual([expect.stringContaining("<conversation>"), expect.stringContaining("<conversation>")]);
});

test("a session that is resumed after the lifetime of its cache sends superseded results as a line, and the same bytes after kill -9", async () => {
	const read = (id: string) => {
		const reply = call(id);
		const [block] = reply.content;
		const asked = {
			...reply,
			content: [{ ...block, arguments: { path: "note.txt" } }],
			provider: "anthropic",
			api: "anthropic-messages",
			model: "claude-opus-4-6",
		};
		return [said(asked as never), said(result(id, { content: [{ type: "text", text: `${id} ${"forty-two ".repeat(60)}` }] }))];
	};
	const old = fileOf(header, ...chain(said(user("look")), ...read("first"), ...read("second"), said(assistant("Looked."))));
	server.answer(says({ text: ["ok"] }));
	agent = start({ flags: ["--session", "old.jsonl"], files: { "old.jsonl": old } });
	await prompt("and now?");
	agent.send({ id: "all", type: "get_messages" });
	expect(JSON.stringify((await agent.response("all")).data)).toContain("first forty-two");
	agent.kill("SIGKILL");
	await agent.exited();
	const again = start({ flags: ["--session", "old.jsonl"], files: {}, cwd: agent.cwd });
	again.send({ id: "more", type: "prompt", message: "and then?" });
	await again.event("agent_settled");
	await again.dispose();
	const [before, after] = bodies() as [Body, Body];
	expect(bare(before.messages)).not.toContain("first forty-two");
	expect(bare(before.messages)).toMatch(/Left out: the file was read again or written later[\s\S]*second forty-two/);
	expect(bare(after.messages.slice(0, before.messages.length))).toBe(bare(before.messages));
	expect([bare(after.system), bare(after.tools)]).toEqual([bare(before.system), bare(before.tools)]);
});

test("a value that was asked for stays asked for when the conversation is compacted before it is handed in", async () => {
	const submit = (value: string) => ({ name: "submit_result", arguments: [`{"result":{"data":${value}}}`] });
	server.answer(
		says({ call: { name: "read", arguments: ['{"path":"long.txt"}'] }, inputTokens: 60_000 }),
		says({ text: ["## Original Request\nhow many?"] }),
		says({ call: submit('{"answerCount":42}') }),
	);
	agent = start({ flags: ["--set", "compaction.thresholdTokens=50000"], files: { "long.txt": "forty-two ".repeat(200) } });
	const outputSchema = { type: "object", properties: { answerCount: { type: "number" } }, required: ["answerCount"] };
	agent.send({ id: "ask", type: "prompt", message: "how many?", outputSchema });
	expect(await agent.event("agent_end")).toMatchObject({ output: { answerCount: 42 } });
	await agent.event("agent_settled");
	const [before, , after] = bodies() as [Body, Body, Body];
	const asking = ({ messages }: Body) => messages.filter((message) => message.role === "user" && bare(message).includes("answerCount"));
	expect(bare(after.messages[0])).toContain("## Original Request");
	expect(asking(after)).toHaveLength(1);
	expect(bare(asking(after))).toBe(bare(asking(before)));
});
