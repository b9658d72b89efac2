/** What happens to a prompt, in each phase of a session. */
import { describe, expect, test } from "vitest";
import { Doors } from "../../src/agent/doors.ts";
import { acceptanceOf, isPlain } from "../../src/session/acceptance.ts";
import { AcceptedPrompt } from "../../src/session/accepted-prompt.ts";
import { Activity } from "../../src/session/activity.ts";
import { aborted, busy } from "../../src/session/refusal.ts";
import { user } from "../agent/support.ts";

const prompt = () => new AcceptedPrompt({ messages: [user("hi")] }, "started", () => undefined);

describe("acceptance", () => {
	test("idle: the prompt starts", () => {
		expect(acceptanceOf(new Activity().phase, undefined, undefined)).toEqual({ act: "start" });
	});

	test("running: queued by its streamingBehavior, refused without one", () => {
		const activity = new Activity();
		const period = activity.open("running");
		expect(acceptanceOf(activity.phase, "steer", undefined)).toEqual({ act: "queue", queue: "steering", period });
		expect(acceptanceOf(activity.phase, "followUp", undefined)).toEqual({ act: "queue", queue: "followUp", period });
		expect(acceptanceOf(activity.phase, undefined, undefined)).toEqual({ act: "refuse", refusal: busy });
	});

	test("running, with the budget spent: refused with the budget's words", () => {
		const activity = new Activity();
		activity.open("running");
		expect(acceptanceOf(activity.phase, "steer", { message: "spent", code: "budget_exceeded", run: "finish" })).toEqual({
			act: "refuse",
			refusal: { text: "spent", code: "budget_exceeded" },
		});
	});

	test.each(["an abort", "exclusive work"])("during %s: the first prompt waits for the end, the next is refused", (what) => {
		const activity = new Activity();
		const period = activity.open(what === "an abort" ? "running" : "exclusive");
		if (what === "an abort") period.controller.abort();
		expect(acceptanceOf(activity.phase, undefined, undefined)).toEqual({ act: "succeed", period });
		period.successor = prompt();
		expect(acceptanceOf(activity.phase, undefined, undefined)).toEqual({ act: "refuse", refusal: busy });
	});

	test("settling: the prompt takes over", () => {
		const activity = new Activity();
		const period = activity.open("running");
		const gap = new AbortController();
		activity.enter(period, { name: "settling", period, gap });
		expect(acceptanceOf(activity.phase, undefined, undefined)).toEqual({ act: "take-over", period, gap });
	});
});

test("a prompt is plain when no policy admits prompts and nothing has to be expanded", () => {
	const doors = new Doors([{ name: "a", admit: async () => undefined }]);
	expect(isPlain({ messages: [user("hi")], source: "rpc" }, new Doors())).toBe(true);
	expect(isPlain({ messages: [user("/review")], source: "rpc" }, new Doors())).toBe(false);
	expect(isPlain({ messages: [user("hi")], source: "rpc" }, doors)).toBe(false);
	expect(isPlain({ messages: [user("/hi")] }, doors)).toBe(true);
});

describe("an accepted prompt", () => {
	test("goes on only once it is acknowledged", () => {
		let isGoing = false;
		const accepted = new AcceptedPrompt({ messages: [] }, "started", () => {
			isGoing = true;
		});
		expect(isGoing).toBe(false);
		void accepted.acknowledge();
		expect(isGoing).toBe(true);
	});

	test("is decided exactly once", async () => {
		const told: string[] = [];
		const accepted = prompt();
		const outcome = accepted.acknowledge((disposition) => told.push(disposition));
		accepted.decide("started");
		accepted.refuse(aborted);
		accepted.decide("queued");
		expect(await outcome).toBeUndefined();
		expect(told).toEqual(["started"]);
	});

	test("that is refused tells the reason and nothing else", async () => {
		const told: string[] = [];
		expect(await AcceptedPrompt.refused(busy).acknowledge((disposition) => told.push(disposition))).toBe(busy);
		expect(told).toEqual([]);
	});
});

describe("an activity", () => {
	test("stops: the signal fires, and the prompt that waited for the end is refused", async () => {
		const activity = new Activity();
		const period = activity.open("running");
		const waiting = prompt();
		period.successor = waiting;
		const refusal = waiting.acknowledge();
		const stopped = activity.stop();
		expect(period.controller.signal.aborted).toBe(true);
		expect(await refusal).toBe(aborted);
		period.finish();
		await stopped;
	});

	test("exclusive work that took the place of a run is not overwritten by the run's end", () => {
		const activity = new Activity();
		const run = activity.open("running");
		const work = activity.open("exclusive");
		activity.enter(run, { name: "idle" });
		expect(activity.period).toBe(work);
	});

	test("is streaming during exclusive work only when a prompt waits for it", () => {
		const activity = new Activity();
		const period = activity.open("exclusive");
		expect(activity.isStreaming).toBe(false);
		period.successor = prompt();
		expect(activity.isStreaming).toBe(true);
	});
});
