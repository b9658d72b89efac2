/** An extension's command goes on from another entry of the session, in the real process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { toScript } from "../wire/support/script.ts";

const agents: Agent[] = [];
afterEach(async () => {
	for (const agent of agents.splice(0)) await agent.dispose();
});

/** `/go {"to": id, ...options}` moves and reports the outcome. */
const command = `
	api.registerCommand('go', { handler: async (args, context) => {
		const { to, ...options } = JSON.parse(args);
		try { context.ui.notify('moved ' + JSON.stringify(await context.navigateTree(to, options))); }
		catch (error) { context.ui.notify('refused ' + error.message); }
	} });
	api.on('session_tree', (event, context) => context.ui.notify('fact ' + JSON.stringify(event)));
`;

interface Entry {
	id: string;
	parentId: string | null;
	type: string;
	fromId?: string;
	targetId?: string;
	label?: string;
	summary?: string;
	details?: unknown;
	message?: { role: string; content: { text?: string }[] };
}

function start(script: string, more = "", options: AgentOptions = {}): Agent {
	const agent = new Agent({
		...options,
		flags: ["-e", "a.ts", "--session", "s.jsonl", ...(options.flags ?? [])],
		files: { ...options.files, "a.ts": `export default (api) => { ${command} ${more} }` },
		script: toScript(script),
	});
	agents.push(agent);
	return agent;
}

async function ask(agent: Agent, type: string, params: object = {}): Promise<Frame> {
	const id = `${type}-${agent.frames.length}`;
	agent.send({ id, type, ...params });
	return agent.response(id);
}

async function say(agent: Agent, ...messages: string[]): Promise<void> {
	for (const message of messages) {
		await ask(agent, "prompt", { message });
		await agent.event("agent_settled");
	}
}

