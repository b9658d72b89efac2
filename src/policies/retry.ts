/** Retries after a transient provider failure. Every streak of failures is closed exactly once. */

import type { Emit, Outcome, Policy, Sleep } from "../agent/contracts.ts";
import { linkedController } from "../lib/abort.ts";

export interface RetrySettings {
	enabled: boolean;
	maxRetries: number;
	baseDelayMs: number;
	maxDelayMs: number;
	/** `host`: a rate limit ends the run; the host waits and resumes it. */
	rateLimits?: "wait" | "host";
}

export interface RetryPolicy extends Policy {
	/** Ends a pending wait, and makes a failure of the current run final. */
	cancel(): void;
}

/** Too many requests, or too much load at the provider. */
const isLimit = (status: number | undefined) => status === 429 || status === 529;

export function retryPolicy(settings: () => RetrySettings, emit: Emit, sleep: Sleep): RetryPolicy {
	let attempt = 0;
	let isCancelled = false;
	let wait: AbortController | undefined;

	const finish = (success: boolean, finalError?: string) => {
		if (attempt > 0) emit({ type: "auto_retry_end", success, attempt, ...(finalError === undefined ? {} : { finalError }) });
		attempt = 0;
		isCancelled = false;
		return undefined;
	};
	const delayFor = ({ failure }: Outcome) => {
		const { enabled, maxRetries, baseDelayMs, maxDelayMs, rateLimits } = settings();
		if (rateLimits === "host" && isLimit(failure?.status)) return undefined;
		if (failure?.kind !== "transient" || !enabled || isCancelled || attempt >= maxRetries) return undefined;
		const delayMs = Math.max(baseDelayMs * 2 ** attempt, failure.retryAfterMs ?? 0);
		return delayMs > maxDelayMs ? undefined : delayMs;
	};
	const waited = async (delayMs: number, signal: AbortSignal) => {
		const { controller, release } = linkedController(signal);
		wait = controller;
		const ending = await sleep(delayMs, controller.signal);
		release();
		wait = undefined;
		if (ending === "aborted") finish(false, "Retry cancelled");
		return ending === "elapsed";
	};

	return {
		name: "retry",
		observe(event) {
			if (event.type !== "message_end" || event.message.role !== "assistant") return;
			const { stopReason } = event.message;
			if (stopReason !== "error" && stopReason !== "aborted") finish(true);
		},
		foresee: (outcome) => outcome.last?.stopReason === "error" && delayFor(outcome) !== undefined,
		async settle(outcome, signal) {
			const { last } = outcome;
			if (last?.stopReason !== "error") return last?.stopReason === "aborted" ? finish(false, last.errorMessage) : undefined;
			const delayMs = delayFor(outcome);
			if (delayMs === undefined || signal.aborted) return finish(false, last.errorMessage);
			attempt += 1;
			const errorMessage = last.errorMessage ?? "unknown error";
			emit({ type: "auto_retry_start", attempt, maxAttempts: settings().maxRetries, delayMs, errorMessage });
			return { dropFailedReply: true, due: waited(delayMs, signal) };
		},
		cancel() {
			if (wait) wait.abort();
			else if (attempt > 0) isCancelled = true;
		},
	};
}
