/** The client and our own program: requests, runs, events, tools, dialogs. */
import { expect, test } from "vitest";
import { type CustomTool, ExitError, RequestError, startClient, TimeoutError } from "../../src/client/index.ts";
import { commands } from "../../src/protocol/commands/index.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { start } from "./support.ts";

test("a prompt and its outcome", async () => {
	const client = await start({ replies: [{ text: "Hello." }] });
	const outcome = await client.promptAndWait("hi");
	expect(outcome).toMatchObject({ text: "Hello.", stopReason: "stop", messages: [{ role: "user" }, { role: "assistant" }] });
	expect(await client.getLastAssistantText()).toEqual({ text: "Hello." });
	expect(await client.close()).toMatchObject({ code: 0, signal: null });
});

test("every command of the table is a method", async () => {
	const client = await start();
	const names = Object.keys(commands).map((name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
	expect(names.filter((name) => typeof (client as unknown as Record<string, unknown>)[name] !== "function")).toEqual([]);
	expect((await client.getState()).isStreaming).toBe(false);
	expect(await client.bash({ command: "echo out" })).toMatchObject({ output: "out\n", exitCode: 0 });
});

test("a refusal names the command and keeps the agent's words", async () => {
	const client = await start();
	const error = await client.setModel({ provider: "acme", modelId: "m9" }).catch((error) => error);
	expect(error).toBeInstanceOf(RequestError);
	expect(error).toMatchObject({
		command: "set_model",
		text: "Model not found: acme/m9",
		message: "set_model: Model not found: acme/m9",
		code: "unknown_model",
	});
	const since = await client.getEntries({ since: "nowhere" }).catch((error) => error);
	expect(since).toMatchObject({ name: "RequestError", command: "get_entries", code: "unknown_since" });
	// A text that begins with the command is not introduced again.
	const wrong = client.request("set_auto_retry", { enabled: "yes" });
	await expect(wrong).rejects.toMatchObject({ message: "set_auto_retry: enabled must be boolean", code: "bad_field" });
	await expect(client.request("no_such_command")).rejects.toMatchObject({ text: "Unknown command: no_such_command", code: "unknown_command" });
});

test("a prompt that fails after it was accepted is rejected", async () => {
	const client = await start({ args: ["--hermetic"] });
	await expect(client.promptAndWait("hi")).rejects.toMatchObject({
		name: "RequestError",
		text: expect.stringMatching(/^No model selected\./),
		code: "no_model",
	});
	const late = new Promise((resolve) => client.on("response", resolve));
	await client.prompt({ message: "hi" });
	expect(await late).toMatchObject({ command: "prompt", success: false, code: "no_model" });
});

test("a prompt to a busy agent is rejected, and the run it met goes on", async () => {
	const client = await start({ replies: [{ text: "slow", delayMs: 1500 }] });
	const first = client.promptAndWait("one");
	await new Promise((resolve) => client.on("agent_start", resolve));
	await expect(client.promptAndWait("two")).rejects.toThrow("Agent is already processing.");
	expect((await first).text).toBe("slow");
});

test("retries are part of the wait", async () => {
	const client = await start({ replies: [{ fail: { status: 529, body: "overloaded" } }, { text: "fine now" }] });
	expect(await client.promptAndWait("hi")).toMatchObject({ text: "fine now", stopReason: "stop" });
});

test("a failure of the model is an outcome, not an exception", async () => {
	const client = await start({ replies: [{ fail: { status: 400, body: "no such luck" } }] });
	expect(await client.promptAndWait("hi")).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining("no such luck") });
});

test("an aborted run is an outcome too", async () => {
	const client = await start({ replies: [{ stall: true }] });
	const outcome = client.promptAndWait("hi");
	await new Promise((resolve) => client.on("agent_start", resolve));
	await client.abort();
	expect(await outcome).toMatchObject({ stopReason: "aborted" });
});

test("who no longer waits for a run aborts it", async () => {
	const client = await start({ replies: [{ stall: true, times: "always" }] });
	await expect(client.promptAndWait("hi", { timeoutMs: 50 })).rejects.toBeInstanceOf(TimeoutError);
	await client.waitForIdle();
	const controller = new AbortController();
	const waiting = client.promptAndWait("hi", { signal: controller.signal });
	await new Promise((resolve) => client.on("agent_start", resolve));
	controller.abort(new Error("enough"));
	await expect(waiting).rejects.toThrow("enough");
	await client.waitForIdle();
	expect((await client.getState()).isStreaming).toBe(false);
});

test("waitForIdle waits for a run and everything after it", async () => {
	const client = await start({ replies: [{ fail: { status: 529, body: "overloaded" } }, { text: "done", delayMs: 300 }] });
	await client.waitForIdle();
	await client.prompt({ message: "hi" });
	await client.waitForIdle();
	expect(await client.getLastAssistantText()).toEqual({ text: "done" });
});

