/** What a provider keeps in its cache: consecutive requests begin with the same bytes, whatever happens in between. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { once } from "../app/one-shot-process.ts";
import type { Agent } from "../wire/support/agent.ts";
import { type Asked, ask, type Block, type Host, type Reply, StrictClaude } from "./strict-claude.ts";

const bash = (command: string): Block => ({ call: "bash", arguments: { command } });
const outputSchema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] };
const submits: Reply = { blocks: [{ call: "submit_result", arguments: { result: { data: { count: 3 } } } }] };

let server: StrictClaude;
beforeEach(async () => {
	server = await StrictClaude.start("anthropic");
});
afterEach(() => server.stop());

const start = (options: Partial<Parameters<StrictClaude["agent"]>[0]> = {}) =>
	server.agent({ model: "claude-sonnet-4-5", level: "medium", ...options });

async function prompt(agent: Agent, message: string, ...replies: Reply[]): Promise<void> {
	server.reply(...replies);
	await ask(agent, { type: "prompt", message });
	await agent.event("agent_settled");
}

/** Where requests do not begin with the whole of the one before: its number, and the level that changed. */
function breaks(asked: readonly Asked[] = server.asked): [number, string][] {
	return asked.flatMap((request, index): [number, string][] => {
		const before = asked[index - 1];
		if (!before) return [];
		const first = before.prefix.findIndex((part, place) => part !== request.prefix[place]);
		if (first < 0) return JSON.stringify(before.thinking) === JSON.stringify(request.thinking) ? [] : [[index, "thinking"]];
		const isChanged = (part: "tools" | "system") => JSON.stringify(before[part]) !== JSON.stringify(request[part]);
		return [[index, isChanged("tools") ? "tools" : isChanged("system") ? "system" : "messages"]];
	});
}

/** The entries with which the session's file explains losses. */
function noted(agent: Agent): { segment: string; cause: string; lostTokens: number; costUsd: number }[] {
	const folder = join(agent.cwd, "sessions");
	const lines = readdirSync(folder).flatMap((name) => (name.endsWith(".jsonl") ? readFileSync(join(folder, name), "utf8").trim().split("\n") : []));
	return lines.map((line) => JSON.parse(line)).flatMap((entry) => (entry.customType === "bowline.cache" ? [entry.data] : []));
}

const marks = (body: unknown) => JSON.stringify(body).match(/"cache_control"|"cachePoint"/g)?.length ?? 0;

test("tool calls, steering, todos and subagents change nothing", async () => {
	const agent = start();
	const todos = { call: "todo_write", arguments: { ops: [{ op: "replace", phases: [{ name: "Work", tasks: [{ content: "one" }] }] }] } };
	await prompt(agent, "first", { blocks: [bash("echo 1")] }, { blocks: [bash("echo 2")], thinks: false }, { blocks: [{ say: "ok" }], thinks: false });
	await prompt(agent, "second", { blocks: [todos] }, { blocks: [{ say: "ok" }] });
	server.reply({ blocks: [bash("until [ -e go ]; do sleep 0.02; done")] });
	await ask(agent, { type: "prompt", message: "third" });
	await agent.until((frame) => frame.type === "tool_execution_start" && JSON.stringify(frame).includes("until"));
	await ask(agent, { type: "steer", message: "be brief" });
	writeFileSync(join(agent.cwd, "go"), "");
	await agent.event("agent_settled");
	await prompt(agent, "fourth");
	expect(breaks()).toEqual([]);
	expect(noted(agent)).toEqual([]);
});

