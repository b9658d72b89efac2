import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findExtensions } from "../../src/extensions/discover.ts";
import { loadExtensions } from "../../src/extensions/load.ts";
import { body, folder, load, never } from "./harness.ts";

const found = (options: Partial<Parameters<typeof findExtensions>[0]>, root: string) => {
	const { found, errors, untrusted } = findExtensions({ cwd: root, directories: [], ...options });
	const short = (path: string) => path.replace(`${root}/`, "");
	return {
		found: found.map(({ path, source, scope, origin }) => `${short(path)} ${source} ${scope} ${origin}`),
		errors: errors.map(({ extensionPath, event, error }) => `${short(extensionPath)} ${event}: ${error}`),
		untrusted: untrusted.map(short),
	};
};

describe("finding", () => {
	test("files, packages and index files of a directory, one level deep", () => {
		const root = folder({
			"d/b.ts": "",
			"d/a.js": "",
			"d/types.d.ts": "",
			"d/notes.md": "",
			"d/.hidden.ts": "",
			"d/node_modules/index.js": "",
			"d/pack/package.json": '{"bowline":{"extensions":["./one.ts","two.js"]},"pi":{"extensions":["three.js"]}}',
			"d/pack/one.ts": "",
			"d/pack/two.js": "",
			"d/family/package.json": '\uFEFF{"pi":{"extensions":["x.ts"]}}',
			"d/family/x.ts": "",
			"d/indexed/index.js": "",
			"d/indexed/index.ts": "",
			"d/indexed/package.json": '{"name":"x"}',
			"d/deep/er/index.ts": "",
			"d/empty/readme.txt": "",
		});
		expect(found({ directories: [{ path: join(root, "d"), scope: "user", isTrusted: true }] }, root)).toEqual({
			found: [
				"d/a.js local user top-level",
				"d/b.ts local user top-level",
				"d/family/x.ts local user package",
				"d/indexed/index.ts local user top-level",
				"d/pack/one.ts local user package",
				"d/pack/two.js local user package",
			],
			errors: [],
			untrusted: [],
		});
	});

	test("project, user, settings, command line; the same file once", () => {
		const root = folder({ "p/a.ts": "", "u/b.ts": "", "s/c.ts": "", "cli/index.ts": "" });
		symlinkSync(join(root, "p/a.ts"), join(root, "u/again.ts"));
		const directories = [
			{ path: join(root, "p"), scope: "project" as const, isTrusted: true },
			{ path: join(root, "u"), scope: "user" as const, isTrusted: true },
			{ path: join(root, "missing"), scope: "user" as const, isTrusted: true },
		];
		const options = { directories, settingsPaths: ["s"], paths: ["cli", "u/b.ts"] };
		expect(found(options, root).found).toEqual([
			"p/a.ts local project top-level",
			"u/b.ts local user top-level",
			"s/c.ts settings temporary top-level",
			"cli/index.ts cli temporary top-level",
		]);
		expect(found({ ...options, noExtensions: true }, root).found).toEqual(["cli/index.ts cli temporary top-level", "u/b.ts cli temporary top-level"]);
	});

	test("an untrusted directory is named, not loaded, unless its file is asked for", () => {
		const root = folder({ "p/a.ts": "", "p/broken/package.json": "{", "p/i/index.ts": "" });
		const directories = [{ path: join(root, "p"), scope: "project" as const, isTrusted: false }];
		expect(found({ directories }, root)).toEqual({ found: [], errors: [], untrusted: ["p/a.ts"] });
		expect(found({ directories, paths: ["p/a.ts"] }, root).found).toEqual(["p/a.ts cli temporary top-level"]);
	});

	test("what is named and not there is an error, the rest goes on", () => {
		const root = folder({
			"d/bad/package.json": "{",
			"d/gone/package.json": '{"bowline":{"extensions":["x.ts"]}}',
			"d/odd/package.json": '{"bowline":{"extensions":"x.ts"}}',
			"d/good.ts": "",
		});
		mkdirSync(join(root, "nothing"));
		const directories = [{ path: join(root, "d"), scope: "user" as const, isTrusted: true }];
		expect(found({ directories, paths: ["missing.ts", "nothing"] }, root)).toEqual({
			found: ["d/good.ts local user top-level"],
			errors: [
				expect.stringMatching(/^d\/bad load: package\.json cannot be read: /),
				"d/gone load: package.json names x.ts, which is not a file",
				"d/odd load: package.json: extensions must be a list of paths",
				"missing.ts load: There is no such file or directory",
				"nothing load: There is no extension in this directory",
			],
			untrusted: [],
		});
	});
});

