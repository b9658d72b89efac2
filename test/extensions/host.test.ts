import { execFileSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { isToolFailure } from "../../src/lib/tool-failure.ts";
import { body, load, model, never, text } from "./harness.ts";

const still = () => new AbortController().signal;
const notices = (calls: unknown[][]) => calls.filter(([name]) => name === "notify").map(([, words]) => words);
const start = { type: "agent_start" } as const;

describe("facts", () => {
	test("are reported at once, in load order, and cost nothing when no one listens", async () => {
		const { host, calls } = await load({
			"a.js": body(
				"api.on('message_end', ({ message }, { ui }) => ui.notify('a1 ' + message.content)); api.on('message_end', (e, { ui }) => ui.notify('a2'));",
			),
			"b.js": body("api.on('message_end', (event, { ui }) => ui.notify('b'));"),
		});
		expect([host.wants("message_end"), host.wants("agent_start")]).toEqual([true, false]);
		host.notify({ type: "message_end", message: { role: "user", content: "hi", timestamp: 1 } });
		host.notify(start);
		expect(notices(calls)).toEqual(["a1 hi", "a2", "b"]);
	});

	test("throws and rejections are reported", async () => {
		const { host, calls, errors } = await load({
			"a.js": body("api.on('agent_start', () => { throw new Error('one') }); api.on('agent_start', async () => { throw new Error('two') });"),
			"b.js": body("api.on('agent_start', (event, { ui }) => ui.notify('b'));"),
		});
		host.notify(start);
		expect(notices(calls)).toEqual(["b"]);
		await vi.waitFor(() => expect(errors).toHaveLength(2));
		expect(errors.map(({ extensionPath, event, error }) => [extensionPath, event, error])).toEqual([
			["a.js", "agent_start", "one"],
			["a.js", "agent_start", "two"],
		]);
	});

	test("a slow handler hears them in order, with updates left out; others do not wait for it", async () => {
		const { host, calls } = await load({
			"slow.js": `export default (api) => {
				const say = (name) => api.on(name, async (event, { ui }) => { await new Promise((done) => setTimeout(done, 5)); ui.notify("slow " + (event.partialResult?.content[0].text ?? name)); });
				for (const name of ["turn_start", "tool_execution_update", "agent_end"]) say(name);
			};`,
			"swift.js": body("api.on('agent_end', (event, { ui }) => ui.notify('swift'));"),
		});
		host.notify({ type: "turn_start" });
		for (const word of ["1", "2", "3"]) {
			const partialResult = { content: [text(word)] };
			host.notify({ type: "tool_execution_update", toolCallId: "c", toolName: "t", args: {}, partialResult });
		}
		host.notify({ type: "agent_end", messages: [] });
		expect(notices(calls)).toEqual(["swift"]);
		await vi.waitFor(() => expect(notices(calls)).toEqual(["swift", "slow turn_start", "slow 3", "slow agent_end"]));
	});

	test("one that never returns is named after 10 s and holds nothing up after that", async () => {
		const { host, calls, warnings } = await load({
			"a.js": body(`api.on('turn_start', () => ${never}); api.on('agent_end', (event, { ui }) => ui.notify('end'));`),
		});
		vi.useFakeTimers();
		try {
			host.notify({ type: "turn_start" });
			host.notify({ type: "agent_end", messages: [] });
			expect(notices(calls)).toEqual([]);
			await vi.advanceTimersByTimeAsync(10_000);
		} finally {
			vi.useRealTimers();
		}
		expect(warnings).toEqual(["Extension a.js is busy with turn_start for 10 s. Later events are sent to it all the same."]);
		expect(notices(calls)).toEqual(["end"]);
	});

	test("a fork is reported under both names; unknown events are pointed out", async () => {
		const { host, calls, warnings } = await load({
			"a.js": body("for (const name of ['session_fork', 'session_branch', 'no_such']) api.on(name, ({ type }, { ui }) => ui.notify(type));"),
		});
		host.notify({ type: "session_fork", previousSessionFile: "/a" });
		expect(notices(calls)).toEqual(["session_fork", "session_branch"]);
		expect(warnings).toEqual(["Extension a.js listens to no_such, which never happens here."]);
	});

	test("the end is waited for, at most a second, and no one takes it from the others", async () => {
		const { host, calls, warnings, errors } = await load({
			"a.js": body(`api.on('session_shutdown', () => ${never});`),
			"b.js": body("api.on('session_shutdown', async (event, { ui }) => { await null; ui.notify('saved'); });"),
			"c.js": body("api.on('session_shutdown', () => { throw new Error('c') });"),
		});
		await host.sessionShutdown();
		expect(notices(calls)).toEqual(["saved"]);
		expect(warnings).toEqual(["Extension a.js was not done with session_shutdown after 1 s."]);
		expect(errors).toEqual([{ extensionPath: "c.js", event: "session_shutdown", error: "c" }]);
	});
});

describe("tools", () => {
	const tool = (name: string, execute: string, more = "") =>
		body(`api.registerTool({ name: '${name}', description: 'd', parameters: { type: 'object' }, ${more} execute: ${execute} });`);
	const run = (loaded: Awaited<ReturnType<typeof load>>, signal = still(), onUpdate: (partial: unknown) => void = () => undefined) =>
		loaded.host.tools()[0]?.execute({ toolCallId: "c1", args: { a: 1 }, signal, onUpdate }) as Promise<unknown>;

	test("get the call in the family's order, and a context", async () => {
		const loaded = await load({
			"a.js": tool(
				"t",
				"async (id, args, signal, onUpdate, { cwd }) => { onUpdate({ content: [{ type: 'text', text: 'half' }] }); return { content: [{ type: 'text', text: [id, args.a, signal.aborted, cwd].join(' ') }], details: { x: 1 } }; }",
				"label: 'T', parallel: true, hint: 'one line',",
			),
		});
		expect(loaded.host.tools()).toMatchObject([{ name: "t", label: "T", concurrency: "shared", hint: "one line", parameters: { type: "object" } }]);
		const updates: unknown[] = [];
		expect(await run(loaded, still(), (partial) => updates.push(partial))).toEqual({
			content: [text(`c1 1 false ${loaded.directory}`)],
			details: { x: 1 },
		});
		expect(updates).toEqual([{ content: [text("half")], details: {} }]);
	});

	test("may fail: by throwing, with isError, or by returning nonsense; abort reaches them", async () => {
		const says = async (execute: string) => (await run(await load({ "a.js": tool("t", execute) })).catch((error) => error)) as Error;
		expect((await says("() => { throw new Error('broken') }")).message).toBe("broken");
		expect(await says("() => ({ content: [{ type: 'text', text: 'bad' }], isError: true })")).toSatisfy(isToolFailure);
		expect((await says("() => undefined")).message).toBe(
			'Tool t of an extension returned no content. It must return { content: [{ type: "text", text }] }.',
		);
		expect((await says("() => ({ content: 'text' })")).message).toBe(
			'Tool t of an extension: content must be a list of text and image blocks, not "text"',
		);
		const aborted = await load({
			"a.js": tool("t", "(id, args, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))"),
		});
		const abort = new AbortController();
		const result = run(aborted, abort.signal);
		abort.abort();
		await expect(result).rejects.toThrow("stopped");
	});

	test("of the same name the first one wins, and the other is pointed out once; one's own is replaced", async () => {
		const { host, warnings } = await load({
			"a.js": `${tool("t", "() => 1").replace("description: 'd'", "description: 'old'")}`.replace(
				"};",
				"api.registerTool({ name: 't', description: 'new', parameters: {}, execute() {} }); };",
			),
			"b.js": tool("t", "() => 2"),
			"c.js": tool("u", "() => 3"),
		});
		host.tools();
		expect(host.tools().map(({ name, description }) => `${name} ${description}`)).toEqual(["t new", "u d"]);
		expect(warnings).toEqual(["The tool t of extension b.js is not used: a.js has one of that name."]);
	});

	test("may be registered later; the session is told", async () => {
		const { host, calls } = await load({
			"a.js": body("api.on('agent_start', () => api.registerTool({ name: 'late', description: 'd', parameters: {}, execute() {} }));"),
		});
		expect(host.tools()).toEqual([]);
		host.notify(start);
		expect(host.tools().map(({ name }) => name)).toEqual(["late"]);
		expect(calls).toEqual([["changed", "tools"]]);
	});
});

describe("commands", () => {
	const command = (name: string, handler: string) => body(`api.registerCommand('${name}', { description: 'does ${name}', handler: ${handler} });`);

	test("run with the text after their name and can do more than hooks", async () => {
		const { host, calls, errors } = await load({
			"a.js": command(
				"go",
				`async (args, context) => {
					await context.waitForIdle();
					const results = [await context.newSession({ parentSession: "/p" }), await context.fork("e1"), await context.branch("e2"), await context.switchSession("/x")];
					context.ui.notify(args + JSON.stringify(results) + context.model.id + context.isIdle());
					await context.reload();
				}`,
			),
		});
		await host.runCommand("go", "now ");
		expect(calls).toEqual([
			["waitForIdle"],
			["newSession", { parentSession: "/p" }],
			["fork", "e1"],
			["fork", "e2"],
			["switchSession", "/x"],
			[
				"notify",
				'now [{"cancelled":false},{"cancelled":false,"text":"hello"},{"cancelled":false,"text":"hello"},{"cancelled":true}]m1true',
				undefined,
			],
		]);
		expect(errors).toEqual([{ extensionPath: "command:go", event: "command", error: "reload is not supported" }]);
	});

	test("the first of a name wins, reserved names cannot be taken, unknown ones do nothing", async () => {
		const { host, calls, warnings, directory } = await load(
			{
				"a.js": command("x", "(args, { ui }) => ui.notify('a')"),
				"b.js": command("x", "(args, { ui }) => ui.notify('b')"),
				"c.js": command("taken", "(args, { ui }) => ui.notify('c')"),
			},
			{ isReserved: (name) => name === "taken" },
		);
		const sourceInfo = { path: `${directory}/a.js`, source: "local", scope: "user", origin: "top-level", baseDir: directory };
		expect(host.commands()).toEqual([{ name: "x", description: "does x", source: "extension", sourceInfo }]);
		expect([host.hasCommand("x"), host.hasCommand("taken"), host.hasCommand("y")]).toEqual([true, false, false]);
		for (const name of ["x", "taken", "y"]) await host.runCommand(name, "");
		expect(notices(calls)).toEqual(["a"]);
		expect(warnings).toEqual([
			"The command x of extension b.js is not used: a.js has one of that name.",
			"The command taken of extension c.js is not used: the name is taken.",
		]);
	});

	test("one that throws is reported under its name; one that hangs ends with the signal", async () => {
		const { host, errors } = await load({
			"a.js": command("bad", "() => { throw new Error('oh') }"),
			"b.js": command("hang", `() => ${never}`),
		});
		await host.runCommand("bad", "");
		expect(errors).toEqual([{ extensionPath: "command:bad", event: "command", error: "oh" }]);
		const abort = new AbortController();
		const running = host.runCommand("hang", "", abort.signal);
		abort.abort();
		await running;
	});
});

test("flags have their default until the command line is known, and belong to their extension", async () => {
	const { host, calls, directory } = await load({
		"a.js": body(
			"api.registerFlag('speed', { type: 'string', default: 'slow', description: 'how' }); api.registerFlag('loud', { type: 'boolean' }); api.on('agent_start', (e, { ui }) => ui.notify([api.getFlag('speed'), api.getFlag('loud'), api.getFlag('other')].join(' ')));",
		),
		"b.js": body("api.registerFlag('other', { type: 'boolean', default: true });"),
	});
	expect(host.flags()).toEqual([
		{ name: "speed", type: "string", default: "slow", description: "how", extensionPath: `${directory}/a.js` },
		{ name: "loud", type: "boolean", extensionPath: `${directory}/a.js` },
		{ name: "other", type: "boolean", default: true, extensionPath: `${directory}/b.js` },
	]);
	host.notify(start);
	host.setFlags({ speed: "fast", loud: true });
	host.notify(start);
	expect(notices(calls)).toEqual(["slow  ", "fast true "]);
});

test("providers are handed on, the first of a name, and may be withdrawn", async () => {
	const { host, calls, warnings } = await load({
		"a.js": body("api.registerProvider('acme', { baseUrl: 'http://a' }); api.on('agent_start', () => api.unregisterProvider('acme'));"),
		"b.js": body(
			"api.registerProvider('acme', { baseUrl: 'http://b' }); api.registerProvider('other', {}); api.on('agent_start', () => api.unregisterProvider('none'));",
		),
	});
	expect([...host.providers()]).toEqual([
		["acme", { baseUrl: "http://a" }],
		["other", {}],
	]);
	expect(warnings).toEqual(["The provider acme of extension b.js is not used: a.js has one of that name."]);
	host.notify(start);
	expect(host.providers().get("acme")).toEqual({ baseUrl: "http://b" });
	expect(calls).toEqual([["changed", "providers"]]);
});

test("extensions talk over the bus; a listener that throws disturbs no one", async () => {
	const { host, calls, errors } = await load({
		"a.js": body("api.events.on('news', () => { throw new Error('a') }); api.events.on('news', async () => { throw new Error('later') });"),
		"b.js": body("const off = api.events.on('news', (data) => { api.appendEntry('news', data); off(); });"),
		"c.js": body("api.on('agent_start', () => api.events.emit('news', { n: 1 })); api.events.emit('nobody');"),
	});
	host.notify(start);
	host.notify(start);
	expect(calls).toEqual([["appendEntry", "news", { n: 1 }]]);
	await vi.waitFor(() => expect(errors).toHaveLength(4));
	expect(errors.map(({ extensionPath, event, error }) => `${extensionPath} ${event} ${error}`).sort()).toEqual(
		["a.js bus:news a", "a.js bus:news a", "a.js bus:news later", "a.js bus:news later"].sort(),
	);
});

test("everything of the API reaches the session", async () => {
	const { host, calls, errors } = await load({
		"a.js": `export default (api) => {
			api.registerShortcut("ctrl+x", {}); api.registerMessageRenderer("x", () => undefined);
			api.registerCommand("own", { handler() {} });
			api.on("session_start", async (event, context) => {
				api.sendMessage({ customType: "x", content: "hi" });
				api.sendMessage({ customType: "x", content: "hi", display: false, details: 1 }, { triggerTurn: true, deliverAs: "nextTurn" });
				api.sendUserMessage([{ type: "text", text: "hi" }], { deliverAs: "followUp" });
				api.appendEntry("x", { a: 1 });
				api.setSessionName("n"); api.setLabel("e1", "l"); api.setThinkingLevel("high"); api.setActiveTools(["read"]);
				context.abort(); context.shutdown();
				const session = context.sessionManager;
				const facts = [
					await api.exec("git", ["status"], { timeout: 5 }), api.getSessionName(), api.getActiveTools(), api.getAllTools(),
					api.getCommands().map(({ name }) => name), api.getThinkingLevel(), await api.setModel(context.model), await api.setModel({ provider: "z", id: "z" }),
					context.hasUI, context.hasPendingMessages(), context.getContextUsage(), context.getSystemPrompt(),
					(await context.modelRegistry.getAvailable()).length, context.modelRegistry.find("acme", "m1").id, context.modelRegistry.find("acme", "m2") ?? "none",
					await context.modelRegistry.getApiKey(context.model), await context.modelRegistry.getApiKeyAndHeaders(context.model), context.mode,
					context.thinkingLevel, context.scopedModels.map(({ model, thinkingLevel }) => [model.id, thinkingLevel]), context.isProjectTrusted(), api.getSettings(),
					session.getSessionId(), session.getSessionFile(), session.getSessionName(), session.getEntries().length, session.getEntry("e2").customType,
					session.getBranch("e2").map(({ id }) => id), session.getBranch().length, session.getLeafId(), session.getLeafEntry().type, session.getLabel("e1"), session.getHeader().id,
				];
				context.ui.notify(JSON.stringify(facts));
			});
		};`,
	});
	await host.sessionStart();
	expect(errors).toEqual([]);
	const notice = JSON.parse(String(notices(calls)[0]));
	expect(notice).toEqual([
		{ stdout: "out", stderr: "", code: 0, killed: false },
		"a name",
		["read"],
		[{ name: "read", description: "reads", parameters: {} }],
		["own"],
		"low",
		true,
		false,
		true,
		false,
		{ tokens: 10, contextWindow: 1000, percent: 1 },
		"You are helpful.",
		1,
		model.id,
		"none",
		"a-key",
		{ ok: true, apiKey: "a-key", headers: {} },
		"rpc",
		"low",
		[[model.id, "low"]],
		true,
		{ retry: { enabled: true } },
		"s1",
		"/s/1.jsonl",
		"a name",
		3,
		"x",
		["e1", "e2"],
		3,
		"e3",
		"label",
		"start",
		"s1",
	]);
	expect(calls.filter(([name]) => name !== "notify")).toEqual([
		["sendMessage", { customType: "x", content: "hi", display: true }, {}],
		["sendMessage", { customType: "x", content: "hi", display: false, details: 1 }, { triggerTurn: true, deliverAs: "nextTurn" }],
		["sendUserMessage", [text("hi")], { deliverAs: "followUp" }],
		["appendEntry", "x", { a: 1 }],
		["setSessionName", "n"],
		["setLabel", "e1", "l"],
		["setThinkingLevel", "high"],
		["setActiveTools", ["read"]],
		["abort"],
		["shutdown"],
		["exec", "git", ["status"], { timeout: 5 }],
	]);
});

test("a message that cannot be sent is the host's to know; a wrong one is the extension's", async () => {
	const { host, calls, errors, actions } = await load({
		"a.js": body("api.on('agent_start', () => { api.sendMessage({ customType: 'x', content: 'hi' }); api.sendUserMessage('hi'); });"),
		"b.js": body("api.on('agent_start', () => api.sendMessage({ customType: 'x', content: { no: 1 } }));"),
		"c.js": body("api.on('agent_start', () => api.sendUserMessage('hi', { deliverAs: 'nextTurn' }));"),
	});
	actions.sendMessage = () => {
		throw new Error("the disk is full");
	};
	actions.sendUserMessage = async () => {
		throw new Error("busy");
	};
	host.notify(start);
	await vi.waitFor(() => expect(calls).toHaveLength(2));
	expect(calls).toEqual([
		["sendFailed", "extension_send", "the disk is full", "failed"],
		["sendFailed", "extension_send_user", "busy", "failed"],
	]);
	expect(errors.map(({ extensionPath, error }) => `${extensionPath}: ${error}`)).toEqual([
		"b.js: sendMessage: content must be a list of text and image blocks, not an object like that",
		"c.js: sendUserMessage: deliverAs must be one of steer, followUp",
	]);
});

test("compact runs in the background and tells how it went", async () => {
	const { host, calls, errors } = await load({
		"a.js": body(
			"api.on('agent_start', (event, { compact, ui }) => { compact({ onComplete: ({ summary }) => ui.notify(summary) }); compact({ customInstructions: 'fail', onError: ({ message }) => ui.notify(message) }); compact({ customInstructions: 'fail' }); });",
		),
	});
	host.notify(start);
	await vi.waitFor(() => expect(errors).toHaveLength(1));
	expect(notices(calls)).toEqual(["short", "Nothing to compact"]);
	expect(errors).toEqual([{ extensionPath: "a.js", event: "compact", error: "Nothing to compact" }]);
});

test("after dispose nothing is called, every wait ends, and what extensions still try throws", async () => {
	const { host, calls, errors } = await load({
		"a.js": `export default (api) => {
			let calls = 0;
			const say = (event, { ui }) => { calls += 1; ui.notify("called"); };
			for (const name of ["input", "agent_start", "session_shutdown"]) api.on(name, say);
			api.on("tool_call", () => new Promise(() => undefined));
			api.registerCommand("x", { handler: (args, context) => say(args, context) });
			api.registerTool({ name: "t", description: "d", parameters: {}, execute: () => say() });
			api.events.on("ping", () => say());
			globalThis.bowlineTry = () => { api.events.emit("ping"); api.sendUserMessage("hi"); };
		};`,
	});
	const [tool] = host.tools();
	const hanging = host.toolCall({ toolName: "t", toolCallId: "c", input: {} });
	host.dispose();
	expect(await hanging).toMatchObject({ block: true });
	host.notify(start);
	await host.input({ text: "hi", images: [], source: "rpc" });
	await host.sessionShutdown();
	await host.runCommand("x", "");
	expect([host.tools(), host.commands(), host.flags(), host.wants("input")]).toEqual([[], [], [], false]);
	await expect(tool?.execute({ toolCallId: "c", args: {}, signal: still(), onUpdate: () => undefined })).rejects.toThrow(
		"the extension was unloaded",
	);
	expect((globalThis as unknown as { bowlineTry: () => void }).bowlineTry).toThrow(
		"sendUserMessage is not possible any more: the extension was unloaded.",
	);
	expect([calls, errors]).toEqual([[], []]);
});

test("the published types hold for the examples", { timeout: 180_000 }, () => {
	const tsc = new URL("../../node_modules/typescript/bin/tsc", import.meta.url).pathname;
	const root = new URL("../..", import.meta.url).pathname;
	expect(() => execFileSync(process.execPath, [tsc, "--noEmit", "-p", "examples/extensions"], { cwd: root, stdio: "pipe" })).not.toThrow();
});
