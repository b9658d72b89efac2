/** The published package: packed, installed into an empty folder without a network, and used as an outside user would use it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
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
	// The program was built when the tests began; building it again would remove it while other tests use it.
	const name = run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], root).trim();
	tarball = join(folder, name);
	run("npm", ["install", "--offline", "--omit=optional", "--silent", tarball]);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package holds the program, its doors, schemas and pages for users, and nothing else", () => {
	const places = filesIn(installed).map((path) => path.replace(/^(dist\/lib\/types|dist\/lib|dist|docs|examples|schema)\/.*/, "$1/"));
	expect([...new Set(places)].sort()).toEqual([
		"CHANGELOG.md",
		"LICENSE",
		"README.md",
		"dist/",
		"dist/lib/",
		"dist/lib/types/",
		"docs/",
		"examples/",
		"package.json",
		"schema/",
	]);
	const built = filesIn(join(installed, "dist"));
	expect(built.filter((name) => !/^[\w.-]+\.(js|cache|gz)$|^package\.json$|^THIRD_PARTY_NOTICES$|^lib\//.test(name))).toEqual([]);
	expect(built.filter((name) => name.startsWith("lib/") && !/^lib\/(types\/.*\.d\.ts|[\w.-]+\.js|package\.json)$/.test(name))).toEqual([]);
});

test("what its pages lead to is there", () => {
	/** For people who have the repository. */
	const ofRepository = new Set(["clients/python/README.md", "docs/architecture.md", "CONTRIBUTING.md"]);
	const pages = ["README.md", ...readdirSync(join(installed, "docs")).map((name) => `docs/${name}`)];
	const missing = pages.flatMap((page) => {
		const links = readFileSync(join(installed, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g);
		const targets = [...links].map(([, target = ""]) => join(page, "..", target));
		return targets.filter((target) => !ofRepository.has(target) && !existsSync(join(installed, target))).map((target) => `${page}: ${target}`);
	});
	expect(missing).toEqual([]);
});

test("installed, it is small and brings nothing along", () => {
	const packages = readdirSync(join(consumer, "node_modules")).filter((name) => !name.startsWith("."));
	expect(packages).toEqual(["bowline"]);
	// The optional package, if it is installed: a program for one platform.
	const optional = join(root, "node_modules/@vscode");
	const bytesIn = (directory: string) => filesIn(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
	expect(bytesIn(installed) + (existsSync(optional) ? bytesIn(optional) : 0)).toBeLessThan(10_000_000);
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

/** The programs in TypeScript that a page shows, each with its output. */
function shown(page: string): { program: string; prints: string }[] {
	const text = readFileSync(join(root, page), "utf8");
	const blocks = [...text.matchAll(/^```ts\n(.*?)^```\n\n```text\n(.*?)^```/gms)];
	if (blocks.length !== text.match(/^```ts$/gm)?.length) throw new Error(`${page}: a program without what it prints`);
	return blocks.map(([, program = "", prints = ""]) => ({ program, prints }));
}

const start = `
	import { startClient as startForPage } from "bowline/client";
	const client = await startForPage({ args: ["--no-session", "--provider", "scripted", "--model", "page.jsonc", "--extension", "deploy.js"] });
`;
/** The page's first block makes the client that the others use. */
const whole = (program: string) => (/startClient\(|createSession\(/.test(program) ? program : `${start}${program}\nawait client.close();`);

/** Plays the model of every block of the page. */
const script = {
	replies: [
		{ when: { text: "note.txt" }, blocks: [{ tool: "read", arguments: { path: "note.txt" } }] },
		{ when: { text: "one word" }, text: "Forty-two." },
		{ when: { text: "Thank you" }, text: "You are welcome." },
		{ when: { tool: "read" }, text: "It says: {{last}}" },
		{ when: { text: "umbrella" }, blocks: [{ tool: "weather", arguments: { city: "Bergen" } }] },
		{ when: { tool: "weather" }, text: "Yes. {{last}}" },
		{ when: { text: "Think as long" }, stall: true },
		{ text: "{{prompt}}" },
	].map((reply) => ({ ...reply, times: "always" })),
};
const deploy = `export default (api) => api.registerCommand("deploy", { handler: async (args, { ui }) => {
	const where = await ui.input("Where?");
	if (await ui.confirm("Deploy?", where)) ui.notify("deployed to " + where);
} });`;

test.each(shown("docs/embedding.md").map((block, index) => [index + 1, block] as const))(
	"block %i of the page about embedding does what it says",
	(_, block) => {
		writeFileSync(join(consumer, "page.jsonc"), JSON.stringify(script));
		writeFileSync(join(consumer, "deploy.js"), deploy);
		writeFileSync(join(consumer, "note.txt"), "forty-two\n");
		const { code } = transformSync(whole(block.program), { loader: "ts", format: "esm", target: "node20" });
		expect(run(process.execPath, ["--input-type=module", "-e", code]).trim()).toBe(block.prints.trim());
	},
);

test.each([
	["client.ts", ["--provider", "scripted", "--model", join(root, "examples/scripts/weather.jsonc")], "Yes. It rains in Bergen.\n"],
	["inside.ts", [], "hello\n"],
])("the example %s runs", (name, args, prints) => {
	const { code } = transformSync(readFileSync(join(root, "examples/hosts", name), "utf8"), { loader: "ts", format: "esm", target: "node20" });
	writeFileSync(join(consumer, `${name}.mjs`), code);
	expect(run(process.execPath, [`${name}.mjs`, ...args])).toBe(prints);
});

test.each(["bundler", "nodenext"])("its types hold in a project with moduleResolution %s, as do the examples", (moduleResolution) => {
	const project = join(consumer, moduleResolution);
	mkdirSync(project);
	// The types of Node, and none of ours.
	mkdirSync(join(project, "node_modules"));
	symlinkSync(join(root, "node_modules/@types"), join(project, "node_modules/@types"));
	symlinkSync(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
	const sources: Record<string, string> = { "use.ts": program };
	for (const [index, block] of shown("docs/embedding.md").entries()) sources[`block-${index + 1}.ts`] = whole(block.program);
	for (const name of ["client.ts", "inside.ts"]) sources[name] = readFileSync(join(root, "examples/hosts", name), "utf8");
	for (const [name, text] of Object.entries(sources)) writeFileSync(join(project, name), text);
	const module = moduleResolution === "nodenext" ? "nodenext" : "esnext";
	// Declarations are checked too: they must not need a package that is not there.
	const compilerOptions = { target: "es2022", module, moduleResolution, strict: true, noEmit: true, skipLibCheck: false, types: ["node"] };
	writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(sources) }));
	expect(run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project])).toBe("");
});

test("publint finds nothing", async () => {
	const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
	expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
});
