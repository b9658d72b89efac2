/** `bowline -p` and `--mode json` as a script in CI uses them: what is printed where, and the exit code. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually, processesWith } from "../lib/shell/processes.ts";
import { testUnless } from "../unless.ts";
import { program } from "../wire/support/agent.ts";
import { OneShot, once } from "./one-shot-process.ts";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const done = (stdout: string) => ({ code: 0, stdout, stderr: "" });

/** The frames of `--mode json`. */
const frames = (stdout: string) =>
	stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown> & { type: string });

/** The content of the first prompt, as the session file has it. */
function firstPrompt(stdout: string): unknown[] {
	const found = frames(stdout).find((frame) => frame.type === "message_end") as { message: { content: unknown[] } } | undefined;
	return found?.message.content ?? [];
}

describe("the answer", () => {
	test("only the final one is printed, whatever happened before it", async () => {
		const model = 'say "First I look." + call bash {"command":"echo noise; echo noise >&2"} · fail "529 overloaded" · say "It is\\n\\n**done**."';
		expect(await once(["-p", "do it"], { model })).toMatchObject({
			code: 0,
			stdout: "It is\n\n**done**.\n",
			stderr: expect.stringMatching(/^Warning: .*overloaded.* Attempt 1 of 3 follows in 0\.0\d+ s\.\n$/),
		});
	});

	test("each word is a prompt of its own, one after the other in one session", async () => {
		const ended = await once(["-p", "one", "two"], { model: 'say "to {{prompt}}" + call bash {"command":"true"} · say "1" · say "to {{prompt}}"' });
		expect(ended).toMatchObject(done("to two\n"));
		const [folder] = readdirSync(join(ended.folder, "user/sessions"));
		expect(readdirSync(join(ended.folder, "user/sessions", folder as string))).toHaveLength(1);
	});

	test("--mode text is the same, and a prompt may begin with a dash after --", async () => {
		expect(await once(["--mode", "text", "--", "-x is a flag"])).toMatchObject(done("-x is a flag\n"));
	});

	test("--continue goes on with the last session, --no-session writes nothing", async () => {
		const first = await once(["-p", "--no-session", "zero"]);
		expect(existsSync(join(first.folder, "user"))).toBe(false);
		const { folder } = await once(["-p", "one"]);
		const model = 'say "{{n}}"';
		const { stdout } = await once(["--mode", "json", "-c", "two"], { folder, model });
		const sessions = join(folder, "user/sessions");
		const files = readdirSync(join(sessions, readdirSync(sessions)[0] as string));
		expect(files).toHaveLength(1);
		expect(files[0]).toContain(String(frames(stdout)[0]?.id));
	});

	test("a long one is complete, however slowly it is read", async () => {
		const agent = new OneShot(["-p", "x".repeat(100_000)], { model: `say "${"word ".repeat(400_000)}end"` });
		agent.child.stdout.pause();
		const ended = agent.ended();
		await new Promise((resolve) => setTimeout(resolve, 4000));
		agent.child.stdout.resume();
		const { code, stdout } = await ended;
		expect([code, stdout.length, stdout.slice(-5)]).toEqual([0, 2_000_004, " end\n"]);
	});
});

