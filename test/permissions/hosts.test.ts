/** What hosts do and do not do with questions: take grants back, say too much, cannot show enough, and lose a subagent that asks. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { PermissionHandler } from "../../src/client/index.ts";
import { environment, folder, start } from "../client/support.ts";

const run = (command: string) => ({ blocks: [{ tool: "bash", arguments: { command } }] });
const done = { text: "done" };
const args = ["--permission-mode", "ask"];

test("a grant that is taken back is taken out of the user's file, and the call is asked about again", async () => {
	const own = folder();
	const asked: string[] = [];
	const onPermission: PermissionHandler = ({ text }) => {
		asked.push(text);
		return { decision: "allow", scope: "always" };
	};
	const replies = [run("echo one"), done, run("echo one"), done, run("echo one"), done];
	const client = await start({ replies, args, env: { ...environment(own), BOWLINE_DIR: own }, onPermission });
	await client.promptAndWait("first");
	await client.promptAndWait("covered");
	expect(asked).toHaveLength(1);
	const { grants } = await client.getPermissions();
	expect(grants).toMatchObject([{ scope: "always", rule: { action: "allow", tool: "bash", command: "echo one" } }]);
	await client.revokePermission({ permissionId: grants[0]?.id as string });
	expect(JSON.parse(readFileSync(join(own, "permissions.jsonc"), "utf8"))).toEqual({ version: 1, projects: {} });
	await client.promptAndWait("again");
	expect(asked).toHaveLength(2);
	await expect(client.revokePermission({ permissionId: "unheard" })).rejects.toThrow("Permission not found: unheard");
});

test("the model reads 2,000 characters of a message at most; a text that a dialog cannot show is denied without one", async () => {
	const client = await start({ replies: [run("echo one"), done, run(`echo ${"a".repeat(4000)}`), done], args });
	const ends: { text: string; by?: string }[] = [];
	client.on("tool_execution_end", ({ result }) => {
		const [block] = result.content as { text: string }[];
		ends.push({ text: block?.text ?? "", ...(result.details as { permission: { by: string } }).permission });
	});
	await client.onPermission(() => ({ decision: "deny", message: "m".repeat(5000) }));
	await client.promptAndWait("go");
	expect(ends[0]?.text.match(/m+/)?.[0]).toHaveLength(2000);
	await client.onPermission(undefined);
	const dialogs: string[] = [];
	client.onDialog(({ method }) => void dialogs.push(method));
	await client.promptAndWait("go");
	expect(ends[1]?.by).toBe("nobody");
	expect(dialogs).toEqual([]);
});

test.runIf(process.platform === "linux")("a subagent that dies while it asks takes its question with it", async () => {
	let agent: ChildProcess | undefined;
	const tasks = [{ id: "fix", description: "d", assignment: "a" }];
	const client = await start({
		replies: [
			{ when: { agent: "main" }, blocks: [{ tool: "task", arguments: { agent: "task", tasks } }] },
			{ when: { agent: "task" }, ...run("touch ran") },
			{ when: { agent: "main" }, text: "done" },
		],
		args,
		spawn: (file, argv, options) => {
			agent = spawn(file, argv, options);
			return agent;
		},
		onPermission: (_, signal) =>
			new Promise((resolve) => {
				signal.addEventListener("abort", () => resolve({ decision: "allow" }));
				for (const child of childrenOf(agent?.pid as number)) process.kill(child, "SIGKILL");
			}),
	});
	const resolved: string[] = [];
	client.on("permission_resolved", ({ outcome, by }) => resolved.push(`${outcome} by ${by}`));
	const { text } = await client.promptAndWait("go");
	expect(text).toBe("done");
	expect(resolved).toEqual(["denied by gone"]);
	const { pendingPermissions, cwd } = await client.getState();
	expect(pendingPermissions).toBe(0);
	expect(existsSync(join(cwd as string, "ran"))).toBe(false);
});

const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

test("a host that never reads is not waited for: the command does not run, and the end of input ends the process", async () => {
	const own = folder();
	writeFileSync(join(own, "script.jsonc"), JSON.stringify({ replies: [run("touch ran"), done] }));
	const flags = ["--mode", "rpc", "--provider", "scripted", "--model", "script.jsonc", "--session", join(own, "s.jsonl"), ...args];
	const env = { ...environment(own), BOWLINE_SETTINGS: JSON.stringify({ "permissions.timeoutMs": 300 }) };
	const agent = spawn(process.execPath, [join(import.meta.dirname, "../../dist/bowline.js"), ...flags], {
		cwd: own,
		env,
		stdio: ["pipe", "pipe", "ignore"],
	});
	const ended = once(agent, "close");
	agent.stdout.pause();
	agent.stdin.write(`${JSON.stringify({ type: "hello", capabilities: { permissions: 1 } })}\n${JSON.stringify({ type: "prompt", message: "go" })}\n`);
	const written = () => (existsSync(join(own, "s.jsonl")) ? readFileSync(join(own, "s.jsonl"), "utf8") : "");
	await vi.waitUntil(() => written().includes("Nobody answered within"), { timeout: 20_000, interval: 50 });
	expect(existsSync(join(own, "ran"))).toBe(false);
	agent.stdin.end();
	agent.stdout.destroy();
	await ended;
});
