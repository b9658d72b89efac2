/** The program as people use it, on each version of Node that `npm run test:nodes` installs; without it on the one that runs the tests. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { using } from "./acp/editor.ts";
import { missing, Pane } from "./chat/pane.ts";
import { serve } from "./serve/support.ts";
import { testUnless } from "./unless.ts";
import { program } from "./wire/support/agent.ts";

const nodes: Record<string, string> = JSON.parse(process.env.BOWLINE_TEST_NODES ?? JSON.stringify({ [process.versions.node]: process.execPath }));
const unsupported = /^(14|18)\./;
const lib = join(program, "../lib");

interface Ended {
	code: number | null;
	stdout: string;
	stderr: string;
}

/** Runs a program to its end. */
function run(node: string, args: string[], folder: string, input = "", user = join(folder, "user")): Promise<Ended> {
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const child = spawn(node, args, { cwd: folder, env: { ...inherited, BOWLINE_DIR: user } });
	const ended: Ended = { code: null, stdout: "", stderr: "" };
	child.stdout.on("data", (chunk: Buffer) => (ended.stdout += chunk));
	child.stderr.on("data", (chunk: Buffer) => (ended.stderr += chunk));
	child.stdin.end(input);
	return new Promise((resolve) => child.on("close", (code) => resolve({ ...ended, code })));
}

/** Calls a tool, asks a subagent, and says what came back. */
const script = {
	replies: [
		{
			when: { depth: 0 },
			blocks: [
				{ tool: "bash", arguments: { command: "echo from the shell" } },
				{ tool: "task", arguments: { agent: "task", tasks: [{ id: "Look", description: "d", assignment: "a" }] } },
			],
		},
		{ when: { agent: "task" }, blocks: [{ tool: "submit_result", arguments: { result: { data: "from the subagent" } } }] },
		{ when: { depth: 0 }, text: "{{last}}" },
	],
};

describe.each(Object.entries(nodes).filter(([version]) => !unsupported.test(version)))("on Node %s", (version, node) => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-node-"));
	const bowline = (args: string[], input?: string) => run(node, [program, ...args], folder, input);
	const scripted = ["--provider", "scripted", "--model", "script.json"];
	writeFileSync(join(folder, "script.json"), JSON.stringify(script));
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	test("it starts and answers", async () => {
		const { code, stdout, stderr } = await bowline(["--mode", "rpc", "--no-session"], '{"id":"1","type":"get_state"}\n');
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout.split("\n").map((line) => line && JSON.parse(line).type)).toEqual(["ready", "response", ""]);
	});

	test("a prompt calls a tool and a subagent", async () => {
		const host = `
			import { startClient } from ${JSON.stringify(join(lib, "client.js"))};
			const results = [];
			const client = await startClient({ args: ${JSON.stringify(scripted)}, onStderr: (text) => process.stderr.write(text) });
			client.on("tool_execution_end", ({ result }) => results.push(result));
			const { text } = await client.promptAndWait("go");
			await client.close();
			console.log(JSON.stringify({ text, results }));`;
		writeFileSync(join(folder, "host.mjs"), host);
		const { code, stdout, stderr } = await run(node, ["host.mjs"], folder);
		expect([code, stderr]).toEqual([0, ""]);
		const { text, results } = JSON.parse(stdout);
		expect(text).toContain("from the subagent");
		expect(results[0].content[0].text).toBe("from the shell\n");
		expect(results[1].details.results).toMatchObject([{ exitCode: 0, output: "from the subagent", stderr: "" }]);
	});

	test("-p answers once", async () => {
		expect(await bowline(["-p", "hello", "--provider", "scripted", "--model", "echo"])).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
	});

	test("a session runs inside a program, by import and by require", async () => {
		const body = (load: string) => `${load}.then(async ({ createSession }) => {
			const session = await createSession({ noSession: true, provider: "scripted", model: "echo" });
			console.log((await session.promptAndWait("hello")).text);
			await session.close();
		});`;
		writeFileSync(join(folder, "embed.mjs"), body(`import(${JSON.stringify(join(lib, "index.js"))})`));
		writeFileSync(join(folder, "embed.cjs"), body(`Promise.resolve(require(${JSON.stringify(join(lib, "index.cjs"))}))`));
		expect(await run(node, ["embed.mjs"], folder)).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
		// The warning of Node 20 and 22 about require() of a module stays away in an installed package; here there is no node_modules in the path.
		expect(await run(node, ["--disable-warning=ExperimentalWarning", "embed.cjs"], folder)).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
	});

	test("extensions in TypeScript are loaded", async () => {
		writeFileSync(
			join(folder, "hi.ts"),
			`export default (api: any): void => void api.on("agent_end", (event: object) => console.error("extension heard"));\n`,
		);
		const { code, stdout, stderr } = await bowline(["-p", "hello", "--provider", "scripted", "--model", "echo", "--extension", "./hi.ts"]);
		expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "hello\n", stderr: "extension heard\n" });
	});

	testUnless(missing)("chat answers in a terminal, and shows nothing else", async () => {
		const pane = await new Pane({ node, model: 'call bash {"command":"sleep 0.3; echo out"} · say "All done."' }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("All done.");
		pane.keys("C-d");
		await pane.until("EXIT 0");
		expect(pane.raw).not.toMatch(/error|warning/i);
	});

	test("a server runs sessions", async () => {
		const server = await serve({ node });
		const { id } = await server.create();
		expect((await server.prompt(id, "hello")).json).toMatchObject({ text: "hello", result: { status: "completed" } });
		expect(await server.stop()).toBe(0);
		// Its log, one JSON object per line, after the words about the first token.
		for (const line of server.err.split("\n").filter((each) => each && !/^The (token|page)/.test(each))) expect(JSON.parse(line).event).toBeTruthy();
	});

	test("an editor prompts", () =>
		using({ model: 'say "hello"', isProcess: true, node }, async (editor) => {
			expect(await editor.prompt(await editor.session(), "go")).toMatchObject({ result: { stopReason: "end_turn" } });
			expect([await editor.end(), editor.stderr]).toEqual([0, ""]);
		}));

	test("the demo repairs its repository", async () => {
		const { code, stdout, stderr } = await bowline(["demo"]);
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toContain("the test passes");
	});

	test("compiled code is kept where Node can, for this user alone, and not by a hermetic start", async () => {
		const kept = join(folder, "user/cache", `compile-${manifest.version}`);
		await bowline(["--version"]);
		expect(existsSync(kept)).toBe(Number.parseInt(version, 10) >= 22);
		if (existsSync(kept)) expect(statSync(kept).mode & 0o777).toBe(0o700);
		rmSync(join(folder, "user/cache"), { recursive: true, force: true });
		await bowline(["-p", "hello", "--hermetic", "--provider", "scripted", "--model", "echo"]);
		expect(existsSync(kept)).toBe(false);
	});

	test("a user directory that cannot be written is not in the way", async () => {
		writeFileSync(join(folder, "file"), "");
		const flags = ["-p", "hello", "--no-session", "--provider", "scripted", "--model", "echo"];
		expect(await run(node, [program, ...flags], folder, "", join(folder, "file/user"))).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
	});
});