describe("what the prompt is made of", () => {
	test("stdin comes before the prompt", async () => {
		expect(await once(["-p", "explain"], { stdin: "a failing test\n" })).toMatchObject(done("a failing test\n\nexplain\n"));
	});

	test("stdin alone is the prompt", async () => {
		expect(await once(["-p"], { stdin: "all of it\n" })).toMatchObject(done("all of it\n"));
	});

	test("text files are put in with their path, images come with them", async () => {
		const files = { "notes/a b.txt": "\ufeffsome text\n", "pixel.bin": png };
		const { code, stdout, folder } = await once(["--mode", "json", "@notes/a b.txt", "sum up", "@pixel.bin"], { files, stdin: "piped" });
		const work = join(folder, "work");
		const text = `piped\n\n<file name="${work}/notes/a b.txt">\nsome text\n</file>\n\n<file name="${work}/pixel.bin"></file>\n\nsum up`;
		expect(code).toBe(0);
		expect(firstPrompt(stdout)).toEqual([
			{ type: "text", text },
			{ type: "image", data: png.toString("base64"), mimeType: "image/png" },
		]);
	});

	test("an image can be piped in", async () => {
		const { stdout } = await once(["--mode", "json", "what is it?"], { stdin: png });
		expect(firstPrompt(stdout)).toMatchObject([{ text: "what is it?" }, { type: "image", mimeType: "image/png" }]);
	});

	test("a template is expanded with what is piped in before it", async () => {
		const files = { ".bowline/prompts/review.md": "Review with $1." };
		expect(await once(["-p", "--approve", "/review care"], { files, stdin: "the diff" })).toMatchObject(done("the diff\n\nReview with care.\n"));
	});

	test("a pipe that no one closes is not waited for", async () => {
		const agent = new OneShot(["-p", "hello"], { stdin: "open" });
		expect(await agent.ended()).toMatchObject({ code: 0, stdout: "hello\n", stderr: expect.stringContaining("</dev/null") });
	});

	test("a pipe that is named is waited for", async () => {
		const agent = new OneShot(["-p", "-", "hello"], { stdin: "open" });
		setTimeout(() => agent.child.stdin.end("late"), 3000);
		expect(await agent.ended()).toMatchObject(done("late\n\nhello\n"));
	});

	test("a terminal is not read", () => {
		const command = `'${process.execPath}' '${program}' --hermetic --no-session --provider scripted --model echo -p hello`;
		const { error, status, stdout } = spawnSync("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
			encoding: "utf8",
			stdio: ["pipe", "pipe", "pipe"],
		});
		// Not every system has it.
		if (error) return;
		expect([status, stdout]).toEqual([0, "hello\r\n"]);
	});
});

