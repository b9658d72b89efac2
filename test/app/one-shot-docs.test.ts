/** The examples of docs/one-shot.md, run unchanged. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { program } from "../wire/support/agent.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(import.meta.dirname, "../../docs/one-shot.md"), "utf8");
const examples = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map((found) => found[1] as string);
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

mkdirSync(join(folder, "bin"));
mkdirSync(join(folder, "work"));
writeFileSync(join(folder, "bin/bowline"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
writeFileSync(join(folder, "work/screenshot.png"), Buffer.from(pixel, "base64"));
writeFileSync(join(folder, "work/notes.md"), "First note.\n");
execFileSync("git", ["init", "--quiet"], { cwd: join(folder, "work") });

test.each(examples)("%s", (example) => {
	const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", example], {
		cwd: join(folder, "work"),
		env: {
			...process.env,
			PATH: `${join(folder, "bin")}:${process.env.PATH}`,
			BOWLINE_DIR: join(folder, "user"),
			BOWLINE_SETTINGS: '{"defaultProvider":"scripted","defaultModel":"echo"}',
		},
		encoding: "utf8",
		input: "",
	});
	expect([status, stderr]).toEqual([0, ""]);
	// The model echoes: each question is its own answer.
	for (const [, prompt] of example.matchAll(/(?:-p|json|-|continue|png) "(.*?)"/g)) expect(stdout).toContain(prompt);
});
