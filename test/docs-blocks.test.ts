/** Every block of code in the documentation that can run is run: here, in a test of its own, or it says why not. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseScript } from "../src/models/scripted/load.ts";
import { Loopback, stream } from "./models/loopback.ts";
import { spoken } from "./models/wire.ts";
import { program } from "./wire/support/agent.ts";

const root = join(import.meta.dirname, "..");
const pages = ["README.md", "CONTRIBUTING.md", "clients/python/README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];

interface Block {
	page: string;
	language: string;
	code: string;
	/** A comment above it says why it is not run. */
	isRun: boolean;
}

const blocks: Block[] = pages
	.filter((page) => page.endsWith(".md"))
	.flatMap((page) => {
		const found = readFileSync(join(root, page), "utf8").matchAll(/^(<!-- not run: [^\n]+ -->\n)?```(\S*)\n(.*?)^```$/gms);
		return [...found].map(([, reason, language = "", code = ""]) => ({ page, language, code, isRun: reason === undefined }));
	});

const canRun = new Set(["ts", "js", "python", "bash", "sh", "go", "rust", "perl"]);

/** Blocks that need more around them than a folder with `bowline` on its path. */
const ownTests: Record<string, string> = {
	"README.md js": "test/package.test.ts",
	"README.md python": "test/docs.test.ts",
	"README.md bash": "test/docs.test.ts",
	"docs/acp.md js": "test/acp/process.test.ts",
	"clients/python/README.md python": "test/clients/python.test.ts",
	"docs/embedding.md ts": "test/package.test.ts",
	"docs/extensions.md ts": "test/extensions/docs.test.ts",
	"docs/one-shot.md sh": "test/app/one-shot-docs.test.ts",
	"docs/budgets.md js": "test/policies/budget-docs.test.ts",
	"docs/migration.md js": "test/rpc/dialects.test.ts",
	"docs/cookbook.md sh": "test/cookbook.test.ts",
	"docs/cookbook.md js": "test/cookbook.test.ts",
	"docs/cookbook.md go": "test/cookbook.test.ts",
	"docs/cookbook.md rust": "test/cookbook.test.ts",
	"docs/cookbook.md perl": "test/cookbook.test.ts",
};
/** For each of these, the test uses the first block. */
const single = ["README.md js", "README.md python", "README.md bash", "docs/budgets.md js", "docs/migration.md js", "docs/acp.md js"];
const key = ({ page, language }: Block) => `${page} ${language}`;

test("every block that can run has a test, or says why not", () => {
	const runnable = blocks.filter(({ language, isRun }) => isRun && canRun.has(language));
	const withTest = new Set(Object.keys(ownTests));
	const isRunHere = (block: Block) => ["sh", "bash"].includes(block.language);
	const orphans = runnable.filter((block) => !withTest.has(key(block)) && !isRunHere(block));
	expect(orphans).toEqual([]);
	// And the list is true: these blocks exist, and their test reads their page.
	const keys = new Set(runnable.map(key));
	expect(Object.keys(ownTests).filter((name) => !keys.has(name))).toEqual([]);
	expect(single.filter((name) => runnable.filter((block) => key(block) === name).length !== 1)).toEqual([]);
	const silent = Object.entries(ownTests).filter(([name, file]) => {
		const page = (name.split(" ")[0] as string).split("/").at(-1) as string;
		return !readFileSync(join(root, file), "utf8").includes(page);
	});
	expect(silent).toEqual([]);
});

const folder = mkdtempSync(join(tmpdir(), "bowline-blocks-"));
const work = join(folder, "work");
mkdirSync(join(folder, "bin"));
mkdirSync(work);
writeFileSync(join(folder, "bin/bowline"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
// Scripts that pages tell the reader to write.
writeFileSync(join(work, "my.jsonc"), '{ "replies": [{ "text": "Hello." }] }');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Values that a page leaves to the reader: a key, the address of a machine. */
const adapted = (code: string, url: string) => code.replaceAll("=…", "=key").replaceAll("http://192.168.1.5:11434", url);

const lines = blocks.filter((block) => block.isRun && ["sh", "bash"].includes(block.language) && !ownTests[key(block)]);

test.each(lines.map(({ page, code }) => [page, code] as const))("%s: %s", { timeout: 60_000 }, async (_, code) => {
	// This server answers every request over the network.
	const server = await Loopback.start();
	server.answer((response, received) => {
		const api = received.url.endsWith("/messages") ? "anthropic" : "chat";
		return stream(Buffer.from(spoken(api, { text: ["Hello."] })))(response, received);
	});
	try {
		const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
		const child = spawn("bash", ["-euo", "pipefail", "-c", adapted(code, server.url)], {
			cwd: work,
			env: {
				...inherited,
				PATH: `${join(folder, "bin")}:${process.env.PATH}`,
				BOWLINE_DIR: join(folder, "user"),
				BOWLINE_SETTINGS: '{"defaultProvider":"scripted","defaultModel":"echo"}',
				ANTHROPIC_BASE_URL: server.url,
				OLLAMA_BASE_URL: `${server.url}/v1`,
			},
			stdio: ["ignore", "pipe", "pipe"],
		});
		let output = "";
		for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (chunk: Buffer) => (output += chunk));
		const status = await new Promise((resolve) => child.on("close", resolve));
		expect(status, output).toBe(0);
		const asked = code.match(/bowline -p/g)?.length ?? 0;
		expect(output.match(/^Hello\.$/gm)?.length ?? 0, output).toBe(asked);
	} finally {
		await server.stop();
	}
});

const scripts = blocks.filter(({ language, code }) => language === "jsonc" && code.includes('"replies"'));

test.each(scripts.map(({ page, code }) => [page, code] as const))("the script in %s is one: %s", (page, code) => {
	expect(parseScript(code, page)).toEqual({ script: expect.anything(), source: page });
});

test.each([
	["docs/providers.md", "models.jsonc", ["models", "workshop"], /^workshop\/qwen3-coder +262K/m],
	["docs/mcp.md", "settings.jsonc", ["config", "mcpServers"], /^mcpServers +\{"files":/m],
	["docs/permissions.md", "settings.jsonc", ["config", "permissions.mode"], /^permissions\.mode +"?edit"? +/m],
	["docs/budgets.md", "settings.jsonc", ["config", "maxCostUsd"], /^task\.budget\.maxCostUsd +2\.5 +/m],
])("the file in %s is taken as %s", (page, name, words, shows) => {
	const code = blocks.find((block) => block.page === page && block.language === "jsonc" && !block.code.includes('"replies"'))?.code as string;
	const BOWLINE_DIR = mkdtempSync(join(folder, "user-"));
	writeFileSync(join(BOWLINE_DIR, name), code);
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const env = { ...inherited, BOWLINE_DIR, WORKSHOP_KEY: "key", TEAM: "a" };
	const { stdout, stderr } = spawnSync(process.execPath, [program, ...words], { cwd: work, env, encoding: "utf8" });
	expect(stderr).toBe("");
	expect(stdout).toMatch(shows);
});
