import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Editor, type EditorOptions, type Message, using } from "./editor.ts";

/** The same folder, seen by another agent. */
async function again<T>(first: Editor, options: EditorOptions, work: (editor: Editor) => Promise<T>): Promise<T> {
	const editor = await Editor.start({ ...options, folder: first.folder });
	const result = await work(editor);
	await editor.end();
	return result;
}

const tools = [
	'think "plan" + say "Reading." + call #c1 read {"path":"a.txt"} + call #c2 bash {"command":"echo hi; exit 3"}',
	'call #c1 edit {"path":"a.txt","edits":[{"oldText":"two","newText":"2"}]} + call #c3 write {"path":"new/b.txt","content":"fresh\\n"}',
	'call #c4 grep {"pattern":"o"} + call #c5 ls {} + call #c6 find {"pattern":"*.txt"} + call #c7 nothing {"text":"x"}',
	`call #t todo_write ${JSON.stringify({ ops: [{ op: "replace", phases: [{ name: "W", tasks: [{ content: "one" }] }] }] })}`,
	'say "All done."',
].join(" · ");

const shownCalls = (calls: Message[]) =>
	calls.map(({ toolCallId, title, kind, name, status, locations, content, rawInput, rawOutput }) => ({
		toolCallId,
		title,
		kind,
		name,
		status,
		locations,
		rawInput,
		rawOutput,
		// A replay has the hunks of an edit, and no text from before a write.
		content: content?.map((block: Message) => (block.type === "diff" ? { type: "diff", path: block.path } : block)),
	}));

test("a loaded session shows the same calls as it did live, and everything that was said, once", () =>
	using(
		{ model: tools, files: { "a.txt": "one\ntwo\nthree\n" }, flags: ["--tools", "read,bash,edit,write,grep,find,ls,todo_write"] },
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go on");
			const live = editor.calls();
			expect(live.map(({ toolCallId, status }) => `${toolCallId} ${status}`)).toEqual([
				"c1 completed",
				"c2 failed",
				"c1#2 completed",
				"c3 completed",
				"c4 completed",
				"c5 completed",
				"c6 completed",
				"c7 failed",
			]);
			await editor.request("session/close", { sessionId: session });
			await again(editor, { model: 'say "x"' }, async (other) => {
				await other.request("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [] });
				expect(shownCalls(other.calls())).toEqual(shownCalls(live));
				expect(other.updates("tool_call_update")).toEqual([]);
				expect(other.text("user_message_chunk")).toBe("go on");
				expect(other.text("agent_thought_chunk")).toBe("plan");
				expect(other.text()).toBe("Reading.All done.");
				expect(other.updates("plan")).toEqual([{ sessionUpdate: "plan", entries: [{ content: "one", priority: "medium", status: "in_progress" }] }]);
				expect(other.calls().find(({ toolCallId }) => toolCallId === "c3")?.content).toEqual([
					{ type: "diff", path: join(editor.cwd, "new/b.txt"), newText: "fresh\n" },
				]);
				const answer = other.messages.findIndex((message) => message.id === 2 && message.result);
				const last = other.messages.findLastIndex((message) => message.params?.update?.sessionUpdate === "plan");
				expect(last).toBeLessThan(answer);
				await other.until((message) => message.params?.update?.sessionUpdate === "usage_update");
			});
		},
	));

