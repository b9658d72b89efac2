/** Servers that are programs: how they start, answer, fail, die and end. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { isRunning, Servers, small, textOf } from "./support.ts";

test("a server with every kind of result is used through its tools", async () => {
	await using servers = await new Servers({ s: small() }).prepare();
	expect(servers.status("s")).toMatchObject({ status: "ready", protocolVersion: "2025-11-25", prompts: ["mcp__s__greet"] });
	expect(servers.registry.tools().map(({ name }) => name)).toEqual([...servers.registry.tools().map(({ name }) => name)].sort());
	expect(servers.tool("mcp__s__echo")).toMatchObject({ concurrency: "shared", label: "echo" });
	expect(servers.tool("mcp__s__die").concurrency).toBe("exclusive");
	expect(await servers.say("mcp__s__echo", { text: "hello" })).toBe("hello");
	expect(await servers.failure("mcp__s__fail")).toBe("it went wrong");
	expect(await servers.failure("mcp__s__refuse")).toBe('MCP server "s": not today (-32050)');
	const structured = await servers.call("mcp__s__structured");
	expect(structured).toEqual({
		content: [{ type: "text", text: '{"answer":42}' }],
		details: { server: "s", tool: "structured", structuredContent: { answer: 42 } },
	});
	const mixed = await servers.call("mcp__s__mixed");
	expect(mixed.content).toEqual([
		{ type: "text", text: "words" },
		{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
		{ type: "text", text: "[audio, audio/wav, 3B: not shown]" },
		{ type: "text", text: "[resource a: file:///a, text/plain] A file" },
		{ type: "text", text: "[resource mem://b]\ninside" },
		{ type: "text", text: "[resource mem://c, application/zip, 3B: not shown]" },
	]);
	expect(mixed.details).toMatchObject({ forUser: [{ type: "text", text: "for the person" }] });
	const updates: string[] = [];
	const progress = await servers.call("mcp__s__progress", { steps: 20 }, undefined, (partial) => updates.push(textOf(partial)));
	expect(textOf(progress)).toBe("done");
	expect(updates[0]).toBe("working (1/20)");
	expect(updates.length).toBeLessThanOrEqual(4);
	const long = await servers.call("mcp__s__lines", { count: 5000 });
	const { fullOutputPath } = long.details as { fullOutputPath: string };
	expect(textOf(long)).toMatch(/^line 1\n[\s\S]*line 2000\n\n\[Lines 1-2000 of 5000 \(.*KB in all\)\. Full output: .*bowline-mcp-[0-9a-f]+\.log\]$/);
	expect(readFileSync(fullOutputPath, "utf8")).toMatch(/line 5000$/);
	expect(statSync(fullOutputPath).mode & 0o777).toBe(0o600);
	expect(await servers.say("mcp__s__roots")).toContain(`"name":"folder"`);
	expect(JSON.parse(await servers.say("mcp__s__capabilities"))).toMatchObject({
		protocolVersion: "2025-11-25",
		capabilities: { roots: {} },
		clientInfo: { name: "bowline", version: "0.0.0" },
	});
	expect(JSON.parse(await servers.say("mcp__s__capabilities")).capabilities.elicitation).toBeUndefined();
	expect(await servers.say("mcp_resource", { server: "s" })).toBe("mem://one: one, text/plain");
	expect(await servers.say("mcp_resource", { server: "s", uri: "mem://one" })).toBe("[resource mem://one]\ncontent of mem://one");
	// A new tool is there from the next look on.
	await servers.say("mcp__s__grow");
	await expect.poll(() => servers.registry.tools().some(({ name }) => name === "mcp__s__late"), { timeout: 20_000 }).toBe(true);
	expect(await servers.say("mcp__s__late")).toBe("here");
});

test("a server sees the variables that programs need, those of its entry, and nothing else", async () => {
	const env = { LC_ALL: "C", UV_CACHE_DIR: "/c", UV_PUBLISH_TOKEN: "x", ANTHROPIC_API_KEY: "sk", EXTRA: "1", https_proxy: "http://p" };
	await using servers = await new Servers(
		// biome-ignore lint/suspicious/noTemplateCurlyInString: expanded by the reader of entries
		{ s: { ...small(), env: { MINE: "${SECRET_KEY}" } } },
		{ env, allowedVariables: ["EXTRA"] },
	).prepare();
	const seen = JSON.parse(await servers.say("mcp__s__environment"));
	const { BOWLINE_RUN: mark, PATH, HOME, ...rest } = seen;
	expect(mark).toMatch(/^([0-9a-f]+\.\d+;)+$/);
	expect(PATH).toBe(process.env.PATH);
	expect(rest).toEqual({ LC_ALL: "C", UV_CACHE_DIR: "/c", EXTRA: "1", https_proxy: "http://p", MINE: "do-not-pass-this-on" });
});

describe("words for what went wrong", () => {
	test.each([
		["not found", { command: "no-such-program-here" }, /^MCP server "s" could not be started: no-such-program-here was not found\.$/],
		["ended while starting", small("exit"), /^MCP server "s" ended with code 3 before it answered\. It said: no licence$/],
		["no answer", { ...small("silent"), startTimeout: 0.3 }, /^MCP server "s" has not answered for 1 s\.$/],
		["another revision", small("version=1999-01-01"), /^MCP server "s" speaks MCP 1999-01-01, which Bowline does not\.$/],
		// biome-ignore lint/suspicious/noTemplateCurlyInString: expanded by the reader of entries
		["a missing variable", { command: "${NO_SUCH}" }, /^MCP server "s": the variable NO_SUCH is not set$/],
		["a missing directory", { ...small(), cwd: "nowhere" }, /^MCP server "s" could not be started: Working directory does not exist: .*nowhere\.$/],
		[
			"too much that is not MCP",
			small("noise", "noiseLines=1200"),
			/^MCP server "s" was ended: it wrote more than 1000 lines that are not MCP to stdout before it answered\./,
		],
	])("%s", async (_, entry, words) => {
		await using servers = await new Servers({ s: entry }).prepare();
		expect(servers.status("s")).toMatchObject({ status: "failed", error: expect.stringMatching(words), tools: [] });
		expect(servers.warnings).toEqual([expect.stringMatching(words)]);
		expect(servers.events.map(({ status }) => status)).toEqual(["starting", "failed"]);
		expect(servers.registry.tools()).toEqual([]);
	});

	test("calls that time out, are aborted, or outlive the server", async () => {
		await using servers = await new Servers({ s: { ...small("reports"), timeout: 1 } }).prepare();
		expect(await servers.failure("mcp__s__wait")).toBe('MCP tool wait of "s" has not answered for 1 s.');
		const controller = new AbortController();
		const aborted = servers.call("mcp__s__wait", {}, controller.signal).catch((error) => error.message);
		controller.abort();
		expect(await aborted).toBe('MCP tool wait of "s" was aborted');
		// The connection goes on, and the server was told.
		expect(await servers.say("mcp__s__echo", { text: "still here" })).toBe("still here");
		expect(servers.log()).toMatch(
			/got notifications\/cancelled \{"requestId":\d+,"reason":"timed out"\}\n(.*\n)*got notifications\/cancelled .*"aborted"/,
		);
		expect(await servers.failure("mcp__s__die")).toMatch(/^MCP server "s" ended with code 7 during die\. It said: [\s\S]*I have had enough$/);
		expect(servers.status("s")?.status).toBe("failed");
		// The next call starts it again.
		expect(await servers.say("mcp__s__echo", { text: "back" })).toBe("back");
		expect(servers.status("s")?.status).toBe("ready");
	});
});

test("progress is a sign of life", async () => {
	await using servers = await new Servers({ s: { ...small("pace=300"), timeout: 1 } }).prepare();
	expect(await servers.say("mcp__s__progress", { steps: 5 })).toBe("done");
});

test("a slow server holds nobody for longer than the wait, and joins later; a silent one only itself", async () => {
	const go = join(mkdtempSync(join(tmpdir(), "bowline-slow-")), "go");
	onTestFinished(() => rmSync(dirname(go), { recursive: true }));
	await using servers = await new Servers({ fast: small(), slow: small(`slowUntil=${go}`), silent: small("silent") }, { waitMs: 300 }).prepare();
	await expect.poll(() => servers.status("fast")?.status, { timeout: 20_000 }).toBe("ready");
	expect([servers.status("slow")?.status, servers.status("silent")?.status]).toEqual(["starting", "starting"]);
	// The next prompt does not wait again: it is answered before the event loop turns.
	expect(await Promise.race([servers.prepare().then(() => "ready"), new Promise((resolve) => setImmediate(resolve, "waits"))])).toBe("ready");
	writeFileSync(go, "");
	await expect.poll(() => servers.status("slow")?.status, { timeout: 20_000 }).toBe("ready");
	expect(await servers.say("mcp__slow__echo", { text: "late" })).toBe("late");
});

test("lists come in pages, and a cursor that repeats ends them", async () => {
	await using servers = await new Servers({ pages: small("pages", "many=40"), loop: small("loop") }).prepare();
	expect(servers.status("pages")?.tools).toHaveLength(55);
	expect(servers.status("loop")?.tools).toEqual(["mcp__loop__echo"]);
});

test("tools that no model could use are left out with words, and cost the others nothing", async () => {
	await using servers = await new Servers({ s: { ...small("badTools"), tools: ["e*", "far", "list", "huge"], excludeTools: ["el*"] } }).prepare();
	expect(servers.status("s")?.tools).toEqual(["mcp__s__echo", "mcp__s__environment"]);
	expect(servers.warnings.sort()).toEqual([
		'MCP server "s": the tool far is left out: its inputSchema refers to http://localhost:9/schema, which is not fetched.',
		'MCP server "s": the tool huge is left out: its inputSchema is larger than 64 KB.',
		'MCP server "s": the tool list is left out: its inputSchema is of type "array".',
	]);
});

test("a server of the newer generation is understood when it refuses the older greeting", async () => {
	await using servers = await new Servers({ s: small("modernOnly") }).prepare();
	expect(servers.status("s")).toMatchObject({ status: "ready", protocolVersion: "2026-07-28" });
	expect(JSON.parse(await servers.say("mcp__s__capabilities"))._meta).toEqual({
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo": { name: "bowline", version: "0.0.0" },
		"io.modelcontextprotocol/clientCapabilities": { roots: {} },
	});
});

test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])("revision %s", async (version) => {
	await using servers = await new Servers({ s: { ...small("version=asked"), protocol: version } }).prepare();
	expect(servers.status("s")).toMatchObject({ status: "ready", protocolVersion: version });
});

test("noise on both outputs goes to a private log whose middle is cut", async () => {
	const servers = await new Servers({ s: small("noise", "loud") }).prepare();
	expect(await servers.say("mcp__s__echo", { text: "clear" })).toBe("clear");
	await servers.registry.close();
	const [name = ""] = readdirSync(`${servers.folder}/logs`);
	const facts = statSync(`${servers.folder}/logs/${name}`);
	expect(name).toMatch(/^mcp-s-[0-9a-f]+\.log$/);
	expect(facts.mode & 0o777).toBe(0o600);
	expect(facts.size).toBeGreaterThan(1024 * 1024);
	expect(facts.size).toBeLessThan(1.2 * 1024 * 1024);
	expect(servers.log()).toMatch(/\[bowline\] not MCP: not JSON 3\n/);
	expect(servers.log()).toMatch(/\n\[bowline\] \d+ bytes are left out here\n/);
	await servers.close();
});

test("a secret of an entry is in no log and no message", async () => {
	const env = { TOKEN: "very-secret-value" };
	const echo = { command: "sh", args: ["-c", 'echo "key is $API_TOKEN" >&2; exit 1'], env: { API_TOKEN: "$TOKEN" } };
	await using servers = await new Servers({ s: echo }, { env }).prepare();
	expect(servers.status("s")?.error).toBe('MCP server "s" ended with code 1 before it answered. It said: key is [redacted]');
	expect(servers.log()).toBe("key is [redacted]\n");
});

describe("nothing is left", () => {
	test("of servers that end, that ignore everything, and that are behind a launcher", async () => {
		const launcher = { command: "sh", args: ["-c", `"$0" "$@"; true`, process.execPath, ...small().args] };
		const servers = await new Servers({ polite: small(), stubborn: small("stubborn"), launched: launcher }).prepare();
		const pids = await Promise.all(["polite", "stubborn", "launched"].map(async (name) => Number(await servers.say(`mcp__${name}__pid`))));
		expect(pids.map(isRunning)).toEqual([true, true, true]);
		await servers.close();
		expect(pids.map(isRunning)).toEqual([false, false, false]);
	});

	test("of a server that is replaced, while an equal one is kept", async () => {
		await using servers = new Servers({});
		expect(await servers.registry.setHost({ a: small(), b: small() })).toEqual(["a", "b"]);
		servers.registry.startHost();
		await servers.prepare();
		const [a, b] = await Promise.all([servers.say("mcp__a__pid"), servers.say("mcp__b__pid")]);
		const pending = servers.failure("mcp__b__wait");
		await sleep(10);
		await servers.registry.setHost([
			{ name: "a", ...small() },
			{ name: "c", ...small() },
		]);
		expect(await pending).toBe('MCP server "b" was ended during wait.');
		await servers.prepare();
		expect(await servers.say("mcp__a__pid")).toBe(a);
		expect(servers.registry.describe().map(({ name, source }) => [name, source])).toEqual([
			["a", "host"],
			["c", "host"],
		]);
		await expect.poll(() => isRunning(Number(b)), { timeout: 20_000 }).toBe(false);
		await expect(servers.registry.setHost({ a: small(), d: { command: 3 } })).rejects.toThrow('MCP server "d": command must be a text');
		await expect(servers.registry.setHost([small()])).rejects.toThrow("MCP server name must not be empty");
		await expect(
			servers.registry.setHost([
				{ name: "a", ...small() },
				{ name: "a", ...small() },
			]),
		).rejects.toThrow("MCP server names must be unique");
		expect(await servers.say("mcp__a__pid")).toBe(a);
	});
});

test("two sessions with one name have two servers, and the end of one is not the end of the other", async () => {
	const one = await new Servers({ s: small() }).prepare();
	await using other = await new Servers({ s: small() }).prepare();
	const [first, second] = [await one.say("mcp__s__pid"), await other.say("mcp__s__pid")];
	expect(first).not.toBe(second);
	await one.close();
	expect(await other.say("mcp__s__pid")).toBe(second);
	expect(isRunning(Number(first))).toBe(false);
});

test("a server that dies again and again is started three times, then only when it is asked for", async () => {
	await using servers = await new Servers({ s: small() }).prepare();
	for (let death = 0; death < 4; death += 1) await servers.failure("mcp__s__die");
	expect(await servers.failure("mcp__s__echo", { text: "x" })).toMatch(/^MCP server "s" is not running: MCP server "s" ended with code 7/);
	const starts = () => servers.events.filter(({ status }) => status === "starting").length;
	expect(starts()).toBe(1 + 3);
	await servers.registry.restart("s");
	expect(await servers.say("mcp__s__echo", { text: "x" })).toBe("x");
	expect(starts()).toBe(1 + 3 + 1);
}, 60_000);