const entriesOf = async (agent: Agent) => (await ask(agent, "get_entries")).data as { entries: Entry[]; leafId: string | null };
const textIn = (entry: Entry) => entry.message?.content?.[0]?.text;
const idOf = async (agent: Agent, text: string) => (await entriesOf(agent)).entries.find((entry) => textIn(entry) === text)?.id ?? "";
const stored = (agent: Agent) =>
	readFileSync(join(agent.cwd, "s.jsonl"), "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Entry);
const notices = (agent: Agent) => agent.frames.flatMap((frame) => (frame.method === "notify" ? [String(frame.message)] : []));

async function until(agent: Agent, isThere: (text: string) => boolean): Promise<string> {
	await expect.poll(() => notices(agent).some(isThere), { timeout: 8000 }).toBe(true);
	return notices(agent).findLast(isThere) as string;
}

/** The outcome that the command reported. */
async function go(agent: Agent, to: string, options: object = {}): Promise<string> {
	const before = notices(agent).filter((text) => /^(moved|refused)/.test(text)).length;
	await ask(agent, "prompt", { message: `/go ${JSON.stringify({ to, ...options })}` });
	await expect.poll(() => notices(agent).filter((text) => /^(moved|refused)/.test(text)).length, { timeout: 8000 }).toBe(before + 1);
	return notices(agent).findLast((text) => /^(moved|refused)/.test(text)) as string;
}

async function context(agent: Agent): Promise<string[]> {
	const { messages } = (await ask(agent, "get_messages")).data as { messages: { role: string; summary?: string; content?: { text?: string }[] }[] };
	return messages.map(({ role, summary, content }) => `${role}: ${summary ?? content?.[0]?.text}`);
}

const moved = 'moved {"cancelled":false}';
const cancelled = 'moved {"cancelled":true}';
const three = 'say "one" · say "two" · say "three"';

test("to an earlier reply: the next prompt is a branch of it", async () => {
	const agent = start(three);
	await say(agent, "U1", "U2");
	const one = await idOf(agent, "one");
	const two = await idOf(agent, "two");
	expect(await go(agent, one)).toBe(moved);
	expect(await context(agent)).toEqual(["user: U1", "assistant: one"]);
	expect(JSON.parse((await until(agent, (text) => text.startsWith("fact"))).slice(5))).toEqual({
		type: "session_tree",
		newLeafId: one,
		oldLeafId: two,
	});
	expect(agent.frames.some(({ method }) => method === "set_editor_text")).toBe(false);
	await say(agent, "U3");
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", "user: U3", "assistant: three"]);
	expect(stored(agent).find((entry) => textIn(entry) === "U3")?.parentId).toBe(one);
	// And back to the other branch.
	expect(await go(agent, two)).toBe(moved);
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", "user: U2", "assistant: two"]);
});

test("to a user message: its text is for the editor, and the session goes on before it", async () => {
	const agent = start(three);
	await say(agent, "U1", "U2");
	expect(await go(agent, await idOf(agent, "U2"), { label: "again" })).toBe(moved);
	expect(agent.frames.find(({ method }) => method === "set_editor_text")).toMatchObject({ text: "U2" });
	expect(await context(agent)).toEqual(["user: U1", "assistant: one"]);
	expect(stored(agent).at(-1)).toMatchObject({
		type: "label",
		targetId: await idOf(agent, "U2"),
		label: "again",
		parentId: await idOf(agent, "one"),
	});
	expect(await go(agent, await idOf(agent, "U1"))).toBe(moved);
	expect(await context(agent)).toEqual([]);
});

test("with a summary: it is at the new leaf, in the context, the file, the tree and a fork", async () => {
	const agent = start('say "one" · call read {"path":"a.txt"} · say "two" · say "the gist" · say "three"', "", { files: { "a.txt": "hello" } });
	await say(agent, "U1", "U2");
	const one = await idOf(agent, "one");
	const two = await idOf(agent, "two");
	expect(await go(agent, one, { summarize: true, label: "left" })).toBe(moved);
	const summary = "the gist\n\n<read-files>\na.txt\n</read-files>";
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", `branchSummary: ${summary}`]);
	const [note, label] = stored(agent).slice(-2);
	expect(note).toMatchObject({ type: "branch_summary", parentId: one, fromId: two, summary, details: { readFiles: ["a.txt"], modifiedFiles: [] } });
	expect(label).toMatchObject({ type: "label", targetId: note?.id, parentId: note?.id, label: "left" });
	const { leafId, tree } = (await ask(agent, "get_tree")).data as { leafId: string; tree: unknown[] };
	expect(leafId).toBe(label?.id);
	expect(JSON.stringify(tree)).toContain('"label":"left"');
	await say(agent, "U3");
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", `branchSummary: ${summary}`, "user: U3", "assistant: three"]);
	expect(await ask(agent, "fork", { entryId: await idOf(agent, "U3") })).toMatchObject({ data: { text: "U3", cancelled: false } });
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", `branchSummary: ${summary}`]);
});

test("a summary that is empty or fails moves nothing", async () => {
	const agent = start('say "one" · say "two" · say " " · fail "401 no key"');
	await say(agent, "U1", "U2");
	const before = stored(agent);
	const one = await idOf(agent, "one");
	expect(await go(agent, one, { summarize: true })).toBe("refused The branch could not be summarised: The model gave no summary.");
	expect(await go(agent, one, { summarize: true })).toBe("refused The branch could not be summarised: 401 no key");
	expect(stored(agent)).toEqual(before);
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", "user: U2", "assistant: two"]);
	expect(notices(agent).filter((text) => text.startsWith("fact"))).toEqual([]);
});

test("a hook cancels", async () => {
	const agent = start(
		three,
		"api.on('session_before_tree', (event, context) => { context.ui.notify('left ' + event.entriesToSummarize.length); return { cancel: true }; });",
	);
	await say(agent, "U1", "U2");
	expect(await go(agent, await idOf(agent, "one"), { summarize: true })).toBe(cancelled);
	expect(notices(agent)).toContain("left 2");
	expect(await context(agent)).toHaveLength(4);
	await say(agent, "U3");
	expect(await context(agent)).toHaveLength(6);
});

test("a hook brings the summary and a label, and no model is asked", async () => {
	const agent = start(three, "api.on('session_before_tree', () => ({ summary: { summary: 'mine', details: { n: 1 } }, label: 'hooked' }));");
	await say(agent, "U1", "U2");
	expect(await go(agent, await idOf(agent, "one"), { summarize: true, label: "mine" })).toBe(moved);
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", "branchSummary: mine"]);
	expect(stored(agent).slice(-2)).toMatchObject([
		{ type: "branch_summary", summary: "mine", details: { n: 1 }, fromHook: true },
		{ label: "hooked" },
	]);
	await say(agent, "U3");
	expect((await context(agent)).at(-1)).toBe("assistant: three");
});

test("a hook that answers nonsense is reported and counts for nothing", async () => {
	const agent = start(three, "api.on('session_before_tree', () => ({ summary: 'text' }));");
	await say(agent, "U1", "U2");
	expect(await go(agent, await idOf(agent, "one"))).toBe(moved);
	expect(agent.frames.find(({ type }) => type === "extension_error")).toMatchObject({ event: "session_before_tree" });
	expect(await context(agent)).toEqual(["user: U1", "assistant: one"]);
});

test("an entry that is not there is refused, and the run goes on", async () => {
	const agent = start('say "one" + delay 600');
	await ask(agent, "prompt", { message: "U1" });
	expect(await go(agent, "nowhere")).toBe("refused Entry not found: nowhere");
	expect(await agent.event("agent_settled")).toMatchObject({ aborted: false });
	expect(await context(agent)).toEqual(["user: U1", "assistant: one"]);
});

test("a run is aborted first and ends all its events; a prompt that comes meanwhile goes on from there", async () => {
	const agent = start('say "one" · stall · say "the gist" + delay 500 · say "three"');
	await say(agent, "U1");
	const one = await idOf(agent, "one");
	await ask(agent, "prompt", { message: "U2" });
	await agent.event("message_end");
	await ask(agent, "prompt", { message: `/go ${JSON.stringify({ to: one, summarize: true })}` });
	expect(await agent.event("agent_settled")).toMatchObject({ aborted: true });
	const types = agent.frames.map(({ type }) => type);
	expect(types.filter((type) => type === "agent_end")).toHaveLength(2);
	expect(await go(agent, one)).toBe("refused The session is about to go on from another entry. Wait for it, or send abort");
	await say(agent, "U3");
	expect(await context(agent)).toEqual(["user: U1", "assistant: one", "branchSummary: the gist", "user: U3", "assistant: three"]);
	expect(notices(agent)).toContain(moved);
});

test("abort ends the summary, and nothing is moved", async () => {
	const agent = start('say "one" · say "two" · stall · say "three"');
	await say(agent, "U1", "U2");
	await ask(agent, "prompt", { message: `/go ${JSON.stringify({ to: await idOf(agent, "one"), summarize: true })}` });
	await agent.next(200);
	expect(await ask(agent, "abort")).toMatchObject({ success: true });
	await until(agent, (text) => text === cancelled);
	expect(await context(agent)).toHaveLength(4);
});

test("a reply whose calls lose their results gets others, and the todo list is that of the branch", async () => {
	const agent = start('call #c1 read {"path":"a.txt"} · say "one" · say "gist" · say "two"', "", { files: { "a.txt": "hello" } });
	await say(agent, "U1");
	await ask(agent, "set_todos", { phases: [{ name: "P", tasks: [{ content: "T", status: "pending" }] }] });
	const call = (await entriesOf(agent)).entries.find(({ message }) => message?.role === "assistant")?.id ?? "";
	expect(await go(agent, call, { summarize: true })).toBe(moved);
	expect((await context(agent)).map((text) => text.split(":")[0])).toEqual(["user", "assistant", "toolResult", "branchSummary"]);
	expect((await ask(agent, "get_state")).data).toMatchObject({ todoPhases: [] });
	expect(stored(agent).slice(-2)).toMatchObject([{ message: { role: "toolResult", toolCallId: "c1" } }, { type: "branch_summary" }]);
});