describe("exit codes", () => {
	test.each([
		["a failed reply", 'fail "401 the key was revoked"', ["hi"], "the key was revoked"],
		["a reply that was cut", 'say "half" + stop length', ["hi"], "The answer was cut"],
		["prompts behind a failed one", 'fail "400 no"', ["a", "b", "c"], "2 more prompts were not sent."],
	])("%s: 1, with the reason on stderr", async (_, model, words, reason) => {
		const { code, stdout, stderr } = await once(["-p", ...words], { model });
		expect([code, stdout]).toEqual([1, model.startsWith("say") ? "half\n" : ""]);
		expect(stderr).toContain(reason);
	});

	test.each([
		["stop", ""],
		["finish", "all I know\n"],
	])("a budget that is used up: 3, with the answer if there is one (%s)", async (onExceeded, stdout) => {
		const model = 'call bash {"command":"true"} · call bash {"command":"true"} · say "all I know" · say "never"';
		const flags = ["--set", "task.budget.maxToolCalls=2", "--set", "task.budget.warnAtRatio=0.5", "--set", `task.budget.onExceeded=${onExceeded}`];
		expect(await once(["-p", ...flags, "go", "and on"], { model })).toMatchObject({
			code: 3,
			stdout,
			stderr:
				"Warning: The budget is nearly used up (tool_calls).\nWarning: One more prompt was not sent.\nError: Session budget exceeded (tool_calls). Raise task.budget.maxToolCalls, or begin a new session.\n",
		});
	});

	test("no model: 1, with what to do", async () => {
		expect(await once(["-p", "--provider", "nobody", "--model", "none", "hi"])).toMatchObject({
			code: 1,
			stdout: "",
			stderr: expect.stringContaining("No model selected. "),
		});
	});

	test.each([
		[["-p", "@none.txt", "hi"], "@none.txt: No such file or directory: none.txt."],
		[["-p", "@.", "hi"], "@. is a directory."],
		[["-p", "@zip", "hi"], "zip is neither text nor an image, but a ZIP archive"],
		[["-p"], "What is the prompt?"],
		[["-p", " "], "The prompt is empty."],
		[["-p", "--fly", "hi"], "Unknown flag: --fly."],
		[["-p", "--config", "none.jsonc", "hi"], "Settings file not found: none.jsonc"],
		[["--mode", "xml", "hi"], "--mode must be text or json or rpc"],
		[["fix", "it"], 'Unknown command: fix. To ask a model: bowline -p "prompt".'],
		[[], "Nothing to do."],
		[["-p", "--fork", "a.jsonl", "--continue", "hi"], "--fork begins a new session, --session and --continue go on with one: pass only one of them."],
	])("%j is a wrong use: 2", async (words, problem) => {
		const { code, stdout, stderr } = await once(words, { files: { zip: "PK\x03\x04\0\0" } });
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toContain(`Error: ${problem}`);
		expect(stderr).not.toContain("    at ");
	});

	test("--print and --mode rpc exclude each other, with the code of RPC mode", async () => {
		expect(await once(["-p", "--mode", "rpc"])).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("pass only one") });
	});

	test.each([
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const)("%s: %i, and nothing that was started is left", async (signal, code) => {
		const mark = `MARK${process.pid}${signal}`;
		const command = "setsid sleep 600 & (trap '' TERM INT; sleep 600)";
		const agent = new OneShot(["--mode", "json", "go"], { model: `call bash ${JSON.stringify({ command })} · say "no"`, env: { ONCE_MARK: mark } });
		await agent.says("tool_execution_start");
		await eventually(() => processesWith(mark).some((line) => line.includes("sleep 600")), 20_000);
		const ended = agent.ended();
		agent.child.kill(signal);
		const { code: seen, stdout, stderr, folder } = await ended;
		expect([seen, stderr]).toEqual([code, ""]);
		expect(frames(stdout).at(-1)).toEqual({ type: "agent_settled", aborted: true });
		expect(processesWith(mark)).toEqual([]);
		expect(readdirSync(join(folder, "user/sessions"), { recursive: true }).filter((name) => String(name).endsWith(".lock"))).toEqual([]);
	});

	test("an interruption while stdin is read ends at once", async () => {
		const agent = new OneShot(["-p"], { stdin: "open" });
		agent.child.stdin.write("begin");
		// No event shows when it reads; a signal before the handler exists ends it too.
		await new Promise((resolve) => setTimeout(resolve, 1500));
		const ended = agent.ended();
		agent.child.kill("SIGINT");
		expect(await ended).toMatchObject({ code: 130, stdout: "", stderr: "" });
	});

	testUnless(!existsSync("/dev/full") && "there is no /dev/full")("a stdout that takes nothing is an error", () => {
		const command = `'${process.execPath}' '${program}' -p --hermetic --no-session --provider scripted --model echo hi </dev/null >/dev/full`;
		const { status, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
		expect([status, stderr]).toEqual([1, "Error: stdout could not be written: ENOSPC\n"]);
	});

	test("a reader that leaves early ends it quietly", () => {
		const flags = "--hermetic --no-session --provider scripted --model echo";
		const command = `'${process.execPath}' '${program}' --mode json ${flags} $(seq 200) </dev/null | head -1; echo "\${PIPESTATUS[0]}"`;
		const { stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
		const [header, code] = stdout.trim().split("\n");
		expect(JSON.parse(header as string)).toMatchObject({ type: "session" });
		expect([code, stderr]).toEqual(["141", ""]);
	});
});

describe("--mode json", () => {
	test("the session's header, then each event as hosts get it, delta only", async () => {
		const { code, stdout, stderr, folder } = await once(["--mode", "json", "hi"], { model: 'say "hello"' });
		const all = frames(stdout);
		expect([code, stderr]).toEqual([0, ""]);
		expect(all.map(({ type }) => type)).toEqual([
			"session",
			"agent_start",
			"turn_start",
			"message_start",
			"message_end",
			"message_start",
			"message_update",
			"message_update",
			"message_update",
			"message_end",
			"turn_end",
			"agent_end",
			"agent_settled",
		]);
		expect(all[6]).not.toHaveProperty("message");
		const file = (all.at(-2) as { sessionFile?: string } | undefined)?.sessionFile as string;
		expect(file).toContain(folder);
		expect(JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] as string)).toEqual(all[0]);
	});

	test("--dialect is that of the events", async () => {
		const { code, stdout } = await once(["--mode", "json", "--dialect", "pi", "hi"]);
		const all = frames(stdout);
		expect([code, all[0]?.type]).toEqual([0, "session"]);
		expect(all).toContainEqual(expect.objectContaining({ type: "message_start", message: expect.objectContaining({ stopReason: "pending" }) }));
	});

	test("--updates full sends snapshots", async () => {
		const { stdout } = await once(["--mode", "json", "--updates", "full", "hi"]);
		expect(frames(stdout).find(({ type }) => type === "message_update")).toHaveProperty("message");
	});

	test("the last line has the error of a reply that failed, and the code is 1; 0 in dialect pi", async () => {
		const model = 'fail "400 no such thing" · fail "400 no such thing"';
		const flags = ["--mode", "json", "--set", "retry.enabled=false"];
		const ours = await once([...flags, "hi"], { model });
		expect([ours.code, frames(ours.stdout).at(-1)]).toEqual([
			1,
			{ type: "agent_settled", aborted: false, errorMessage: expect.stringContaining("no such thing") },
		]);
		// There, further prompts are sent, too.
		const theirs = await once([...flags, "--dialect", "pi", "hi", "and"], { model: `${model} · say "x"` });
		expect([theirs.code, frames(theirs.stdout).at(-1)]).toEqual([0, frames(ours.stdout).at(-1)]);
		expect(frames(theirs.stdout).filter(({ type }) => type === "agent_settled")).toHaveLength(2);
		expect(theirs.stderr).toContain("no such thing");
		expect((await once(["-p", "--dialect", "pi", "hi"], { model })).code).toBe(1);
	});

	test("a prompt that cannot run ends with 1 in dialect pi, too", async () => {
		const { code } = await once(["--mode", "json", "--dialect", "pi", "--provider", "nobody", "--model", "none", "hi"]);
		expect(code).toBe(1);
	});

	test("a prompt that is refused is in the stream and on stderr", async () => {
		const { code, stdout, stderr } = await once(["--mode", "json", "--provider", "nobody", "--model", "none", "hi"]);
		const [header, refusal, ...rest] = frames(stdout);
		expect(code).toBe(1);
		expect([header?.type, refusal, rest]).toEqual([
			"session",
			{ type: "response", command: "prompt", success: false, error: expect.stringContaining("No model selected."), code: "no_model" },
			[],
		]);
		expect(stderr).toContain("Error: No model selected.");
	});
});