test.each<[Host, string]>([
	["anthropic", "claude-sonnet-4-5"],
	["vertex", "claude-sonnet-4-5@20250929"],
	["bedrock", "claude-sonnet-4-5-20250929-v1:0"],
])("after thirty calls in one reply the cache is found, on %s", async (host, model) => {
	await server.stop();
	server = await StrictClaude.start(host);
	const agent = start({ model });
	await prompt(agent, "first", { blocks: [bash("echo 1")] }, { blocks: [{ say: "ok" }] });
	await prompt(agent, "many", { blocks: Array.from({ length: 30 }, (_, index) => bash(`echo ${index}`)) }, { blocks: [{ say: "ok" }] });
	expect(breaks()).toEqual([]);
	const [before, after] = server.bodies.slice(-2) as [Record<string, unknown>, Record<string, unknown>];
	// A provider looks for what it wrote at a mark of the request before: that message is marked again.
	const lastOfBefore = (before.messages as unknown[]).length - 1;
	expect(marks((after.messages as unknown[])[lastOfBefore])).toBe(1);
	expect(marks((after.messages as unknown[]).at(-1))).toBe(1);
	expect(server.bodies.every((body) => marks(body) <= 4)).toBe(true);
});

test("the first value that is asked for loses the prefix once, which the file explains; the tool stays", async () => {
	const agent = start();
	await prompt(agent, "first");
	const value = async (message: string) => {
		server.reply(submits);
		await ask(agent, { type: "prompt", message, outputSchema });
		expect(await agent.event("agent_end")).toMatchObject({ output: { count: 3 } });
		await agent.event("agent_settled");
	};
	await value("how many?");
	await prompt(agent, "second");
	await value("and now?");
	await prompt(agent, "third");
	expect(breaks()).toEqual([[1, "tools"]]);
	expect(noted(agent)).toMatchObject([{ segment: "tools", cause: expect.stringContaining("submit_result"), lostTokens: 3520 }]);
	expect(noted(agent)[0]?.costUsd).toBeCloseTo((3520 * (3.75 - 0.3)) / 1e6, 8);
});

test("a tool that stays after a value was asked for refuses in words when nothing is asked for", async () => {
	const agent = start();
	server.reply(submits);
	await ask(agent, { type: "prompt", message: "how many?", outputSchema });
	await agent.event("agent_settled");
	await prompt(agent, "hello", submits, { blocks: [{ say: "Sorry." }] });
	expect(JSON.stringify(server.bodies.at(-1))).toContain("No value is asked for now. Answer in words.");
});

test("with --output-schema the first of several prompts offers the tool already", async () => {
	server.reply({ blocks: [{ say: "ready" }] }, submits);
	const flags = ["--provider", "anthropic", "--model", "claude-sonnet-4-5", "--output-schema", "schema.json"];
	const files = { "schema.json": JSON.stringify(outputSchema) };
	expect(await once(["-p", ...flags, "get ready", "how many?"], { env: server.env, files })).toMatchObject({ code: 0, stdout: '{"count":3}\n' });
	expect(server.asked).toHaveLength(2);
	expect(breaks()).toEqual([]);
});

test("a host's own tool of that name is back when the value was handed in", async () => {
	const agent = start();
	const own = { name: "submit_result", description: "Files a form.", parameters: { type: "object", properties: { form: { type: "string" } } } };
	await ask(agent, { type: "set_host_tools", tools: [own] });
	server.reply(submits);
	await ask(agent, { type: "prompt", message: "how many?", outputSchema });
	await agent.event("agent_settled");
	await prompt(agent, "hello");
	const offered = ({ tools }: Asked) => tools.filter(({ name }) => name === "submit_result").map(({ description }) => description);
	expect(server.asked.map(offered)).toEqual([[expect.stringContaining("Hand in the value")], ["Files a form."]]);
});

test("a new thinking level loses the messages alone, and the answer says so", async () => {
	const agent = start();
	expect(await ask(agent, { type: "set_thinking_level", level: "low" })).toEqual({});
	await prompt(agent, "first");
	expect(await ask(agent, { type: "set_thinking_level", level: "low" })).toEqual({});
	expect(await ask(agent, { type: "set_thinking_level", level: "high" })).toEqual({ cache: "messages" });
	await prompt(agent, "second");
	expect(breaks()).toEqual([[1, "thinking"]]);
	expect(noted(agent)).toMatchObject([
		{ segment: "messages", cause: "the thinking level changed from low to high; choose it before the first prompt" },
	]);
});

