/** Retries: how long, how often, and that every streak is closed exactly once. */
import { expect, test } from "vitest";
import type { Outcome, Sleep } from "../../src/agent/policy.ts";
import type { ProviderFailure } from "../../src/agent/stream.ts";
import { type RetrySettings, retryPolicy } from "../../src/policies/retry.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AssistantMessage } from "../../src/protocol/messages.ts";

const { signal } = new AbortController();

const reply = (stopReason: AssistantMessage["stopReason"], errorMessage?: string): AssistantMessage =>
	({ role: "assistant", content: [], stopReason, ...(errorMessage ? { errorMessage } : {}) }) as Partial<AssistantMessage> as AssistantMessage;

const failed = (failure: ProviderFailure = { kind: "transient" }): Outcome => ({ messages: [], last: reply("error", "529 busy"), failure });

function bench(changes: Partial<RetrySettings> = {}, sleep: Sleep = async (_, given) => (given?.aborted ? "aborted" : "elapsed")) {
	const events: AgentEvent[] = [];
	const waits: number[] = [];
	const policy = retryPolicy(
		() => ({ enabled: true, maxRetries: 3, baseDelayMs: 100, maxDelayMs: 10_000, ...changes }),
		(event) => events.push(event),
		(milliseconds, given) => {
			waits.push(milliseconds);
			return sleep(milliseconds, given);
		},
	);
	const succeed = () => policy.observe?.({ type: "message_end", message: reply("stop") });
	return { policy, events, waits, succeed, types: () => events.map(({ type }) => type) };
}

test("a transient failure is asked again, with doubling waits, until the limit", async () => {
	const { policy, waits, events } = bench();
	for (let n = 0; n < 3; n++) {
		expect(policy.foresee?.(failed())).toBe(true);
		expect(await (await policy.settle?.(failed(), signal))?.due).toBe(true);
	}
	expect(policy.foresee?.(failed())).toBe(false);
	expect(await policy.settle?.(failed(), signal)).toBeUndefined();
	expect(waits).toEqual([100, 200, 400]);
	expect(events.at(-1)).toEqual({ type: "auto_retry_end", success: false, attempt: 3, finalError: "529 busy" });
});

test("a reply that succeeds closes the streak, and the next one begins at the first wait", async () => {
	const { policy, waits, succeed, types } = bench();
	await policy.settle?.(failed(), signal);
	succeed();
	await policy.settle?.(failed(), signal);
	expect(types()).toEqual(["auto_retry_start", "auto_retry_end", "auto_retry_start"]);
	expect(waits).toEqual([100, 100]);
});

test.each(["permanent", "overflow"] as const)("a failure that is %s is final", async (kind) => {
	const { policy, events } = bench();
	expect(policy.foresee?.(failed({ kind }))).toBe(false);
	expect(await policy.settle?.(failed({ kind }), signal)).toBeUndefined();
	expect(events).toEqual([]);
});

test("a wait that the provider asks for is kept, unless it is longer than allowed", async () => {
	const { policy, waits } = bench();
	await policy.settle?.(failed({ kind: "transient", retryAfterMs: 2500 }), signal);
	expect(waits).toEqual([2500]);
	expect(policy.foresee?.(failed({ kind: "transient", retryAfterMs: 10_001 }))).toBe(false);
});

test("switched off, nothing is asked again", async () => {
	const { policy, events } = bench({ enabled: false });
	expect(await policy.settle?.(failed(), signal)).toBeUndefined();
	expect(events).toEqual([]);
});

test("cancelling ends the wait and closes the streak", async () => {
	const { policy, events } = bench({}, (_, given) => new Promise((resolve) => given?.addEventListener("abort", () => resolve("aborted"))));
	const again = await policy.settle?.(failed(), signal);
	policy.cancel();
	expect(await again?.due).toBe(false);
	expect(events.at(-1)).toEqual({ type: "auto_retry_end", success: false, attempt: 1, finalError: "Retry cancelled" });
});

test("cancelling while the next attempt runs makes its failure final", async () => {
	const { policy } = bench();
	await (await policy.settle?.(failed(), signal))?.due;
	policy.cancel();
	expect(policy.foresee?.(failed())).toBe(false);
});

test("an abort closes the streak with the abort's text", async () => {
	const { policy, events } = bench();
	await (await policy.settle?.(failed(), signal))?.due;
	await policy.settle?.({ messages: [], last: reply("aborted", "Request was aborted"), failure: { kind: "permanent" } }, signal);
	expect(events.at(-1)).toEqual({ type: "auto_retry_end", success: false, attempt: 1, finalError: "Request was aborted" });
});
