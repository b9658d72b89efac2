import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type EditorOptions, type Message, using } from "./editor.ts";

const asking = (model: string, more: EditorOptions = {}): EditorOptions => ({ model, flags: ["--permission-mode", "ask"], ...more });
const choose = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });
const asked = ({ messages }: { messages: Message[] }) =>
	messages.filter(({ method }) => method === "session/request_permission").map(({ params }) => params);
const command = 'call #c bash {"command":"touch made"} · say "went on"';

test("a command is asked about under its own call, with every scope that an answer may have", () =>
	using(asking(command, { answer: choose("allow_once") }), async (editor) => {
		const session = await editor.session();
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(asked(editor)).toMatchObject([
			{
				sessionId: session,
				toolCall: { toolCallId: "c", title: "`touch made`", kind: "execute", status: "pending", rawInput: { command: "touch made" } },
				options: [
					{ optionId: "reject_once", kind: "reject_once", name: "Reject" },
					{ optionId: "allow_once", kind: "allow_once", name: "Allow" },
					{ optionId: "allow_session", kind: "allow_always", name: "Allow `touch made` in this session" },
					{ optionId: "allow_always", kind: "allow_always", name: "Always allow `touch made` in this project" },
				],
			},
		]);
		expect(editor.calls()).toMatchObject([{ toolCallId: "c", status: "completed" }]);
		expect(existsSync(join(editor.cwd, "made"))).toBe(true);
	}));

for (const [name, answer] of [
	["a rejection", choose("reject_once")],
	["a closed window", () => ({ outcome: { outcome: "cancelled" } })],
	["an option that was not offered", choose("reject_always")],
	[
		"an error",
		() => {
			throw Object.assign(new Error("the window is broken"), { code: -32603 });
		},
	],
] as const) {
	test(`${name} rejects this call only, and the turn goes on`, () =>
		using(asking(command, { answer }), async (editor) => {
			const session = await editor.session();
			expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(editor.calls()).toMatchObject([{ status: "failed", content: [{ content: { text: expect.stringContaining("Denied by the user") } }] }]);
			expect([existsSync(join(editor.cwd, "made")), editor.text()]).toEqual([false, "went on"]);
		}));
}

test("what is allowed in the session is not asked again", () =>
	using(
		asking('call bash {"command":"touch made"} · call bash {"command":"touch made"} · say "done"', { answer: choose("allow_session") }),
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			expect(asked(editor)).toHaveLength(1);
			expect(editor.calls().map(({ status }) => status)).toEqual(["completed", "completed"]);
		},
	));

test("a write shows what it would change", () =>
	using(
		asking('call write {"path":"a.txt","content":"new\\n"} · say "done"', { files: { "a.txt": "old\n" }, answer: choose("allow_once") }),
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			const [first, ...rest] = asked(editor)[0]?.toolCall.content ?? [];
			expect(first).toMatchObject({ type: "content", content: { type: "text" } });
			expect(rest).toMatchObject([{ type: "diff", path: join(editor.cwd, "a.txt"), oldText: "old", newText: "new" }]);
			expect(readFileSync(join(editor.cwd, "a.txt"), "utf8")).toBe("new\n");
		},
	));

test("a client that cannot be asked is asked once in the connection; nothing runs", () =>
	using(asking('call bash {"command":"touch made"} · call bash {"command":"touch made"} · say "done"'), async (editor) => {
		const sessions = [await editor.session(), await editor.session()];
		for (const session of sessions) expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(asked(editor)).toHaveLength(1);
		expect(editor.updates("tool_call_update").filter(({ status }) => status === "completed")).toEqual([]);
		expect(existsSync(join(editor.cwd, "made"))).toBe(false);
	}));

