/** How many subagents are at work at once: one limit for a whole tree of them. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { holderOf } from "../../src/lib/claim.ts";
import { Slots } from "../../src/subagents/slots.ts";

let directory: string;
beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), "bowline-slots-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
});

const { signal } = new AbortController();

/** A tree of agents, each of which starts this many below it. Returns the highest number that worked at once. */
async function mostAtWork(limit: number, sends: readonly number[]): Promise<number> {
	let atWork = 0;
	let most = 0;
	const agent = async (depth: number): Promise<void> => {
		const slots = new Slots({ limit: () => limit, isSubagent: depth > 0 });
		const count = sends[depth] ?? 0;
		if (count === 0) {
			atWork += 1;
			most = Math.max(most, atWork);
			await sleep(5);
			atWork -= 1;
			return;
		}
		const send = async () => {
			const leave = await slots.enter(directory, signal);
			await agent(depth + 1);
			leave?.();
		};
		await Promise.all(Array.from({ length: count }, send));
	};
	await agent(0);
	return most;
}

test.each([
	[1, [3, 3, 2]],
	[2, [4, 3, 2]],
	[3, [2, 2, 2]],
])("of a limit of %i in a tree of %j, so many are at work at most, and all come to their turn", async (limit, sends) => {
	expect(await mostAtWork(limit, sends)).toBe(limit);
	expect(readdirSync(directory)).toEqual([]);
});

test("0 is not a limit", async () => {
	expect(await mostAtWork(0, [3, 3])).toBe(9);
	expect(existsSync(join(directory, "slots"))).toBe(false);
});

test("the slot of a process that is killed is free again", async () => {
	const other = spawn("sleep", ["60"]);
	onTestFinished(() => void other.kill("SIGKILL"));
	mkdirSync(join(directory, "slots"));
	writeFileSync(join(directory, "slots/0"), JSON.stringify(holderOf(other.pid as number)));
	const entering = new Slots({ limit: () => 1, isSubagent: false }).enter(directory, signal);
	expect(await Promise.race([entering, sleep(100, "waits")])).toBe("waits");
	other.kill("SIGKILL");
	const leave = await entering;
	leave?.();
	expect(readdirSync(directory)).toEqual([]);
});

test("an abort ends the wait of all who stand in line", async () => {
	const slots = new Slots({ limit: () => 1, isSubagent: false });
	const leave = await slots.enter(directory, signal);
	const controller = new AbortController();
	const waiting = [slots.enter(directory, controller.signal), slots.enter(directory, controller.signal)];
	controller.abort();
	expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
	leave?.();
	expect(await slots.enter(directory, signal)).toBeTypeOf("function");
});

test("where no slot can be written, the limit holds in each process", async () => {
	writeFileSync(join(directory, "slots"), "in the way");
	const slots = new Slots({ limit: () => 1, isSubagent: false });
	const leave = await slots.enter(directory, signal);
	const next = slots.enter(directory, signal);
	expect(await Promise.race([next, sleep(50, "waits")])).toBe("waits");
	leave?.();
	expect(await next).toBeTypeOf("function");
});
