/** Extensions in the real process: what hostile ones do, and what they can do with the session. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventKinds } from "../../src/extensions/events.ts";
import { Agent, type AgentOptions, program } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";
import { toScript } from "../wire/support/script.ts";

const agents: Agent[] = [];
afterEach(async () => {
	for (const agent of agents.splice(0)) await agent.dispose();
});

/** An agent with one extension, whose body has `api`. */
function extended(body: string, { flags = [], files = {}, ...options }: AgentOptions = {}): Agent {
	const agent = new Agent({
		...options,
		flags: ["-e", "a.ts", ...flags],
		files: { ...files, "a.ts": `export default (api) => { ${body} }` },
	});
	agents.push(agent);
	return agent;
}

/** A script of replies: a text, or a tool with its arguments. */
const replies = (...given: string[]) =>
	toScript(given.map((text) => (text.includes(" {") ? `call ${text}` : `say ${JSON.stringify(text)}`)).join(" · "));
const bash = (command: string) => `bash ${JSON.stringify({ command })}`;
const notices = (agent: Agent) => agent.frames.flatMap((frame) => (frame.method === "notify" ? [frame.message] : []));

async function ask(agent: Agent, type: string, params: object = {}): Promise<Frame> {
	const id = `${type}-${agent.frames.length}`;
	agent.send({ id, type, ...params });
	return agent.response(id);
}

describe("hostile extensions", () => {
	test("one that throws in every hook spoils nothing but the tools it watches", async () => {
		const names = Object.keys(eventKinds);
		const agent = extended(`for (const name of ${JSON.stringify(names)}) api.on(name, () => { throw new Error('in ' + name); });`, {
			flags: ["--set", "compaction.keepRecentTokens=1"],
			script: replies(bash("echo hi"), "one", "two", "gist"),
		});
		for (const message of ["go", "on"]) {
			await ask(agent, "prompt", { message });
			await agent.event("agent_settled");
		}
		expect((await ask(agent, "bash", { command: "echo hi" })).data).toMatchObject({ output: "hi\n" });
		expect(await ask(agent, "compact")).toMatchObject({ success: true });
		const { messages } = (await ask(agent, "get_fork_messages")).data as { messages: { entryId: string }[] };
		expect(await ask(agent, "fork", { entryId: messages[0]?.entryId })).toMatchObject({ success: true, data: { cancelled: false } });
		expect(await ask(agent, "new_session")).toMatchObject({ success: true, data: { cancelled: false } });
		expect(await ask(agent, "set_thinking_level", { level: "off" })).toMatchObject({ success: true });
		const failed = new Set(agent.frames.flatMap((frame) => (frame.type === "extension_error" ? [frame.event] : [])));
		const expected = ["session_start", "resources_discover", "input", "before_agent_start", "context", "tool_call", "user_bash"];
		const more = [
			"session_before_compact",
			"session_compact",
			"session_before_fork",
			"session_before_branch",
			"session_fork",
			"session_before_switch",
		];
		expect([...failed]).toEqual(expect.arrayContaining([...expected, ...more, "session_switch", "agent_start", "message_update", "agent_end"]));
		expect(agent.frames.find((frame) => frame.type === "tool_execution_end")).toMatchObject({ isError: true });
		agent.child.stdin.end();
		expect(await agent.exited()).toBe(0);
		expect(agent.stderr).toContain("in session_shutdown");
	});

	const never = (name: string) => `api.on('${name}', () => { console.error('hanging in ${name}'); return new Promise(() => {}); });`;
	const hangs = (agent: Agent, name: string) => vi.waitUntil(() => agent.stderr.includes(`hanging in ${name}`), { timeout: 20_000 });
	const tool = bash("echo hi");

	test.each(["input", "before_agent_start", "context", "tool_call", "tool_result", "resources_discover"])(
		"%s that never returns ends with abort",
		async (name) => {
			const agent = extended(`${never(name)} api.on('${name}', () => undefined);`, { script: replies(tool, "one", "two") });
			agent.send({ id: "p", type: "prompt", message: "/go" });
			if (name !== "resources_discover") await agent.response("p");
			await hangs(agent, name);
			expect(await ask(agent, "abort")).toMatchObject({ success: true });
			expect((await ask(agent, "get_state")).data).toMatchObject({ isStreaming: false });
		},
	);

	test.each([
		["session_before_switch", "new_session", {}, { success: true, data: { cancelled: true } }],
		["session_before_compact", "compact", {}, { success: false, error: "Compaction cancelled" }],
	])("%s that never returns ends with abort, and nothing changes", async (name, type, params, outcome) => {
		const agent = extended(never(name), { flags: ["--set", "compaction.keepRecentTokens=1"], script: replies("one", "two") });
		for (const message of ["go", "on"]) {
			await ask(agent, "prompt", { message });
			await agent.event("agent_settled");
		}
		agent.send({ id: "x", type, ...params });
		await hangs(agent, name);
		agent.send({ id: "abort", type: "abort" });
		expect(await agent.response("x")).toMatchObject(outcome);
		expect((await ask(agent, "get_state")).data).toMatchObject({ messageCount: 4 });
	});

	test("user_bash that never returns ends with abort_bash", async () => {
		const agent = extended(never("user_bash"));
		agent.send({ id: "b", type: "bash", command: "echo" });
		expect((await agent.next())?.type).toBe("ready");
		expect(await agent.next(500)).toBeUndefined();
		agent.send({ id: "a", type: "abort_bash" });
		expect(await agent.response("b")).toMatchObject({ success: true, data: { cancelled: true } });
	});

	test.each([
		["SIGTERM", 143],
		["eof", 0],
	])("a last word that never ends does not hold the process: %s", async (how, code) => {
		const agent = extended(`${never("session_shutdown")} api.on('session_shutdown', () => undefined);`);
		await ask(agent, "get_state");
		if (how === "eof") agent.child.stdin.end();
		else agent.child.kill("SIGTERM");
		expect(await agent.exited()).toBe(code);
	});

	test("of two tools with one name the first is used, and the other is named", async () => {
		const tool = (text: string) =>
			`api.registerTool({ name: 'pick', description: 'Pick', parameters: { type: 'object' }, execute: async () => ({ content: [{ type: 'text', text: '${text}' }] }) });`;
		const agent = extended(tool("first"), {
			flags: ["-e", "b.ts"],
			files: { "b.ts": `export default (api) => { ${tool("second")} }` },
			script: replies("pick {}", "ok"),
		});
		await ask(agent, "prompt", { message: "go" });
		expect(await agent.event("tool_execution_end")).toMatchObject({ result: { content: [{ text: "first" }] } });
		expect(agent.stderr).toMatch(/The tool pick of extension .*b\.ts is not used/);
	});
});

