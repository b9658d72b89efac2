import { describe, expect, test, vi } from "vitest";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { body, type Loaded, load, never, text, user } from "./harness.ts";

const call = { toolName: "bash", toolCallId: "c1", input: { command: "ls" } };
const result = { ...call, content: [text("out")], details: { a: 1 }, isError: false };
const preparation = { firstKeptEntryId: "e2", messagesToSummarize: [], tokensBefore: 7 };
const compaction = () => ({ preparation, branchEntries: [], signal: new AbortController().signal });
const prompt = { prompt: "hi", images: [], systemPrompt: "base" };
const input = { text: "hi", images: [], source: "rpc" as const };

/** Every question, and its result when no extension changes anything. */
const questions: Record<string, { ask: (loaded: Loaded, signal: AbortSignal) => Promise<unknown>; plain: unknown }> = {
	input: { ask: ({ host }, signal) => host.input(input, signal), plain: { action: "continue", text: "hi", images: [] } },
	before_agent_start: { ask: ({ host }, signal) => host.beforeAgentStart(prompt, signal), plain: { messages: [], systemPrompt: "base" } },
	context: { ask: ({ host }, signal) => host.context([user("one")], signal), plain: [user("one")] },
	before_provider_request: { ask: ({ host }, signal) => host.beforeProviderRequest({ model: "m" }, signal), plain: { model: "m" } },
	before_provider_headers: { ask: ({ host }, signal) => host.beforeProviderHeaders({ a: "1" }, signal), plain: { a: "1" } },
	agent_before_settle: { ask: ({ host }, signal) => host.beforeSettle(signal), plain: undefined },
	tool_call: { ask: ({ host }, signal) => host.toolCall(call, signal), plain: { block: false, input: { command: "ls" } } },
	tool_result: { ask: ({ host }, signal) => host.toolResult(result, signal), plain: { content: [text("out")], details: { a: 1 }, isError: false } },
	session_before_switch: { ask: ({ host }, signal) => host.beforeSwitch({ reason: "new" }, signal), plain: { cancel: false } },
	session_before_fork: {
		ask: ({ host }, signal) => host.beforeFork({ entryId: "e1" }, signal),
		plain: { cancel: false, skipConversationRestore: false },
	},
	session_before_branch: {
		ask: ({ host }, signal) => host.beforeFork({ entryId: "e1" }, signal),
		plain: { cancel: false, skipConversationRestore: false },
	},
	session_before_compact: { ask: ({ host }, signal) => host.beforeCompact({ ...compaction(), signal }), plain: undefined },
	session_before_tree: { ask: ({ host }, signal) => host.beforeTree({ targetId: "e1", entriesToSummarize: [], signal }), plain: {} },
	resources_discover: {
		ask: ({ host }, signal) => host.discoverResources({ cwd: "/", reason: "startup" }, signal),
		plain: { skillPaths: [], promptPaths: [] },
	},
	user_bash: { ask: ({ host }, signal) => host.userBash({ command: "ls", cwd: "/" }, signal), plain: undefined },
	session_start: { ask: ({ host }, signal) => host.sessionStart("startup", signal), plain: undefined },
};
const names = Object.keys(questions);
const on = (name: string, handler: string) => body(`api.on(${JSON.stringify(name)}, ${handler});`);
const still = () => new AbortController().signal;

