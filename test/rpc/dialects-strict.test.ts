/** Dialect strict sends nothing that the documents of pi, omp, xcsh and pisces do not name. */
import { describe, expect, test } from "vitest";
import { commands } from "../../src/protocol/commands/index.ts";
import { events } from "../../src/protocol/events.ts";
import { ExtensionUiRequest } from "../../src/protocol/extension-ui.ts";
import type { OutboundFrame } from "../../src/protocol/frames.ts";
import { HostToolCall, HostToolCancel } from "../../src/protocol/host-tools.ts";
import { strict } from "../../src/rpc/dialects/strict.ts";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { data, dialogs, frames, undocumented, unnamed } from "./dialects-named.ts";
import { samples } from "./dialects-samples.ts";

/** Found on the wire, without repetitions. */
const unnamedOf = (sent: readonly object[]) => [...new Set(sent.flatMap((frame) => unnamed(frame as Record<string, unknown>)))].sort();
/** As they are on the wire: without members that are undefined. */
const spoken = (frame: unknown) => (strict.frames?.(frame as OutboundFrame) ?? []).map((each) => JSON.parse(JSON.stringify(each)) as Frame);

describe("with every member that there is", () => {
	const events_ = Object.entries(events).flatMap(([type, { fields }]) =>
		samples({ type: "object", properties: fields }).map((members) => ({ ...(members as object), type })),
	);
	const asks = [ExtensionUiRequest, HostToolCall, HostToolCancel].flatMap(samples) as { type: string }[];
	const responses = Object.entries(commands).flatMap(([command, { result }]) =>
		[...samples(result), undefined].map((value) => ({ id: "1", type: "response", command, success: true, data: value })),
	);
	const known = responses.filter(({ command }) => Object.hasOwn(data, command));

	test.each([
		["events", events_],
		["questions", asks],
		["responses", responses],
	])("%s have no other members", (_, given) => {
		expect(unnamedOf(given.flatMap(spoken))).toEqual([]);
	});

	test("and the check would find them", () => {
		expect(unnamedOf(events_).length).toBeGreaterThan(50);
		expect(unnamedOf(known).length).toBeGreaterThan(20);
	});

	test("every frame that is named is sent", () => {
		const types = new Set(events_.flatMap(spoken).map(({ type }) => type));
		const methods = new Set(asks.flatMap(spoken).flatMap(({ method }) => (method ? [String(method)] : [])));
		const calls = asks.flatMap(spoken).map(({ type }) => type);
		expect([...types, ...calls].filter((type) => type !== "extension_ui_request").sort()).toEqual(
			expect.arrayContaining(Object.keys({ ...frames, ...undocumented }).sort()),
		);
		expect([...methods].sort()).toEqual(Object.keys(dialogs).sort());
	});

	test("a failure has no code", () => {
		expect(spoken({ id: "1", type: "response", command: "get_entries", success: false, error: "no", code: "unknown_since" })).toEqual([
			{ id: "1", type: "response", command: "get_entries", success: false, error: "no" },
		]);
	});

	test("blocks keep their places", () => {
		const content = [
			{ type: "redactedThinking", data: "x" },
			{ type: "text", text: "a", textSignature: "s" },
		];
		const message = { role: "assistant", content };
		expect(spoken({ type: "message_end", message })).toMatchObject([
			{
				message: {
					content: [
						{ type: "thinking", thinking: "" },
						{ type: "text", text: "a" },
					],
				},
			},
		]);
	});
});

/** An extension with every kind of dialog, a broken handler, and a message of its own. */
const extension = `export default (api) => {
	api.on("turn_start", () => { throw new Error("broken"); });
	api.registerCommand("ask", { handler: async (_args, { ui }) => {
		ui.notify("n", "warning"); ui.setStatus("s", "t"); ui.setWidget("w", ["l"], { placement: "belowEditor" }); ui.setTitle("t"); ui.setEditorText("e");
		await ui.select("S", ["a", "b"], { timeout: 50 }); await ui.confirm("C", "m", { timeout: 50 }); await ui.input("I", "p", { timeout: 50 });
		await ui.editor("E", "pre");
		ui.notify("answered");
	} });
	api.registerCommand("say", { handler: () => api.sendMessage({ customType: "note", content: "noted", display: true, details: { a: 1 } }) });
	api.registerTool({ name: "gate", description: "g", parameters: { type: "object" }, execute: async (_id, _args, signal, _update, ctx) => {
		const yes = await ctx.ui.confirm("Go on?", "m", { signal });
		return { content: [{ type: "text", text: String(yes) }], details: {} };
	} });
};`;

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const rule = '---\ncondition: "forbidden"\nscope: text\n---\nDo not say it.';

const replies = [
	{
		blocks: [
			{ thinking: "hm" },
			{ text: "looking" },
			{ tool: "read", arguments: { path: "a.txt" } },
			{ tool: "read", arguments: { path: "missing" } },
			{ tool: "bash", arguments: { command: "echo one; sleep 0.3; echo two" } },
			{ tool: "pick", arguments: { n: 1 } },
			{ tool: "todo_write", arguments: { ops: [{ op: "replace", phases: [{ name: "P", tasks: [{ content: "t" }] }] }] } },
		],
		usage: { input: 10, cacheRead: 5 },
	},
	{ text: "seen" },
	{ blocks: [{ tool: "todo_write", arguments: { ops: [{ op: "update", id: "task-1", status: "completed" }] } }] },
	{ text: "done" },
];

async function run(agent: Agent, line: object): Promise<void> {
	agent.send(line);
	await agent.event("agent_end");
}