describe("loading", () => {
	test("TypeScript with types, relative imports, builtins, and packages that are not installed", async () => {
		const { host, errors } = await load({
			"typed.ts": `
				import type { Extension, ExtensionApi } from "bowline";
				import { ToolRegistration, defineTool } from "bowline";
				import Type, { Type as Named } from "typebox";
				import { join } from "node:path";
				import { sep } from "path";
				import { suffix } from "./lib/suffix";
				import { other } from "./lib/other.ts";
				const tool: ToolRegistration<{ a: string }> = defineTool({
					name: "t", description: "d", parameters: Type.Object({ a: Named.String() }),
					async execute(_id: string, { a }: { a: string }) {
						return { content: [{ type: "text" as const, text: [a, join("x", "y"), sep, suffix, other satisfies string].join(" ") }] };
					},
				});
				const extension: Extension = (api: ExtensionApi): void => api.registerTool(tool);
				export default extension;`,
			"lib/suffix.ts": "export const suffix: string = 'suffix';",
			"lib/other.ts": "export enum E { A = 'other' }; export const other = E.A;",
		});
		expect(errors).toEqual([]);
		const [tool] = host.tools();
		expect(tool).toMatchObject({
			name: "t",
			label: "t",
			description: "d",
			concurrency: "exclusive",
			parameters: { type: "object", required: ["a"] },
		});
		const result = await tool?.execute({ toolCallId: "1", args: { a: "A" }, signal: new AbortController().signal, onUpdate: () => undefined });
		expect(result).toEqual({ content: [{ type: "text", text: "A x/y / suffix other" }], details: {} });
	});

	test("what was written for the family's agents: the packages are there, and what is missing is named", async () => {
		const { host, errors, warnings } = await load({
			"theirs.ts": `
					import type { ExtensionContext } from "@mariozechner/pi-coding-agent";
					import { ExtensionAPI, isToolCallEventType, truncateTail, type Theme } from "@mariozechner/pi-coding-agent";
					import { StringEnum, complete } from "@earendil-works/pi-ai";
					import { Key, Text } from "@oh-my-pi/pi-tui";
					import { sessions } from "./lib/sessions.js";
					export default (api: ExtensionAPI) => {
						api.registerShortcut(Key.ctrlAlt("p"), { handler() {} });
						api.registerTool({
							name: "t", description: "d", parameters: { type: "object", properties: { size: StringEnum(["s", "m"], { description: "how" }) } },
							async execute() {
								const known = [isToolCallEventType("bash", { toolName: "bash" } as never), truncateTail("1\\n2\\n3", { maxLines: 1 }).content];
								let problem = "";
								try { complete(); } catch (error) { problem = (error as Error).message; }
								return { content: [{ type: "text" as const, text: [...known, problem].join("|") }] };
							},
							renderCall: () => new Text("never drawn"),
						});
					};`,
			"lib/sessions.ts": 'import { SessionManager } from "@mariozechner/pi-coding-agent"; export const sessions = () => SessionManager.list();',
		});
		expect(errors).toEqual([]);
		const [tool] = host.tools();
		expect(tool?.parameters).toMatchObject({ properties: { size: { type: "string", enum: ["s", "m"], description: "how" } } });
		const result = await tool?.execute({ toolCallId: "1", args: {}, signal: new AbortController().signal, onUpdate: () => undefined });
		expect(result?.content).toEqual([{ type: "text", text: "true|3|complete of @earendil-works/pi-ai is not part of Bowline" }]);
		expect(warnings).toEqual([
			"Extension theirs.ts imports what is not part of Bowline and throws when it is used: complete of @earendil-works/pi-ai; Text of @oh-my-pi/pi-tui; SessionManager of @mariozechner/pi-coding-agent.",
		]);
	});

	test("JavaScript of both kinds, asynchronous factories, packages of their own", async () => {
		const { host, errors } = await load({
			"a.js": "export default async (api) => { await new Promise((done) => setTimeout(done, 5)); api.registerCommand('a', { handler() {} }); };",
			"b.js": "const { join } = require('node:path'); module.exports = (api) => api.registerCommand(join('b'), { handler() {} });",
			"c/index.js": "import { c } from 'dependency'; export default (api) => api.registerCommand(c, { handler() {} });",
			"c/node_modules/dependency/package.json": '{"name":"dependency","type":"module","exports":"./i.js"}',
			"c/node_modules/dependency/i.js": "export const c = 'c';",
		});
		expect(errors).toEqual([]);
		expect(host.commands().map(({ name }) => name)).toEqual(["a", "b", "c"]);
	});

	test("what cannot be loaded is reported, leaves nothing behind, and the others go on", async () => {
		const { host, errors } = await load({
			"a-syntax.ts": "export default (api: any) => { api.on('x' };",
			"b-no-default.ts": "export const extension = () => undefined;",
			"c-object.js": "export default { name: 'x' };",
			"d-throws.ts": "export default (api: any) => { api.registerCommand('half', { handler() {} }); throw new Error('no luck'); };",
			"e-rejects.js": "export default async () => { throw 'a text'; };",
			"f-missing.ts": "import './nowhere.ts'; export default () => undefined;",
			"g-top.ts": "throw new Error('at the top');",
			"h-tool.js": body("api.registerTool({ name: 'no spaces', description: 'd', parameters: {}, execute() {} })"),
			"i-acts.js": body("api.sendUserMessage('hello')"),
			"j-good.js": body("api.registerCommand('good', { handler() {} })"),
		});
		const noFunction = "The module must have a function as its default export: export default (api) => { ... }";
		expect(errors.map(({ extensionPath, event, error }) => [extensionPath, event, error])).toEqual([
			["a-syntax.ts", "load", expect.stringMatching(/^ParseError: Unexpected token.* at a-syntax\.ts:1:\d+$/)],
			["b-no-default.ts", "load", noFunction],
			["c-object.js", "load", noFunction],
			["d-throws.ts", "load", "no luck"],
			["e-rejects.js", "load", "a text"],
			["f-missing.ts", "load", expect.stringMatching(/Cannot find module '\.\/nowhere\.ts'/)],
			["g-top.ts", "load", "at the top"],
			["h-tool.js", "load", 'The name of a tool must have 1 to 64 letters, digits, _ or -: "no spaces"'],
			["i-acts.js", "load", "sendUserMessage is not possible while extensions are loading. Use it in a handler, such as that of session_start."],
		]);
		expect(host.commands().map(({ name }) => name)).toEqual(["good"]);
	});

	test("every action throws while loading", async () => {
		const calls = [
			"sendMessage({ customType: 'x', content: '' })",
			"sendUserMessage('x')",
			"appendEntry('x')",
			"setSessionName('x')",
			"getSessionName()",
			"setLabel('x', 'y')",
			"getActiveTools()",
			"setActiveTools([])",
			"getAllTools()",
			"getCommands()",
			"getThinkingLevel()",
			"setThinkingLevel('low')",
			"exec('ls')",
			"setModel({})",
		];
		const files = Object.fromEntries(calls.map((call) => [`${call.split("(")[0]}.js`, `export default async (api) => { await api.${call}; };`]));
		const { errors } = await load(files);
		const expected = calls.map(
			(call) => `${call.split("(")[0]} is not possible while extensions are loading. Use it in a handler, such as that of session_start.`,
		);
		expect(errors.map(({ error }) => error).sort()).toEqual(expected.sort());
	});

	test("one that never finishes loading is given up, and what it does later has no effect", async () => {
		const { host, errors } = await load(
			{
				"a.js": `export default async (api) => { globalThis.bowlineLate = () => api.registerCommand('late', { handler() {} }); await ${never}; };`,
				"b.js": body("api.registerCommand('b', { handler() {} })"),
			},
			{ limitMs: 50 },
		);
		expect(errors).toEqual([{ extensionPath: "a.js", event: "load", error: "It has not loaded after 0.05 s and was given up" }]);
		expect((globalThis as unknown as { bowlineLate: () => void }).bowlineLate).toThrow(
			"registerCommand is not possible: the extension failed to load.",
		);
		expect(host.commands().map(({ name }) => name)).toEqual(["b"]);
	});

	test("loading again runs the code as it is then", async () => {
		const files = (name: string) => ({
			"e/index.ts": "import { name } from './name.ts'; export default (api: any) => api.registerCommand(name, { handler() {} });",
			"e/name.ts": `export const name = "${name}";`,
		});
		const root = folder(files("one"));
		const names = async () => {
			const { found } = findExtensions({ cwd: root, directories: [], paths: ["e"] });
			const { extensions } = await loadExtensions(found, { cacheDirectory: join(root, "cache") });
			return extensions.flatMap(({ commands }) => [...commands.keys()]);
		};
		expect(await names()).toEqual(["one"]);
		writeFileSync(join(root, "e/name.ts"), files("two")["e/name.ts"]);
		expect(await names()).toEqual(["two"]);
	});

	test("compiled code is kept only where it was asked for", async () => {
		const root = folder({ "e/a.ts": "export default (_api: unknown): void => undefined;" });
		const { found } = findExtensions({ cwd: root, directories: [], paths: ["e/a.ts"] });
		const cacheDirectory = join(root, "cache");
		await loadExtensions(found, { cacheDirectory });
		expect(readdirSync(cacheDirectory)).toHaveLength(1);
		expect(readdirSync(join(root, "e"))).toEqual(["a.ts"]);
	});

	test("loading says nothing on stdout", () => {
		const root = folder({ "loud.ts": "console.error('loud'); export default (): void => undefined;" });
		const program = `
			const { loadExtensions } = await import("./src/extensions/load.ts");
			const { findExtensions } = await import("./src/extensions/discover.ts");
			const { found } = findExtensions({ cwd: ${JSON.stringify(root)}, directories: [], paths: ["loud.ts"] });
			const { errors } = await loadExtensions(found);
			if (errors.length) console.error(errors);`;
		const run = `require("./node_modules/jiti").createJiti(process.cwd() + "/x.ts").evalModule(${JSON.stringify(program)}, { filename: process.cwd() + "/x.ts", async: true })`;
		const { stdout, stderr } = spawnSync(process.execPath, ["-e", run], { encoding: "utf8", cwd: join(import.meta.dirname, "../..") });
		expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "loud\n" });
	});
});
