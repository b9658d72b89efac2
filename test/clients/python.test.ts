/** The Python client, tested in its own language with the built program. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeUnless } from "../unless.ts";

const root = join(import.meta.dirname, "../..");
const client = join(root, "clients/python");
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const python = (args: string[]) =>
	spawnSync("python3", args, { cwd: root, env: { ...env, PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: "1" }, encoding: "utf8", timeout: 300_000 });
const hasPython = python(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;

describeUnless(!hasPython && "Python 3.9 or newer is not installed")("the Python client", { timeout: 310_000 }, () => {
	test("keeps what its own tests promise", () => {
		const { status, stderr } = python(["-W", "error::ResourceWarning", "-m", "unittest", "discover", "-t", client, "-s", join(client, "tests")]);
		expect(status, stderr).toBe(0);
		expect(stderr).toMatch(/Ran \d\d tests/);
	});

	test("does what its page shows", () => {
		const page = readFileSync(join(client, "README.md"), "utf8");
		const blocks = [...page.matchAll(/^```python\n(.*?)^```\n(?:\nIt prints:\n\n```\n(.*?)^```)?/gms)];
		expect(blocks.length).toBeGreaterThan(3);
		for (const [, code = "", output] of blocks) {
			// The page talks to whatever is installed; here that is the program just built, with a model that needs no key.
			const flags = ["--mode", "rpc", "--hermetic", "--no-session", "--provider", "scripted", "--model", "examples/scripts/weather.jsonc"];
			const command = `["node", "dist/bowline.js", ${flags.map((flag) => JSON.stringify(flag)).join(", ")}]`;
			const { status, stdout, stderr } = python(["-c", code.replaceAll(/Client\(\)/g, `Client(${command})`)]);
			expect(status, `${code}\n${stderr}`).toBe(0);
			if (output) expect(stdout).toBe(output);
		}
	});
});
