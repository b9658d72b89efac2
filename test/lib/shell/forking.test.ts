/** Commands that answer the signal to end with new processes, and commands that never stop forking. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { redactor } from "../../../src/lib/redact.ts";
import { Shell } from "../../../src/lib/shell/index.ts";
import { commandsWith } from "./processes.ts";

const directory = mkdtempSync(join(tmpdir(), "bowline-forking-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Each starts the next one in a session of its own and exits. */
writeFileSync(join(directory, "chain.sh"), `trap '' TERM\nsetsid bash ./chain.sh "$1" &\n`);

const loop = "while :; do sleep 0.05; done";
const commands: [what: string, command: (tag: string) => string][] = [
	["starts a process when it is asked to end", (tag) => `trap 'sleep 300.${tag} & exit' TERM; echo up; ${loop}`],
	["starts one in a new session", (tag) => `trap 'setsid sleep 300.${tag} & exit' TERM; echo up; ${loop}`],
	["starts one without its environment", (tag) => `trap 'env -i sleep 300.${tag} & exit' TERM; echo up; ${loop}`],
	["starts one a little later", (tag) => `trap '(sleep 0.1; setsid sleep 300.${tag}) & exit' TERM; echo up; ${loop}`],
	[
		"keeps forking without starting a program",
		(tag) => `perl -e '$SIG{TERM} = "IGNORE"; while (1) { exit if fork }' ${tag} & echo up; sleep 300.${tag}`,
	],
	["keeps forking into new sessions", (tag) => `setsid bash ./chain.sh ${tag} & echo up; sleep 300.${tag}`],
];

async function abortedRun(command: string): Promise<void> {
	const shell = new Shell({ cwd: directory, environment: () => process.env, redact: redactor(() => []), tempDir: directory });
	const abort = new AbortController();
	const onUpdate = ({ output }: { output: string }) => {
		if (output.includes("up")) abort.abort();
	};
	const { aborted } = await shell.run({ command, signal: abort.signal, onUpdate });
	expect(aborted).toBe(true);
	await shell.close();
}

describe.runIf(process.platform === "linux")("an abort ends a command that", () => {
	test.each(commands)("%s", { timeout: 60_000 }, async (_what, command) => {
		const tags = Array.from({ length: 3 }, () => String(Number.parseInt(randomBytes(4).toString("hex"), 16)));
		await Promise.all(tags.map((tag) => abortedRun(command(tag))));
		// Long enough for what escaped to show up.
		await new Promise((resolve) => setTimeout(resolve, 150));
		expect(tags.flatMap(commandsWith)).toEqual([]);
	});
});
