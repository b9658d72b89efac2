// biome-ignore-all lint/suspicious/noTemplateCurlyInString: entries hold variables in this spelling
/** Entries as people paste them, variables in them, and the names of tools. */
import { describe, expect, test } from "vitest";
import { fitsStars } from "../../src/lib/stars.ts";
import { isWrong, readEntries, type ServerConfig } from "../../src/mcp/config.ts";
import { expand } from "../../src/mcp/expand.ts";
import { freeName, toolName } from "../../src/mcp/names.ts";

const origin = { source: "user" as const, directory: "/etc" };
const read = (value: unknown) => readEntries(value, origin);
const one = (entry: unknown) => read({ x: entry }).entries[0] as ServerConfig;
const problem = (entry: unknown) => {
	const [found] = read({ x: entry }).entries;
	return found && isWrong(found) ? found.problem : undefined;
};

test.each([
	["mcpServers", { mcpServers: { x: { command: "a" } } }],
	["servers (VS Code)", { servers: { x: { command: "a" } }, inputs: [] }],
	["context_servers (Zed)", { context_servers: { x: { command: "a" } } }],
	["the bare map", { x: { command: "a" } }],
	["a list with names", [{ name: "x", command: "a" }]],
	["a wrapped list", { mcpServers: [{ name: "x", command: "a" }] }],
])("%s", (_, value) => {
	expect(read(value)).toMatchObject({ entries: [{ name: "x", command: "a", transport: "stdio", args: [] }], problems: [] });
});

test("the spellings of other programs", () => {
	expect(one({ command: ["npx", "-y", "p"], environment: { A: 1, B: true } })).toMatchObject({
		command: "npx",
		args: ["-y", "p"],
		env: { A: "1", B: "true" },
	});
	expect(one({ command: "a", env: [{ name: "A", value: "1" }], type: "local" }).env).toEqual({ A: "1" });
	for (const [member, type] of [
		["url", "http"],
		["serverUrl", "streamable-http"],
		["httpUrl", "streamableHttp"],
		["url", "remote"],
	] as const)
		expect(one({ [member]: "http://h/", type, headers: [{ name: "A", value: "1" }] })).toMatchObject({
			url: "http://h/",
			transport: "http",
			headers: { A: "1" },
		});
	expect(one({ url: "http://h/", transport: "sse" }).transport).toBe("sse");
	expect(one({ url: "http://h/", transportType: "http" }).transport).toBe("http");
	expect([
		one({ command: "a", disabled: true }).isDisabled,
		one({ command: "a", enabled: false }).isDisabled,
		one({ command: "a" }).isDisabled,
	]).toEqual([true, true, false]);
	expect(one({ command: "a", includeTools: ["r*"], disabled_tools: ["w"] })).toMatchObject({ tools: ["r*"], excludeTools: ["w"] });
	expect([
		one({ command: "a", timeout: 30 }).timeoutMs,
		one({ command: "a", timeout: 30_000 }).timeoutMs,
		one({ command: "a", tool_timeout_sec: 5 }).timeoutMs,
	]).toEqual([30_000, 30_000, 5000]);
	expect([one({ command: "a", startup_timeout_sec: 9 }).startTimeoutMs, one({ command: "a", startupTimeoutMs: 9000 }).startTimeoutMs]).toEqual([
		9000, 9000,
	]);
	expect(one({ command: "a", alwaysAllow: ["x"], autoApprove: [], trust: true, description: "d", $comment: 1 }).command).toBe("a");
	expect(read({ x: { command: "a", oauth: {}, envFile: ".env" } }).warnings).toEqual(['MCP server "x": oauth and envFile have no effect.']);
});

test.each([
	[{}, 'MCP server "x" needs command or url'],
	[{ command: 3 }, 'MCP server "x": command must be a text'],
	[{ command: "a", args: "b" }, 'MCP server "x": args must be a list of texts'],
	[{ command: "a", env: ["A=1"] }, 'MCP server "x": env must be an object of texts'],
	[{ command: "a", url: "http://h/" }, 'MCP server "x" has both command and url; it needs one of them'],
	[{ command: "a", type: "http" }, 'MCP server "x": type http does not go with command'],
	[{ url: "http://h/", type: "stdio" }, 'MCP server "x": type stdio does not go with url'],
	[{ command: "a", type: "websocket" }, 'MCP server "x": type must be stdio, http or sse'],
	[{ command: "a", timeout: "soon" }, 'MCP server "x": timeout must be a number above 0'],
	[{ command: "a", protocol: "1.0" }, 'MCP server "x": protocol must be auto or one of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05'],
	["npx server", 'MCP server "x": the entry must be an object'],
])("%j is wrong in words", (entry, words) => {
	expect(problem(entry)).toBe(words);
});

