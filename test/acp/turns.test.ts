import { expect, test } from "vitest";
import { kindOf, type Message, using } from "./editor.ts";

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

test("every way to stop has its stop reason", () =>
	using({ model: 'say "cut" + stop length · fail "400 the provider says no" · say "fine"' }, async (editor) => {
		const session = await editor.session();
		expect(await editor.prompt(session, "one")).toMatchObject({ result: { stopReason: "max_tokens" } });
		expect(await editor.prompt(session, "two")).toMatchObject({ error: { code: -32603, message: expect.stringContaining("the provider says no") } });
		expect(await editor.prompt(session, "three")).toMatchObject({ result: { stopReason: "end_turn" } });
	}));

test("a session without a model can be opened, and its first prompt says what to set", () =>
	using({}, async (editor) => {
		const { configOptions } = await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] });
		expect(configOptions.map(({ id }: { id: string }) => id)).toEqual(["mode"]);
		const session = await editor.session();
		expect(await editor.prompt(session, "hi")).toMatchObject({ error: { code: -32000, message: expect.stringContaining("No model selected") } });
	}));

test("a budget that is used up is an error in words", () =>
	using({ model: 'say "one" + used 500 · say "two"', flags: ["--set", "task.budget.maxInputTokens=100"] }, async (editor) => {
		const session = await editor.session();
		expect(await editor.prompt(session, "hi")).toMatchObject({ error: { code: -32603, message: expect.stringMatching(/^Session budget exceeded/) } });
		expect(await editor.prompt(session, "hi")).toMatchObject({ error: { code: -32603, message: expect.stringMatching(/^Session budget exceeded/) } });
	}));

test("a second prompt waits for its turn, and each has its own answer", () =>
	using({ model: 'say "first" + pace 5 · say "second"' }, async (editor) => {
		const session = await editor.session();
		const answers = await Promise.all([editor.prompt(session, "one"), editor.prompt(session, "two")]);
		expect(answers).toMatchObject([{ result: { stopReason: "end_turn" } }, { result: { stopReason: "end_turn" } }]);
		const order = editor.messages.flatMap((message) => message.params?.update?.content?.text ?? (message.result?.stopReason ? ["answer"] : []));
		expect(order.join(" ").replace(/f.*t answer/, "first answer")).toContain("answer second answer");
	}));

test("a prompt that steers joins the turn that runs, and both are answered", () =>
	using({ model: 'call bash {"command":"sleep 0.3"} · say "steered" + sees "left" · say "plain"' }, async (editor) => {
		const session = await editor.session();
		const first = editor.prompt(session, "go");
		await editor.until((message) => message.params?.update?.status === "in_progress");
		const second = editor.prompt(session, "turn left", { _meta: { bowline: { deliver: "steer" } } });
		expect(await first).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(await second).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.text()).toBe("steered");
	}));

test("one retry belongs to the turn, and is a notice where the client shows notices", () =>
	using({ model: 'fail "529 overloaded" · say "done"', capabilities: { session: { notices: {} } } }, async (editor) => {
		const session = await editor.session();
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.text()).toBe("done");
		expect(editor.updates("notice")).toMatchObject([{ severity: "warning", title: expect.stringContaining("attempt 1 of 3") }]);
	}));

test("a client without notices reads nothing about a retry", () =>
	using({ model: 'fail "529 overloaded" · say "done"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		expect([editor.updates("notice"), editor.text()]).toEqual([[], "done"]);
	}));

test("todos are a plan, and no call", () => {
	const ops = [
		{ op: "replace", phases: [{ name: "Work", tasks: [{ content: "one" }, { content: "two" }, { content: "three", status: "abandoned" }] }] },
	];
	return using({ model: `call todo_write ${JSON.stringify({ ops })} · say "planned"` }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "plan");
		expect(editor.updates("plan").at(-1)?.entries).toEqual([
			{ content: "one", priority: "medium", status: "in_progress" },
			{ content: "two", priority: "medium", status: "pending" },
		]);
		expect(editor.calls()).toEqual([]);
	});
});

test("the commands of the layer are listed, answered with one text, and stored nowhere", () =>
	using({ model: 'say "hello"' }, async (editor) => {
		const session = await editor.session();
		const names = editor.updates("available_commands_update")[0]?.availableCommands.map(({ name }: { name: string }) => name);
		expect(names).toEqual(expect.arrayContaining(["compact", "name", "stats", "export"]));
		expect(await editor.prompt(session, "/name The best one")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(editor.text()).toContain("The best one");
		expect(editor.updates("session_info_update")).toMatchObject([{ title: "The best one" }]);
		await editor.prompt(session, "/compact");
		await editor.prompt(session, "hi");
		await editor.prompt(session, "/export page.html");
		expect(editor.text()).toContain(`The session was written to ${editor.cwd}/page.html`);
		const { sessions } = await editor.request("session/list");
		expect(sessions).toMatchObject([{ title: "The best one" }]);
	}));

test("two sessions of one directory run side by side", () =>
	using({ model: 'call bash {"command":"sleep 0.2; echo $BOWLINE_SESSION_ID"} · say "done"' }, async (editor) => {
		const sessions = [await editor.session(), await editor.session()];
		const answers = await Promise.all(sessions.map((session) => editor.prompt(session, "go")));
		expect(answers.map(({ result }) => result?.stopReason)).toEqual(["end_turn", "end_turn"]);
		for (const session of sessions) {
			const shown = editor.updates("tool_call_update", session).filter(({ status }) => status === "completed");
			expect(JSON.stringify(shown)).toContain(session);
		}
	}));

test("a model in the list has its price with the steps", () =>
	using({ model: 'say "hi"', env: { ANTHROPIC_API_KEY: "key-0123456789" } }, async (editor) => {
		const { configOptions } = await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] });
		const { options } = configOptions.find(({ id }: Message) => id === "model");
		const listed = options.flatMap((group: Message) => group.options ?? [group]) as Message[];
		expect(listed.find(({ value }) => value === "anthropic/claude-haiku-5-5")?.description).toBe(
			"1M context, $0.1 in and $0.5 out per million tokens, above 100K in $0.5 and $2.5",
		);
	}));
