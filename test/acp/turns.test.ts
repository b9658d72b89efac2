import { expect, test } from "vitest";
import { Editor, kindOf } from "./editor.ts";

async function using<T>(options: ConstructorParameters<typeof Editor>[0], work: (editor: Editor) => Promise<T>): Promise<T> {
	const editor = await Editor.start(options);
	try {
		const result = await work(editor);
		await editor.end();
		return result;
	} finally {
		editor.dispose();
	}
}

test("a prompt is answered with thoughts, text, a call and a stop reason, all before the response", () =>
	using({ model: 'think "hm" + say "Let me look." + call bash {"command":"echo hi"} · say "done"' }, async (editor) => {
		const session = await editor.session();
		const { result } = await editor.prompt(session, "hello");
		expect(result).toEqual({ stopReason: "end_turn" });
		expect(editor.text("agent_thought_chunk")).toBe("hm");
		expect(editor.text()).toBe("Let me look.done");
		expect(editor.calls()).toMatchObject([
			{ toolCallId: "call_1", name: "bash", kind: "execute", title: "`echo hi`", status: "completed", rawInput: { command: "echo hi" } },
		]);
		expect(editor.calls()[0]?.content).toEqual([{ type: "content", content: { type: "text", text: "```\nhi\n```" } }]);
		expect(editor.messages.at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.updates("session_info_update")).toMatchObject([{ title: "hello" }]);
	}));

test("cancelling a command ends the turn as cancelled, and its call as failed", () =>
	using({ model: 'call bash {"command":"sleep 30"} · say "not this"' }, async (editor) => {
		const session = await editor.session();
		const answer = editor.prompt(session, "go");
		await editor.until((message) => message.params?.update?.status === "in_progress");
		editor.notify("session/cancel", { sessionId: session });
		expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
		expect(editor.calls()).toMatchObject([{ status: "failed" }]);
		expect(editor.text()).toBe("");
	}));

test("nothing of a session is written before the answer that creates it, and each of the first lines is a write of its own", () =>
	using({ model: 'say "hi"' }, async (editor) => {
		const { sessionId } = await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] });
		await editor.until((message) => kindOf(message) === "usage_update");
		const about = editor.messages.filter((message) => message.params?.sessionId === sessionId || message.result?.sessionId === sessionId);
		expect(about.map((message) => kindOf(message) ?? "answer")).toEqual(["answer", "available_commands_update", "usage_update"]);
	}));