test("a host's new tools lose the prefix, and the file names them", async () => {
	const agent = start();
	await prompt(agent, "first");
	await ask(agent, { type: "set_host_tools", tools: [{ name: "deploy", description: "Deploys.", parameters: { type: "object", properties: {} } }] });
	await prompt(agent, "second");
	expect(breaks()).toEqual([[1, "tools"]]);
	expect(noted(agent)).toMatchObject([{ segment: "tools", cause: "tools changed: deploy" }]);
});

test("an extension that changes what was said loses the messages, and the file says so; one that adds at the end loses nothing", async () => {
	const noting = (place: number) => `let count = 0;
		export default (api) => api.on("context", ({ messages }) => {
			const note = { role: "user", content: [{ type: "text", text: "note " + ++count }], timestamp: Date.now() };
			return { messages: [...messages.slice(0, ${place}), note, ...messages.slice(${place})] };
		});`;
	const files = { "first.js": noting(0), "last.js": noting(1e6) };
	const last = start({ flags: ["-e", "last.js"], files });
	await prompt(last, "one", { blocks: [bash("echo 1")] });
	await prompt(last, "two");
	expect(noted(last)).toEqual([]);
	const first = start({ flags: ["-e", "first.js"], files });
	await prompt(first, "one");
	await prompt(first, "two");
	expect(noted(first)).toMatchObject([{ segment: "messages", cause: expect.stringContaining("message 1 of the conversation changed") }]);
});

test("a fork keeps the days and the cache key of its parent", async () => {
	const agent = start();
	await prompt(agent, "first");
	await prompt(agent, "second");
	const { messages } = (await ask(agent, { type: "get_fork_messages" })) as { messages: { entryId: string; text: string }[] };
	await ask(agent, { type: "fork", entryId: messages.find(({ text }) => text === "second")?.entryId });
	await prompt(agent, "another");
	const [, before, after] = server.asked;
	const shared = (asked: Asked | undefined) => asked?.prefix.slice(0, -1);
	expect(shared(after)).toEqual(shared(before));
	const folder = join(agent.cwd, "sessions");
	const headers = readdirSync(folder).flatMap((name) =>
		name.endsWith(".jsonl") ? [JSON.parse(readFileSync(join(folder, name), "utf8").split("\n")[0] ?? "")] : [],
	);
	const parent = headers.find(({ parentSession }) => !parentSession);
	expect(headers.find(({ parentSession }) => parentSession)).toMatchObject({ cacheKey: parent.id, utcOffset: parent.utcOffset });
	expect(noted(agent)).toEqual([]);
});

test.each([
	["America/Los_Angeles", "2026-03-01T04:00:00Z", "Date: 2026-02-28", -480],
	["Asia/Tokyo", "2026-03-01T20:00:00Z", "Date: 2026-03-02", 540],
])("the date is the one of the user's clock in %s", async (zone, now, date, utcOffset) => {
	const clock = join(import.meta.dirname, "clock.cjs");
	const ahead = String(Date.parse(now) - Date.now());
	const agent = start({ env: { TZ: zone, NODE_OPTIONS: `--require ${clock}`, TEST_CLOCK: "clock" }, files: { clock: ahead } });
	await prompt(agent, "first");
	expect(server.asked[0]?.messages[0]?.content[0]).toEqual({ type: "text", text: date });
	const { messages } = (await ask(agent, { type: "get_messages" })) as { messages: unknown[] };
	expect(JSON.stringify(messages)).not.toContain("Date:");
	const [file = ""] = readdirSync(join(agent.cwd, "sessions")).filter((name) => name.endsWith(".jsonl"));
	expect(JSON.parse(readFileSync(join(agent.cwd, "sessions", file), "utf8").split("\n")[0] ?? "")).toHaveProperty("utcOffset", utcOffset);
});