test("a question that runs out of time, or that a new mode answers, is withdrawn", () =>
	using(asking(command, { answer: () => undefined, flags: ["--permission-mode", "ask", "--set", "permissions.timeoutMs=300"] }), async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(editor.messages).toContainEqual(expect.objectContaining({ method: "$/cancel_request", params: { requestId: 1 } }));
		expect(editor.calls()).toMatchObject([{ status: "failed" }]);
	}).then(() =>
		using(asking(command, { answer: () => undefined }), async (editor) => {
			const session = await editor.session();
			const answer = editor.prompt(session, "go");
			await editor.until(({ method }) => method === "session/request_permission");
			expect(await editor.request("session/set_mode", { sessionId: session, modeId: "full" })).toEqual({});
			await answer;
			expect(editor.messages).toContainEqual(expect.objectContaining({ method: "$/cancel_request", params: { requestId: 1 } }));
			expect(editor.calls()).toMatchObject([{ status: "completed" }]);
			expect(editor.updates("current_mode_update")).toEqual([{ sessionUpdate: "current_mode_update", currentModeId: "full" }]);
		}),
	));

test("modes are offered as modes and as an option, and both can be set", () =>
	using({ model: 'say "hi"' }, async (editor) => {
		const { sessionId, modes, configOptions } = await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] });
		expect(modes.currentModeId).toBe("full");
		expect(modes.availableModes.map(({ id }: Message) => id)).toEqual(["plan", "ask", "edit", "full"]);
		expect(configOptions.at(-1)).toMatchObject({ id: "mode", category: "mode", currentValue: "full" });
		const set = (configId: string, value: unknown) => editor.ask("session/set_config_option", { sessionId, configId, value });
		expect((await set("mode", "plan")).result.configOptions.at(-1)).toMatchObject({ currentValue: "plan" });
		expect(await set("mode", "yolo")).toMatchObject({ error: { code: -32602 } });
		expect(await set("colour", "red")).toMatchObject({ error: { code: -32602, message: "Unknown config option: colour" } });
		expect(await editor.ask("session/set_mode", { sessionId, modeId: "yolo" })).toMatchObject({ error: { code: -32602 } });
		expect(editor.updates("config_option_update")).toEqual([]);
	}));

test("a subagent asks under the call that sent it, with its name in the title", () =>
	using(
		{
			model:
				'agent main + call #t task {"agent":"task","tasks":[{"id":"fix","description":"d","assignment":"a"}]} · agent main + say "done" · agent task + call #c bash {"command":"touch made"} · agent task + call submit_result {"result":{"data":"ok"}}',
			flags: ["--permission-mode", "ask"],
			isProcess: true,
			answer: choose("allow_once"),
		},
		async (editor) => {
			const session = await editor.session();
			expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(asked(editor)).toMatchObject([
				{
					sessionId: session,
					toolCall: { toolCallId: "t", title: expect.stringMatching(/^task: /), kind: "think", rawInput: { command: "touch made" } },
					options: [{ kind: "reject_once" }, { kind: "allow_once" }, { kind: "allow_always" }, { kind: "allow_always" }],
				},
			]);
			expect(JSON.stringify(asked(editor)[0]?.toolCall.content)).toContain("touch made");
			expect(editor.calls()).toMatchObject([{ toolCallId: "t", status: "completed", kind: "think", title: "d" }]);
			expect(editor.updates("tool_call_update").some(({ content }) => JSON.stringify(content ?? "").includes("- "))).toBe(true);
		},
	));

test("a question about a long text holds the beginning of it", () => {
	const model = { replies: [{ blocks: [{ tool: "write", arguments: { path: "long.txt", content: "x".repeat(300_000) } }] }, { text: "done" }] };
	return using({ model, flags: ["--permission-mode", "ask"], answer: choose("allow_once") }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect(asked(editor)[0]?.toolCall.rawInput.content).toMatch(/^x{16384}… \[cut\]$/);
		expect(readFileSync(join(editor.cwd, "long.txt"), "utf8")).toHaveLength(300_000);
	});
});
