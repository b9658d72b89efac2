/** The examples do what they say. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

test("a host in TypeScript offers a tool of its own", () => {
	const { code } = transformSync(readFileSync(join(root, "examples/hosts/with-tools.ts"), "utf8"), { loader: "ts", format: "esm", target: "node20" });
	expect(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, env, encoding: "utf8" })).toBe(
		"Yes. It rains in Bergen.\n",
	);
});

test.skipIf(!hasPython)("a host in Python offers a tool of its own", () => {
	expect(execFileSync("python3", ["examples/hosts/with_tools.py"], { cwd: root, env, encoding: "utf8" })).toBe("Yes. It rains in Bergen.\n");
});
