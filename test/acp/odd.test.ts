/** What an editor should not do, or does in an order that is not expected. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Editor, type Message, using } from "./editor.ts";

const prompt = (sessionId: string, text = "go") => ({ sessionId, prompt: [{ type: "text", text }] });
const always = (text: string) => ({ replies: [{ text, times: "always" }] });
const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

/** Sends several messages in one write. */
function together(editor: Editor, ...messages: Message[]): void {
	for (const message of messages) editor.judge.sent(message);
	editor.raw(messages.map(line).join(""));
}

test("a cancellation in the same write as its prompt is not lost", () =>
	using({ model: 'delay 20000 + say "late"' }, async (editor) => {
		const session = await editor.session();
		together(editor, { id: 50, method: "session/prompt", params: prompt(session) }, { method: "session/cancel", params: { sessionId: session } });
		expect(await editor.answerTo(50)).toMatchObject({ result: { stopReason: "cancelled" } });
		together(editor, { id: 51, method: "session/prompt", params: prompt(session) }, { method: "$/cancel_request", params: { requestId: 51 } });
		expect(await editor.answerTo(51)).toMatchObject({ result: { stopReason: "cancelled" } });
	}));

test("a prompt that is cancelled while its session is still being loaded does not run", () =>
	using({ model: 'say "one" · delay 20000 + say "two"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "go");
		await editor.request("session/close", { sessionId: session });
		together(
			editor,
			{ id: 60, method: "session/load", params: { sessionId: session, cwd: editor.cwd, mcpServers: [] } },
			{ id: 61, method: "session/prompt", params: prompt(session) },
			{ method: "session/cancel", params: { sessionId: session } },
		);
		expect(await editor.answerTo(61)).toMatchObject({ result: { stopReason: "cancelled" } });
	}));

test("a prompt that waits and is cancelled alone is answered at once", () =>
	using({ model: 'call bash {"command":"sleep 30"}' }, async (editor) => {
		const session = await editor.session();
		const first = editor.send("session/prompt", prompt(session));
		await editor.until((message) => message.params?.update?.status === "in_progress");
		const second = editor.send("session/prompt", prompt(session));
		editor.notify("$/cancel_request", { requestId: second });
		expect(await editor.answerTo(second)).toMatchObject({ result: { stopReason: "cancelled" } });
		expect(editor.messages.some(({ id, method }) => id === first && method === undefined)).toBe(false);
		editor.notify("session/cancel", { sessionId: session });
		expect(await editor.answerTo(first)).toMatchObject({ result: { stopReason: "cancelled" } });
	}));

test("requests and the end of the input in one write are all answered", async () => {
	const editor = new Editor({ model: 'delay 20000 + say "late"', isProcess: true });
	try {
		together(
			editor,
			{ id: 1, method: "initialize", params: { protocolVersion: 1 } },
			{ id: 2, method: "session/new", params: { cwd: editor.cwd, mcpServers: [] } },
			{ id: 3, method: "session/list", params: {} },
			{ id: 4, method: "session/prompt", params: prompt("not-there") },
		);
		expect(await editor.end()).toBe(0);
		const answers = editor.messages.filter(({ method }) => method === undefined);
		expect(answers.map(({ id, error }) => [id, error?.code]).sort()).toEqual([
			[1, undefined],
			[2, undefined],
			[3, undefined],
			[4, -32002],
		]);
		expect(editor.stderr).toBe("");
	} finally {
		editor.dispose();
	}
});

for (const answer of [null, {}, { outcome: null }, { outcome: "selected" }, [], "yes", 7]) {
	test(`${JSON.stringify(answer)} to a question about a call rejects it`, () =>
		using({ model: 'call bash {"command":"touch made"} · say "on"', flags: ["--permission-mode", "ask"], answer: () => answer }, async (editor) => {
			const session = await editor.session();
			expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect(editor.calls()).toMatchObject([{ status: "failed" }]);
			expect(readdirSync(editor.cwd)).toEqual([]);
		}));
}

test("what an extension asks and says while its session is being opened waits for the answer that creates it", () => {
	const extension = `export default (pi) => {
		pi.on("session_start", async (_, ctx) => {
			ctx.ui.notify("hello");
			pi.sendUserMessage("by itself");
			const name = await ctx.ui.input("Your name?");
			pi.setSessionName("for " + name);
		});
	};`;
	const options = {
		model: always("words of a run that the extension began"),
		files: { "ext.ts": extension },
		flags: ["--extension", "ext.ts"],
		capabilities: { elicitation: { form: {} }, session: { notices: {} } },
		answer: () => ({ action: "accept", content: { text: "Ann" } }),
	};
	return using(options, async (editor) => {
		editor.judge.allowsOwnRuns = true;
		const session = await editor.session();
		await editor.until((message) => message.params?.update?.title === "for Ann");
		const asked = editor.messages.find(({ method }) => method === "elicitation/create");
		expect(asked?.params.sessionId).toBe(session);
		const answer = editor.messages.findIndex(({ result }) => result?.sessionId === session);
		expect(editor.messages.slice(0, answer).map(({ id }) => id)).toEqual([1]);
	});
});