test("names are there, unique and short", () => {
	expect(read({ "": { command: "a" } }).problems).toEqual(["MCP server name must not be empty"]);
	expect(read([{ command: "a" }]).problems).toEqual(["MCP server name must not be empty"]);
	expect(
		read([
			{ name: "a", command: "a" },
			{ name: "a", command: "b" },
		]).problems,
	).toEqual(["MCP server names must be unique"]);
	expect(read({ ["n".repeat(65)]: { command: "a" } }).entries[0]).toMatchObject({ problem: expect.stringContaining("at most 64 characters") });
	expect(read("nonsense").problems).toHaveLength(1);
});

describe("variables", () => {
	const input = { env: { TOKEN: "secret-token", EMPTY: "", DIR: "sub" }, cwd: "/work", home: "/home/a" };
	const target = (entry: object) => {
		const found = expand(one(entry), input);
		if ("problem" in found) throw new Error(found.problem);
		return found;
	};

	test("are put in once, where they belong", () => {
		const found = target({
			command: "${userHome}/bin/${DIR}",
			args: ["${env:TOKEN}", "${workspaceFolder}", "$TOKEN", "${NONE:-a${b}"],
			env: { A: "$TOKEN", B: "x${EMPTY:-y}", C: "${NONE:-}" },
			cwd: "${DIR}",
		});
		expect(found).toMatchObject({
			command: "/home/a/bin/sub",
			args: ["secret-token", "/work", "$TOKEN", "a${b"],
			env: { A: "secret-token", B: "xy", C: "" },
			cwd: "/etc/sub",
		});
		expect(target({ command: "a" }).cwd).toBe("/work");
		expect(target({ url: "http://${DIR}.example/", headers: { Authorization: "Bearer ${TOKEN}" } })).toMatchObject({
			url: "http://sub.example/",
			headers: { Authorization: "Bearer secret-token" },
			secrets: expect.arrayContaining(["secret-token", "Bearer secret-token"]),
		});
	});

	test("a variable that is no secret stays readable: its value may be any word", () => {
		const env = {
			USER: "somebody",
			HOME: "/home/somebody",
			REGION: "eu-west-1",
			TENANT: "tenant-of-somebody",
			GITHUB_PAT: "ghp_0123456789abcdefghij",
			DB_PASSWD: "a",
		};
		const entry = { command: "${HOME}/bin/a", args: ["${USER}", "${REGION}", "${GITHUB_PAT}", "${DB_PASSWD}"], env: { WHO: "$USER" } };
		const found = expand(one(entry), { env, cwd: "/work", home: "/home/a" });
		expect("secrets" in found && found.secrets).toEqual([env.GITHUB_PAT, env.DB_PASSWD]);
		const remote = expand(one({ url: "https://a.test/${REGION}", headers: { "X-Tenant": "${TENANT}" } }), { env, cwd: "/work", home: "/home/a" });
		expect("secrets" in remote && remote.secrets).toEqual([env.TENANT]);
	});

	test("what they held, and what its name says, is secret", () => {
		expect(target({ command: "a", env: { API_KEY: "literal-key", OTHER: "plain" } }).secrets).toEqual(["literal-key"]);
	});

	test("that are not set stop this server only", () => {
		expect(() => target({ command: "a", env: { A: "${MISSING}" } })).toThrow('MCP server "x": the variable MISSING is not set');
		expect(() => target({ command: "a", env: { A: "$MISSING" } })).toThrow('MCP server "x": the variable MISSING is not set');
		expect(() => target({ command: "a", args: ["${input:token}"] })).toThrow('MCP server "x": input:token is asked for by VS Code only');
	});
});

describe("names of tools", () => {
	test("are letters that every provider accepts, at most 64, and the same on every machine", () => {
		expect(toolName("my server", "read.file")).toBe("mcp__my_server__read_file");
		const long = toolName("a-very-long-server-name-indeed", "and-a-tool-name-that-goes-on-and-on");
		expect(long).toBe("mcp__a-very-long-server-name-indeed__and-a-tool-name-that_ca11d0");
		expect(long).toHaveLength(64);
		expect(toolName("a-very-long-server-name-indeed", "and-a-tool-name-that-goes-on-and-off")).not.toBe(long);
	});

	test("that are taken get a number", () => {
		const taken = new Set(["a", "a_2"]);
		expect([freeName("a", taken), freeName("b", taken), freeName("b", taken), freeName("n".repeat(64), taken)]).toEqual([
			"a_3",
			"b",
			"b_2",
			"n".repeat(64),
		]);
		expect(freeName("n".repeat(64), taken)).toBe(`${"n".repeat(62)}_2`);
	});

	test.each([
		["read*", "read_file", true],
		["*", "", true],
		["a*b*c", "a-b-b-c", true],
		["a*b", "ab", true],
		["ab*ba", "aba", false],
		["read", "reads", false],
		["*x*", "abc", false],
	])("%s and %s", (pattern, name, isFit) => {
		expect(fitsStars(pattern, name)).toBe(isFit);
	});
});
