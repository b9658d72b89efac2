import { expect, test } from "vitest";
import { Editor, type Message, using } from "./editor.ts";

/** An editor that has not said anything yet. */
async function fresh<T>(work: (editor: Editor) => Promise<T>): Promise<T> {
	const editor = new Editor({ model: 'say "hi" + always' });
	try {
		const result = await work(editor);
		await editor.end();
		return result;
	} finally {
		editor.dispose();
	}
}

test("the handshake answers version 1 to every version, with exactly what is offered", async () => {
	for (const protocolVersion of [1, 2, 0]) {
		await fresh(async (editor) => {
			expect(await editor.request("initialize", { protocolVersion, info: { name: "x" }, capabilities: {} })).toEqual({
				protocolVersion: 1,
				agentInfo: { name: "bowline", title: "Bowline", version: "test" },
				authMethods: [],
				agentCapabilities: {
					loadSession: true,
					auth: {},
					promptCapabilities: { image: true, audio: false, embeddedContext: true },
					mcpCapabilities: { http: true, sse: true },
					sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
				},
			});
			expect(editor.messages).toHaveLength(1);
		});
	}
});

test("nothing goes before initialize, and a second one is refused", () =>
	fresh(async (editor) => {
		expect(await editor.ask("session/new", { cwd: editor.cwd, mcpServers: [] })).toMatchObject({
			error: { code: -32600, message: "initialize first" },
		});
		editor.notify("session/cancel", { sessionId: "x" });
		await editor.request("initialize", { protocolVersion: 1 });
		expect(await editor.ask("initialize", { protocolVersion: 1 })).toMatchObject({ error: { code: -32600 } });
		expect(await editor.ask("authenticate", { methodId: "key" })).toMatchObject({
			error: { code: -32602, message: "Unknown authentication method: key" },
		});
		for (const method of ["logout", "session/fork", "_vendor/thing", "terminal/create"]) {
			expect(await editor.ask(method), method).toMatchObject({ error: { code: -32601 } });
		}
		editor.notify("_vendor/note", {});
	}));

test("lines that are wrong are answered, and reading goes on", () =>
	fresh(async (editor) => {
		const wrong: [string, number][] = [
			["{broken", -32700],
			["[]", -32600],
			["7", -32600],
			[`${"[".repeat(300)}${"]".repeat(300)}`, -32700],
			['{"jsonrpc":"2.0","id":1.5,"method":"initialize"}', -32600],
			['{"jsonrpc":"2.0","id":null,"method":7}', -32600],
		];
		for (const [line, code] of wrong) {
			const at = editor.messages.length;
			editor.raw(`${line}\n`);
			await editor.until((message) => editor.messages.indexOf(message) >= at && message.error?.code === code, line.slice(0, 40));
		}
		editor.raw('{"jsonrpc":"2.0","id":99,"result":{}}\n');
		await editor.request("initialize", { protocolVersion: 1 });
	}));

test("ids are echoed as they are, and a line may come in pieces, with CRLF and a byte order mark", () =>
	fresh(async (editor) => {
		const message = { jsonrpc: "2.0", id: "ü-1", method: "initialize", params: { protocolVersion: 1 } };
		editor.judge.sent(message);
		const bytes = Buffer.from(`\ufeff${JSON.stringify(message)}\r\n`);
		for (let at = 0; at < bytes.length; at += 7) editor.raw(bytes.subarray(at, at + 7));
		await editor.until(({ id }) => id === "ü-1");
		const empty = { jsonrpc: "2.0", id: null, method: "session/list", params: {} };
		editor.judge.sent(empty);
		editor.raw(`${JSON.stringify(empty)}\n`);
		expect(await editor.until(({ id, result }) => id === null && result)).toMatchObject({ result: { sessions: [] } });
	}));

test("requests of one session start in order: a prompt right after its load finds the session", () =>
	using({ model: 'say "one" + always' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "hi");
		await editor.request("session/close", { sessionId: session });
		const load = editor.ask("session/load", { sessionId: session, cwd: editor.cwd, mcpServers: [] });
		const prompt = editor.prompt(session, "again");
		expect([await load, await prompt]).toMatchObject([{ result: {} }, { result: { stopReason: "end_turn" } }]);
		expect(await editor.ask("session/prompt", { sessionId: session, prompt: "text" })).toMatchObject({ error: { code: -32602 } });
		expect(await editor.ask("session/prompt", { prompt: [] })).toMatchObject({ error: { code: -32602 } });
	}));

