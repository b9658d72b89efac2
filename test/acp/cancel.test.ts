import { expect, test } from "vitest";
import { type Editor, type EditorOptions, using } from "./editor.ts";

interface Case {
	name: string;
	options: EditorOptions;
	/** When to cancel. */
	until: (editor: Editor) => Promise<unknown>;
}

const cases: Case[] = [
	{ name: "before the first delta", options: { model: 'delay 120000 + say "late"' }, until: async () => undefined },
	{
		name: "in text",
		options: { model: 'say "one two three four five six seven eight nine ten" + pace 3000' },
		until: (editor) => kind(editor, "agent_message_chunk"),
	},
	{ name: "in a command", options: { model: 'call bash {"command":"sleep 20"}' }, until: (editor) => status(editor, "in_progress") },
	{
		name: "in a retry wait",
		options: { model: 'fail "529 overloaded" · say "no"', flags: ["--set", "retry.baseDelayMs=60000"], capabilities: { session: { notices: {} } } },
		until: (editor) => kind(editor, "notice"),
	},
	{
		name: "in an approval",
		options: { model: 'call bash {"command":"true"}', flags: ["--permission-mode", "ask"], answer: () => undefined },
		until: (editor) => editor.until(({ method }) => method === "session/request_permission"),
	},
	{
		name: "in a read of a file that the editor does not answer",
		options: {
			model: 'call read {"path":"a.txt"}',
			files: { "a.txt": "x" },
			capabilities: { fs: { readTextFile: true, writeTextFile: true } },
			answer: () => undefined,
		},
		until: (editor) => editor.until(({ method }) => method === "fs/read_text_file"),
	},
	{
		name: "in a write that the editor does not answer",
		options: {
			model: 'call write {"path":"b.txt","content":"x"}',
			capabilities: { fs: { readTextFile: true, writeTextFile: true } },
			answer: (method) => (method === "fs/read_text_file" ? { content: "" } : undefined),
		},
		until: (editor) => editor.until(({ method }) => method === "fs/write_text_file"),
	},
	{
		name: "in a subagent",
		options: {
			model:
				'agent main + call task {"agent":"task","tasks":[{"id":"fix","description":"d","assignment":"a"}]} · agent task + call bash {"command":"sleep 600"}',
			isProcess: true,
		},
		until: (editor) => editor.until((message) => /sleep 600/.test(JSON.stringify(message.params?.update?.content ?? ""))),
	},
	{
		name: "in a form",
		options: {
			model: 'say "hi"',
			capabilities: { elicitation: { form: {} } },
			files: { "ext.ts": 'export default (pi) => pi.on("before_agent_start", async (_, ctx) => { await ctx.ui.input("Your name?"); });' },
			flags: ["--extension", "ext.ts"],
			answer: () => undefined,
		},
		until: (editor) => editor.until(({ method }) => method === "elicitation/create"),
	},
	{
		name: "in a permission",
		options: {
			model: 'call bash {"command":"true"}',
			files: { "ext.ts": 'export default (pi) => pi.on("tool_call", async (_, ctx) => ({ block: !(await ctx.ui.confirm("Run?", "really"))}));' },
			flags: ["--extension", "ext.ts"],
			answer: () => undefined,
		},
		until: (editor) => editor.until(({ method }) => method === "session/request_permission"),
	},
];

const kind = (editor: Editor, name: string) => editor.until((message) => message.params?.update?.sessionUpdate === name, name);
const status = (editor: Editor, name: string) => editor.until((message) => message.params?.update?.status === name, name);

for (const { name, options, until } of cases) {
	test(`a turn is cancelled ${name}, with nothing after it`, () =>
		using(options, async (editor) => {
			const session = await editor.session();
			const answer = editor.prompt(session, "go");
			await until(editor);
			// None of the cases would end by itself while the test lasts.
			editor.notify("session/cancel", { sessionId: session });
			expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
			// Nothing is left that could come later.
			await editor.request("session/set_config_option", { sessionId: session, configId: "thinking", value: "off" }).catch(() => undefined);
			expect(editor.messages.at(-1)?.method).toBeUndefined();
			for (const { id, method } of editor.messages.filter((message) => "id" in message && message.method).slice(-1)) {
				expect(editor.messages, method).toContainEqual(expect.objectContaining({ method: "$/cancel_request", params: { requestId: id } }));
			}
		}));
}

test("two prompts that wait are cancelled with the one that runs, each with an answer", () =>
	using({ model: 'call bash {"command":"sleep 20"} · say "no" + always' }, async (editor) => {
		const session = await editor.session();
		const answers = ["one", "two", "three"].map((text) => editor.prompt(session, text));
		await status(editor, "in_progress");
		editor.notify("session/cancel", { sessionId: session });
		expect((await Promise.all(answers)).map(({ result }) => result?.stopReason)).toEqual(["cancelled", "cancelled", "cancelled"]);
		expect(editor.text()).toBe("");
		expect(await editor.prompt(session, "again")).toMatchObject({ result: { stopReason: "end_turn" } });
	}));

test("cancelling an idle session does nothing", () =>
	using({ model: 'say "hi"' }, async (editor) => {
		const session = await editor.session();
		editor.notify("session/cancel", { sessionId: session });
		editor.notify("session/cancel", { sessionId: "unknown" });
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
	}));

test("cancelling one request of a prompt leaves the prompts after it", () =>
	using({ model: 'call bash {"command":"sleep 20"} · say "second"' }, async (editor) => {
		const session = await editor.session();
		const id = editor.send("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "one" }] });
		const second = editor.prompt(session, "two");
		await status(editor, "in_progress");
		editor.notify("$/cancel_request", { requestId: id });
		expect(await editor.answerTo(id)).toMatchObject({ result: { stopReason: "cancelled" } });
		expect(await second).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.text()).toBe("second");
	}));

test("the end of the input cancels the turn, answers it, and ends the agent", () =>
	using({ model: 'call bash {"command":"sleep 20"}' }, async (editor) => {
		const session = await editor.session();
		const answer = editor.prompt(session, "go");
		await status(editor, "in_progress");
		expect(await editor.end()).toBe(0);
		expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
	}));

test("a compaction is cancelled with its turn, and the client sees it", () =>
	using(
		{
			// The summary is asked for in two parts, side by side.
			model: 'say "a long answer" · say "another" · delay 120000 + say "summary" + always',
			capabilities: { session: { compaction: {} } },
			flags: ["--set", "compaction.keepRecentTokens=1"],
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "one");
			await editor.prompt(session, "two");
			const answer = editor.prompt(session, "/compact");
			await kind(editor, "compaction_update");
			editor.notify("session/cancel", { sessionId: session });
			const { result } = await answer;
			const updates = editor.updates("compaction_update").map(({ status: each, error }) => (error ? `${each}: ${error}` : each));
			expect({ result, updates }).toEqual({ result: { stopReason: "cancelled" }, updates: ["in_progress", "cancelled"] });
		},
	));