test("events reach listeners by name, all together, and as an iterator that ends with the agent", async () => {
	const client = await start({ replies: [{ text: "one two three" }] });
	const named: AgentEvent[] = [];
	const all: AgentEvent[] = [];
	const off = client.on("agent_start", (event) => named.push(event));
	client.on("event", (event) => all.push(event));
	const iterated: AgentEvent[] = [];
	const iterating = (async () => {
		for await (const event of client.events()) iterated.push(event);
	})();
	await client.promptAndWait("hi");
	off();
	await client.close();
	await iterating;
	expect(named).toEqual([{ type: "agent_start" }]);
	// A reader that lags a moment gets joined deltas; everything else is the same.
	const others = (events: AgentEvent[]) => events.filter(({ type }) => type !== "message_update");
	expect(others(iterated)).toEqual(others(all));
	expect([textOf(all), textOf(iterated)]).toEqual(["one two three", "one two three"]);
});

function textOf(events: AgentEvent[]): string {
	const steps = events.map((event) => (event.type === "message_update" ? event.assistantMessageEvent : undefined));
	return steps.map((step) => (step?.type === "text_delta" ? step.delta : "")).join("");
}

test("custom tools run in the host, with progress, failures and cancellation", async () => {
	const call = (tool: string, args: object) => ({ tool, arguments: args });
	const client = await start({
		replies: [{ blocks: [call("weather", { city: "Bergen" }), call("broken", {})] }, { blocks: [call("slow", {})] }],
	});
	const cancelled = new Promise<void>((resolve) => {
		void client.setCustomTools([
			{
				name: "weather",
				description: "The weather.",
				parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
				execute(args: { city: string }, { onUpdate }) {
					onUpdate("looking");
					return `Rain in ${args.city}`;
				},
			},
			{
				name: "broken",
				description: "Fails.",
				parameters: { type: "object" },
				execute: () => {
					throw new Error("out of order");
				},
			},
			{
				name: "slow",
				description: "Never ends.",
				parameters: { type: "object" },
				execute: (_, { signal }) =>
					new Promise(() => {
						signal.addEventListener("abort", () => resolve());
						void client.abort();
					}),
			},
		]);
	});
	const updates: unknown[] = [];
	client.on("tool_execution_update", ({ partialResult }) => updates.push(partialResult));
	const { messages, stopReason } = await client.promptAndWait("hi");
	await cancelled;
	const results = messages.filter((message) => message.role === "toolResult");
	expect(results).toMatchObject([
		{ toolName: "weather", isError: false, content: [{ text: "Rain in Bergen" }] },
		{ toolName: "broken", isError: true, content: [{ text: "out of order" }] },
		{ toolName: "slow", isError: true, content: [{ text: 'Host tool "slow" was aborted' }] },
	]);
	expect(updates).toEqual([{ content: [{ type: "text", text: "looking" }] }]);
	expect(stopReason).toBe("aborted");
});

test("a program that cannot be started is said to be so", async () => {
	await expect(startClient({ command: ["/no/such/program"] })).rejects.toMatchObject({
		name: "ExitError",
		message: expect.stringContaining("ENOENT"),
	});
	await expect(startClient({ cwd: "/no/such/directory" })).rejects.toThrow(
		"The agent could not be started: there is no directory /no/such/directory.",
	);
	const refused = await startClient({ args: ["--no-themes", "--frobnicate"] }).catch((error) => error);
	expect(refused).toBeInstanceOf(ExitError);
	expect(refused).toMatchObject({ exitCode: 1, message: expect.stringMatching(/exited with code 1 before it was ready\.\n.*--frobnicate/s) });
});

interface StockArguments {
	article: string;
}

test("a tool's arguments may be an interface, in a tool of its own and in place", async () => {
	const client = await start({ replies: [{ blocks: [{ tool: "stock", arguments: { article: "A-17" } }] }, { text: "{{last}}" }] });
	const parameters = { type: "object", properties: { article: { type: "string" } }, required: ["article"] };
	const stock: CustomTool<StockArguments> = { name: "stock", description: "Stock.", parameters, execute: ({ article }) => `12 of ${article}` };
	await client.setCustomTools([stock]);
	expect(await client.promptAndWait("how many?")).toMatchObject({ text: "12 of A-17" });
	const names = await client.setCustomTools([
		stock,
		{ name: "price", description: "Price.", parameters, execute: ({ article }: StockArguments) => article },
		{ name: "plain", description: "Any arguments.", parameters, execute: (args: Record<string, unknown>) => String(args.article) },
	]);
	expect(names).toEqual(["stock", "price", "plain"]);
});

test("a refusal has the agent's guess next to its words", async () => {
	const client = await start({ env: { ...process.env, ANTHROPIC_API_KEY: "key" } });
	const refusal = client.setModel({ provider: "anthropic", modelId: "claude-sonet-4-5" });
	await expect(refusal).rejects.toMatchObject({
		text: "Model not found: anthropic/claude-sonet-4-5",
		hint: "Did you mean anthropic/claude-sonnet-4-5?",
	});
});
