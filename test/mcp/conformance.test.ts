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

const scenarios = [
	["initialize", "2025-11-25"],
	["tools_call", "2025-06-18"],
	["tools_call", "2025-11-25"],
	["elicitation-sep1034-client-defaults", "2025-11-25"],
	["sse-retry", "2025-11-25"],
	["json-schema-2020-12-preservation", "2025-11-25"],
	["tools_call", "2026-07-28"],
	["request-metadata", "2026-07-28"],
	["sep-2322-client-request-state", "2026-07-28"],
	["http-standard-headers", "2026-07-28"],
	["http-custom-headers", "2026-07-28"],
	["http-invalid-tool-headers", "2026-07-28"],
	["json-schema-ref-no-deref", "2026-07-28"],
	["json-schema-2020-12-preservation", "2026-07-28"],
] as const;

test("every scenario for clients that is not about logins is played", async () => {
	const { stdout } = await promisify(execFile)(process.execPath, [suite, "list"], { cwd: folder });
	const [, clients = ""] = /Client scenarios.*?:\n([\s\S]*?)(?:\n\n|$)/.exec(stdout) ?? [];
	const listed = [...clients.matchAll(/^ +- (\S+) \[(.*)\]$/gm)].map(([, scenario, revisions]) => ({ scenario, revisions }));
	// Extensions of the protocol are optional; the ones that are listed load skills from servers.
	const wanted = listed.filter(({ scenario, revisions }) => !scenario?.startsWith("auth/") && revisions !== "extension");
	expect([...new Set(scenarios.map(([scenario]) => scenario))].sort()).toEqual(wanted.map(({ scenario }) => scenario).sort());
});

// A few at a time: each starts three processes.
const next = [Promise.resolve<unknown>(undefined), Promise.resolve<unknown>(undefined), Promise.resolve<unknown>(undefined)];

test.concurrent.each(scenarios.map(([scenario, revision], place) => ({ scenario, revision, place })))(
	"$scenario of $revision",
	{ timeout: 240_000 },
	async ({ scenario, revision, place }) => {
		const lane = place % next.length;
		const played = (next[lane] as Promise<unknown>).then(() => play(scenario, revision));
		next[lane] = played;
		const said = await played;
		const [, passed, all, failed, warnings] = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(said) ?? [];
		expect([Number(all) > 0, passed, failed, warnings], said.slice(-2000)).toEqual([true, all, "0", "0"]);
	},
);

/** What the suite says about a scenario. */
async function play(scenario: string, revision: string): Promise<string> {
	const command = `${process.execPath} ${join(import.meta.dirname, "conformance-client.mjs")}`;
	const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
	const args = [suite, "client", "--command", command, "--scenario", scenario, "--spec-version", revision, "--timeout", "90000"];
	const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch((error) => error);
	return `${stdout}${stderr}`;
}
