/** The commands that the documentation tells people to run work. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** The code blocks of a page, by language. */
function blocks(page: string, language: string): string[] {
	const text = readFileSync(join(root, page), "utf8");
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((found) => found[1] as string);
}

test("the README's first host in TypeScript prints the reply", () => {
	const [program = ""] = blocks("README.md", "ts");
	const { code } = transformSync(program, { loader: "ts", format: "esm", target: "node20" });
	expect(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, env, encoding: "utf8" })).toBe("hello");
});

test.skipIf(!hasPython)("the README's first host in Python prints the reply", () => {
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

test("links between the pages lead somewhere", () => {
	const pages = ["README.md", "CONTRIBUTING.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
	const broken = pages.flatMap((page) => {
		const text = readFileSync(join(root, page), "utf8");
		const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((found) => found[1] as string);
		const here = join(root, page, "..");
		return targets.filter((target) => !existsSync(join(here, target))).map((target) => `${page}: ${target}`);
	});
	expect(broken).toEqual([]);
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