test("a mode or a model that is set by its own request changes the options that the client shows", () =>
	using({ model: 'say "hi"' }, async (editor) => {
		const session = await editor.session();
		await editor.request("session/set_mode", { sessionId: session, modeId: "plan" });
		const [update] = editor.updates("config_option_update");
		expect(update?.configOptions.find(({ id }: Message) => id === "mode")).toMatchObject({ currentValue: "plan" });
		const { configOptions } = await editor.request("session/set_config_option", { sessionId: session, configId: "mode", value: "edit" });
		expect(configOptions.find(({ id }: Message) => id === "mode")).toMatchObject({ currentValue: "edit" });
		expect(editor.updates("config_option_update")).toHaveLength(1);
		expect(editor.updates("current_mode_update").map(({ currentModeId }) => currentModeId)).toEqual(["plan", "edit"]);
	}));

test("a command of the layer does not name the session", () =>
	using({ model: 'say "hi"' }, async (editor) => {
		const session = await editor.session();
		await editor.prompt(session, "/stats");
		expect(editor.updates("session_info_update")).toEqual([]);
		await editor.prompt(session, "repair the parser\nplease");
		expect(editor.updates("session_info_update")).toMatchObject([{ title: "repair the parser" }]);
	}));

test("files that are broken are refused in words or repaired, and a list passes over them", () =>
	using({ model: always("one") }, async (editor) => {
		const made = await Promise.all([0, 1, 2, 3].map(() => editor.session()));
		for (const session of made) await editor.prompt(session, "go");
		for (const sessionId of made) await editor.request("session/close", { sessionId });
		const root = join(editor.folder, "user/sessions");
		const directory = join(root, readdirSync(root)[0] as string);
		const fileOf = (id: string) => join(directory, readdirSync(directory).find((name) => name.endsWith(`_${id}.jsonl`)) as string);
		const [torn, noise, headless, empty] = made as [string, string, string, string];
		appendFileSync(fileOf(torn), '{"type":"message","id":"x","mess');
		appendFileSync(fileOf(noise), "\u0000\u0001 this is not JSON\n[1,2]\n{}\n");
		writeFileSync(fileOf(headless), "no header\n");
		truncateSync(fileOf(empty), 0);
		mkdirSync(join(directory, "directory.jsonl"));
		writeFileSync(join(root, "stray"), "x");
		const { sessions } = await editor.request("session/list", { cwd: editor.cwd });
		expect(sessions.map(({ sessionId }: Message) => sessionId).sort()).toEqual([torn, noise].sort());
		const load = (sessionId: string) => editor.ask("session/load", { sessionId, cwd: editor.cwd, mcpServers: [] });
		for (const id of [headless, empty]) expect(await load(id)).toMatchObject({ error: { code: -32002 } });
		for (const id of [torn, noise]) {
			const { error } = await load(id);
			if (error) expect(error.message).toMatch(/\.jsonl/);
			else expect(await editor.prompt(id, "again")).toMatchObject({ result: { stopReason: "end_turn" } });
		}
		expect(await editor.request("session/list", { cwd: "/not/there" })).toEqual({ sessions: [] });
	}));

test("a prompt as long as a line may be, and one that is longer", () =>
	using({ model: always("read"), env: { BOWLINE_MAX_LINE_BYTES: String(4 * 1024 * 1024) } }, async (editor) => {
		const session = await editor.session();
		expect(await editor.prompt(session, "a".repeat(3 * 1024 * 1024))).toMatchObject({ result: { stopReason: "end_turn" } });
		editor.raw(line({ id: 90, method: "session/prompt", params: prompt(session, "b".repeat(5 * 1024 * 1024)) }));
		expect(await editor.answerTo(null)).toMatchObject({ error: { code: -32700 } });
		expect(await editor.prompt(session, "c")).toMatchObject({ result: { stopReason: "end_turn" } });
	}));

test("wrong parameters of every method are refused in words, and the process lives on", () =>
	using({ model: 'say "fine"' }, async (editor) => {
		const session = await editor.session();
		const methods = ["new", "load", "resume", "list", "close", "delete", "prompt", "set_mode", "set_model", "set_config_option"];
		for (const method of methods) {
			for (const params of [
				null,
				[],
				7,
				"x",
				{ sessionId: 7, cwd: 7, cursor: 7 },
				{ sessionId: session, cwd: {}, prompt: {}, modeId: 1, modelId: 1, cursor: "?" },
			]) {
				if ((method === "close" || method === "delete") && (params as Message | null)?.sessionId === session) continue;
				const message: Message = { jsonrpc: "2.0", id: `${method} ${JSON.stringify(params)}`, method: `session/${method}`, params };
				editor.judge.sent({ ...message, params: {} });
				editor.raw(`${JSON.stringify(message)}\n`);
				const answer = await editor.answerTo(message.id);
				if (method === "list" && params === null) expect(answer).toHaveProperty("result.sessions");
				else expect(answer, message.id).toMatchObject({ error: { code: -32602 } });
			}
		}
		for (const method of ["session/cancel", "$/cancel_request", "_x", "session/update"]) {
			for (const params of [null, [], 7, { sessionId: 7 }, {}, { requestId: {} }]) editor.raw(line({ method, params }));
		}
		for (const message of [
			{ id: 77, result: 1 },
			{ id: "x", error: null },
			{ id: 1, error: "x" },
		])
			editor.raw(line(message));
		expect(await editor.prompt(session, "go")).toMatchObject({ result: { stopReason: "end_turn" } });
		expect(readFileSync(join(editor.folder, "script.json"), "utf8")).toContain("fine");
	}));