describe("extensions", () => {
	const extended = (body: string, words: string[], more: Parameters<typeof once>[1] = {}) =>
		once(["-e", "a.ts", ...words], { ...more, files: { ...more.files, "a.ts": `export default (api) => { ${body} }` } });

	test("dialogs get their defaults, notices go to stderr, and stdout stays clean", async () => {
		const body = `api.on("session_start", async (_, { ui, hasUI }) => {
			console.log("noise");
			process.stdout.write("noise\\n");
			const answers = [hasUI, await ui.select("t", ["a"]), await ui.confirm("t", "m"), await ui.input("t"), await ui.editor("t")];
			ui.notify(JSON.stringify(answers), "warning");
		});`;
		const { code, stdout, stderr } = await extended(body, ["-p", "hi"]);
		expect([code, stdout]).toEqual([0, "hi\n"]);
		expect(stderr).toContain("Warning: [false,null,false,null,null]");
	});

	test("a command runs to its end, with the runs that it starts", async () => {
		const body = `api.registerCommand("late", { description: "d", handler: async (args, context) => {
			await new Promise((resolve) => setTimeout(resolve, 50));
			await context.newSession();
			api.sendUserMessage("do it " + args);
		} });`;
		expect(await extended(body, ["-p", "/late now"])).toMatchObject(done("do it now\n"));
		expect(await extended(body, ["-p", "/late now"], { stdin: "context" })).toMatchObject({
			code: 1,
			stdout: "",
			stderr: expect.stringContaining("/late is a command of an extension"),
		});
	});

	test("a word after a switch of theirs is a prompt, in its place", async () => {
		const body = `api.registerFlag("plan", { type: "boolean", description: "d" });
			api.on("before_agent_start", () => ({ systemPrompt: String(api.getFlag("plan")) }));`;
		expect(await extended(body, ["-p", "one", "--plan", "two"])).toMatchObject(done("two\n"));
	});

	test.each([
		["a hook", "api.on('input', () => new Promise(() => {}));", "hi", "input"],
		["the start", "api.on('session_start', () => new Promise(() => {}));", "hi", "session_start"],
		["a command", "api.registerCommand('hang', { handler: () => new Promise(() => {}) });", "/hang", "/hang"],
	])("%s that never ends, with nothing left that could happen, is a failure with a name", async (_, body, prompt, what) => {
		const shutdown = "api.on('session_shutdown', () => console.log('last word'));";
		const { code, stderr } = await extended(body + shutdown, ["-p", prompt]);
		expect(code).toBe(1);
		expect(stderr).toMatch(/^Error: Nothing happens any more, and the work is not done\. Extension .*a\.ts never ends/);
		expect(stderr).toContain(` never ends ${what}.\nlast word\n`);
	});

	test("one that was named and cannot be loaded ends it before anything is asked", async () => {
		const refused = "Error: Nothing was asked: an extension that --extension names could not be loaded.\n";
		const missing = await once(["-e", "gate.ts", "-p", "hi"]);
		expect(missing).toMatchObject({ code: 2, stdout: "" });
		expect(missing.stderr).toMatch(/^Warning: Extension .*gate\.ts could not be loaded: There is no such file or directory\.\n/);
		expect(missing.stderr).toContain(refused);
		const inside = await once(["-e", "gates", "-p", "hi"], { files: { "gates/broken.ts": "export default (" } });
		expect(inside).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(refused) });
		// Extensions that are found automatically are not worth a failure.
		const found = await once(["-p", "hi"], { files: { "user.ts": "export default (" }, env: { BOWLINE_SETTINGS: '{"extensions":["./user.ts"]}' } });
		expect(found).toMatchObject({ code: 0, stdout: "hi\n" });
	});

	test("what an extension says after a run is waited for", async () => {
		const body = `let said = false; api.on("agent_end", () => { if (!said) { said = true; api.sendUserMessage("and now this"); } });`;
		expect(await extended(body, ["-p", "first"])).toMatchObject(done("and now this\n"));
	});
});

