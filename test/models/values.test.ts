import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StreamEvent } from "../../src/agent/contracts.ts";
import { ModelRegistry } from "../../src/models/registry.ts";
import { resolveValue } from "../../src/models/values.ts";
import type { Model } from "../../src/protocol/model.ts";
import { defaultSetting, ending, open, request } from "./support.ts";

let dir: string;
beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), "bowline-values-"));
});
afterEach(() => {
	rmSync(dir, { recursive: true });
});

const env = { PATH: process.env.PATH };
/** A command that never ends, with a child of its own; both print their ids. */
const endless = () => `!(trap "" TERM; sh -c 'echo $$ > ${dir}/inner; exec sleep 600') & echo $$ > ${dir}/outer; wait`;
const id = (name: string) => Number(readFileSync(join(dir, name), "utf8"));

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	// Dead, but no process has waited for it yet.
	return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

async function whenRunning(): Promise<number[]> {
	await vi.waitFor(() => expect([id("inner"), id("outer")].every((pid) => pid > 0)).toBe(true), { timeout: 20_000 });
	return [id("inner"), id("outer")];
}

async function expectDead(pids: number[]): Promise<void> {
	await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000 });
}

test("what a command prints, without what surrounds it; a failure without what it printed", async () => {
	expect(await resolveValue("!echo '  key '; echo noise >&2", env)).toBe("key");
	expect(await resolveValue("!true", env)).toBeUndefined();
	expect(await resolveValue("!cat; echo at-once", env)).toBe("at-once");
	await expect(resolveValue("!echo hidden; exit 3", env)).rejects.toThrow(/^the command failed with 3$/);
	await expect(resolveValue("!kill -9 $$", env)).rejects.toThrow("the command failed with SIGKILL");
});

test("an abort ends the command and its children", async () => {
	const controller = new AbortController();
	const asked = resolveValue(endless(), env, controller.signal);
	const pids = await whenRunning();
	controller.abort();
	await expect(asked).rejects.toThrow("stopped");
	await expectDead(pids);
	await expect(resolveValue("!echo x", env, AbortSignal.abort())).rejects.toThrow("stopped");
});

test("the time limit ends the command and its children", async () => {
	const asked = expect(resolveValue(endless(), env, undefined, 700)).rejects.toThrow("longer than 0.7 s");
	const pids = await whenRunning();
	await asked;
	await expectDead(pids);
});

test("the end of the process ends the command and its children", async () => {
	const before = process.listeners("exit");
	const asked = expect(resolveValue(endless(), env)).rejects.toThrow("failed with SIGKILL");
	const pids = await whenRunning();
	for (const listener of process.listeners("exit")) if (!before.includes(listener)) listener.call(process, 0);
	await asked;
	await expectDead(pids);
	expect(process.listeners("exit")).toEqual(before);
});

test("an aborted request and a closed registry end the commands that run for them", async () => {
	const provider = { baseUrl: "http://127.0.0.1:1", api: "openai-responses", apiKey: endless(), models: [{ id: "m" }] };
	writeFileSync(join(dir, "models.jsonc"), JSON.stringify({ providers: { acme: provider } }));
	for (const isAbort of [true, false]) {
		for (const name of ["inner", "outer"]) rmSync(join(dir, name), { force: true });
		const registry = new ModelRegistry({ env, userDir: dir, setting: defaultSetting, now: Date.now });
		const model = (await registry.find("acme", "m")) as Model;
		const controller = new AbortController();
		const events: StreamEvent[] = [];
		const asked = registry.stream(request({ model }), { signal: controller.signal, flow: open, onEvent: (event) => events.push(event) });
		const pids = await whenRunning();
		if (isAbort) controller.abort();
		else await registry.close();
		await asked;
		expect(ending(events)).toMatchObject({ reason: isAbort ? "aborted" : "error" });
		await expectDead(pids);
		await registry.close();
	}
});

test("what a command leaves in the background does not stay, nor keep its value", async () => {
	expect(
		await resolveValue(`!(echo $(sh -c 'echo $PPID') > ${dir}/inner; exec sleep 600) & echo key; while ! [ -s ${dir}/inner ]; do :; done`, env),
	).toBe("key");
	await expectDead([id("inner")]);
});
