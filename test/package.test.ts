/** The published package: packed, installed into an empty folder without a network, and used as an outside user would use it. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync, transformSync } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenLinks } from "./links.ts";
import { testUnless } from "./unless.ts";

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

test("the package holds the program, its entry points, schemas, pages and the Python client, and nothing else", () => {
	const folders = /^(dist\/lib\/types-cjs|dist\/lib\/types|dist\/lib|dist|docs|examples|schema|clients\/python)\/.*/;
	const places = filesIn(installed).map((path) => path.replace(folders, "$1/"));
	expect([...new Set(places)].sort()).toEqual([
		"CHANGELOG.md",
		"CONTRIBUTING.md",
		"LICENSE",
		"README.md",
		"clients/python/",
		"dist/",
		"dist/lib/",
		"dist/lib/types-cjs/",
		"dist/lib/types/",
		"docs/",
		"examples/",
		"package.json",
		"schema/",
	]);
	const built = filesIn(join(installed, "dist"));
	expect(
		built.filter((name) => !/^[\w.-]+\.js$|^package\.json$|^THIRD_PARTY_NOTICES$|^lib\/|^page\/(assets\/)?[\w-]+\.(js|css|html)(\.gz)?$/.test(name)),
	).toEqual([]);
	const library = /^lib\/(types(-cjs)?\/.*\.d\.ts|[\w.-]+\.c?js|(types-cjs\/)?package\.json)$/;
	expect(built.filter((name) => name.startsWith("lib/") && !library.test(name))).toEqual([]);
	expect(filesIn(join(installed, "clients")).filter((name) => /tests|__pycache__/.test(name))).toEqual([]);
});

test("links between its pages lead to files and headings in the package", () => {
	expect(existsSync(join(installed, "docs/architecture.md"))).toBe(true);
	expect(brokenLinks(installed)).toEqual([]);
});

test("it has what registries show", () => {
	const shown = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	for (const field of ["description", "keywords", "license", "author", "engines", "main", "types"]) expect(shown[field], field).toBeTruthy();
});

test("the first host of its README runs as printed", () => {
	const [, host = ""] = /^```js\n(.*?)^```/ms.exec(readFileSync(join(installed, "README.md"), "utf8")) as RegExpExecArray;
	writeFileSync(join(consumer, "host.mjs"), host);
	expect(run(process.execPath, ["host.mjs"])).toBe("hello");
});

const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;

testUnless(!hasPip && "pip is not installed")("pip installs the Python client without a network", () => {
	const place = join(folder, "site");
	const flags = ["--no-index", "--disable-pip-version-check", "--no-compile", "--quiet", "--target", place];
	// A copy: pip must not leave files in the package.
	const source = join(folder, "python");
	cpSync(join(installed, "clients/python"), source, { recursive: true });
	run("python3", ["-m", "pip", "install", ...flags, source]);
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const use = `import sys; sys.path.insert(0, ${JSON.stringify(place)})
import bowline, importlib.metadata
print(bowline.__file__, importlib.metadata.version("bowline"), bowline.protocol.__name__)`;
	expect(run("python3", ["-c", use]).trim()).toBe(`${join(place, "bowline/__init__.py")} ${version} bowline.protocol`);
	expect(filesIn(join(place, "bowline"))).toContain("py.typed");
});

test("installed, it is small and brings nothing along", () => {
	const packages = readdirSync(join(consumer, "node_modules")).filter((name) => !name.startsWith("."));
	expect(packages).toEqual(["bowline"]);
	// The optional package, if it is installed: a program for one platform.
	const optional = join(root, "node_modules/@vscode");
	const bytesIn = (directory: string) => filesIn(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
	expect(bytesIn(installed)).toBeLessThan(9_000_000);
	expect(bytesIn(installed) + (existsSync(optional) ? bytesIn(optional) : 0)).toBeLessThan(15_000_000);
});

test("what hosts import is readable: Node prints the line that threw", () => {
	const lib = join(installed, "dist/lib");
	const lines = readdirSync(lib)
		.filter((name) => name.endsWith(".js"))
		.flatMap((name) => readFileSync(join(lib, name), "utf8").split("\n"));
	expect(lines.filter((line) => line.length > 300)).toEqual([]);
	expect(lines.join("\n")).toMatch(/^(var|let|const)? ?(RequestError =|class RequestError)/m);
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

test("the doors open, from modules and from require, and a program that is done ends automatically", () => {
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
	const required = `
		const { createSession, RequestError } = require("bowline");
		console.log(typeof createSession, RequestError === require("bowline/client").RequestError, require("bowline/protocol").thinkingLevels[0]);`;
	const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=commonjs", "-e", required], { cwd: consumer, env, encoding: "utf8" });
	expect([stdout, stderr]).toEqual(["function true off\n", ""]);
});

test("bundlers can put the client and the protocol into a CommonJS program, as extensions of editors are", () => {
	const contents = `import { ExitError, startClient } from "bowline/client"; import { thinkingLevels } from "bowline/protocol";
		console.log(typeof startClient, ExitError.name, thinkingLevels[0]);`;
	const stdin = { contents, resolveDir: consumer };
	buildSync({
		stdin,
		bundle: true,
		platform: "node",
		format: "cjs",
		outfile: join(consumer, "bundled.cjs"),
		logLevel: "error",
		logOverride: { "empty-import-meta": "silent" },
	});
	expect(run(process.execPath, ["bundled.cjs"])).toBe("function ExitError off\n");
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

const viaRequire = `
	import { createSession, RequestError, type PromptOutcome } from "bowline";
	import { type Client, startClient } from "bowline/client";
	import type { AgentEvent } from "bowline/protocol";
	export async function use(): Promise<PromptOutcome> {
		const client: Client = await startClient({ args: [] });
		client.on("event", (event: AgentEvent) => event.type);
		await (await createSession({ noSession: true })).close();
		// @ts-expect-error a message is a text
		return client.promptAndWait(1).catch((error: unknown) => { throw error instanceof RequestError ? error.text : error; });
	}
`;

/** A module resolution, and the module formats that go with it. Compilers before TypeScript 5.8 treat nodenext as node16 is treated now. */
test.each([
	["bundler", "esnext"],
	["nodenext", "nodenext"],
	["node16", "node16"],
])("its types hold in a project with moduleResolution %s, as do the examples", (moduleResolution, module) => {
	const project = join(consumer, moduleResolution);
	mkdirSync(project);
	// The types of Node, and none of ours.
	mkdirSync(join(project, "node_modules"));
	symlinkSync(join(root, "node_modules/@types"), join(project, "node_modules/@types"));
	symlinkSync(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
	const sources: Record<string, string> = { "use.ts": program };
	if (module !== "esnext") sources["require.cts"] = viaRequire;
	if (module !== "node16") {
		for (const [index, block] of shown("docs/embedding.md").entries()) sources[`block-${index + 1}.ts`] = whole(block.program);
		for (const name of ["client.ts", "inside.ts"]) sources[name] = readFileSync(join(root, "examples/hosts", name), "utf8");
	}
	for (const [name, text] of Object.entries(sources)) writeFileSync(join(project, name), text);
	// Declarations are checked too: they must not need a package that is not there.
	const compilerOptions = { target: "es2022", module, moduleResolution, strict: true, noEmit: true, skipLibCheck: false, types: ["node"] };
	writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(sources) }));
	expect(run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project])).toBe("");
});

test("publint finds nothing", async () => {
	const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
	expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
});