test("a session that is open here is replayed and not opened twice", () =>
	using({ model: 'say "one" + always' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hello");
		await editor.request("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [] });
		expect(editor.text("user_message_chunk")).toBe("hello");
		expect(await editor.prompt(session, "more")).toMatchObject({ result: { stopReason: "end_turn" } });
	}));

test("a turn that runs goes on after a load in the middle of it", () =>
	using({ model: 'say "Wait." + call bash {"command":"sleep 0.5; echo over"} · say "done"' }, async (editor) => {
		const session = await editor.session();
		const answer = editor.prompt(session, "hello");
		await editor.until((message) => message.params?.update?.status === "in_progress");
		const at = editor.messages.length;
		await editor.request("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [] });
		expect(await answer).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.calls(editor.messages.slice(at))).toMatchObject([{ toolCallId: "call_1", status: "completed" }]);
	}));

test("resume goes on with a session and shows nothing of it", () =>
	using({ model: 'say "one"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hello");
		await editor.request("session/close", { sessionId: session });
		await again(editor, { model: 'say "two"' }, async (other) => {
			await other.request("session/resume", { sessionId: session, cwd: editor.cwd });
			await other.until((message) => message.params?.update?.sessionUpdate === "available_commands_update");
			expect(other.updates("user_message_chunk")).toEqual([]);
			await other.prompt(session, "and?");
			await other.prompt(session, "/stats");
			expect(other.text()).toContain("Messages: 4");
		});
	}));

test("sessions are listed newest first, by directory, with a title, and page by page", () =>
	using({ model: 'say "ok" + always' }, async (editor) => {
		expect(await editor.request("session/list")).toEqual({ sessions: [] });
		editor.write("other/x", "");
		const first = await editor.session();
		const second = await editor.session({ cwd: join(editor.cwd, "other") });
		await editor.session();
		await editor.prompt(first, "the first prompt\nhas two lines");
		await editor.prompt(second, "elsewhere");
		const { sessions } = await editor.request("session/list");
		expect(sessions).toMatchObject([
			{ sessionId: second, cwd: join(editor.cwd, "other"), title: "elsewhere", updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
			{ sessionId: first, cwd: editor.cwd, title: "the first prompt" },
		]);
		symlinkSync(editor.cwd, join(editor.folder, "link"));
		const here = await editor.request("session/list", { cwd: join(editor.folder, "link") });
		expect(here.sessions.map(({ sessionId }: Message) => sessionId)).toEqual([first]);
		expect(await editor.ask("session/list", { cursor: "nonsense" })).toMatchObject({ error: { code: -32602 } });
	}));

test("a list of more than fifty sessions goes on with its cursor", () =>
	using({ model: 'say "ok" + always' }, async (editor) => {
		const wanted = new Set<string>();
		for (let count = 0; count < 52; count++) {
			const session = await editor.session();
			await editor.prompt(session, `number ${count}`);
			wanted.add(session);
			await editor.request("session/close", { sessionId: session });
		}
		const first = await editor.request("session/list");
		const second = await editor.request("session/list", { cursor: first.nextCursor });
		expect([first.sessions.length, second.sessions.length, second.nextCursor]).toEqual([50, 2, undefined]);
		expect(new Set([...first.sessions, ...second.sessions].map(({ sessionId }: Message) => sessionId))).toEqual(wanted);
	}));

test("a deleted session is gone from the list and in the trash; deleting it again is fine", () =>
	using({ model: 'say "ok"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hi");
		expect(await editor.request("session/delete", { sessionId: session })).toEqual({});
		expect(await editor.request("session/delete", { sessionId: session })).toEqual({});
		expect(await editor.request("session/list")).toEqual({ sessions: [] });
		expect(await editor.prompt(session, "hi")).toMatchObject({ error: { code: -32002 } });
		const root = join(editor.folder, "user/sessions");
		const [directory = ""] = readdirSync(root);
		expect(readdirSync(join(root, directory, "trash"))).toEqual([expect.stringContaining(session)]);
	}));

test("what cannot be opened is refused with the code and the words for it", () =>
	using({ model: 'say "ok"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hi");
		const load = (params: object) => editor.ask("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [], ...params });
		expect(await load({ sessionId: "0000" })).toMatchObject({ error: { code: -32002, message: "Unknown session: 0000" } });
		expect(await load({ sessionId: "../../etc/passwd" })).toMatchObject({ error: { code: -32002 } });
		expect(await load({ cwd: editor.folder })).toMatchObject({ error: { code: -32602, message: expect.stringContaining(editor.cwd) } });
		expect(await editor.ask("session/new", { cwd: "work", mcpServers: [] })).toMatchObject({
			error: { code: -32602, message: expect.stringContaining('"work"') },
		});
		expect(await editor.ask("session/new", { cwd: "/not/there", mcpServers: [] })).toMatchObject({ error: { code: -32602 } });
		expect(await editor.ask("session/close", { sessionId: "0000" })).toMatchObject({ error: { code: -32002 } });
		await again(editor, {}, async (other) => {
			const answer = await other.ask("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [] });
			expect(answer).toMatchObject({ error: { code: -32603, message: expect.stringContaining("use") } });
		});
	}));

test("a session without a file is listed nowhere and leaves nothing", () =>
	using({ model: 'say "ok"', flags: ["--no-session"] }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hi");
		expect(await editor.request("session/list")).toEqual({ sessions: [] });
		expect(existsSync(join(editor.folder, "user/sessions"))).toBe(false);
		expect(await editor.request("session/delete", { sessionId: session })).toEqual({});
	}));
