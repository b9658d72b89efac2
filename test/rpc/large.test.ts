/** Hosts that overdo it. */
import { afterEach, expect, test } from "vitest";
import { Agent } from "../wire/support/agent.ts";

let agent: Agent;
afterEach(() => agent.dispose());

test("a thousand host tools: the last of them can be called", async () => {
	const script = { replies: [{ blocks: [{ tool: "tool_999", arguments: { n: 1 } }] }, { text: "done" }] };
	agent = new Agent({ script });
	const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
	const tools = Array.from({ length: 1000 }, (_, index) => ({ name: `tool_${index}`, description: `Number ${index}.`, parameters }));
	agent.send({ id: "1", type: "set_host_tools", tools });
	expect((await agent.response("1")).success).toBe(true);
	agent.send({ id: "2", type: "prompt", message: "go" });
	const call = await agent.event("host_tool_call");
	expect(call).toMatchObject({ toolName: "tool_999", arguments: { n: 1 } });
	agent.send({ type: "host_tool_result", id: call.id, result: { content: [{ type: "text", text: "ok" }] } });
	expect(await agent.event("tool_execution_end")).toMatchObject({ isError: false });
	await agent.event("agent_settled");
});

test("a host that answers a call twice, or with the wrong shape, changes nothing", async () => {
	const script = { replies: [{ blocks: [{ tool: "pick", arguments: {} }] }, { text: "done" }] };
	agent = new Agent({ script });
	agent.send({ id: "1", type: "set_host_tools", tools: [{ name: "pick", description: "Pick.", parameters: { type: "object" } }] });
	agent.send({ id: "2", type: "prompt", message: "go" });
	const { id } = await agent.event("host_tool_call");
	agent.send({ type: "host_tool_result", id, result: "wrong" });
	expect(await agent.until((frame) => frame.command === "parse")).toMatchObject({ error: expect.stringContaining("result must be object") });
	const result = (text: string) => ({ type: "host_tool_result", id, result: { content: [{ type: "text", text }] } });
	agent.send(result("first"));
	agent.send(result("second"));
	expect(await agent.event("tool_execution_end")).toMatchObject({ result: { content: [{ text: "first" }] } });
	await agent.event("agent_settled");
	expect(agent.frames.filter((frame) => frame.type === "tool_execution_end")).toHaveLength(1);
});

test("a system prompt of 5 MB from a file", async () => {
	const text = "You are thorough. ".repeat(300_000);
	const watch = "export default (api) => { api.on('context', (_event, ctx) => ctx.ui.notify(String(ctx.getSystemPrompt().length))); }";
	const files = { "prompt.md": text, "watch.ts": watch };
	agent = new Agent({ flags: ["--system-prompt", "prompt.md", "-e", "watch.ts"], files, script: { replies: [{ text: "done", times: "always" }] } });
	for (const message of ["go", "on"]) {
		agent.send({ id: message, type: "prompt", message });
		expect(await agent.event("agent_end")).toMatchObject({ messages: [{}, { content: [{ text: "done" }] }] });
	}
	const [first, second] = agent.frames.flatMap((frame) => (frame.method === "notify" ? [Number(frame.message)] : []));
	expect(first).toBeGreaterThan(text.length);
	expect(second).toBe(first);
	expect(JSON.stringify(agent.frames).length).toBeLessThan(100_000);
});
