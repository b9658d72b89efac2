/** The parts of the task tool that need no process: agents, answers, artifacts, room. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { validateArguments } from "../../src/agent/validate.ts";
import { answerSchema } from "../../src/answers/answer-schema.ts";
import { submission } from "../../src/answers/submit-result.ts";
import { type AgentPlaces, loadAgents, onlyReads, parseAgent } from "../../src/subagents/agents.ts";
import { Artifacts } from "../../src/subagents/artifacts.ts";
import { Semaphore } from "../../src/subagents/semaphore.ts";

function folder(files: Record<string, string> = {}): string {
	const root = realpathSync(mkdtempSync(join(tmpdir(), "bowline-task-")));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(join(root, path)), { recursive: true });
		writeFileSync(join(root, path), content);
	}
	return root;
}

const agentFile = (name: string, description = `About ${name}.`) => `---\nname: ${name}\ndescription: ${description}\n---\nYou are ${name}.\n`;

async function load(root: string, changes: Partial<AgentPlaces> = {}) {
	const warnings: string[] = [];
	const places = { cwd: join(root, "repo/sub"), userDirectory: join(root, "user"), isTrusted: true, warn: (text: string) => warnings.push(text) };
	const { list, projectDirectory } = await loadAgents({ ...places, ...changes });
	return { names: list.map(({ name, source }) => `${name} ${source}`), list, projectDirectory, warnings };
}

const bundled = ["task bundled", "explore bundled", "plan bundled", "reviewer bundled"];

test("agents: nearest project directory first, then the user's, then our own; of one name the first", async () => {
	const root = folder({
		"repo/.git/HEAD": "",
		"repo/sub/.bowline/agents/near.md": agentFile("near"),
		"repo/.bowline/agents/near.md": agentFile("near", "Not this one."),
		"repo/.bowline/agents/explore.md": agentFile("explore"),
		"user/agents/mine.md": agentFile("mine"),
		".bowline/agents/above.md": agentFile("above"),
	});
	const { names, list, projectDirectory, warnings } = await load(root);
	expect(names).toEqual(["near project", "explore project", "mine user", "task bundled", "plan bundled", "reviewer bundled"]);
	expect(list[0]).toEqual({ name: "near", description: "About near.", prompt: "You are near.", spawns: [], source: "project" });
	expect(projectDirectory).toBe(join(root, "repo/sub/.bowline/agents"));
	expect(warnings).toEqual([]);
});

test("agents: a project that is not trusted brings none, a hermetic process takes only our own", async () => {
	const root = folder({ "repo/.git/HEAD": "", "repo/sub/.bowline/agents/a.md": agentFile("a"), "user/agents/b.md": agentFile("b") });
	expect((await load(root, { isTrusted: false })).names).toEqual(["b user", ...bundled]);
	expect((await load(root, { userDirectory: undefined })).names).toEqual(bundled);
});

test("agents: outside of a repository nothing above the working directory is the project's", async () => {
	const root = folder({ "repo/sub/.bowline/agents/a.md": agentFile("a"), "repo/.bowline/agents/b.md": agentFile("b") });
	expect((await load(root)).names).toEqual(["a project", ...bundled]);
});

test("agents: a file that cannot be used is passed over with a reason", async () => {
	const root = folder({
		"user/agents/bare.md": "---\nname: bare\n---\nText.",
		"user/agents/empty.md": agentFile("empty").replace("You are empty.\n", ""),
		"user/agents/odd.md": agentFile("../odd"),
		"user/agents/dir.md/x": "",
		"user/agents/tools.md": agentFile("tools").replace("description", "tools: {read: true}\ndescription"),
		"user/agents/signs.md": agentFile("signs").replace("description", "tools: +grep, -write\ndescription"),
		"user/agents/level.md": agentFile("level").replace("description", "thinking-level: much\noutput: text\ndescription"),
	});
	execFileSync("mkfifo", [join(root, "user/agents/pipe.md")]);
	const { names, warnings } = await load(root);
	expect(names).toEqual(["level user", ...bundled]);
	const at = (name: string) => `Agent ${join(root, "user/agents", name)}`;
	expect(warnings).toEqual([
		`${at("bare.md")} is passed over: it needs a description, which says when to use it.`,
		`${at("dir.md")} is passed over: it is not a regular file.`,
		`${at("empty.md")} is passed over: it has no text, which would tell it what to do.`,
		`${at("level.md")}: thinking-level must be one of off, minimal, low, medium, high, xhigh; it is ignored.`,
		`${at("level.md")}: output must be a schema, that is keys and values; it is ignored.`,
		`${at("odd.md")} is passed over: its name "../odd" must be made of letters, digits, dots, dashes and underscores.`,
		`${at("pipe.md")} is passed over: it is not a regular file.`,
		`${at("signs.md")} is passed over: its tools must be plain names: only --tools changes the default set with + and -.`,
		`${at("tools.md")} is passed over: its tools must be names with commas between them, or a list.`,
	]);
});

test.each([
	["tools: read, bash", { tools: ["read", "bash"], spawns: [] }],
	["tools: [read, task]", { tools: ["read", "task"], spawns: "*" }],
	["tools:\n  - read\nspawns: explore, plan", { tools: ["read"], spawns: ["explore", "plan"] }],
	["spawns: '*'", { spawns: "*" }],
	["spawns: none", { spawns: [] }],
	["model: a/b, c:high\nthinking-level: off", { model: ["a/b", "c:high"], thinkingLevel: "off", spawns: [] }],
	["output:\n  properties:\n    n: {type: int32}", { output: { properties: { n: { type: "int32" } } }, spawns: [] }],
])("agents: %s", async (line, expected) => {
	const read = await parseAgent(`---\ndescription: D.\n${line}\n---\nDo it.`, "mine", "user");
	expect(read).toEqual({ notes: [], agent: { name: "mine", description: "D.", prompt: "Do it.", source: "user", ...expected } });
});

test("agents: who only reads is known", () => {
	const agent = { name: "a", description: "", prompt: "", source: "user" as const };
	expect(onlyReads({ ...agent, tools: ["read", "grep"], spawns: [] })).toBe(true);
	expect(onlyReads({ ...agent, tools: ["read", "bash"], spawns: [] })).toBe(false);
	expect(onlyReads({ ...agent, tools: ["read"], spawns: ["task"] })).toBe(false);
	expect(onlyReads({ ...agent, spawns: [] })).toBe(false);
});

test("schemas: a type definition becomes a JSON Schema, a JSON Schema stays", () => {
	const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
	expect(answerSchema(schema)).toEqual(schema);
	expect(answerSchema({})).toBeUndefined();
	expect(answerSchema("text")).toBeUndefined();
	expect(
		answerSchema({
			properties: { name: { type: "string", metadata: { description: "Its name." } }, size: { type: "uint8", nullable: true } },
			optionalProperties: { tags: { elements: { enum: ["a", "b"] } }, more: { values: { type: "float64" } }, inner: { ref: "inner" } },
			definitions: { inner: { elements: { ref: "inner" } } },
		}),
	).toMatchObject({
		type: "object",
		properties: {
			name: { type: "string", description: "Its name." },
			size: { anyOf: [{ type: "integer" }, { type: "null" }] },
			tags: { type: "array", items: { enum: ["a", "b"] } },
			more: { type: "object", additionalProperties: { type: "number" } },
			inner: { type: "array", items: { type: "array" } },
		},
		required: ["name", "size"],
	});
	expect(answerSchema({ discriminator: "kind", mapping: { a: { properties: { x: { type: "string" } } } } })).toEqual({
		anyOf: [{ type: "object", properties: { kind: { const: "a" }, x: { type: "string" } }, required: ["kind", "x"] }],
	});
});

function submitter(schema?: unknown) {
	const { tool, policy } = submission({
		shape: answerSchema(schema),
		limits: { refusals: 1, mayOverride: true, reminders: 3 },
		validate: validateArguments,
		now: () => 0,
	});
	const submit = async (args: Record<string, unknown>) => {
		const held = await validateArguments({ ...tool, parameters: tool.accepted as Record<string, unknown> }, tool.adapt?.(args) ?? args);
		if ("problems" in held) return held;
		const call = { toolCallId: "1", args: held.args, signal: new AbortController().signal, onUpdate: () => undefined };
		return tool.execute(call).then(
			({ details }) => details,
			(error: Error) => error.message,
		);
	};
	return { submit, policy };
}

test("submit_result: a wrong shape is refused once and then taken; a third call is too late", async () => {
	const { submit } = submitter({ properties: { count: { type: "int32" } } });
	expect(await submit({ result: { data: { count: "many" } } })).toMatch(/^The result does not have the required shape.*\n {2}- data\.count: /s);
	expect(await submit({ result: { data: { count: "lots" } } })).toEqual({ status: "success", data: { count: "lots" }, schemaOverridden: true });
	expect(await submit({ result: { data: { count: 1 } } })).toBe("The result has been submitted already. There is nothing more to do.");
});

test.each([
	[{ result: { data: { count: 1 } } }, { status: "success", data: { count: 1 } }],
	[{ data: { count: 1 } }, { status: "success", data: { count: 1 } }],
	[{ result: '{"data":{"count":1}}' }, { status: "success", data: { count: 1 } }],
	[{ result: { count: 1 } }, { status: "success", data: { count: 1 } }],
	[{ result: { error: "no way" } }, { status: "error", error: "no way" }],
	[{ result: { data: { count: 1 }, error: "both" } }, "Give either result.data or result.error."],
	[{ result: {} }, { status: "success", data: {} }],
])("submit_result: %j", async (args, expected) => {
	const { submit } = submitter({ type: "object", properties: { count: { type: "integer" } } });
	expect(await submit(args as Record<string, unknown>)).toEqual(expected);
});

test("submit_result: a schema may have definitions", async () => {
	const { submit } = submitter({ $defs: { n: { type: "integer" } }, type: "object", properties: { n: { $ref: "#/$defs/n" } }, required: ["n"] });
	expect(await submit({ result: { data: { n: {} } } })).toMatch(/does not have the required shape/);
	expect(await submit({ result: { data: { n: 3 } } })).toEqual({ status: "success", data: { n: 3 } });
});

test("submit_result: without a schema, or with one that cannot be used, anything is an answer", async () => {
	expect(await submitter().submit({ result: { data: "text" } })).toEqual({ status: "success", data: "text" });
	expect(await submitter({ type: "object", pattern: "(" }).submit({ result: { data: { a: 1 } } })).toEqual({ status: "success", data: { a: 1 } });
});

test("submit_result: who stops without it is reminded three times, not after a failure, not when it is done", async () => {
	const { submit, policy } = submitter();
	const signal = new AbortController().signal;
	const ok = { messages: [], last: undefined, failure: undefined };
	expect(await policy.settle?.({ ...ok, failure: { kind: "permanent" } }, signal)).toBeUndefined();
	for (const count of [1, 2, 3]) {
		expect(policy.foresee?.(ok)).toBe(true);
		const again = await policy.settle?.(ok, signal);
		expect(again?.messages).toMatchObject([{ role: "developer", content: expect.stringContaining(`reminder ${count} of 3`) }]);
		expect(again?.tool).toBe("submit_result");
	}
	expect(policy.foresee?.(ok)).toBe(false);
	expect(await policy.settle?.(ok, signal)).toBeUndefined();
	const other = submitter();
	await other.submit({ result: { data: 1 } });
	expect(await other.policy.settle?.(ok, signal)).toBeUndefined();
	expect(await submit({ result: { data: 1 } })).toEqual({ status: "success", data: 1 });
});

test("artifacts: ids are numbered, never given twice, and go on after what is there", () => {
	const root = folder({ "s/4-Old.md": "", "s/9-Other.patch": "", "s/20.md": "", "s/2-A.11-B.md": "" });
	const artifacts = new Artifacts({ sessionFile: () => join(root, "s.jsonl"), warn: () => undefined, atExit: () => undefined });
	const directory = artifacts.directory();
	expect(directory).toBe(join(root, "s"));
	expect([artifacts.reserve(directory, "A"), artifacts.reserve(directory, "A"), artifacts.reserve(directory, "B")]).toEqual(["10-A", "11-A", "12-B"]);
	const nested = new Artifacts({
		sessionFile: () => undefined,
		inherited: { directory, id: "10-A" },
		warn: () => undefined,
		atExit: () => undefined,
	});
	expect([nested.reserve(directory, "C"), nested.reserve(directory, "C")]).toEqual(["10-A.0-C", "10-A.1-C"]);
});

test("artifacts: without a session they are private and go, except work that is nowhere else", () => {
	const warnings: string[] = [];
	const artifacts = new Artifacts({ sessionFile: () => undefined, warn: (text) => warnings.push(text), atExit: () => undefined });
	const directory = artifacts.directory();
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	artifacts.reserve(directory, "A");
	writeFileSync(join(directory, "0-A.patch"), "work");
	artifacts.keep(join(directory, "0-A.patch"));
	const inherited = { directory, id: "0-A" };
	const nested = new Artifacts({ sessionFile: () => undefined, inherited, warn: () => undefined, atExit: () => undefined });
	for (const name of ["0-A.0-B.patch", "0-A.1-C.patch"]) {
		writeFileSync(join(directory, name), "inner work");
		nested.keep(join(directory, name));
	}
	nested.release(join(directory, "0-A.1-C.patch"));
	artifacts.close();
	const kept = ["0-A.0-B.patch", "0-A.patch"];
	expect(readdirSync(directory).sort()).toEqual(kept);
	expect(warnings.map((text) => kept.filter((name) => text.includes(join(directory, name))))).toEqual([kept]);
	const other = new Artifacts({ sessionFile: () => undefined, warn: () => undefined, atExit: () => undefined });
	const gone = other.directory();
	other.close();
	expect(existsSync(gone)).toBe(false);
});

test("semaphore: so many at once, in order, and who is aborted while waiting does not get in", async () => {
	const room = new Semaphore(() => 1);
	const { signal } = new AbortController();
	const impatient = new AbortController();
	expect(await room.enter(signal)).toBe(true);
	const second = room.enter(impatient.signal);
	const third = room.enter(signal);
	impatient.abort();
	expect(await second).toBe(false);
	room.leave();
	expect(await third).toBe(true);
	expect(await new Semaphore(() => 0).enter(signal)).toBe(true);
});
