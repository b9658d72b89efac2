import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInScripts, demoRepository, loadScript, parseScript, scriptedModel } from "../../../src/models/scripted/index.ts";
import { ask, last, player, result, say, user } from "./ask.ts";

const examples = join(import.meta.dirname, "../../../examples/scripts");
let folder = "";
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "bowline-script-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("finding a script", () => {
	test("by a path relative to the working directory, with comments, trailing commas and a byte order mark", async () => {
		writeFileSync(join(folder, "my.jsonc"), '\ufeff{\n\t// first\n\t"replies": [{ "text": "hi", }, /* end */],\n}\n');
		const script = { replies: [{ text: "hi" }] };
		expect(await loadScript("my.jsonc", folder)).toEqual({ script, source: "my.jsonc" });
		expect(await loadScript("./my.jsonc", folder)).toEqual({ script, source: "./my.jsonc" });
		expect(await loadScript(join(folder, "my.jsonc"), "/")).toEqual({ script, source: join(folder, "my.jsonc") });
	});

	test.each(["demo", "echo"])("built in: %s", async (name) => {
		expect(await loadScript(name, folder)).toEqual({ script: builtInScripts[name], source: name });
		expect(parseScript(JSON.stringify(builtInScripts[name]), name)).toEqual({ script: builtInScripts[name], source: name });
	});

	test.each(["nothing.jsonc", "toString", "my.jsonc/inside"])("not there: %s", async (name) => {
		expect(await loadScript(name, folder)).toEqual({
			problem: `Script not found: ${name}. Name a .jsonc file or a built-in script (demo, echo).`,
		});
	});

	test("a folder", async () => {
		expect(await loadScript(".", folder)).toEqual({ problem: expect.stringMatching(/^Script cannot be read: \.: EISDIR/) });
	});
});

describe("problems name the line and the remedy", () => {
	const reply = (text: string) => `{\n\t"replies": [\n\t\t{ "text": "fine" },\n\t\t${text}\n\t]\n}`;
	test.each([
		["", "1:1: the script is empty"],
		['{\n\t// nothing\n\t"replies": [}', "3:14: value expected"],
		['{ "replies": [{ text: "a" }] }', "1:17: invalid symbol"],
		['{ "replies": [] } 1', "1:19: end of file expected"],
		['{ "replies": ["a", }', "1:20: value expected"],
		["[]", "1:1: a script must be an object"],
		["{}", "1:1: a script needs replies"],
		['{ "replies": {} }', "1:14: replies: must be a list"],
		['{ "reply": [], "replies": [] }', "1:3: reply: unknown member; did you mean replies?"],
		['{ "replies": [], "zzzzzz": 1 }', "1:18: zzzzzz: unknown member; known are $schema, name, model, replies"],
		['{ "replies": [], "replies": [] }', "1:18: replies: is given twice"],
		['{ "replies": [], "constructor": 1 }', "1:18: constructor: unknown member; known are $schema, name, model, replies"],
		['{ "replies": [], "model": { "input": ["sound"] } }', '1:39: model.input[0]: must be "text" or "image"'],
		[reply('"hello"'), "4:3: replies[1]: must be an object"],
		[reply('{ "txt": "a" }'), "4:5: replies[1].txt: unknown member; did you mean text?"],
		[reply('{ "Text": "a" }'), "4:5: replies[1].Text: unknown member; did you mean text?"],
		[reply('{ "text": 1 }'), "4:13: replies[1].text: must be a string"],
		[reply('{ "times": 0 }'), '4:14: replies[1].times: must be a whole number from 1 or "always"'],
		[reply('{ "delayMs": -1 }'), "4:16: replies[1].delayMs: must be a whole number from 0"],
		[reply('{ "stop": "end" }'), '4:13: replies[1].stop: must be "stop", "length" or "toolUse"'],
		[reply('{ "stall": 1 }'), '4:14: replies[1].stall: must be true or false or "mid-block"'],
		[reply('{ "fail": { "status": 42 } }'), "4:25: replies[1].fail.status: must be a whole number from 100 to 599"],
		[reply('{ "repeat": { "text": "a" } }'), "4:15: replies[1].repeat: needs count"],
		[reply('{ "repeat": { "text": "", "count": 1 } }'), "4:25: replies[1].repeat.text: must be a string that is not empty"],
		[reply('{ "when": { "dept": 1 } }'), "4:15: replies[1].when.dept: unknown member; did you mean depth?"],
		[reply('{ "when": { "matches": "(" } }'), expect.stringMatching(/^4:26: replies\[1\]\.when\.matches: Invalid regular expression: .*$/)],
		[reply('{ "blocks": [1] }'), "4:16: replies[1].blocks[0]: must be an object"],
		[reply('{ "blocks": [{}] }'), "4:16: replies[1].blocks[0]: a block needs one of text, thinking or tool"],
		[reply('{ "blocks": [{ "txt": "a" }] }'), "4:16: replies[1].blocks[0]: a block needs one of text, thinking or tool"],
		[
			reply('{ "blocks": [{ "text": "a", "tool": "b" }] }'),
			"4:16: replies[1].blocks[0]: a block is one of text, thinking or tool, not text and tool at once",
		],
		[reply('{ "blocks": [{ "tool": "b", "argument": {} }] }'), "4:31: replies[1].blocks[0].argument: unknown member; did you mean arguments?"],
		[reply('{ "blocks": [{ "tool": "b", "arguments": [] }] }'), "4:44: replies[1].blocks[0].arguments: must be an object or a string"],
		[reply('{ "blocks": [{ "text": "b", "pieces": 0 }] }'), "4:41: replies[1].blocks[0].pieces: must be a whole number from 1"],
		[reply('{ "cut": true, "stall": true }'), "4:3: replies[1]: a reply ends in one way, not with stall and cut"],
		[reply('{ "cut": true, "stop": "stop" }'), "4:26: replies[1]: a reply with cut has no stop"],
		[reply('{ "text": 1, "foo": 2, "times": "x" }'), "4:13: replies[1].text: must be a string (and 2 more)"],
		[reply('{ "a\\nb": 1 }'), expect.stringContaining("4:5: replies[1].a b: unknown member; known are when, ")],
	])("%j", (text, expected) => {
		const loaded = parseScript(text, "my.jsonc");
		expect("problem" in loaded ? loaded.problem.replace(/^my\.jsonc:/, "") : loaded).toEqual(expected);
		expect("problem" in loaded && loaded.problem).toMatch(/^my\.jsonc:\d+:\d+: [^\n]+$/);
	});

	test("lines are counted the same with Windows line ends", () => {
		expect(parseScript('{\r\n\t"replies": [\r\n\t\t1\r\n\t]\r\n}', "w.jsonc")).toEqual({ problem: "w.jsonc:3:3: replies[0]: must be an object" });
	});
});