describe("what extensions can do", () => {
	test("entries, labels, names, models, programs, usage", async () => {
		const agent = extended(
			`api.registerCommand('do', { handler: async (_args, ctx) => {
				const say = (value) => ctx.ui.notify(JSON.stringify(value));
				api.appendEntry('mine', { n: 1 });
				const entry = ctx.sessionManager.getEntries().findLast((each) => each.type === 'custom');
				api.setLabel(entry.id, 'here');
				say([entry.customType, entry.data, ctx.sessionManager.getLabel(entry.id)]);
				api.setSessionName('A name');
				say([api.getSessionName(), api.getThinkingLevel(), ctx.model.id, ctx.hasPendingMessages()]);
				say(await api.exec('sh', ['-c', 'echo out; exit 3']));
				say(await api.setModel({ provider: 'scripted', id: 'echo' }));
				say([ctx.model.id, ctx.getContextUsage().contextWindow > 0, ctx.getSystemPrompt().length > 100]);
				say(api.getCommands().map(({ name, source }) => name + ' ' + source));
				try { api.setLabel('nope', 'x'); } catch (error) { say(error.message); }
				say(await ctx.newSession());
				say(ctx.sessionManager.getEntries().length);
			} });
			api.on('model_select', (event, ctx) => ctx.ui.notify(event.previousModel.id + ' to ' + event.model.id + ' by ' + event.source));`,
			{ script: replies("one"), files: { ".bowline/prompts/fix.md": "Fix it" }, flags: ["--approve"] },
		);
		await ask(agent, "prompt", { message: "/do" });
		await agent.until((frame) => frame.method === "notify" && frame.message === '{"cancelled":false}');
		await agent.event("extension_ui_request");
		expect(notices(agent).slice(0, -1)).toEqual([
			'["mine",{"n":1},"here"]',
			'["A name","medium","script.jsonc",false]',
			'{"stdout":"out\\n","stderr":"","code":3,"killed":false}',
			"script.jsonc to echo by set",
			"true",
			'["echo",true,true]',
			'["do extension","fix prompt"]',
			'"Entry not found: nope"',
			'{"cancelled":false}',
		]);
		expect(agent.stderr).toBe("");
		expect(agent.frames.find((frame) => frame.type === "session_info_changed")).toMatchObject({ name: "A name" });
		await ask(agent, "set_model", { provider: "scripted", modelId: "demo" });
		await agent.until((frame) => frame.message === "echo to demo by set");
	});

	test("a provider of their own, and requests as they want them", async () => {
		const bodies: Record<string, unknown>[] = [];
		const server = createServer((request, response) => {
			let body = "";
			request.on("data", (chunk) => {
				body += chunk;
			});
			request.on("end", () => {
				bodies.push({ ...JSON.parse(body), key: request.headers.authorization, mine: request.headers["x-mine"] });
				response.writeHead(200, { "content-type": "text/event-stream" });
				response.end('data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
			});
		}).listen(0);
		const { port } = server.address() as AddressInfo;
		const provider = {
			baseUrl: `http://127.0.0.1:${port}/v1`,
			api: "openai-completions",
			apiKey: "sesame-sesame",
			models: [{ id: "m1", contextWindow: 10000, maxTokens: 100 }],
		};
		const agent = extended(
			`api.registerProvider('own', ${JSON.stringify(provider)});
			api.on('before_provider_request', (event) => ({ ...event.payload, marked: true }));
			api.on('before_provider_headers', (event) => { event.headers['X-Mine'] = 'yes'; });`,
			{ flags: ["--model", "own/m1"] },
		);
		expect((await ask(agent, "get_state")).data).toMatchObject({ model: { provider: "own", id: "m1" } });
		await ask(agent, "prompt", { message: "go" });
		await agent.event("agent_settled");
		server.close();
		expect(agent.frames.find((frame) => frame.type === "agent_end")).toMatchObject({ messages: [{}, { content: [{ type: "text", text: "hi" }] }] });
		expect(bodies).toMatchObject([{ model: "m1", marked: true, key: "Bearer sesame-sesame", mine: "yes" }]);
	});

	test("the key for requests of their own, which hosts never see", async () => {
		const seen: unknown[] = [];
		const server = createServer((request, response) => {
			seen.push([request.headers.authorization, request.headers["x-team"]]);
			response.end("summed up");
		}).listen(0);
		const { port } = server.address() as AddressInfo;
		const provider = {
			baseUrl: `http://127.0.0.1:${port}/v1`,
			api: "openai-completions",
			apiKey: "SHOP_KEY",
			headers: { "x-team": "shop" },
			models: [{ id: "m1", contextWindow: 10000, maxTokens: 100 }],
		};
		const agent = extended(
			`api.registerProvider('own', ${JSON.stringify(provider)});
			api.on('session_before_compact', async ({ preparation }, { modelRegistry, signal }) => {
				const model = modelRegistry.find('own', 'm1');
				const auth = await modelRegistry.getApiKeyAndHeaders(model);
				if (!auth.ok) throw new Error(auth.error);
				const answer = await fetch(auth.baseUrl, { method: 'POST', headers: { ...auth.headers, authorization: 'Bearer ' + auth.apiKey }, signal });
				return { compaction: { summary: await answer.text(), firstKeptEntryId: preparation.firstKeptEntryId, tokensBefore: preparation.tokensBefore } };
			});
			api.registerCommand('key', { async handler(_, { ui, modelRegistry }) {
				const model = modelRegistry.find('own', 'm1');
				ui.notify('the key is ' + await modelRegistry.getApiKey(model));
				ui.notify('of the provider: ' + JSON.stringify(await modelRegistry.getProviderAuth('own')));
				const other = modelRegistry.getAll().find(({ provider }) => provider === 'openai');
				ui.notify([modelRegistry.hasConfiguredAuth(model), modelRegistry.hasConfiguredAuth(other), await modelRegistry.getApiKey(other)].join());
				ui.notify(JSON.stringify(await modelRegistry.getApiKeyAndHeaders(other)));
				try { await modelRegistry.getApiKey(); } catch (error) { ui.notify(error.message); }
			} });`,
			{
				flags: ["--hermetic", "--set", "compaction.keepRecentTokens=1"],
				env: { SHOP_KEY: "sesame-open-sesame", OPENAI_API_KEY: "" },
				script: replies("one", "two"),
			},
		);
		await ask(agent, "prompt", { message: "/key" });
		await vi.waitFor(() => expect(notices(agent)).toHaveLength(5), 10_000);
		expect(notices(agent)).toEqual([
			"the key is [redacted]",
			`of the provider: {"headers":{"x-team":"shop"},"apiKey":"[redacted]","baseUrl":"http://127.0.0.1:${port}/v1"}`,
			"true,false,",
			expect.stringContaining('{"ok":false,"error":"No API key found for openai.'),
			"modelRegistry: the model must have a provider and an id, as those of getAvailable have",
		]);
		for (const message of ["go", "on"]) {
			await ask(agent, "prompt", { message });
			await agent.event("agent_settled");
		}
		expect((await ask(agent, "compact")).data).toMatchObject({ summary: "summed up" });
		server.close();
		expect(seen).toEqual([["Bearer sesame-open-sesame", "shop"]]);
		expect(JSON.stringify(agent.frames) + agent.stderr).not.toContain("sesame");
	});

	test("what the process is for, the models to choose from, and the settings in effect", async () => {
		const report =
			"[ctx.mode, ctx.thinkingLevel, ctx.scopedModels.map(({ model, thinkingLevel }) => model.id + ':' + thinkingLevel), ctx.isProjectTrusted(), api.getSettings().compaction.enabled, api.getSettings().retry.maxRetries, api.getSettings().todo['reminders.max']]";
		const flags = ["--set", "retry.maxRetries=7", "--set", "compaction.enabled=false"];
		const agent = extended(`api.on('session_start', (_, ctx) => ctx.ui.notify(JSON.stringify(${report})));`, {
			flags: ["--models", "anthropic/claude-opus-5:high", "--approve", ...flags],
			env: { ANTHROPIC_API_KEY: "sk-ant-test-test" },
		});
		await agent.until((frame) => frame.method === "notify");
		expect(notices(agent)).toEqual(['["rpc","high",["claude-opus-5:high"],true,false,7,3]']);
		for (const [mode, more] of [
			["print", ["-p", "hi"]],
			["json", ["--mode", "json", "hi"]],
		] as const) {
			const folder = mkdtempSync(join(tmpdir(), "bowline-test-"));
			writeFileSync(
				join(folder, "a.ts"),
				`export default (api) => api.on('session_start', (_, ctx) => console.log('told', JSON.stringify(${report})));`,
			);
			const line = [program, ...more, "--provider", "scripted", "--model", "echo", "--no-session", "--no-approve", "-e", "a.ts", ...flags];
			const { stderr } = spawnSync(process.execPath, line, {
				cwd: folder,
				encoding: "utf8",
				env: { ...process.env, BOWLINE_DIR: join(folder, "user") },
			});
			rmSync(folder, { recursive: true });
			expect(stderr).toContain(`told ["${mode}","medium",[],false,false,7,3]`);
		}
	});

	test("dialogs, levels and answers of providers are reported", async () => {
		const server = createServer((request, response) => {
			request.resume();
			const isFirst = request.headers["x-mine"] === undefined;
			response.writeHead(isFirst ? 429 : 200, { "content-type": "text/event-stream", "x-limit": "3", "retry-after": "0" });
			response.end(isFirst ? "slow down" : 'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
		}).listen(0);
		const { port } = server.address() as AddressInfo;
		const model = { id: "m1", reasoning: true, contextWindow: 10000, maxTokens: 100 };
		const provider = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "sesame-sesame", models: [model] };
		const agent = extended(
			`api.registerProvider('own', ${JSON.stringify(provider)});
			const told = (...facts) => api.appendEntry('told', facts);
			let tries = 0;
			api.on('before_provider_headers', (event) => { if (tries++) event.headers['x-mine'] = 'yes'; });
			api.on('after_provider_response', ({ status, headers }) => told('answer', status, headers['x-limit']));
			api.on('provider_stream_event', ({ provider, model, data }) => told('raw', provider, model, data.choices[0].delta.content));
			api.on('thinking_level_select', ({ level, previousLevel }) => told('level', previousLevel, level));
			for (const name of ['ui_prompt_start', 'ui_prompt_end']) api.on(name, ({ type, reason, kind, title }) => told(type, reason, kind, title));
			api.registerCommand('ask', { async handler(_, { ui }) {
				await Promise.all([ui.confirm('Sure?', 'Really'), ui.input('Name')]);
				await ui.select('Which?', ['a']);
			} });`,
			{ flags: ["--model", "own/m1:low"] },
		);
		await ask(agent, "prompt", { message: "go" });
		await agent.event("agent_settled");
		server.close();
		await ask(agent, "set_thinking_level", { level: "high" });
		await ask(agent, "prompt", { message: "/ask" });
		for (const answer of [{ confirmed: true }, { value: "Ada" }, { value: "a" }]) {
			const { id } = await agent.until((frame) => ["confirm", "input", "select"].includes(String(frame.method)));
			agent.send({ type: "extension_ui_response", id, ...answer });
		}
		const told = async () => {
			const { entries } = (await ask(agent, "get_entries")).data as { entries: { customType?: string; data?: unknown }[] };
			return entries.flatMap((entry) => (entry.customType === "told" ? [entry.data] : []));
		};
		await vi.waitFor(async () => expect(await told()).toHaveLength(8), 10_000);
		expect(await told()).toEqual([
			["answer", 429, "3"],
			["answer", 200, "3"],
			["raw", "own", "m1", "hi"],
			["level", "low", "high"],
			["ui_prompt_start", "ui_prompt", "confirm", "Sure?"],
			["ui_prompt_end", "ui_prompt", "input", "Name"],
			["ui_prompt_start", "ui_prompt", "select", "Which?"],
			["ui_prompt_end", "ui_prompt", "select", "Which?"],
		]);
	});

	test("the models are there for helpers of an extension too, and a name that is put together is refused in words", async () => {
		const helper = "export const count = (ctx) => ctx.modelRegistry.getAll().length > 1000;";
		const agent = extended("api.on('session_start', async (_, ctx) => ctx.ui.notify(String((await import('./helper.ts')).count(ctx))));", {
			files: { "helper.ts": helper },
			flags: ["--provider", "scripted", "--model", "echo"],
		});
		await agent.until((frame) => frame.message === "true");
		const odd = extended(
			"api.on('session_start', (_, ctx) => { try { ctx['model' + 'Registry'].getAll(); } catch (error) { ctx.ui.notify(error.message); } });",
			{
				flags: ["--provider", "scripted", "--model", "echo"],
			},
		);
		await odd.until((frame) => String(frame.message).startsWith("The models have not been read: a file of the extension must name modelRegistry"));
	});

	test("a provider is known, and forgotten, in the same breath", async () => {
		const provider = { baseUrl: "http://127.0.0.1:9", api: "openai-completions", apiKey: "k", models: [{ id: "m1" }] };
		const agent = extended(
			`api.registerCommand('go', { async handler(_, { ui, modelRegistry }) {
				const known = async () => ui.notify(String(modelRegistry.find('own', 'm1')?.id) + modelRegistry.getAvailable().length);
				await known();
				api.registerProvider('own', ${JSON.stringify(provider)});
				await known();
				api.unregisterProvider('own');
				await known();
				const circle = {};
				circle.circle = circle;
				try { api.registerProvider('circle', circle); } catch (error) { ui.notify(error.message); }
			} });`,
			{ flags: ["--provider", "scripted", "--model", "echo"] },
		);
		await ask(agent, "prompt", { message: "/go" });
		await vi.waitFor(() => expect(notices(agent)).toHaveLength(4), 10_000);
		expect(notices(agent)).toEqual(["undefined1", "m12", "undefined1", "Provider circle must be JSON: Converting circular structure to JSON"]);
	});

	test("tools and models of the wrong shape are refused in words", async () => {
		const agent = extended(
			`api.registerCommand('go', { async handler(_, { ui }) {
				for (const work of [() => api.setActiveTools('read'), () => api.setActiveTools(), () => api.setModel(), () => api.setModel({ id: 'x' })]) {
					try { await work(); } catch (error) { ui.notify(error.message); }
				}
				ui.notify(String(api.getActiveTools().includes('bash')));
			} });`,
		);
		await ask(agent, "prompt", { message: "/go" });
		await vi.waitFor(() => expect(notices(agent)).toHaveLength(5), 10_000);
		const needed = "setModel: the model must have a provider and an id, as those of modelRegistry have";
		const tools = "setActiveTools: names must be a list of strings";
		expect(notices(agent)).toEqual([`${tools}, not "read"`, tools, needed, needed, "true"]);
	});

	test("skills and templates from places of their own", async () => {
		const agent = extended(`api.on('resources_discover', (event) => ({ promptPaths: [event.cwd + '/mine'] }));`, {
			files: { "mine/fix.md": "Fix $1" },
			flags: ["--provider", "scripted", "--model", "echo"],
		});
		await ask(agent, "prompt", { message: "/fix it" });
		expect(await agent.until((frame) => frame.type === "message_end")).toMatchObject({ message: { content: [{ text: "Fix it" }] } });
	});

	test("the permission gate of the examples asks the host", async () => {
		const gate = readFileSync(join(import.meta.dirname, "../../examples/extensions/permission-gate.ts"), "utf8");
		const agent = new Agent({
			flags: ["-e", "gate.ts"],
			files: { "gate.ts": gate },
			script: replies(bash("rm -rf build"), "ok"),
		});
		agents.push(agent);
		await ask(agent, "prompt", { message: "go" });
		const { id } = await agent.event("extension_ui_request");
		agent.send({ type: "extension_ui_response", id, confirmed: false });
		expect(await agent.event("tool_execution_end")).toMatchObject({ isError: true });
		await agent.event("agent_settled");
		expect(agent.stderr).toBe("");
	});
});
