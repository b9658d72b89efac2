/** Hosts in TypeScript: a handler answers questions, in a client of a process and in a session of this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
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

test("a host program goes on when its handler fails, in whatever way: each call is denied with the reason, which it can read on stderr", async () => {
	const names = ["thrown", "rejected", "nothing", "scope", "circle", "odd"];
	const cwd = folder({
		"script.jsonc": JSON.stringify({ replies: [...names.map(touch), { text: "done" }] }),
		"host.mjs": `
			import { startClient } from ${JSON.stringify(pathToFileURL(resolve("dist/lib/client.js")).href)};
			const circle = {};
			circle.itself = circle;
			const ways = {
				thrown: () => { throw new Error("broken"); },
				rejected: () => Promise.reject("a text"),
				nothing: () => undefined,
				scope: () => ({ decision: "allow", scope: "forever" }),
				circle: () => ({ decision: "allow", scope: "session", rule: circle }),
				odd: (request) => ({ ...request, decision: "deny", message: "as a person said" }),
			};
			const args = ["--no-session", "--permission-mode", "ask", "--provider", "scripted", "--model", "script.jsonc"];
			const client = await startClient({ args, onPermission: (request) => ways[request.text.split(" ")[1]](request) });
			client.on("tool_execution_end", ({ result }) => console.log(result.content[0].text.split("\\n")[0]));
			await client.promptAndWait("go");
			await client.close();
			console.log("the end");`,
	});
	const host = spawn(process.execPath, ["host.mjs"], { cwd, env: environment(cwd) });
	const output = { said: "", errors: "" };
	host.stdout.on("data", (data) => {
		output.said += data;
	});
	host.stderr.on("data", (data) => {
		output.errors += data;
	});
	const [code] = await once(host, "close");
	const reason = (text: string) => `Denied by the user. ${text} Find another way, or tell the user what to run.`;
	expect(output.said.trimEnd().split("\n")).toEqual([
		reason("The host's handler failed: broken"),
		reason("The host's handler failed: a text"),
		reason(`The host's handler failed: onPermission: decision must be "allow" or "deny"`),
		reason(`The host's handler failed: onPermission: scope must be "once", "session" or "always"`),
		expect.stringContaining("The host's handler failed: Converting circular structure"),
		reason("as a person said"),
		"the end",
	]);
	expect(output.errors.match(/HandlerError: A handler of the host failed/g)).toHaveLength(5);
	expect(output.errors).toContain("Error: broken");
	expect(code).toBe(0);
	expect(names.filter((name) => existsSync(join(cwd, name)))).toEqual([]);
});

test("each answer is about its own call, whatever the order of questions and answers", async () => {
	const outside = folder({ "a.txt": "one", "b.txt": "two" });
	const read = (name: string) => ({ tool: "read", id: name, arguments: { path: join(outside, `${name}.txt`) } });
	const open = new Map<string, (answer: { decision: "allow" | "deny" }) => void>();
	const client = await start({
		replies: [{ blocks: [read("a"), read("b")] }, { text: "done" }],
		args: [...args, "--tools", "read"],
		onPermission: ({ toolCallId }) =>
			new Promise((resolve) => {
				open.set(toolCallId, resolve);
				if (open.size < 2) return;
				open.get("b")?.({ decision: "deny" });
				open.get("a")?.({ decision: "allow" });
			}),
	});
	const ends: Record<string, boolean> = {};
	client.on("tool_execution_end", ({ toolCallId, isError }) => {
		ends[toolCallId] = isError;
	});
	await client.promptAndWait("go");
	expect(ends).toEqual({ a: false, b: true });
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