describe("whatever a hook does", () => {
	test.each(names)("%s: without listeners and with one that answers nothing everything stays", async (name) => {
		const silent = await load({});
		expect(silent.host.wants(name as "input")).toBe(false);
		expect(await questions[name]?.ask(silent, still())).toEqual(questions[name]?.plain);
		const listening = await load({ "a.js": on(name, "() => undefined"), "b.js": on(name, "async () => null") });
		expect(listening.host.wants(name as "input")).toBe(true);
		// A payload may be null; for all other questions null is not an answer.
		if (name !== "before_provider_request") expect(await questions[name]?.ask(listening, still())).toEqual(questions[name]?.plain);
		expect(listening.errors).toEqual([]);
	});

	test.each(names)("%s: a throw and a rejection are reported, and the next handler is asked", async (name) => {
		const loaded = await load({
			"a.js": on(name, "() => { throw new Error('one') }"),
			"b.js": on(name, "async () => { throw Object.create(null) }"),
			"c.js": on(name, "(event, context) => { context.ui.notify('asked ' + event.type) }"),
		});
		const answer = await questions[name]?.ask(loaded, still());
		const first = { extensionPath: "a.js", event: name, error: "one" };
		if (name === "tool_call") {
			expect(answer).toEqual({ block: true, reason: expect.stringMatching(/^Extension .*a\.js failed, so the tool was not run: one$/) });
			expect(loaded.errors).toEqual([first]);
			expect(loaded.calls).toEqual([]);
		} else {
			expect(answer).toEqual(questions[name]?.plain);
			expect(loaded.errors).toEqual([first, { extensionPath: "b.js", event: name, error: "An error that has no text" }]);
			expect(loaded.calls).toEqual([["notify", `asked ${name}`, undefined]]);
		}
	});

	test.each(names)("%s: one that never returns is named after 10 s and ends with the abort", async (name) => {
		const loaded = await load({
			"a.js": on(name, `(event, { signal }) => { signal.addEventListener("abort", () => api.events.emit("ended")); return ${never}; }`),
			"b.js": body(
				`let ended = 0; api.events.on("ended", () => { ended += 1; }); api.registerCommand("ended", { handler: (_, { ui }) => ui.notify(String(ended)) });`,
			),
			"c.js": on(name, "(event, { ui }) => { ui.notify('not reached') }"),
		});
		vi.useFakeTimers();
		try {
			const abort = new AbortController();
			const answer = questions[name]?.ask(loaded, abort.signal);
			await vi.advanceTimersByTimeAsync(9_999);
			expect(loaded.warnings).toEqual([]);
			await vi.advanceTimersByTimeAsync(60_000);
			expect(loaded.warnings).toEqual([`Extension a.js has not answered ${name} for 10 s. An abort ends the wait.`]);
			abort.abort();
			const given = await answer;
			if (name === "tool_call") expect(given).toEqual({ block: true, reason: "Operation aborted" });
			else expect(given).toEqual(questions[name]?.plain);
			expect(vi.getTimerCount()).toBe(0);
		} finally {
			vi.useRealTimers();
		}
		expect(loaded.errors).toEqual([]);
		await loaded.host.runCommand("ended", "");
		// Under its second name a fork is asked once more, and the abort has been already.
		expect(loaded.calls).toEqual([["notify", "1", undefined]]);
	});

	test.each(names.filter((name) => !["session_start", "agent_before_settle", "before_provider_request"].includes(name)))(
		"%s: an answer that is no object counts as thrown",
		async (name) => {
			const loaded = await load({ "a.js": on(name, "() => 'nonsense'") });
			await questions[name]?.ask(loaded, still());
			expect(loaded.errors).toEqual([{ extensionPath: "a.js", event: name, error: 'answered "nonsense" instead of an object' }]);
		},
	);

	test("a dialog that is open when the abort comes is withdrawn", async () => {
		const loaded = await load({ "a.js": on("tool_call", "async (event, { ui }) => ({ block: !(await ui.confirm('sure?', 'really')) })") });
		const abort = new AbortController();
		const answer = loaded.host.toolCall(call, abort.signal);
		await vi.waitFor(() => expect(loaded.calls).toEqual([["confirm", "sure?", "really"]]));
		abort.abort();
		expect(await answer).toMatchObject({ block: true });
	});

	test("an abort that came before asks no one", async () => {
		const loaded = await load({ "a.js": on("input", "(event, { ui }) => { ui.notify('asked') }") });
		expect(await loaded.host.input(input, AbortSignal.abort())).toEqual(questions.input?.plain);
		expect(loaded.calls).toEqual([]);
	});

	test("a handler that is added during an event hears the next one, in its extension's place", async () => {
		const loaded = await load({
			"a.js": on(
				"input",
				"(event) => { api.on('input', ({ text }) => ({ action: 'transform', text: text + ' late' })); return { action: 'transform', text: event.text + ' a' }; }",
			),
			"b.js": on("input", "({ text }) => ({ action: 'transform', text: text + ' b' })"),
		});
		expect(await loaded.host.input(input)).toMatchObject({ text: "hi a b" });
		expect(await loaded.host.input(input)).toMatchObject({ text: "hi a late b" });
	});

	test("before the session is there no one is asked", async () => {
		const loaded = await load({ "a.js": on("input", "() => ({ action: 'handled' })") }, { isBound: false });
		expect(await loaded.host.input(input)).toMatchObject({ action: "continue" });
	});
});

