/** The example of docs/budgets.md, run unchanged. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { program } from "../wire/support/agent.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-budgets-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(import.meta.dirname, "../../docs/budgets.md"), "utf8");
const example = page.slice(page.indexOf("## An example"));
const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(example)?.[1] as string;

test("the host of the example sees what the page says", () => {
	writeFileSync(join(folder, "looking.jsonc"), block("jsonc"));
	writeFileSync(join(folder, "host.mjs"), block("js"));
	writeFileSync(join(folder, "bowline"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
	chmodSync(join(folder, "bowline"), 0o755);
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const env = { ...inherited, BOWLINE_DIR: join(folder, "user"), PATH: `${folder}${delimiter}${process.env.PATH}` };
	expect(execFileSync(process.execPath, ["host.mjs"], { cwd: folder, env, encoding: "utf8" })).toBe(block("text"));
});
