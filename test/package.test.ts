/** What is published: packed, installed into an empty folder without a network, and used as a stranger would. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "bowline-package-"));
const consumer = join(folder, "consumer");
const installed = join(consumer, "node_modules/bowline");
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, BOWLINE_DIR: join(folder, "user") };
let tarball: string;

function run(file: string, args: string[], cwd = consumer, input = ""): string {
	try {
		return execFileSync(file, args, { cwd, env, input, encoding: "utf8", stdio: "pipe" });
	} catch (error) {
		const { stdout, stderr } = error as { stdout: string; stderr: string };
		throw new Error(`${file} ${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
	}
}

/** Every file below, as paths. */
function filesIn(directory: string): string[] {
	const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
	return names.filter((name) => statSync(join(directory, name)).isFile()).sort();
}

beforeAll(() => {
	mkdirSync(consumer);
	writeFileSync(join(consumer, "package.json"), JSON.stringify({ private: true, type: "module" }));
	run(process.execPath, ["scripts/declarations.mjs"], root);
	// The program was built when the tests began; building it again would take it from under the others.
	const name = run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], root).trim();
	tarball = join(folder, name);
	run("npm", ["install", "--offline", "--omit=optional", "--silent", tarball]);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package holds the program, its doors, schemas and pages for users, and nothing else", () => {
	const places = filesIn(installed).map((path) => path.replace(/^(dist\/lib\/types|dist\/lib|dist|docs|schema)\/.*/, "$1/"));
	expect([...new Set(places)].sort()).toEqual([
		"CHANGELOG.md",
		"LICENSE",
		"README.md",
		"dist/",
		"dist/lib/",
		"dist/lib/types/",
		"docs/",
		"package.json",
		"schema/",
	]);
	const built = filesIn(join(installed, "dist"));
	expect(built.filter((name) => !/^[\w.-]+\.js$|^core\.cache$|^package\.json$|^THIRD_PARTY_NOTICES$|^lib\//.test(name))).toEqual([]);
	expect(built.filter((name) => name.startsWith("lib/") && !/^lib\/(types\/.*\.d\.ts|[\w.-]+\.js|package\.json)$/.test(name))).toEqual([]);
});

