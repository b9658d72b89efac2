/** The next tool that somebody adds is one file and one line: everything that depends on what a tool is sees it at once. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { factsOfTool } from "../../scripts/generate/tool-facts.ts";
import { ToolView } from "../../src/acp/tool-view.ts";
import type { Tool } from "../../src/agent/tool.ts";
import { toolLines } from "../../src/chat/tool-view.ts";
import { builtInFacts, fileToolsOf, type KnownTools, toolsWhere } from "../../src/lib/tool-facts.ts";
import { PermissionRule } from "../../src/protocol/permissions.ts";
import { onlyReads } from "../../src/subagents/agents.ts";
import { toolMakers } from "../../src/tools/index.ts";
import type { ToolOptions } from "../../src/tools/options.ts";
import { resolvePath } from "../../src/tools/paths.ts";
import { InProcessAgent } from "../wire/support/in-process.ts";
import type { Frame } from "../wire/support/match.ts";

const parameters = { type: "object", properties: { file: { type: "string" } }, required: ["file"] };
const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

const stat = ({ options: { cwd } }: { options: Pick<ToolOptions, "cwd"> }): Tool => ({
	name: "stat",
	label: "Stat",
	effect: { kind: "read", paths: ({ file }) => [String(file)], reach: "file" },
	offered: "default",
	view: { kind: "read", glyph: "§" },
	description: "The size of a file",
	parameters,
	concurrency: "shared",
	execute: async ({ args }) => said(`${statSync(resolvePath(cwd, String(args.file))).size} bytes`),
});

const touch = ({ options: { cwd } }: { options: Pick<ToolOptions, "cwd"> }): Tool => ({
	name: "touch",
	label: "Touch",
	effect: { kind: "write", paths: ({ file }) => [String(file)], reach: "file" },
	offered: "default",
	description: "Make an empty file",
	parameters,
	concurrency: "exclusive",
	async execute({ args }) {
		const target = resolvePath(cwd, String(args.file));
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, "");
		return said("touched");
	},
});

const makers: Record<string, unknown> = toolMakers;
beforeAll(() => void Object.assign(makers, { stat, touch }));
afterAll(() => {
	delete makers.stat;
	delete makers.touch;
});

const agents: InProcessAgent[] = [];
afterEach(async () => {
	for (const agent of agents.splice(0)) await agent.dispose();
});

interface Call {
	tool: "stat" | "touch";
	file: string;
}

/** A session whose model makes these calls, one in each reply. */
function open(calls: readonly Call[], flags: string[], rules: readonly object[] = []): InProcessAgent {
	const replies = [...calls.map(({ tool, file }) => ({ blocks: [{ tool, arguments: { file } }] })), { text: "done" }];
	const agent = new InProcessAgent({
		flags,
		env: { BOWLINE_SETTINGS: JSON.stringify({ "permissions.rules": rules }) },
		files: { "a.txt": "abc", ".env": "KEY=1" },
		script: { replies },
	});
	agents.push(agent);
	return agent;
}

/** What the model gets from its calls. */
async function results(agent: InProcessAgent): Promise<string[]> {
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("agent_settled");
	const ends = agent.frames.filter(({ type }) => type === "tool_execution_end") as (Frame & { result: { content: { text: string }[] } })[];
	return ends.map(({ result }) => result.content[0]?.text ?? "");
}

test("rules about paths hold for it, by any spelling", async () => {
	const calls: Call[] = [
		{ tool: "stat", file: "a.txt" },
		{ tool: "stat", file: "x/../.env" },
		{ tool: "touch", file: ".env" },
		{ tool: "touch", file: "kept/x" },
		{ tool: "touch", file: "b.txt" },
	];
	const rules = [
		{ action: "deny", tool: "read", path: ".env" },
		{ action: "deny", tool: "write", path: "kept/**" },
	];
	const agent = open(calls, ["--permission-mode", "full"], rules);
	const denied = expect.stringContaining("Denied by a rule");
	expect(await results(agent)).toEqual(["3 bytes", denied, denied, denied, "touched"]);
	expect([existsSync(join(agent.cwd, "kept")), readFileSync(join(agent.cwd, ".env"), "utf8")]).toEqual([false, "KEY=1"]);
});

