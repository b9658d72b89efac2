/** What the documentation tells people to run, runs. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

/** The code blocks of a page, by language. */
function blocks(page: string, language: string): string[] {
	const text = readFileSync(join(root, page), "utf8");
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((found) => found[1] as string);
}

test("the README's first host in JavaScript prints the reply", () => {
	const [program = ""] = blocks("README.md", "js");
	expect(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: root, env, encoding: "utf8" })).toBe("hello");
});

test("the README's first host on the client prints the reply", () => {
	const [program = ""] = blocks("README.md", "ts");
	expect(execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd: root, env, encoding: "utf8" })).toBe("hello\n");
});

test("the README's first host in a shell sees a whole run", () => {
	const command = blocks("README.md", "sh")
		.find((block) => block.includes("printf"))
		?.split("\n")[1] as string;
	const lines = execFileSync("bash", ["-c", command], { cwd: root, env, encoding: "utf8" }).trim().split("\n");
	const types = lines.map((line) => JSON.parse(line).type);
	expect([types[0], types[1], types.at(-1)]).toEqual(["ready", "response", "agent_settled"]);
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
	expect(help).toContain("docs/protocol.md");
	expect(help.split("\n").filter((line) => line.length > 130)).toEqual([]);
});

test("bowline --version tells its own and node's", () => {
	const text = execFileSync(process.execPath, ["dist/bowline.js", "--version"], { cwd: root, env, encoding: "utf8" });
	expect(text).toMatch(/^bowline \d+\.\d+\.\d+ \(node \d+\./);
});

test("bowline demo ends with a repository whose test passes", () => {
	const text = execFileSync(process.execPath, ["dist/bowline.js", "demo"], { cwd: root, env, encoding: "utf8" });
	expect(text.trim().split("\n").at(-1)).toMatch(/^\d+ turns, \d+ tool calls, the test passes\. Session: .*\.jsonl$/);
});