test("installed, it is small and brings nothing along", () => {
	const packages = readdirSync(join(consumer, "node_modules")).filter((name) => !name.startsWith("."));
	expect(packages).toEqual(["bowline"]);
	// What comes with it where optional packages are wanted: a program for one platform.
	const optional = join(root, "node_modules/@vscode");
	const bytesIn = (directory: string) => filesIn(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
	expect(bytesIn(installed) + (existsSync(optional) ? bytesIn(optional) : 0)).toBeLessThan(10 * 1024 * 1024);
});

test("it can be run without being installed", () => {
	const empty = join(folder, "empty");
	mkdirSync(empty);
	expect(run("npm", ["exec", "--offline", "--yes", "--omit=optional", `--package=${tarball}`, "--", "bowline", "--version"], empty)).toMatch(
		/^bowline \d/,
	);
	expect(readdirSync(empty)).toEqual([]);
});

test("the program answers", () => {
	const bin = join(consumer, "node_modules/.bin/bowline");
	const frames = run(bin, ["--mode", "rpc", "--no-session"], consumer, '{"id":"1","type":"get_state"}\n').trim().split("\n");
	expect(frames.map((line) => JSON.parse(line).type)).toEqual(["ready", "response"]);
});

test("the doors open, from modules and from require, and a program that is done ends by itself", () => {
	const program = `
		import { createSession, RequestError } from "bowline";
		import { startClient, RequestError as Same } from "bowline/client";
		import { commandLanes, eventNames, thinkingLevels } from "bowline/protocol";
		const inside = await createSession({ provider: "scripted", model: "echo", noSession: true });
		const outside = await startClient({ args: ["--provider", "scripted", "--model", "echo", "--no-session"] });
		for (const agent of [inside, outside]) {
			console.log((await agent.promptAndWait("hello")).text);
			console.log(await agent.setSessionName({ name: "" }).catch((error) => error instanceof RequestError && error instanceof Same && error.text));
			await agent.close();
		}
		console.log(commandLanes.abort, eventNames.includes("ready"), thinkingLevels[0]);
	`;
	const refused = "hello\nSession name cannot be empty\n";
	expect(run(process.execPath, ["--input-type=module", "-e", program])).toBe(`${refused}${refused}interrupt true off\n`);
	// Node 20 says that requiring modules is new.
	const required = ["--disable-warning=ExperimentalWarning", "--input-type=commonjs", "-e", 'console.log(typeof require("bowline").createSession)'];
	expect(run(process.execPath, required)).toBe("function\n");
});

const program = `
	import { createSession, defineTool, type Extension, type PromptOutcome } from "bowline";
	import { type Client, type CustomTool, ExitError, startClient } from "bowline/client";
	import type { AgentEvent, Command, CommandResult } from "bowline/protocol";

	export const extension: Extension = (api) => {
		api.on("tool_call", (event) => (event.toolName === "bash" ? { block: true, reason: "no" } : undefined));
		api.registerTool(defineTool<{ word: string }>({
			name: "up", description: "Upper case.", parameters: {},
			execute: async (_id, { word }) => ({ content: [{ type: "text", text: word.toUpperCase() }] }),
		}));
	};

	const tool: CustomTool<{ city: string }> = {
		name: "weather", description: "The weather.", parameters: { type: "object" },
		execute: ({ city }, { onUpdate, signal }) => { onUpdate(signal.aborted ? "" : "…"); return city; },
	};

	export async function use(agent: Client): Promise<PromptOutcome> {
		agent.on("message_update", ({ assistantMessageEvent: step }) => { if (step.type === "text_delta") step.delta.trim(); });
		agent.on("event", (event: AgentEvent) => { if (event.type === "agent_end") event.messages.length; });
		agent.onDialog((dialog) => (dialog.method === "select" ? dialog.options[0] : undefined));
		await agent.setCustomTools([tool]);
		const state: CommandResult<"get_state"> = await agent.getState();
		const level: string = state.thinkingLevel;
		const { output, exitCode } = await agent.bash({ command: level }, { timeoutMs: 1000 });
		for await (const event of agent.events()) if (event.type === "agent_settled") break;
		// @ts-expect-error a command takes what its row says
		await agent.setModel({ provider: 1 });
		// @ts-expect-error there is no such event
		agent.on("no_such_event", () => undefined);
		return agent.promptAndWait(output, { streamingBehavior: "steer", timeoutMs: exitCode });
	}

	export const frame: Command = { id: "1", type: "prompt", message: "hi" };
	export const both = () => Promise.all([createSession({ cwd: ".", thinking: "high", settings: {} }), startClient({ args: [] })]);
	export const isExit = (error: unknown): error is ExitError => error instanceof ExitError;
`;

test.each(["bundler", "nodenext"])("its types hold in a project with moduleResolution %s", (moduleResolution) => {
	const project = join(consumer, moduleResolution);
	mkdirSync(project);
	// Types of Node, and nothing of ours.
	mkdirSync(join(project, "node_modules"));
	symlinkSync(join(root, "node_modules/@types"), join(project, "node_modules/@types"));
	symlinkSync(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
	writeFileSync(join(project, "use.ts"), program);
	const module = moduleResolution === "nodenext" ? "nodenext" : "esnext";
	// Declarations are checked too: they must not need a package that is not there.
	const compilerOptions = { target: "es2022", module, moduleResolution, strict: true, noEmit: true, skipLibCheck: false, types: ["node"] };
	writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
	expect(run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project])).toBe("");
});

test("publint finds nothing", async () => {
	const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
	expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
});
