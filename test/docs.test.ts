/** The commands that the documentation tells people to run work. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { brokenLinks } from "./links.ts";
import { testUnless } from "./unless.ts";

const root = join(import.meta.dirname, "..");
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** The code blocks of a page, by language. */
function blocks(page: string, language: string): string[] {
	const text = readFileSync(join(root, page), "utf8");
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((found) => found[1] as string);
}

/** The pages expect `bowline` on the PATH. */
const bin = mkdtempSync(join(tmpdir(), "bowline-docs-"));
writeFileSync(join(bin, "bowline"), `#!/bin/sh\nexec '${process.execPath}' '${join(root, "dist/bowline.js")}' "$@"\n`, { mode: 0o755 });
const env = { ...inherited, PATH: `${bin}:${inherited.PATH}` };
afterAll(() => rmSync(bin, { recursive: true, force: true }));

testUnless(!hasPython && "python3 is not installed")("the README's first host in Python prints the reply", () => {
	const [program = ""] = blocks("README.md", "python");
	const PYTHONPATH = join(root, "clients/python");
	expect(execFileSync("python3", ["-c", program], { cwd: root, env: { ...env, PYTHONPATH }, encoding: "utf8" })).toBe("hello\n");
});

test("the README's first host in a shell sees a whole run", () => {
	const [program = ""] = blocks("README.md", "bash");
	const lines = execFileSync("bash", ["-c", program], { cwd: root, env, encoding: "utf8" }).trim().split("\n");
	const types = lines.map((line) => JSON.parse(line).type);
	expect([types[0], types[1], types.at(-1)]).toEqual(["ready", "response", "agent_settled"]);
});

test("the picture of a run shows what the demo prints", () => {
	const picture = readFileSync(join(root, "docs/run.svg"), "utf8");
	for (const words of ["agent_settled", "subagent_start", "attempt 1 failed", "attempt 2 passed", "the test passes"])
		expect(picture).toContain(words);
});

test("links between the pages of the repository lead somewhere", () => {
	expect(brokenLinks(root)).toEqual([]);
});

test("the npm package and the Python client have the same version", () => {
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	expect(readFileSync(join(root, "clients/python/pyproject.toml"), "utf8")).toContain(`\nversion = "${version}"\n`);
	expect(readFileSync(join(root, "clients/python/bowline/__init__.py"), "utf8")).toContain(`\n__version__ = "${version}"\n`);
});

test("bowline --help names every flag in a line and how to go on", () => {
	const help = execFileSync(process.execPath, ["dist/bowline.js", "--help"], { cwd: root, env, encoding: "utf8" });
	expect(help).toContain("--mode <mode>");
	const [, directory = "", names = ""] = /^Pages in (.*?): (.*) and others/ms.exec(help) as RegExpExecArray;
	expect(names.split(/,\s/).filter((name) => !existsSync(join(directory, name)))).toEqual([]);
	expect(help.split("\n").filter((line) => line.length > 130 && !line.includes(directory))).toEqual([]);
});

test("bowline --version tells its own and node's", () => {
	const text = execFileSync(process.execPath, ["dist/bowline.js", "--version"], { cwd: root, env, encoding: "utf8" });
	expect(text).toMatch(/^bowline \d+\.\d+\.\d+ \(node \d+\./);
});

test("bowline demo ends with a repository whose test passes", () => {
	const text = execFileSync(process.execPath, ["dist/bowline.js", "demo"], { cwd: root, env, encoding: "utf8" });
	expect(text.trim().split("\n").at(-1)).toMatch(/^\d+ turns, \d+ tool calls, the test passes\. Session: .*\.jsonl$/);
});

test("the API pages describe every name that the packages export", async () => {
	const page = readFileSync(join(root, "docs/typescript-api.md"), "utf8");
	const names = await Promise.all(
		["index", "client", "protocol"].map(async (name) => Object.keys(await import(join(root, "dist/lib", `${name}.js`)))),
	);
	const client = readFileSync(join(root, "src/client/index.ts"), "utf8").matchAll(/^export type \{ (.*) \} from/gm);
	// These two only shape a member of ClientOptions and the names of listeners.
	const types = [...client]
		.flatMap(([, list = ""]) => list.split(", "))
		.filter((name) => !["ListenerTypes", "ClosePatience", "Spawn"].includes(name));
	expect([...names.flat(), ...types].filter((name) => !new RegExp(`^#+ ${name}$|^\\| \`${name}\``, "m").test(page))).toEqual([]);
	const python = readFileSync(join(root, "docs/python-api.md"), "utf8");
	const all = /__all__ = \[(.*?)\]/s.exec(readFileSync(join(root, "clients/python/bowline/__init__.py"), "utf8"))?.[1] ?? "";
	const classes = [...all.matchAll(/"([A-Z][a-z]\w*)"/g)].map(([, name = ""]) => name);
	expect(classes.length).toBeGreaterThan(7);
	expect(classes.filter((name) => !python.includes(`\n## ${name}\n`))).toEqual([]);
});
