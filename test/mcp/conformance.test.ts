/** The official conformance suite's scenarios for clients, played against the built program. Those about OAuth are left out: Bowline has none. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "bowline-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The suite imports a function of Node 22 that no scenario uses. Without it, Node 20 runs the suite. */
const suite = join(folder, "suite.mjs");
const original = readFileSync(join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "utf8");
const [, name] = /globSync as (\w+),/.exec(original) ?? [];
writeFileSync(suite, name === undefined ? original : original.replace(`globSync as ${name},`, "").replace("import{", `const ${name}=()=>[];import{`));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

test.concurrent.each(["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"])(
	"%s",
	{ timeout: 60_000 },
	async (scenario) => {
		const command = `${process.execPath} ${join(import.meta.dirname, "conformance-client.mjs")}`;
		const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
		const run = promisify(execFile)(process.execPath, [suite, "client", "--command", command, "--scenario", scenario], { cwd: folder, env });
		const { stdout, stderr } = await run.catch((error) => error);
		const [, passed, all, failed] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(`${stdout}${stderr}`) ?? [];
		expect([Number(all) > 0, passed, failed], `${stdout}${stderr}`.slice(-2000)).toEqual([true, all, "0"]);
	},
);
