/** Time, aborts and back pressure. */
import { describe, expect, test } from "vitest";
import type { Flow, Sleep, StreamEvent } from "../../../src/agent/contracts.ts";
import type { Reply, Script } from "../../../src/models/scripted/format.ts";
import { ask, last, player, reply } from "./ask.ts";

const every: Reply = {
	thinking: "a b",
	text: "c d",
	blocks: [{ tool: "bash", arguments: { command: "ls" } }],
	repeat: { text: "x", count: 2 },
};

/** A clock that notes each wait and does not wait. */
function notedSleep(): { sleep: Sleep; waits: number[] } {
	const waits: number[] = [];
	const sleep: Sleep = async (milliseconds, signal) => {
		waits.push(milliseconds);
		return signal?.aborted ? "aborted" : "elapsed";
	};
	return { sleep, waits };
}

describe("abort", () => {
	test.each<[string, Partial<Reply>]>([
		["plain", {}],
		["slow", { pieceDelayMs: 1 }],
		["cut", { cut: true }],
		["failing", { fail: { status: 500 } }],
		["stalled", { stall: "mid-block" }],
	])("at every event of a %s reply ends it there", async (name, members) => {
		const script: Script = { replies: [{ ...every, ...members, times: "always" }] };
		const { sleep } = notedSleep();
		const stalled = new AbortController();
		const onStall = (event: StreamEvent) => event.type === "text_delta" && event.delta === "x" && stalled.abort();
		const whole = await ask(player(script, { sleep }), name === "stalled" ? { signal: stalled.signal, onEvent: onStall } : {});
		for (let point = 0; point < whole.length - 1; point++) {
			const controller = new AbortController();
			let seen = 0;
			const onEvent = () => seen++ === point && controller.abort();
			const events = await ask(player(script, { sleep }), { signal: controller.signal, onEvent });
			const partial = (whole[point] as { partial: ReturnType<typeof reply> }).partial;
			expect(events).toEqual([
				...whole.slice(0, point + 1),
				{
					type: "error",
					reason: "aborted",
					error: { ...partial, stopReason: "aborted", errorMessage: "Request was aborted" },
					failure: { kind: "permanent" },
				},
			]);
		}
	});

	test("before the request uses no reply", async () => {
		const from = player({ replies: [{ text: "a" }] });
		const aborted = await ask(from, { signal: AbortSignal.abort() });
		expect([aborted.map((event) => event.type), last(aborted)]).toEqual([
			["start", "error"],
			reply({ stopReason: "aborted", errorMessage: "Request was aborted" }),
		]);
		expect(last(await ask(from))?.content).toEqual([{ type: "text", text: "a" }]);
	});

	test.each<[string, Reply]>([
		["a delay", { delayMs: 60_000, text: "a" }],
		["a delay between pieces", { pieceDelayMs: 60_000, text: "a b" }],
		["a stall", { stall: true }],
		["a stall after text", { text: "a", stall: true }],
	])("ends %s at once and leaves no timer", async (_, written) => {
		const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
		const before = timers();
		const controller = new AbortController();
		const asked = ask(player({ replies: [written] }), { signal: controller.signal });
		await new Promise((resolve) => setImmediate(resolve));
		controller.abort();
		const events = await asked;
		expect(events.at(-1)).toMatchObject({ type: "error", reason: "aborted" });
		expect(timers()).toBeLessThanOrEqual(before);
	});

	test("from a timer acts in the middle of a fast stream", async () => {
		const controller = new AbortController();
		setTimeout(() => controller.abort(), 2);
		const events = await ask(player({ replies: [{ repeat: { text: "x", count: 1_000_000 } }] }), { signal: controller.signal });
		expect(events.at(-1)).toMatchObject({ reason: "aborted" });
		expect(events.length).toBeLessThan(200_000);
	});

	test("while the reader is behind acts at once", async () => {
		const controller = new AbortController();
		const closed: Flow = {
			isOpen: false,
			whenOpen: (signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
		};
		const asked = ask(player({ replies: [{ text: "a b" }] }), { signal: controller.signal, flow: closed });
		await new Promise((resolve) => setImmediate(resolve));
		controller.abort();
		expect((await asked).map((event) => event.type)).toEqual(["start", "text_start", "error"]);
	});
});

describe("time", () => {
	test("silence comes before the first word and between deltas", async () => {
		const { sleep, waits } = notedSleep();
		await ask(player({ replies: [{ delayMs: 500, pieceDelayMs: 20, thinking: "a b", text: "c" }] }, { sleep }));
		expect(waits).toEqual([500, 20, 20]);
	});

	test("other work gets its turn while a long reply streams", async () => {
		let turns = 0;
		let isDone = false;
		const turn = () => {
			turns++;
			if (!isDone) setImmediate(turn);
		};
		setImmediate(turn);
		await ask(player({ replies: [{ repeat: { text: "x", count: 10_000 } }] }));
		isDone = true;
		expect(turns).toBeGreaterThanOrEqual(Math.floor(10_000 / 256));
	});

	test("a slow listener makes the turns come sooner", async () => {
		let turns = 0;
		let isDone = false;
		const turn = () => {
			turns++;
			if (!isDone) setImmediate(turn);
		};
		setImmediate(turn);
		const onEvent = () => {
			for (const end = performance.now() + 0.5; performance.now() < end; );
		};
		await ask(player({ replies: [{ repeat: { text: "x", count: 128 } }] }), { onEvent });
		isDone = true;
		expect(turns).toBeGreaterThanOrEqual(7);
	});

	test("nothing is sent while the reader is behind", async () => {
		const room = new EventTarget();
		const flow = {
			isOpen: true,
			whenOpen: () => new Promise<void>((resolve) => room.addEventListener("open", () => resolve(), { once: true })),
		};
		const seen: string[] = [];
		const onEvent = (event: StreamEvent) => {
			if (event.type !== "text_delta") return;
			seen.push(event.delta);
			if (event.delta === "b ") flow.isOpen = false;
		};
		const asked = ask(player({ replies: [{ text: "a b c d" }] }), { flow, onEvent });
		await new Promise((resolve) => setTimeout(resolve, 5));
		const whileClosed = seen.slice();
		flow.isOpen = true;
		room.dispatchEvent(new Event("open"));
		await asked;
		expect([whileClosed, seen]).toEqual([
			["a ", "b "],
			["a ", "b ", "c ", "d"],
		]);
	});

	test("fifty thousand deltas take well under 5 µs each", async () => {
		const script: Script = { replies: [{ repeat: { text: "word ", count: 50_000 }, times: "always" }] };
		const from = player(script);
		const microsecondsEach = [];
		for (let run = 0; run < 3; run++) {
			const before = process.cpuUsage();
			await ask(from);
			const { user, system } = process.cpuUsage(before);
			microsecondsEach.push((user + system) / 50_000);
		}
		expect(Math.min(...microsecondsEach)).toBeLessThan(5);
	});

	test("a large call streams at a cost that grows with its size only", async () => {
		const script: Script = { replies: [{ blocks: [{ tool: "write", arguments: { content: "line\n".repeat(200_000) }, pieces: 20_000 }] }] };
		const start = process.cpuUsage();
		const message = last(await ask(player(script)));
		const { user, system } = process.cpuUsage(start);
		expect(message?.content).toEqual([{ type: "toolCall", id: "call_1", name: "write", arguments: { content: "line\n".repeat(200_000) } }]);
		expect((user + system) / 1000).toBeLessThan(2000);
	});
});