test("a session with everything in it says nothing else", { timeout: 120_000 }, async () => {
	const agent = new Agent({
		flags: ["--dialect", "strict", "-e", "all.ts", "--approve", "--set", "compaction.keepRecentTokens=2", "--set", "task.budget.maxToolCalls=8"],
		env: { PI_RPC_EMIT_TITLE: "1", ANTHROPIC_API_KEY: "k" },
		files: { "all.ts": extension, "a.txt": "content", ".bowline/rules/no.md": rule },
		script: {
			replies: [
				...replies,
				{ when: { text: "retry" }, fail: { status: 529, body: "overloaded" } },
				{ when: { text: "retry" }, text: "back" },
				{ when: { text: "fail" }, fail: { status: 400, body: "no" } },
				{ when: { text: "rule" }, text: "this is forbidden speech" },
				{ when: { text: "rule" }, text: "better" },
				{ when: { text: "gate" }, blocks: [{ tool: "gate" }] },
				{ when: { text: "stall" }, text: "partly", stall: true },
				{ when: { text: "full" }, text: "full now", usage: { input: 190_000 } },
				{ text: "gist", times: "always" },
			],
		},
	});
	try {
		const ask = async (id: string, frame: object) => {
			agent.send({ id, ...frame });
			return agent.response(id);
		};
		expect((await ask("h", { type: "set_host_tools", tools: [{ name: "pick", description: "d", parameters: { type: "object" } }] })).success).toBe(
			true,
		);
		agent.send({ id: "p1", type: "prompt", message: "go", images: [{ type: "image", data: pixel, mimeType: "image/png" }] });
		const asked = await agent.event("host_tool_call");
		agent.send({ type: "host_tool_update", id: asked.id, partialResult: { content: [{ type: "text", text: "half" }] } });
		agent.send({ type: "host_tool_result", id: asked.id, result: { content: [{ type: "image", data: pixel, mimeType: "image/png" }] } });
		await agent.event("agent_end");
		await agent.event("agent_end"); // The reminder's run.
		await run(agent, { type: "prompt", message: "retry" });
		await agent.event("agent_end");
		await run(agent, { type: "prompt", message: "fail" });
		await run(agent, { type: "prompt", message: "rule" });
		await agent.event("agent_end");
		agent.send({ type: "prompt", message: "/say" });
		await agent.until((frame) => frame.type === "message_end");
		agent.send({ type: "prompt", message: "/ask" });
		const editor = await agent.until((frame) => frame.method === "editor");
		agent.send({ type: "extension_ui_response", id: editor.id, value: "v" });
		await agent.until((frame) => frame.message === "answered");

		agent.send({ id: "p2", type: "prompt", message: "gate" });
		await agent.until((frame) => frame.method === "confirm");
		expect((await ask("a1", { type: "abort" })).success).toBe(true);
		agent.send({ id: "p3", type: "prompt", message: "stall" });
		await agent.until((frame) => frame.type === "message_update");
		for (const [index, frame] of [
			{ type: "steer", message: "s" },
			{ type: "follow_up", message: "f" },
			{ type: "prompt", message: "q", streamingBehavior: "followUp" },
			{ type: "prompt", message: "refused" },
			{ type: "get_state" },
			{ type: "bash", command: "seq 3000" },
			{ type: "abort" },
			{ type: "clear_queue" },
		].entries())
			await ask(`s${index}`, frame);
		await run(agent, { type: "prompt", message: "full" });
		await agent.event("auto_compaction_end");

		const forkable = await ask("g0", { type: "get_fork_messages" });
		const [first] = (forkable.data as { messages: { entryId: string }[] }).messages;
		const questions = [
			{ type: "get_state" },
			{ type: "get_messages" },
			{ type: "get_session_stats" },
			{ type: "get_available_models" },
			{ type: "set_model", provider: "anthropic", modelId: "claude-opus-5" },
			{ type: "cycle_thinking_level" },
			{ type: "cycle_model" },
			{ type: "set_thinking_level", level: "high" },
			{ type: "set_todos", phases: [{ name: "P", tasks: [{ content: "t", notes: "n", details: "d" }] }] },
			{ type: "set_session_name", name: "n" },
			{ type: "get_last_assistant_text" },
			{ type: "export_html", outputPath: "out.html" },
			{ type: "set_auto_retry", enabled: false },
			{ type: "set_steering_mode", mode: "all" },
			{ type: "fork", entryId: first?.entryId },
			{ type: "branch", entryId: "none" },
			{ type: "new_session" },
			{ type: "switch_session", sessionPath: "other.jsonl" },
			{ type: "compact" },
			{ type: "get_tree" },
			{ type: "fly" },
		];
		for (const [index, frame] of questions.entries()) {
			agent.send({ id: `q${index}`, ...frame });
			await agent.until(({ type, command }) => type === "response" && command === frame.type);
		}
		agent.child.stdin.end();
		await agent.exited();

		expect(unnamedOf(agent.frames)).toEqual([]);
		const types = new Set(agent.frames.map(({ type, method }) => method ?? type));
		// Everything that this session was made for has happened.
		expect([...types]).toEqual(
			expect.arrayContaining([
				...["agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end"],
				...["tool_execution_start", "tool_execution_update", "tool_execution_end", "host_tool_call", "auto_retry_start", "auto_retry_end"],
				...["auto_compaction_start", "auto_compaction_end", "ttsr_triggered", "todo_reminder", "budget_warning", "extension_error"],
				...Object.keys(dialogs),
			]),
		);
		expect([...types].filter((type) => ["ready", "agent_settled", "queue_update", "cancel"].includes(String(type)))).toEqual([]);
	} finally {
		await agent.dispose();
	}
});
