/** Where the commands of runs work: inside the sandbox of their worker, and what is said where there is none. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { sharedFileQueue } from "../../src/fleet/file/control.ts";
import { folderOutsideTmp, missing } from "../sandbox/support.ts";
import { testUnless } from "../unless.ts";
import { type Fixture, familyOf, makeFixture, program, signalAll, startWorker, submissionFor, type WorkerProcess } from "./fixture.ts";

const cleanups: (() => unknown)[] = [];
const workers: WorkerProcess[] = [];
afterEach(async () => {
	for (const { child } of workers) if (child.exitCode === null && child.signalCode === null) signalAll(familyOf(child.pid as number), "SIGKILL");
	await Promise.all(workers.splice(0).map(({ exited }) => exited));
	for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A machine with a home, where a run tries one command. */
function machine(command: string) {
	const fixture: Fixture = makeFixture({
		first: [{ when: { depth: 0, text: "Try it" }, blocks: [{ tool: "bash", arguments: { command } }], usage: { input: 1, output: 1 } }],
	});
	// Inside, /tmp is another directory: what is there proves nothing.
	const folder = folderOutsideTmp();
	cleanups.push(fixture.remove, () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
	const home = join(folder, "home");
	const user = join(home, ".bowline");
	mkdirSync(join(home, ".ssh"), { recursive: true });
	mkdirSync(user);
	writeFileSync(join(home, ".ssh/id_test"), "a-key-of-the-owner\n");
	const env = { ...process.env, HOME: home, BOWLINE_DIR: user };
	const queue = sharedFileQueue(join(user, "fleet"));
	const submit = async (more: Parameters<typeof submissionFor>[2] = {}) => {
		const [{ runId } = { runId: "" }] = await queue.submit([
			submissionFor(fixture, `run-${Math.random()}`, { ...more, spec: { prompt: "Try it.", ...more.spec } }),
		]);
		return runId;
	};
	return {
		...{ folder, home, user, queue, submit },
		/** Works until nothing is left. Resolves with the exit code and what the worker said. */
		async work(settings: Record<string, string | number | undefined> = {}, variables: Record<string, string> = {}) {
			const worker = startWorker(user, ["--once"], { "sandbox.mode": undefined, ...settings }, { HOME: home, ...variables });
			workers.push(worker);
			const code = await worker.exited;
			const lines = worker.output().trim().split("\n");
			return { code, output: worker.output(), said: lines.filter((line) => /sandbox/.test(line)) };
		},
		async sessionOf(runId: string) {
			return (await queue.lines(runId, "session", 0, 1000)).map(({ body }) => body).join("\n");
		},
		fleet: (...args: string[]) => execFileSync(process.execPath, [program, "fleet", ...args], { env, encoding: "utf8", stdio: "pipe" }),
	};
}

const noBubblewrap = { "sandbox.bwrapPath": "/nowhere/bwrap" };

testUnless(missing)("a worker without settings keeps its runs inside a sandbox, and takes those that need one", { timeout: 180_000 }, async () => {
	const server = createServer((socket) => socket.end());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	cleanups.push(() => new Promise((resolve) => server.close(resolve)));
	const { port } = server.address() as { port: number };
	const { folder, home, user, queue, submit, work, sessionOf, fleet } = machine(
		[
			'echo planted > "$HOME/planted" || echo home-is-closed',
			'echo planted > "$HOME/../planted" || echo outside-is-closed',
			'cat "$HOME/.ssh/id_test" || echo keys-are-hidden',
			'ls "$HOME/.bowline/fleet" || echo queue-is-hidden',
			"(exec 3<>/dev/tcp/127.0.0.1/$PORT) || echo loopback-is-closed".replace("$PORT", String(port)),
			"git status --short && echo works > inside.txt && echo git-works",
			"echo all-steps-done",
		].join("\n"),
	);
	const verify = { commands: [{ name: "outside", command: `! cat ${join(home, ".ssh/id_test")} && ! echo planted > ${join(folder, "planted")}` }] };
	const runId = await submit({ needs: ["sandbox"], spec: { verify } });
	const { code, output, said } = await work();
	expect(code, output).toBe(0);
	expect(said).toEqual([expect.stringMatching(/Runs are inside a sandbox: workspace-write, .+, network off\.$/)]);
	const result = await queue.result(runId);
	expect(result, output).toMatchObject({
		status: "completed",
		receipt: {
			sandbox: { mode: "workspace-write", network: "off", backend: expect.any(String) },
			commands: [{ sandbox: "workspace-write" }],
			verification: { status: "passed" },
		},
	});
	const session = await sessionOf(runId);
	for (const text of ["home-is-closed", "outside-is-closed", "keys-are-hidden", "queue-is-hidden", "loopback-is-closed", "git-works"])
		expect(session.split("\\n"), text).toContain(text);
	expect(session).not.toContain("a-key-of-the-owner");
	expect([join(home, "planted"), join(folder, "planted")].filter((path) => existsSync(path))).toEqual([]);
	expect(result?.patch?.toString()).toContain("+works");
	expect((await queue.workers()).map(({ labels }) => labels)).toEqual([expect.arrayContaining(["sandbox"])]);
	expect((await queue.list({ ids: [runId] }))[0]?.sandbox).toEqual(expect.objectContaining({ mode: "workspace-write" }));
	expect(fleet("status", runId)).toContain("workspace-write");
	// Neither the trial nor the run leaves anything behind.
	expect(readdirSync(join(user, "fleet-work"))).toEqual([]);
	expect(existsSync(join(user, "sandbox")) ? readdirSync(join(user, "sandbox")) : []).toEqual([]);
});

test("where a sandbox cannot be had, the worker says why, each run says that it was outside, and none that needs one is taken", {
	timeout: 180_000,
}, async () => {
	const { queue, submit, work, fleet } = machine("echo all-steps-done");
	const [needy, other] = [await submit({ needs: ["sandbox"] }), await submit()];
	const { code, output, said } = await work(noBubblewrap);
	expect(code, output).toBe(0);
	expect(said).toEqual([expect.stringMatching(/Runs are not inside a sandbox: .*bwrap.*\. \S.*\.$/)]);
	expect((await queue.list({ ids: [needy] }))[0]).toMatchObject({ state: "queued", sandbox: null });
	const outside = { mode: "off", reason: expect.stringContaining("bwrap") };
	expect((await queue.result(other))?.receipt).toMatchObject({ status: "completed", sandbox: outside });
	expect((await queue.result(other))?.receipt.commands).toEqual([expect.not.objectContaining({ sandbox: expect.anything() })]);
	expect((await queue.list({ ids: [other] }))[0]).toMatchObject({ sandbox: outside });
	expect(fleet("status")).toMatch(/sandbox off: .*bwrap/);
});

test.each([
	["sandbox.mode", { "sandbox.mode": "workspace-write" }],
	["a stricter sandbox.mode", { "sandbox.mode": "read-only" }],
	["sandbox.required", { "sandbox.required": "true" }],
])("a worker whose settings ask for a sandbox with %s takes no run without one", { timeout: 120_000 }, async (_, settings) => {
	const { queue, submit, work } = machine("echo all-steps-done");
	const runId = await submit();
	const { code, output } = await work({ ...noBubblewrap, ...settings });
	expect(code).toBe(1);
	expect(output).toMatch(/^Error: The worker does not start: its settings ask for a sandbox \([\w-]+\), and there is none: .*bwrap.*\. .+\.\n$/);
	expect((await queue.list({ ids: [runId] }))[0]).toMatchObject({ state: "queued", epoch: 0 });
	expect(await queue.workers()).toEqual([]);
});

test("a sandbox that is asked for and not required is reported as off, with the reason", { timeout: 120_000 }, async () => {
	const { queue, submit, work } = machine("echo all-steps-done");
	const runId = await submit();
	const { code, output, said } = await work({ ...noBubblewrap, "sandbox.mode": "workspace-write", "sandbox.required": "false" });
	expect(code, output).toBe(0);
	expect(said).toEqual([expect.stringContaining("Runs are not inside a sandbox:")]);
	expect((await queue.result(runId))?.receipt).toMatchObject({ status: "completed", sandbox: { mode: "off", reason: expect.any(String) } });
});

test("a sandbox that is off is said to be off, and by whom", { timeout: 120_000 }, async () => {
	const { queue, submit, work } = machine("echo all-steps-done");
	const [needy, other] = [await submit({ needs: ["sandbox"] }), await submit()];
	const { said } = await work({ "sandbox.mode": "off" });
	expect(said).toEqual([expect.stringMatching(/Runs are not inside a sandbox: sandbox\.mode is off \(--set sandbox\.mode=off\)\.$/)]);
	expect((await queue.list({ ids: [needy] }))[0]).toMatchObject({ state: "queued" });
	expect((await queue.result(other))?.receipt).toMatchObject({ sandbox: { mode: "off" } });
});

test("the container of a worker is no proof of a sandbox: the label is not given", { timeout: 120_000 }, async () => {
	const { queue, submit, work } = machine("echo all-steps-done");
	const [needy, other] = [await submit({ needs: ["sandbox"] }), await submit()];
	const { said } = await work({ "sandbox.mode": "external" });
	expect(said).toEqual([expect.stringContaining("nothing was tested, and the label sandbox is not given")]);
	expect((await queue.list({ ids: [needy] }))[0]).toMatchObject({ state: "queued" });
	expect((await queue.result(other))?.receipt).toMatchObject({ sandbox: { mode: "external" } });
});

test("rules of a worker hold in its runs, wherever they are written", { timeout: 120_000 }, async () => {
	const { user, queue, submit, work, sessionOf } = machine("deploy now");
	const deny = (command: string, because: string) => ({ action: "deny", tool: "bash", command, because });
	writeFileSync(join(user, "settings.jsonc"), JSON.stringify({ "permissions.rules": [deny("deploy *", "runs do not deploy")] }));
	const runId = await submit({ spec: { limits: { toolCalls: 6 } } });
	const variables = { BOWLINE_SETTINGS: JSON.stringify({ permissions: { rules: [deny("publish *", "runs do not publish")] } }) };
	const { code, output } = await work({ "sandbox.mode": "off" }, variables);
	expect(code, output).toBe(0);
	expect((await queue.result(runId))?.receipt, output).toMatchObject({ status: "completed" });
	const session = await sessionOf(runId);
	expect(session).toContain("runs do not deploy");
	expect(session).not.toContain("command not found");
});

testUnless(missing)(
	"a path that a rule of the worker closes is closed to commands, and leaves nothing in the patch",
	{ timeout: 120_000 },
	async () => {
		const { user, queue, submit, work, sessionOf } = machine("mkdir -p conf; echo x > conf/closed.txt; echo x > open.txt; echo all-steps-done");
		const rules = [{ action: "deny", tool: "write", path: "conf/closed.txt" }];
		writeFileSync(join(user, "settings.jsonc"), JSON.stringify({ "permissions.rules": rules }));
		const runId = await submit({ spec: { verify: { commands: [{ name: "open", command: "test -e open.txt" }] } } });
		const { code, output } = await work();
		expect(code, output).toBe(0);
		const result = await queue.result(runId);
		expect(result?.receipt, output).toMatchObject({ status: "completed", sandbox: { mode: "workspace-write" }, patch: { files: 1 } });
		expect(result?.patch?.toString()).not.toContain("closed.txt");
		expect(await sessionOf(runId)).toContain("conf/closed.txt was made by the command.");
	},
);

test("a run in the queue that sets what is its worker's ends with the name of the setting", { timeout: 120_000 }, async () => {
	const { queue, submit, work } = machine("echo all-steps-done");
	const runs = [
		await submit({ spec: { settings: { sandbox: { mode: "off" } } } }),
		await submit({ spec: { settings: { "mcpServers.evil": { command: "x" } } } }),
		await submit({ spec: { settings: { "compaction.ofTomorrow": true } } }),
	];
	const { output } = await work({ "sandbox.mode": "off" });
	const receipts = await Promise.all(runs.map(async (id) => (await queue.result(id))?.receipt));
	expect(receipts, output).toMatchObject([
		{ status: "failed", reason: expect.stringContaining("sandbox.mode, which is the worker's own setting") },
		{ status: "failed", reason: expect.stringContaining("mcpServers.evil, which is the worker's own setting") },
		{ status: "failed", reason: expect.stringContaining("compaction.ofTomorrow") },
	]);
	expect(receipts.filter((receipt) => receipt?.sandbox !== undefined)).toEqual([]);
});
