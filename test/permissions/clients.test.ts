/** Hosts in TypeScript: a handler answers questions, in a client of a process and in a session of this one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionHandler } from "../../src/client/index.ts";
import { createSession } from "../../src/index.ts";
import { environment, folder, kept, start } from "../client/support.ts";

const touch = (name: string) => ({ blocks: [{ tool: "bash", arguments: { command: `touch ${name}` } }] });
const args = ["--permission-mode", "ask"];

test("a handler says hello, gets the question, and its answer decides", async () => {
	const asked: unknown[] = [];
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies: [touch("a"), touch("b"), { text: "done" }] }) });
	const onPermission: PermissionHandler = async ({ text, digest, choices }) => {
		asked.push({ text, digest: digest.slice(0, 7), choices });
		return text.endsWith("a") ? { decision: "allow" } : { decision: "deny", message: "not b" };
	};
	const client = await start({ cwd, replies: [], args: [...args, "--model", join(cwd, "script.jsonc")], onPermission });
	const resolved: string[] = [];
	client.on("permission_resolved", ({ outcome, by }) => resolved.push(`${outcome} by ${by}`));
	const { messages } = await client.promptAndWait("go");
	expect(asked).toMatchObject([{ text: "touch a", digest: "sha256:", choices: ["once", "session", "always"] }, { text: "touch b" }]);
	expect(resolved).toEqual(["allowed by host", "denied by host"]);
	expect(JSON.stringify(messages)).toContain("Denied by the user. not b");
	expect([existsSync(join(cwd, "a")), existsSync(join(cwd, "b"))]).toEqual([true, false]);
});

test("a handler that throws denies, and its error is reported; without a handler there is no hello", async () => {
	const errors: unknown[] = [];
	const client = await start({ replies: [touch("a"), { text: "done" }, touch("b"), { text: "done" }], args, onError: (error) => errors.push(error) });
	await client.onPermission(() => {
		throw new Error("broken");
	});
	const ends: unknown[] = [];
	client.on("tool_execution_end", ({ result }) => ends.push((result.details as { permission?: { by: string } }).permission?.by));
	const dialogs: string[] = [];
	client.onDialog(async (dialog) => {
		dialogs.push(dialog.method);
		return "Deny";
	});
	await client.promptAndWait("go");
	await client.onPermission(undefined);
	await client.promptAndWait("go");
	expect(errors).toMatchObject([{ message: "broken" }]);
	expect(ends).toEqual(["host", "host"]);
	expect(dialogs).toEqual(["select"]);
});

test("the signal of a handler fires when the question is closed elsewhere", async () => {
	let closed: (() => void) | undefined;
	const fired = new Promise<void>((resolve) => {
		closed = resolve;
	});
	const client = await start({
		replies: [touch("a"), { text: "done" }],
		args,
		onPermission: (_, signal) =>
			new Promise((resolve) => {
				signal.addEventListener("abort", () => {
					closed?.();
					resolve({ decision: "allow" });
				});
				void client.abort();
			}),
	});
	await client.promptAndWait("go").catch(() => undefined);
	await fired;
});

test("an embedded session has the same handler, and a restarted agent is greeted again", async () => {
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies: [touch("a"), { text: "done" }] }) });
	const onPermission: PermissionHandler = () => ({ decision: "allow", scope: "session" });
	const session = await kept(
		createSession({ cwd, env: environment(cwd), noSession: true, provider: "scripted", model: "script.jsonc", permissionMode: "ask", onPermission }),
	);
	await session.promptAndWait("go");
	expect(existsSync(join(cwd, "a"))).toBe(true);
	expect((await session.getPermissions()).grants).toMatchObject([{ rule: { command: "touch a" }, scope: "session" }]);
	await session.restart();
	await session.promptAndWait("go");
	expect((await session.getPermissions()).grants).toHaveLength(1);
});