describe("the model a script pretends to be", () => {
	test("has defaults, and what the script says of it", () => {
		const plain = {
			id: "./a.jsonc",
			name: "./a.jsonc",
			api: "scripted",
			provider: "scripted",
			baseUrl: "scripted:",
			reasoning: true,
			input: ["text", "image"],
			contextWindow: 200_000,
			maxTokens: 32_000,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		};
		expect(scriptedModel("./a.jsonc")).toEqual(plain);
		expect(scriptedModel("./a.jsonc", { name: "Small", model: { contextWindow: 1000, reasoning: false }, replies: [] })).toEqual({
			...plain,
			name: "Small",
			contextWindow: 1000,
			reasoning: false,
		});
	});
});

describe("the examples", () => {
	test.each(readdirSync(examples))("%s is a script", async (name) => {
		expect(await loadScript(name, examples)).toEqual({ script: expect.anything(), source: name });
	});

	const words = ["start", "text_start", "text_delta", "text_end", "done"];
	const fail = ["start", "error"];
	const call = ["start", "toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end", "done"];
	test.each([
		["retry", [fail, fail, words]],
		["limit", [fail, words]],
		["key", [fail, fail]],
		["cut", [call.slice(0, 4).concat("error"), words]],
		["broken", [call]],
		["slow", [words]],
		["flood", [words]],
		["hello", [words]],
	])("trouble.jsonc: %s", async (prompt, expected) => {
		const loaded = await loadScript("trouble.jsonc", examples);
		if (!("script" in loaded)) throw new Error("problem" in loaded ? loaded.problem : "It is a record.");
		const from = player(loaded.script, { sleep: async () => "elapsed" });
		const seen = [];
		for (const _ of expected) {
			const types = (await ask(from, { messages: [user(prompt)] })).map((event) => event.type);
			seen.push(types.filter((type, index) => type !== "text_delta" || types[index - 1] !== "text_delta"));
		}
		expect(seen).toEqual(expected);
	});
});

describe("built-in scripts", () => {
	const builtIn = (name: string) => player(builtInScripts[name] ?? { replies: [] }, { sleep: async () => "elapsed" });

	test("echo answers with the prompt, always", async () => {
		const echo = builtIn("echo");
		expect([await say(echo, user("one")), await say(echo, user("two"), result("bash", "x"))]).toEqual(["one", "two"]);
	});

	test("demo looks, edits, checks and sums up", async () => {
		const demo = builtIn("demo");
		const steps = [];
		const said = [user("fix it")];
		for (const results of [
			[],
			[result("bash", "1 failed", true), result("read", demoRepository["src/cart.js"] ?? "")],
			[result("edit", "ok")],
			[result("bash", "passed")],
		]) {
			said.push(...results);
			const message = last(await ask(demo, { messages: said }));
			if (message) said.push(message);
			steps.push(message?.content.map((block) => (block.type === "toolCall" ? block.name : block.type)));
		}
		expect(steps).toEqual([["thinking", "text", "bash", "read"], ["text", "edit"], ["text", "bash"], ["text"]]);
		expect(await say(demo, user("more"))).toMatch(/^The demo script ends here/);
	});

	test("demo says so when the test still fails", async () => {
		const demo = builtIn("demo");
		for (let step = 0; step < 3; step++) await ask(demo);
		expect(await say(demo, result("bash", "1 failed", true))).toMatch(/^The tests still fail/);
	});

	test("the demo's edit turns the demo repository's failing test green", async () => {
		const home = join(folder, "demo");
		for (const [path, content] of Object.entries(demoRepository)) {
			mkdirSync(dirname(join(home, path)), { recursive: true });
			writeFileSync(join(home, path), content);
		}
		const run = () =>
			promisify(execFile)(process.execPath, ["--test"], { cwd: home, env: { ...process.env, NODE_OPTIONS: "" } }).then(
				() => "green",
				(error) => (/expected: 17|17/.test(error.stdout) ? "red" : error),
			);
		const before = await run();
		const demo = builtIn("demo");
		await ask(demo);
		const call = last(await ask(demo))?.content.find((block) => block.type === "toolCall");
		const { path, edits } = (call?.arguments ?? {}) as { path: string; edits: { oldText: string; newText: string }[] };
		const source = demoRepository[path] ?? "";
		const [edit] = edits;
		expect([edits.length, source.split(edit?.oldText ?? "").length]).toEqual([1, 2]);
		writeFileSync(join(home, path), source.replace(edit?.oldText ?? "", edit?.newText ?? ""));
		expect([before, await run()]).toEqual(["red", "green"]);
	});
});