describe.each(Object.entries(nodes).filter(([version]) => unsupported.test(version)))("on Node %s, which is too old,", (version, node) => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-node-"));
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
	const sentence = `Bowline needs Node 20.19, 22.12 or newer; this is v${version}.`;

	test("the command says so in one line", async () => {
		expect(await run(node, [program, "--mode", "rpc"], folder)).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
	});

	test.each(["index", "client", "protocol"])("the module %s throws it", async (name) => {
		const show = "(error) => console.log(error.code + ': ' + error.message)";
		writeFileSync(join(folder, "load.mjs"), `import(${JSON.stringify(join(lib, `${name}.js`))}).catch(${show});`);
		writeFileSync(join(folder, "load.cjs"), `try { require(${JSON.stringify(join(lib, `${name}.cjs`))}) } catch (error) { (${show})(error) }`);
		for (const file of ["load.mjs", "load.cjs"]) {
			expect(await run(node, [file], folder)).toEqual({ code: 0, stdout: `unsupported_node: ${sentence}\n`, stderr: "" });
		}
	});
});

/** Runs the check at the beginning of the command. */
function problemOf(process: { version: string; versions: Record<string, string> }): string | undefined {
	const [, check] = /^var unsupported = (.*);$/m.exec(readFileSync(program, "utf8")) as RegExpExecArray;
	return new Function("process", `return ${check}`)(process);
}

test.each([
	["14.21.3", false],
	["18.20.8", false],
	["20.18.3", false],
	["20.19.0", true],
	["20.20.2", true],
	["21.7.3", false],
	["22.2.0", false],
	["22.11.0", false],
	["22.12.0", true],
	["23.0.0", true],
	["24.0.0", true],
	["26.10.0", true],
	["100.0.0", true],
])("Node %s is supported: %s", (version, isSupported) => {
	expect(problemOf({ version: `v${version}`, versions: { node: version } })).toBe(
		isSupported ? undefined : `Bowline needs Node 20.19, 22.12 or newer; this is v${version}.`,
	);
});

test("Bun, which has the version of a Node, is told to start node", () => {
	expect(problemOf({ version: "v24.3.0", versions: { node: "24.3.0", bun: "1.4.4" } })).toBe(
		"Bowline runs on Node; this is Bun 1.4.4. Start it with node.",
	);
});