test("mode plan lets it read and not write, and mode edit asks about a protected path and one outside", async () => {
	const calls: Call[] = [
		{ tool: "stat", file: "a.txt" },
		{ tool: "touch", file: "b.txt" },
	];
	expect(await results(open(calls, ["--permission-mode", "plan"]))).toEqual(["3 bytes", expect.stringContaining("Not allowed in mode plan")]);
	const places: Call[] = [".vscode/tasks.json", "../beside.txt", "inside.txt"].map((file) => ({ tool: "touch", file }));
	const asked = expect.stringContaining("nobody can be asked");
	const edit = ["--permission-mode", "edit", "--set", "permissions.dialogs=false"];
	expect(await results(open(places, edit))).toEqual([asked, asked, "touched"]);
});

test("a turn that only reads with it has no checkpoint, and one that writes has two", async () => {
	const flags = ["--session-dir", "sessions", "--set", "checkpoints.enabled=true"];
	const phases = async (calls: Call[]) => {
		const agent = open(calls, flags);
		await results(agent);
		agent.send({ id: "2", type: "get_checkpoints" });
		const { data } = (await agent.response("2")) as Frame & { data: { checkpoints: { phase: string }[] } };
		return data.checkpoints.map(({ phase }) => phase);
	};
	expect(await phases([{ tool: "stat", file: "a.txt" }])).toEqual([]);
	expect(await phases([{ tool: "touch", file: "b.txt" }])).toEqual(["before", "after"]);
});

test("the table for programs that do not load tools has it: settings, the flag, and subagents that only read", () => {
	const tools = [stat, touch].map((make) => make({ options: { cwd: "/" } }));
	const table: KnownTools = { ...builtInFacts, ...Object.fromEntries(tools.map((tool) => [tool.name, factsOfTool(tool, true)])) };
	expect([fileToolsOf("read", table), fileToolsOf("write", table)].map((names) => names.at(-1))).toEqual(["stat", "touch"]);
	expect(toolsWhere(({ isSelectable }) => isSelectable, table)).toEqual(expect.arrayContaining(["stat", "touch"]));
	expect(onlyReads({ tools: ["read", "stat"], spawns: [] }, table)).toBe(true);
	expect(onlyReads({ tools: ["read", "touch"], spawns: [] }, table)).toBe(false);
	expect(table.stat?.view).toEqual({ kind: "read", glyph: "§" });
});

test("what the protocol and the page about permissions say of `read` and `write` in rules names every tool that they mean", () => {
	const described = String((PermissionRule.properties.tool as { description?: string }).description);
	const page = readFileSync(join(import.meta.dirname, "../../docs/permissions.md"), "utf8");
	for (const kind of ["read", "write"] as const) {
		const inProtocol = new RegExp(`\\x60${kind}\\x60 means ([^;.]*)`).exec(described)?.[1] ?? "";
		const onPage = new RegExp(`\\x60${kind}\\x60 means ([^;]*)`).exec(page)?.[1] ?? "";
		for (const text of [inProtocol, onPage]) expect(text.match(/[a-z_]+/g), text).toEqual(expect.arrayContaining(fileToolsOf(kind)));
	}
});

test("editors, the chat and an export show it", async () => {
	const tools = [stat, touch].map((make) => make({ options: { cwd: "/" } }));
	const view = new ToolView({ cwd: "/srv/app", toolOf: (name) => tools.find((tool) => tool.name === name) });
	const shown = (name: string) => [view.kind(name), view.title(name, { file: "a.txt" }), view.locations(name, { file: "a.txt" })];
	expect(shown("stat")).toEqual(["read", "Stat a.txt", [{ path: "/srv/app/a.txt" }]]);
	expect(shown("touch")).toEqual(["edit", "Touch a.txt", [{ path: "/srv/app/a.txt" }]]);

	const agent = open([{ tool: "stat", file: "a.txt" }], ["--session-dir", "sessions"]);
	const [output = ""] = await results(agent);
	const item = { kind: "tool", id: "1", name: "stat", args: { file: "a.txt" }, state: "done", output } as const;
	const rows = toolLines(item, { width: 60, isExpanded: false }).map((line) => line.map(({ text }) => text).join(""));
	expect(rows).toEqual(['✓ stat {"file":"a.txt"}', "    3 bytes"]);
	agent.send({ id: "2", type: "export_html", outputPath: "page.html" });
	await agent.response("2");
	const page = readFileSync(join(agent.cwd, "page.html"), "utf8");
	expect([page.includes('"name":"stat"'), page.includes("3 bytes")]).toEqual([true, true]);
});
