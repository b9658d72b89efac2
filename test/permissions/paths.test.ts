/** Rules about paths and the tools for files: no spelling of a path, and no link, shows or changes what a rule closes. */
import {
	closeSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { FileEffect, Tool } from "../../src/agent/contracts.ts";
import { closedTest, pathPattern, realSpellings } from "../../src/lib/path-pattern.ts";
import { realTarget } from "../../src/lib/real-path.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import { Gate } from "../../src/permissions/index.ts";
import type { PermissionRule, SourcedRule } from "../../src/protocol/permissions.ts";
import { ConfinedFiles } from "../../src/sandbox/files.ts";
import { atomicWrite } from "../../src/tools/atomic-write.ts";
import { builtInTools } from "../../src/tools/index.ts";
import { resolveExisting, resolvePath } from "../../src/tools/paths.ts";
import { textOf } from "../tools/workbench.ts";

const folders: string[] = [];
const shells: Shell[] = [];
afterAll(async () => {
	await Promise.all(shells.map((shell) => shell.close()));
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A project with a closed file, with the same one of other content, or without it. */
const contents = { secret: "KEY=s3cr3t\n", other: "nothing\n", missing: undefined };
type World = keyof typeof contents;

interface Ground {
	home: string;
	cwd: string;
}

function groundOf(world: World): Ground {
	const home = realpathSync(mkdtempSync(join(tmpdir(), "bowline-paths-")));
	folders.push(home);
	const cwd = join(home, "shop");
	mkdirSync(join(cwd, "sub/deep"), { recursive: true });
	mkdirSync(join(home, "vault"));
	for (const directory of ["", "sub/deep/"]) writeFileSync(join(cwd, `${directory}open.txt`), "KEY=public\n");
	writeFileSync(join(cwd, "sub/deep/last.txt"), "again\n");
	writeFileSync(join(home, "vault/open.txt"), "KEY=public\n");
	const content = contents[world];
	if (content !== undefined) for (const path of ["shop/.env", "shop/sub/deep/.env", "vault/.env"]) writeFileSync(join(home, path), content);
	symlinkSync(cwd, join(home, "link"));
	symlinkSync("sub/deep", join(cwd, "linked"));
	symlinkSync(".env", join(cwd, "alias"));
	symlinkSync("../sub/deep/.env", join(cwd, "sub/far"));
	symlinkSync("../vault", join(cwd, "vault"));
	symlinkSync("linked", join(cwd, "twice"));
	return { home, cwd };
}

interface Setting {
	ripgrep: boolean;
	confined: boolean;
}

/** Calls a tool as a session does: through the gate, then with what the gate closes. Gives the text that the model gets. */
function caller({ home, cwd }: Ground, rules: readonly PermissionRule[], { ripgrep, confined }: Setting) {
	const grantsFile = join(home, "permissions.jsonc");
	const view = { writable: [home], protected: [], placeholders: [], hidden: [], shown: [], forbidden: [], links: [], temporary: {} };
	const files = confined ? new ConfinedFiles(() => view) : undefined;
	const tools: Tool[] = [];
	const toolNamed = (name: string) => tools.find((each) => each.name === name) as Tool;
	const gate = new Gate({
		place: {
			cwd,
			roots: () => [home],
			given: async () => [],
			reading: () => ({ home, secrets: [], temporary: [], open: [] }),
			protectedFiles: async () => [],
			sandbox: () => ({ mode: "off", isVerified: false }),
			hasEscalation: false,
			toolOf: (name) => ({ source: name.startsWith("host") ? "host" : "built-in", effect: toolNamed(name).effect }),
			pathOf: async (path, replaces) =>
				replaces
					? (files?.target(resolvePath(cwd, path)) ?? resolvePath(cwd, path))
					: resolveExisting(cwd, path, files).catch(() => resolvePath(cwd, path)),
			writtenPaths: (path) => [resolvePath(cwd, path)],
			searchPath: async () => undefined,
			isKnownShell: true,
			grantsFile,
		},
		rules: rules.map((rule): SourcedRule => ({ ...rule, source: "user" })),
		grants: { file: undefined, project: cwd },
		home,
		mode: () => "full",
		route: () => "nobody",
		dialog: async () => ({ hasTimedOut: false }),
		onSilence: () => undefined,
		settings: { timeoutMs: 0, onTimeout: "deny", grantsLapse: false },
		ownFiles: () => [],
		hasOuterDeadline: false,
		isHermetic: false,
		preview: async () => undefined,
		halts: () => [],
		skipsOnSteering: () => false,
		record: () => undefined,
		onUnasked: () => undefined,
		emit: () => undefined,
		abortRun: () => undefined,
		warn: () => undefined,
		newId: () => "id",
		now: () => 0,
	});
	const environment = () => (ripgrep ? process.env : { ...process.env, BOWLINE_RG: "off" });
	const shell = new Shell({ cwd, environment: () => process.env, redact: redactor(() => []), tempDir: home });
	shells.push(shell);
	tools.push(
		stat("stat", cwd),
		stat("host_stat", cwd),
		...builtInTools({
			cwd,
			shell,
			settings: { autoResizeImages: () => false },
			environment,
			acceptsImages: () => false,
			...(files && { confined: files }),
			closedTo: (...asked) => gate.closedTo(...asked),
		}),
	);
	const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
		const signal = new AbortController().signal;
		const tool = toolNamed(name);
		const decision = await gate.policy.beforeTool?.({ toolCallId: "t", toolName: name, input: args } as never, signal);
		const said =
			decision && "denied" in decision
				? String(decision.denied)
				: await tool.execute({ toolCallId: "t", args, signal, onUpdate: () => undefined }).then(textOf, (error: Error) => `Error: ${error.message}`);
		return said.replaceAll(home, "~");
	};
	return { call, tools };
}

/** The next tool that somebody adds. */
function stat(name: string, cwd: string): Tool {
	return {
		name,
		label: "Stat",
		effect: { kind: "read", paths: ({ file }) => [String(file)], reach: "file" },
		offered: "on request",
		description: "Whether something is there",
		parameters: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
		concurrency: "shared",
		async execute({ args }) {
			const target = resolvePath(cwd, String(args.file));
			return { content: [{ type: "text", text: existsSync(target) ? "it is there" : "nothing is there" }] };
		},
	};
}

type Schema = { type?: string; properties?: Record<string, Schema>; required?: string[]; items?: Schema };

/** Something that a schema accepts. */
function filled({ type, properties = {}, required = [], items = {} }: Schema): unknown {
	if (type === "object") return Object.fromEntries(required.map((name) => [name, filled(properties[name] ?? {})]));
	if (type === "array") return [filled(items)];
	return type === "integer" || type === "number" ? 1 : "s3cr3t";
}

/** Calls of every tool that says it is about paths: one call for each of its arguments that is a path. */
function callsOn(path: string, tools: readonly Tool[], fits: (effect: FileEffect) => boolean): [name: string, args: Record<string, unknown>][] {
	return tools.flatMap(({ name, effect, parameters }): [string, Record<string, unknown>][] => {
		if ((effect.kind !== "read" && effect.kind !== "write") || !effect.paths || !fits(effect)) return [];
		const { paths } = effect;
		const args = filled(parameters as Schema) as Record<string, unknown>;
		const named = Object.keys((parameters as Schema).properties ?? {}).filter((key) => paths({ ...args, [key]: "marked" }).includes("marked"));
		return named.map((key) => [name, { ...args, [key]: path }]);
	});
}

/** Spellings of the directories that contain a closed file; of the file with `/.env` behind them. */
const directories = ({ home, cwd }: Ground): string[] => [
	".",
	"./",
	".//",
	"sub/..",
	"./sub/../.",
	cwd,
	`${cwd}/`,
	`${cwd}//`,
	`${cwd}/sub/../`,
	`${home}/link`,
	`${home}/link/`,
	`${home}/./link/sub/..`,
	`/proc/self/root${cwd}`,
	"~/shop",
	"~/link",
	"@.",
	"sub/deep",
	"sub//deep/",
	"linked",
	"linked/",
	"./linked",
	"twice",
	`${home}/link/twice`,
	"~/link/linked",
	"vault",
	"vault/",
	"../vault",
	`${home}/vault`,
	`/proc/self/root${home}/link/vault`,
];

const readings = (directory: string) =>
	[
		["ls", { path: directory }],
		["ls", { path: directory, limit: 2 }],
		["find", { path: directory, pattern: "*" }],
		["find", { path: directory, pattern: ".env" }],
		["find", { path: directory, pattern: "*", limit: 1 }],
		["grep", { path: directory, pattern: "KEY" }],
		["grep", { path: directory, pattern: "s3cr3t" }],
		["grep", { path: directory, pattern: "again|s3cr3t", limit: 1 }],
		["grep", { path: directory, pattern: "s3cr3t", glob: ".env", context: 2 }],
		["grep", { path: `${directory}/.env`, pattern: "s3cr3t" }],
		["read", { path: `${directory}/.env` }],
		["read", { path: `${directory}/.env/` }],
		["edit", { path: `${directory}/.env`, edits: [{ oldText: "s3cr3t", newText: "x" }] }],
	] as const;

const links = [
	["read", { path: "alias" }],
	["grep", { path: "alias", pattern: "s3cr3t" }],
	["edit", { path: "alias", edits: [{ oldText: "s3cr3t", newText: "x" }] }],
	["read", { path: "sub/far" }],
	["grep", { path: "sub/far", pattern: "s3cr3t" }],
	["ls", { path: "sub" }],
	["grep", { path: "sub", pattern: "s3cr3t" }],
	["grep", { path: "..", pattern: "s3cr3t" }],
	["find", { path: "..", pattern: ".env" }],
] as const;

const settings: [string, Setting][] = [
	["with ripgrep", { ripgrep: true, confined: false }],
	["without ripgrep", { ripgrep: false, confined: false }],
	["with ripgrep, in a sandbox", { ripgrep: true, confined: true }],
];

/** The files of a project that a rule closes, each by a rule that names it differently. */
const denying: [string, (ground: Ground) => PermissionRule[]][] = [
	["a name at any depth", () => [{ action: "deny", tool: "read", path: ".env" }]],
	["a glob for the whole disk", () => [{ action: "deny", tool: "read", path: "/**/.env" }]],
	[
		"globs below the project and a linked directory",
		() => [
			{ action: "deny", tool: "read", path: "**/.env" },
			{ action: "deny", tool: "read", path: "vault/.e*" },
		],
	],
	[
		"paths that are themselves written through links, parents and doubled slashes",
		({ home }) => [
			{ action: "deny", tool: "read", path: `${home}/link/.env` },
			{ action: "deny", tool: "read", path: "./sub//../twice/.env" },
			{ action: "deny", tool: "read", path: "../vault/*env" },
		],
	],
];

describe("a file that a rule closes to reading", () => {
	let grounds: Record<World, Ground>;
	beforeAll(() => {
		grounds = { secret: groundOf("secret"), other: groundOf("other"), missing: groundOf("missing") };
	});
	afterEach(() => vi.unstubAllEnvs());

	describe.each(settings)("%s", (_setting, setting) => {
		test.each(denying)(
			"by %s: no tool and no spelling tells its content, or whether it exists",
			async (name, rulesFor) => {
				const own = settings.findIndex(([, each]) => each === setting) + settings.length * denying.findIndex(([each]) => each === name);
				const isTaken = (_path: string, index: number) => Boolean(process.env.EXHAUSTIVE) || index % 12 === own;
				const told = async (world: World): Promise<string[]> => {
					const ground = grounds[world];
					vi.stubEnv("HOME", ground.home);
					expect(homedir()).toBe(ground.home);
					const { call, tools } = caller(ground, rulesFor(ground), setting);
					// What only replaces a file shows nothing of it.
					const walked = (directory: string) =>
						[directory, `${directory}/.env`].flatMap((path) => callsOn(path, tools, ({ kind, replaces }) => kind === "read" || !replaces));
					const answers: string[] = [];
					for (const group of [
						links,
						...directories(ground)
							.filter(isTaken)
							.flatMap((directory) => [readings(directory), walked(directory)]),
					]) {
						const said = group.map(async ([tool, args]) => `${tool} ${JSON.stringify(args).replaceAll(ground.home, "~")}: ${await call(tool, args)}`);
						answers.push(...(await Promise.all(said)));
					}
					return answers;
				};
				const answers = await told("secret");
				expect(answers.filter((answer) => /: [^:]*(KEY=s3cr3t|^\.env)/m.test(answer))).toEqual([]);
				expect(answers.some((answer) => answer.includes("open.txt:1: KEY=public"))).toBe(true);
				expect(await told("other")).toEqual(answers);
				expect(await told("missing")).toEqual(answers);
			},
			120_000,
		);
	});

	test.runIf(existsSync("/dev/fd"))("through a descriptor of a directory, by any of its names", async () => {
		const ground = grounds.secret;
		const { call } = caller(ground, [{ action: "deny", tool: "read", path: "**/.env" }], { ripgrep: true, confined: false });
		const descriptor = openSync(ground.cwd, "r");
		try {
			for (const path of [`/dev/fd/${descriptor}`, `/proc/self/fd/${descriptor}`, `/proc/thread-self/fd/${descriptor}/sub/deep`]) {
				expect(await call("grep", { path, pattern: "s3cr3t" })).not.toContain("KEY=");
				expect(await call("ls", { path })).not.toContain(".env");
				expect(await call("read", { path: `${path}/.env` })).toContain("Denied by a rule");
			}
		} finally {
			closeSync(descriptor);
		}
	});

	test("the file of the user's own answers is left out of searches of its directory", async () => {
		const ground = groundOf("other");
		writeFileSync(join(ground.home, "permissions.jsonc"), "KEY of the user\n");
		const { call } = caller(ground, [], { ripgrep: true, confined: false });
		expect(await call("grep", { path: "..", pattern: "KEY of" })).toBe("No matches found");
		expect(await call("read", { path: "../permissions.jsonc" })).toContain("Denied by a rule");
	});

	test("a rule about grep alone closes contents to grep, and a rule that asks closes them unless it asked about the searched path", async () => {
		const ground = grounds.secret;
		const setting = { ripgrep: true, confined: false };
		const { call: only } = caller(ground, [{ action: "deny", tool: "grep", path: "**/.env" }], setting);
		expect(await only("grep", { pattern: "KEY", path: "sub" })).not.toContain("s3cr3t");
		expect(await only("ls", { path: "sub/deep" })).toContain(".env");
		const { call: asking } = caller(ground, [{ action: "ask", tool: "read", path: "**/.env" }], setting);
		expect(await asking("grep", { pattern: "KEY", path: "sub" })).not.toContain("s3cr3t");
		expect(await asking("ls", { path: "sub/deep" })).toContain(".env");
	});
});

describe("a file that a rule closes to writing", () => {
	test.each(settings.filter(([, { ripgrep }]) => ripgrep))("%s: no spelling changes or creates it", async (_, setting) => {
		for (const world of ["secret", "missing"] as const) {
			const ground = groundOf(world);
			vi.stubEnv("HOME", ground.home);
			const rules: PermissionRule[] = [
				{ action: "deny", tool: "write", path: "**/.env" },
				{ action: "deny", tool: "write", path: "vault/.env" },
			];
			const { call, tools } = caller(ground, rules, setting);
			const paths = [...directories(ground).map((directory) => `${directory}/.env`), "alias", "sub/far", ".env", ".env/", "@.env", "linked/../.env"];
			for (const path of paths) {
				const edit = ["edit", { path, edits: [{ oldText: "s3cr3t", newText: "changed" }] }] as const;
				for (const [name, args] of [edit, ...callsOn(path, tools, ({ kind }) => kind === "write")]) await call(name, args);
			}
			const found = ["shop/.env", "shop/sub/deep/.env", "vault/.env"].map((path) => join(ground.home, path));
			expect(found.map((path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined))).toEqual(found.map(() => contents[world]));
			vi.unstubAllEnvs();
		}
	});
});

test("a link in a linked directory leads a write to where the gate says, not beside it", async () => {
	const { home, cwd } = groundOf("other");
	mkdirSync(join(home, "away/in"), { recursive: true });
	symlinkSync(join(home, "away/in"), join(cwd, "door"));
	for (const name of ["there", "new"]) symlinkSync(`../${name}.txt`, join(home, "away/in", name));
	writeFileSync(join(home, "away/there.txt"), "old");
	for (const name of ["there", "new"]) {
		expect(await realTarget(join(cwd, "door", name))).toBe(join(home, `away/${name}.txt`));
		await atomicWrite(join(cwd, "door", name), Buffer.from("written"));
		expect(readFileSync(join(home, `away/${name}.txt`), "utf8")).toBe("written");
		expect(existsSync(join(cwd, `${name}.txt`))).toBe(false);
	}
});

test("where the file system ignores case, a rule that restricts does too, and one that allows does not", () => {
	const places = { cwd: "/Users/Ada/Shop", home: "/Users/Ada", ignoresCase: true };
	for (const pattern of ["**/.env", ".env", "/users/ada/shop/.env", "~/Shop/.Env", "./.ENV"]) {
		const { catches } = pathPattern(pattern, places);
		for (const path of ["/Users/Ada/Shop/.env", "/Users/Ada/Shop/.ENV", "/users/ada/SHOP/.eNv"])
			expect([pattern, path, catches(path)]).toEqual([pattern, path, true]);
	}
	expect(pathPattern("caf\u00e9", places).catches("/x/CAFE\u0301/a")).toBe(true);
	expect(pathPattern("**/.env", places).covers("/Users/Ada/Shop/.ENV")).toBe(false);
	expect(pathPattern("**/.env", { ...places, ignoresCase: false }).catches("/Users/Ada/Shop/.ENV")).toBe(false);
});

test("a pattern is compared as written and with the real path of the directories that it begins with", () => {
	const { home, cwd } = groundOf("other");
	const places = { cwd, home };
	expect(realSpellings("**/.env", places)).toEqual(["**/.env"]);
	expect(realSpellings("src/*.ts", places)).toEqual(["src/*.ts"]);
	expect(realSpellings("./src/*.ts", places)).toEqual(["./src/*.ts"]);
	expect(realSpellings(".env", places)).toEqual([".env"]);
	expect(realSpellings("linked/*.ts", places)).toEqual(["linked/*.ts", `${cwd}/sub/deep/*.ts`]);
	expect(realSpellings("~/link/missing/x", places)).toEqual(["~/link/missing/x", `${cwd}/missing/x`]);
	expect(realSpellings("../vault/**", places)).toEqual(["../vault/**", `${home}/vault/**`]);
	const odd = join(home, "a[1]{b}");
	mkdirSync(odd);
	symlinkSync(odd, join(cwd, "odd"));
	const closed = closedTest({ patterns: realSpellings("odd/*", places), own: [], places });
	expect([join(odd, "x"), join(home, "a1b/x"), join(dirname(odd), basename(cwd))].map(closed)).toEqual([true, false, false]);
	expect(readdirSync(odd)).toEqual([]);
	cpSync(join(cwd, "open.txt"), join(odd, "x"));
});