describe("a value by schema", () => {
	const files = { "schema.json": '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}' };
	const args = ["-p", "--output-schema", "schema.json", "count"];

	test("is alone on stdout", async () => {
		const model = 'say "I think." + call bash {"command":"true"} · call submit_result {"result":{"data":{"n":3}}}';
		expect(await once(args, { model, files })).toMatchObject(done('{"n":3}\n'));
	});

	test("belongs to the last of several prompts", async () => {
		const model = 'say "ready" · call submit_result {"result":{"data":{"n":4}}}';
		expect(await once([...args.slice(0, 3), "get ready", "count"], { model, files })).toMatchObject(done('{"n":4}\n'));
	});

	test("that is not obtained leaves stdout empty, a reason on stderr and code 5", async () => {
		const ended = await once(args, { model: 'always + say "4"', files });
		expect(ended).toMatchObject({
			code: 5,
			stdout: "",
			stderr: expect.stringContaining("There is no value that fits the schema. The model stopped"),
		});
	});

	test("a failed reply keeps its own code", async () => {
		expect(await once(args, { model: 'fail "400 no"', files })).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("400 no") });
	});

	test("is in agent_end of --mode json, which has the same codes", async () => {
		const ended = await once(["--mode", "json", ...args.slice(1)], { model: 'call submit_result {"result":{"data":{"n":5}}}', files });
		expect(ended.code).toBe(0);
		expect(frames(ended.stdout).findLast(({ type }) => type === "agent_end")).toMatchObject({ output: { n: 5 } });
	});

	test.each([
		[{ "schema.json": "{" }, "schema.json is not JSON"],
		[{ "schema.json": "[]" }, "a JSON Schema is an object"],
		[{ "schema.json": '{"type":"text"}' }, 'schema.type "text" is not one of object'],
		[{ "schema.json": '{"type":"string","pattern":"("}' }, "the schema cannot be used"],
		[{ "schema.json": JSON.stringify({ description: "x".repeat(70_000) }) }, "at most 65536 are allowed"],
		[{}, "schema.json cannot be read"],
	])("a schema file that is wrong is wrong use: %j", async (wrong, text) => {
		expect(await once(args, { files: wrong as Record<string, string> })).toMatchObject({
			code: 2,
			stdout: "",
			stderr: expect.stringContaining(text),
		});
	});
});

test.each([
	[["--tools", "raed,bash"], "Error: Nothing was asked. --tools: there is no tool raed. Did you mean read? There are read, bash"],
	[["--exclude-tools", "bahs"], "Error: Nothing was asked. --exclude-tools: there is no tool bahs. Did you mean bash? There are read, bash"],
	[["--skill", "nowhere"], "Error: --skill nowhere: there is no such file or directory."],
])("%j is wrong use: no model is asked with less than was named", async (args, text) => {
	const { code, stdout, stderr } = await new OneShot(["-p", ...args, "hi"]).ended();
	expect([code, stdout]).toEqual([2, ""]);
	expect(stderr).toContain(text);
	expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("a scripted stall lasts until the signal", async () => {
	const shot = new OneShot(["-p", "hi"], { model: 'say "one" + stall' });
	const timer = setTimeout(() => shot.child.kill("SIGTERM"), 1000);
	const { code, stderr } = await shot.ended();
	clearTimeout(timer);
	expect([code, stderr]).toEqual([143, ""]);
});
