/** What git would run is asked about. When git gives no answer, nobody knows what that is. */
import { chmodSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { startClient } from "../../src/client/index.ts";
import { environment, folder, kept } from "../client/support.ts";

const write = { tool: "write", arguments: { path: "note.txt", content: "x" } };

/** The requests that a write in mode edit leads to, with this program in place of git. */
async function asked(git: string): Promise<{ kinds: string[]; isWritten: boolean }> {
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies: [{ blocks: [write] }, { text: "done" }] }), "bin/git": git });
	chmodSync(join(cwd, "bin/git"), 0o755);
	const kinds: string[] = [];
	const env = { ...environment(cwd), PATH: `${join(cwd, "bin")}${delimiter}${process.env.PATH}` };
	const args = ["--no-session", "--provider", "scripted", "--model", "script.jsonc", "--permission-mode", "edit"];
	const onPermission = ({ subject }: { subject: { kind: string } }) => {
		kinds.push(subject.kind);
		return { decision: "deny" as const };
	};
	const client = await kept(startClient({ cwd, env, args, onPermission }));
	await client.promptAndWait("go");
	return { kinds, isWritten: existsSync(join(cwd, "note.txt")) };
}

test("a write in mode edit is asked about while git does not answer, and not where it names nothing or is missing", async () => {
	expect(await asked("#!/bin/sh\nkill -9 $$\n")).toEqual({ kinds: ["protected"], isWritten: false });
	expect(await asked("#!/bin/sh\nexit 0\n")).toEqual({ kinds: [], isWritten: true });
	expect(await asked("#!/nowhere/sh\n")).toEqual({ kinds: [], isWritten: true });
});
