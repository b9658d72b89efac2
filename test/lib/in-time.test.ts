import { expect, test } from "vitest";
import { TimeLimit } from "../../src/lib/in-time.ts";

test("time that the machine spends on something else does not count", () => {
	const flag = new Int32Array(new SharedArrayBuffer(4));
	let tries = 0;
	// Waits as a process does that gets no processor.
	const isDone = new TimeLimit(20).run(() => {
		tries += 1;
		Atomics.wait(flag, 0, 0, 100);
	});
	expect(isDone).toBe(true);
	expect(tries).toBeGreaterThan(1);
});

test("work that never ends is stopped, and an error is the caller's", () => {
	expect(
		new TimeLimit(20).run(() => {
			for (;;);
		}),
	).toBe(false);
	expect(() =>
		new TimeLimit(20).run(() => {
			throw new Error("own");
		}),
	).toThrow("own");
});