test("models and levels are options, also for clients that know only models; a change brings all of them", async () => {
	const flags = ["--models", "scripted/echo"];
	await using({ model: 'say "x"', flags }, async (editor) => {
		const { sessionId, configOptions, models } = await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] });
		const [model, thinking] = configOptions;
		expect(model).toMatchObject({ id: "model", category: "model", type: "select" });
		expect(model.options.map(({ value }: Message) => value)).toContain(model.currentValue);
		expect(thinking).toMatchObject({ id: "thinking", category: "thought_level", currentValue: "medium" });
		expect(models).toMatchObject({ currentModelId: model.currentValue, availableModels: [{ modelId: model.currentValue }] });
		const set = (configId: string, value: unknown) => editor.ask("session/set_config_option", { sessionId, configId, value });
		expect((await set("thinking", "high")).result.configOptions[1]).toMatchObject({ currentValue: "high" });
		expect(await set("thinking", "enormous")).toMatchObject({ error: { code: -32602 } });
		expect(await set("model", "nobody/nothing")).toMatchObject({ error: { code: -32602, message: "Unknown model: nobody/nothing" } });
		expect(await set("model", 7)).toMatchObject({ error: { code: -32602 } });
		expect((await set("model", model.currentValue)).result.configOptions[0]).toMatchObject({ currentValue: model.currentValue });
		expect(await editor.request("session/set_model", { sessionId, modelId: model.currentValue })).toEqual({});
		expect(editor.updates("config_option_update")).toEqual([]);
	});
	await using({ model: 'say "x"', capabilities: { session: { configOptions: {} } } }, async (editor) => {
		expect(await editor.request("session/new", { cwd: editor.cwd, mcpServers: [] })).not.toHaveProperty("models");
	});
});

test("what an extension changes is told: the level as an option, the name as a title", () =>
	using(
		{
			model: 'say "x"',
			files: {
				"ext.ts": 'export default (pi) => pi.on("before_agent_start", async () => { pi.setThinkingLevel("high"); pi.setSessionName("Renamed"); });',
			},
			flags: ["--extension", "ext.ts"],
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "go");
			expect(editor.updates("config_option_update")).toMatchObject([
				{ configOptions: expect.arrayContaining([expect.objectContaining({ id: "thinking", currentValue: "high" })]) },
			]);
			expect(editor.updates("session_info_update").at(-1)).toMatchObject({ title: "Renamed" });
		},
	));

test("a client may replace the system prompt or add to it", () => {
	const showing =
		'export default (pi) => pi.on("before_agent_start", (event) => ({ message: { customType: "seen", content: event.systemPrompt, display: true } }));';
	return using({ model: 'say "x" + always', files: { "ext.ts": showing }, flags: ["--extension", "ext.ts"] }, async (editor) => {
		const shown: string[] = [];
		for (const systemPrompt of [undefined, "You are a pirate.", { append: "Speak like a pirate." }]) {
			const at = editor.text().length;
			await editor.prompt(await editor.session({ _meta: { systemPrompt } }), "hi");
			shown.push(editor.text().slice(at));
		}
		const [usual = "", replaced = "", added = ""] = shown;
		expect(replaced).toContain("You are a pirate.");
		expect(replaced.length).toBeLessThan(usual.length);
		expect(added).toContain("Speak like a pirate.");
		expect(added.length).toBeGreaterThan(usual.length);
	});
});

test("a compaction is shown where the client knows it", () =>
	using(
		{
			model: 'say "a long answer" · say "another" · say "summary of it all" + always',
			capabilities: { session: { compaction: {} } },
			flags: ["--set", "compaction.keepRecentTokens=1"],
		},
		async (editor) => {
			const session = await editor.session();
			await editor.prompt(session, "one");
			await editor.prompt(session, "two");
			await editor.prompt(session, "/compact keep names");
			const [start, end] = editor.updates("compaction_update");
			expect(start).toMatchObject({ status: "in_progress" });
			expect(end).toMatchObject({
				status: "completed",
				compactionId: start?.compactionId,
				summary: [{ type: "text", text: expect.stringContaining("summary") }],
			});
			expect(editor.text()).toContain("The conversation was compacted.");
		},
	));

test("a client that reads slowly costs bounded memory, and can still cancel", () =>
	using({ model: 'call bash {"command":"yes | head -c 30000000"} + always' }, async (editor) => {
		const session = await editor.session();
		editor.isReading = false;
		const answer = editor.prompt(session, "go");
		await new Promise((resolve) => setTimeout(resolve, 1500));
		editor.notify("session/cancel", { sessionId: session });
		editor.resume();
		expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
		expect(JSON.stringify(editor.messages).length).toBeLessThan(20_000_000);
	}));

test("commands are listed with what to type after them", () =>
	using(
		{
			model: 'say "hi"',
			files: { "fix.md": "---\ndescription: Repair\nargument-hint: <file>\n---\nRepair $1" },
			flags: ["--prompt-template", "fix.md"],
		},
		async (editor) => {
			await editor.session();
			const [update] = editor.updates("available_commands_update");
			expect(update?.availableCommands).toContainEqual({ name: "fix", description: "Repair", input: { hint: "<file>" } });
		},
	));
