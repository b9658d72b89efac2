/** Unattended runs: nobody is asked, the answer is printed, and the exit code says that something was denied. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { once } from "../app/one-shot-process.ts";

const asking = ["--permission-mode", "ask"];

test("-p prints the answer, names what was denied and what would allow it, and exits with 4", async () => {
	const model = 'call bash {"command":"npm publish"} + call write {"path":"a.txt","content":"x"} · say "I could not."';
	expect(await once(["-p", ...asking, "go"], { model })).toMatchObject({
		code: 4,
		stdout: "I could not.\n",
		stderr: expect.stringMatching(
			/^Warning: Denied, because nobody can be asked here: bash npm publish\. It would be allowed by the rule \{"action":"allow","tool":"bash","command":"npm publish"\}, or --permission-mode full\.\nWarning: Denied, because nobody can be asked here: write .*work\/a\.txt\. It would be allowed by the rule \{.*\}, or --permission-mode edit\.\n$/,
		),
	});
});

test("--mode json denies in the same way: no frame is a question", async () => {
	const { code, stdout } = await once(["--mode", "json", ...asking, "go"], { model: 'call bash {"command":"ls"} · say "No."' });
	expect(code).toBe(4);
	expect(stdout).toContain("This needs an approval and nobody can be asked.");
	expect(stdout).not.toContain("permission_request");
});

test("a denial by a rule or a mode is a decision, not a missing answer: 0; a failure wins: 1", async () => {
	const model = 'call bash {"command":"ls"} · say "Done."';
	expect(await once(["-p", "--permission-mode", "plan", "go"], { model })).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(await once(["-p", ...asking, "go"], { model: 'call bash {"command":"ls"} · fail "400 no"' })).toMatchObject({ code: 1 });
});

test("a subagent's denial counts too, and both session files have the record", async () => {
	const model =
		'agent main + call #t task {"agent":"task","tasks":[{"id":"fix","description":"d","assignment":"a"}]} · agent main + say "done" · agent task + call #c bash {"command":"ls $x"} · agent task + sees "nobody can be asked" + call submit_result {"result":{"data":"no"}}';
	const { code, stderr, folder } = await once(["-p", ...asking, "go"], { model });
	expect(stderr).toContain("bash ls $x. It would be allowed by --permission-mode full.");
	expect(code).toBe(4);
	const files = readdirSync(join(folder, "user/sessions"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
	const records = files.flatMap((name) =>
		readFileSync(join(folder, "user/sessions", name), "utf8")
			.split("\n")
			.filter((line) => line.includes('"customType":"permission"'))
			.map((line) => JSON.parse(line).data),
	);
	expect(files).toHaveLength(2);
	const common = { toolCallId: "c", kind: "command", tool: "bash", text: "ls $x", outcome: "denied", by: "nobody", sandbox: "off" };
	expect(records).toHaveLength(2);
	expect(records.find(({ origin }) => origin.length === 1)).toMatchObject({ ...common, origin: [{ agent: "task", toolCallId: "t" }] });
	expect(records.find(({ origin }) => origin.length === 0)).toMatchObject({ ...common, requestId: expect.any(String) });
	expect(new Set(records.map(({ digest }) => digest)).size).toBe(1);
});