describe("what a hook may answer", () => {
	test("input: texts and images are transformed one after another; handled ends it", async () => {
		const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
		const transform = (code: string) => on("input", `(event) => (${code})`);
		const chained = await load({
			"a.js": transform("{ action: 'transform', text: event.text.toUpperCase() }"),
			"b.js": transform("{ action: 'continue' }"),
			"c.js": transform(`{ action: 'transform', text: event.text + '!' + event.source, images: [...event.images, ${JSON.stringify(image)}] }`),
		});
		expect(await chained.host.input({ ...input, images: [image] })).toEqual({ action: "continue", text: "HI!rpc", images: [image, image] });
		const handled = await load({ "a.js": transform("{ action: 'handled' }"), "b.js": on("input", "(event, { ui }) => { ui.notify('no') }") });
		expect(await handled.host.input(input)).toEqual({ action: "handled" });
		expect(handled.calls).toEqual([]);
		const wrong = await load({ "a.js": transform("{ action: 'eat' }"), "b.js": transform("{ action: 'transform', text: 7 }") });
		expect(await wrong.host.input(input)).toEqual(questions.input?.plain);
		expect(wrong.errors.map(({ error }) => error)).toEqual([
			"action must be continue, transform or handled, not eat",
			"text must be a string, not 7",
		]);
	});

	test("before_agent_start: messages are collected, system prompts chained", async () => {
		const loaded = await load({
			"a.js": on(
				"before_agent_start",
				"(event) => ({ message: { customType: 'a', content: event.prompt, display: false, details: 1 }, systemPrompt: event.systemPrompt + ' a' })",
			),
			"b.js": on(
				"before_agent_start",
				"(event) => ({ message: { customType: 'b', content: [{ type: 'text', text: 'B' }] }, systemPrompt: event.systemPrompt + ' b' })",
			),
			"c.js": on("before_agent_start", "() => ({ message: { content: 'no type' }, systemPrompt: 'lost' })"),
		});
		expect(await loaded.host.beforeAgentStart(prompt)).toEqual({
			messages: [
				{ customType: "a", content: "hi", display: false, details: 1 },
				{ customType: "b", content: [text("B")], display: true },
			],
			systemPrompt: "base a b",
		});
		expect(loaded.errors).toEqual([{ extensionPath: "c.js", event: "before_agent_start", error: "message.customType must be a string" }]);
	});

	test("context: a copy that may be changed in place or replaced; the session keeps its own", async () => {
		const loaded = await load({
			"a.js": on(
				"context",
				"({ messages }) => { messages[0].content[0].text = 'changed'; messages.push({ role: 'user', content: 'more', timestamp: 2 }); }",
			),
			"b.js": on("context", "({ messages }) => ({ messages: messages.slice(-2) })"),
			"c.js": on("context", "() => ({ messages: [{ no: 'role' }] })"),
		});
		const messages: AgentMessage[] = [user("zero"), user("one")];
		expect(await loaded.host.context(messages)).toEqual([user("one"), { role: "user", content: "more", timestamp: 2 }]);
		expect(messages).toEqual([user("zero"), user("one")]);
		expect(loaded.errors).toEqual([{ extensionPath: "c.js", event: "context", error: "messages must be a list of messages, not a list like that" }]);
		const silent = await load({});
		expect(await silent.host.context(messages)).toBe(messages);
	});

	test("before_provider_request: a copy, changed in place or replaced", async () => {
		const loaded = await load({
			"a.js": on("before_provider_request", "({ payload }) => { payload.temperature = 0; }"),
			"b.js": on("before_provider_request", "({ payload }) => ({ ...payload, top: 1 })"),
		});
		const payload = { model: "m" };
		expect(await loaded.host.beforeProviderRequest(payload)).toEqual({ model: "m", temperature: 0, top: 1 });
		expect(payload).toEqual({ model: "m" });
	});

	test("before_provider_headers: a copy, changed in place or replaced; what is not text is reported", async () => {
		const loaded = await load({
			"a.js": on("before_provider_headers", "({ headers }) => { headers['X-Mine'] = 'yes'; headers.b = null; }"),
			"b.js": on("before_provider_headers", "({ headers }) => ({ ...headers, c: 3 })"),
			"c.js": on("before_provider_headers", "({ headers }) => ({ ...headers, d: '4' })"),
		});
		const headers = { a: "1", b: "2" };
		expect(await loaded.host.beforeProviderHeaders(headers)).toEqual({ a: "1", "x-mine": "yes", d: "4" });
		expect(headers).toEqual({ a: "1", b: "2" });
		expect(loaded.errors).toEqual([{ extensionPath: "b.js", event: "before_provider_headers", error: "headers must be strings" }]);
	});

	test("tool_call: arguments may be changed, the first block wins", async () => {
		const loaded = await load({
			"a.js": on("tool_call", "({ input, toolName, toolCallId }) => { input.command += ' ' + toolName + toolCallId; }"),
			"b.js": on("tool_call", "({ input }) => ({ block: input.command.startsWith('rm'), reason: 'no rm' })"),
			"c.js": on("tool_call", "(event, { ui }) => { ui.notify('asked'); return { block: event.input.stop }; }"),
		});
		expect(await loaded.host.toolCall(call)).toEqual({ block: false, input: { command: "ls bashc1" } });
		expect(call.input).toEqual({ command: "ls" });
		expect(await loaded.host.toolCall({ ...call, input: { command: "rm x" } })).toEqual({ block: true, reason: "no rm" });
		expect(loaded.calls).toHaveLength(1);
		expect(await loaded.host.toolCall({ ...call, input: { command: "ls", stop: true } })).toEqual({
			block: true,
			reason: "Tool execution was blocked by an extension",
		});
	});

	test("tool_result: parts are replaced one after another", async () => {
		const loaded = await load({
			"a.js": on("tool_result", "({ content, input }) => ({ content: [...content, { type: 'text', text: input.command }] })"),
			"b.js": on("tool_result", "({ content, details }) => ({ details: { ...details, blocks: content.length }, isError: true })"),
			"c.js": on("tool_result", "() => ({ content: 'a text' })"),
		});
		expect(await loaded.host.toolResult(result)).toEqual({ content: [text("out"), text("ls")], details: { a: 1, blocks: 2 }, isError: true });
		expect(loaded.errors).toEqual([
			{ extensionPath: "c.js", event: "tool_result", error: 'content must be a list of text and image blocks, not "a text"' },
		]);
	});

	test("session_before_switch and session_before_fork: the first who cancels ends it", async () => {
		const loaded = await load({
			"a.js": on("session_before_switch", "({ reason, targetSessionFile }) => ({ cancel: reason === 'resume' && targetSessionFile === '/x' })"),
			"b.js": on("session_before_switch", "(event, { ui }) => { ui.notify('asked') }"),
			"c.js": on("session_before_fork", "({ type, entryId }) => ({ skipConversationRestore: type + entryId === 'session_before_forke1' })"),
			"d.js": on("session_before_branch", "({ type, entryId }) => ({ cancel: type + entryId === 'session_before_branche2' })"),
		});
		expect(await loaded.host.beforeSwitch({ reason: "resume", targetSessionFile: "/x" })).toEqual({ cancel: true });
		expect(loaded.calls).toEqual([]);
		expect(await loaded.host.beforeSwitch({ reason: "new" })).toEqual({ cancel: false });
		expect(loaded.calls).toHaveLength(1);
		expect(await loaded.host.beforeFork({ entryId: "e1" })).toEqual({ cancel: false, skipConversationRestore: true });
		expect(await loaded.host.beforeFork({ entryId: "e2" })).toEqual({ cancel: true, skipConversationRestore: false });
	});

	test("session_before_compact: cancel, or the whole result", async () => {
		const cancelled = await load({
			"a.js": on("session_before_compact", "() => ({ cancel: true, compaction: { summary: 's', firstKeptEntryId: 'e1' } })"),
		});
		expect(await cancelled.host.beforeCompact(compaction())).toEqual({ cancel: true });
		const supplied = await load({
			"a.js": on("session_before_compact", "() => ({ compaction: { summary: '' } })"),
			"b.js": on(
				"session_before_compact",
				"({ preparation: { firstKeptEntryId, tokensBefore } }) => ({ compaction: { summary: 'short', firstKeptEntryId, tokensBefore, details: { by: 'b' } } })",
			),
			"c.js": on("session_before_compact", "() => ({ cancel: true })"),
		});
		expect(await supplied.host.beforeCompact(compaction())).toEqual({
			compaction: { summary: "short", firstKeptEntryId: "e2", tokensBefore: 7, details: { by: "b" } },
		});
		expect(supplied.errors.map(({ error }) => error)).toEqual(["compaction must have a summary and a firstKeptEntryId"]);
	});

	test("session_before_tree and resources_discover: answers are joined", async () => {
		const loaded = await load({
			"a.js": on("session_before_tree", "() => ({ label: 'x', customInstructions: 'a' })"),
			"b.js": on("session_before_tree", "() => ({ customInstructions: 'b' })"),
			"c.js": on("resources_discover", "({ cwd }) => ({ skillPaths: [cwd + '/s'], themePaths: ['t'] })"),
			"d.js": on("resources_discover", "() => ({ skillPaths: ['/d'], promptPaths: ['/p'] })"),
			"e.js": on("resources_discover", "() => ({ skillPaths: 'x' })"),
		});
		expect(await loaded.host.beforeTree({ targetId: "e1", entriesToSummarize: [], signal: still() })).toEqual({
			label: "x",
			customInstructions: "b",
		});
		expect(await loaded.host.discoverResources({ cwd: "/w", reason: "startup" })).toEqual({ skillPaths: ["/w/s", "/d"], promptPaths: ["/p"] });
		expect(loaded.errors).toHaveLength(1);
	});

	test("user_bash: a result, or operations that run it elsewhere", async () => {
		const supplied = await load({
			"a.js": on("user_bash", "({ command }) => command === 'where' ? { result: { output: 'here\\n', exitCode: 3 } } : undefined"),
			"b.js": on(
				"user_bash",
				"() => ({ operations: { exec: async (command, cwd, { onData }) => { onData(command + '@'); onData(Buffer.from(cwd)); return { exitCode: 0 }; } } })",
			),
		});
		const bash = (command: string, signal = still()) => supplied.host.userBash({ command, cwd: "/w" }, signal);
		const counts = { truncated: false, fullOutputPath: undefined, totalLines: 1, outputLines: 1 };
		expect(await bash("where")).toEqual({ output: "here\n", exitCode: 3, cancelled: false, ...counts, totalBytes: 5, outputBytes: 5 });
		expect(await bash("ls")).toEqual({ output: "ls@/w", exitCode: 0, cancelled: false, ...counts, totalBytes: 5, outputBytes: 5 });
		const hanging = await load({ "a.js": on("user_bash", `() => ({ operations: { exec: () => ${never} } })`) });
		const abort = new AbortController();
		const answer = hanging.host.userBash({ command: "ls", cwd: "/" }, abort.signal);
		setTimeout(() => abort.abort(), 5);
		expect(await answer).toMatchObject({ output: "", cancelled: true });
		const failing = await load({ "a.js": on("user_bash", "() => ({ operations: { exec() { throw new Error('no ssh'); } } })") });
		await expect(failing.host.userBash({ command: "ls", cwd: "/" }, still())).rejects.toThrow("no ssh");
	});
});
