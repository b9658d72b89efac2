/** Which run is going on, whose it is, and how it ended: exactly one `run_result` for each. Loaded with `--seq`. */
import type { Doors } from "../agent/doors.ts";
import type { Outcome } from "../agent/policy.ts";
import { uuid } from "../lib/ids.ts";
import type { RunsLater } from "../lib/runs-later.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { RunStatus } from "../protocol/sequence.ts";
import type { Refusal } from "../session/refusal.ts";
import { noUsage, sum } from "../transcript/balance-log.ts";
import type { Account } from "./dispatch.ts";

interface Run {
	runId: string;
	key?: string;
	usage: EventOf<"run_result">["usage"];
	last?: AssistantMessage;
	failure?: Outcome["failure"];
	output?: Pick<EventOf<"agent_end">, "output" | "outputError">;
	/** Why its host ended it between two steps. */
	interruption?: string;
}

export interface RunsParts {
	emit: (event: EventOf<"run_result">) => void;
	/** A run is accepted: keep its id before its host hears of it. */
	keep: (run: { runId: string; key?: string }) => void;
	doors: Doors;
	/** What was changed that runs later, until all is settled. */
	runsLater: () => readonly RunsLater[];
	now: () => number;
}

export class Runs {
	#parts: RunsParts;
	#current: Run | undefined;
	/** Runs that an abort kept from beginning: their end comes with the end of the busy period. */
	#lost: Run[] = [];
	/** Accepted, and neither begun nor refused. */
	#accepted = new Set<Run>();

	constructor(parts: RunsParts) {
		this.#parts = parts;
		parts.doors.put({
			name: "runs",
			foresee: (outcome) => {
				if (this.#current) this.#current.failure = outcome.failure;
				return false;
			},
		});
	}

	get current(): string | undefined {
		return this.#current?.runId;
	}

	/** Whether a run has no result yet. */
	get hasOpen(): boolean {
		return this.#current !== undefined || this.#accepted.size > 0 || this.#lost.length > 0;
	}

	accept(key: string | undefined): Account {
		const run = this.#open(key);
		this.#accepted.add(run);
		return {
			runId: run.runId,
			decided: (disposition) => {
				this.#accepted.delete(run);
				if (disposition === "started") this.#begin(run);
				else this.#report(run, "completed");
			},
			refused: (refusal) => {
				this.#accepted.delete(run);
				if (refusal.code === "aborted") this.#lost.push(run);
				else this.#refuse(run, refusal);
			},
		};
	}

	/** The host ended the run between two steps. */
	interrupt(reason: string): void {
		if (this.#current) this.#current.interruption ??= reason;
	}

	/** Hears an event. Gives it back with what belongs into it. */
	hear(event: AgentEvent): AgentEvent {
		switch (event.type) {
			case "agent_start":
				this.#current ??= this.#open(undefined);
				return { ...event, runId: this.#current.runId };
			case "message_end":
				if (event.message.role === "assistant" && this.#current) {
					this.#current.last = event.message as AssistantMessage;
					this.#current.usage = sum(this.#current.usage, this.#current.last.usage);
				}
				return event;
			case "agent_end":
				if (this.#current && (event.output !== undefined || event.outputError !== undefined)) {
					const { output, outputError } = event;
					this.#current.output = { ...(output !== undefined && { output }), ...(outputError !== undefined && { outputError }) };
				}
				return event;
			case "agent_settled":
				this.#settle(event.aborted);
				return event;
			default:
				return event;
		}
	}

	#open(key: string | undefined): Run {
		const run: Run = { runId: `r_${uuid(this.#parts.now())}`, ...(key !== undefined && { key }), usage: noUsage };
		this.#parts.keep(run);
		return run;
	}

	/** A prompt that takes over ends the run before it. */
	#begin(run: Run): void {
		const before = this.#current;
		this.#current = run;
		if (before) this.#report(before, statusOf(before, false, this.#parts.doors));
	}

	#settle(isAborted: boolean): void {
		const run = this.#current;
		this.#current = undefined;
		if (run) this.#report(run, statusOf(run, isAborted, this.#parts.doors), this.#parts.runsLater());
		const lost = this.#lost;
		this.#lost = [];
		for (const each of lost) this.#report(each, "aborted");
	}

	#refuse(run: Run, { text, code }: Refusal): void {
		const status: RunStatus = code === "budget_exceeded" ? "budget" : "error";
		const { runId, key, usage } = run;
		const error = { kind: "refused", message: text, code, retryable: false };
		this.#parts.emit({ type: "run_result", runId, ...(key !== undefined && { key }), status, error, usage });
	}

	#report({ runId, key, usage, last, failure, output, interruption }: Run, status: RunStatus, later: readonly RunsLater[] = []): void {
		const message = interruption ?? last?.errorMessage;
		const kind = status === "interrupted" ? "interrupted" : failure?.status === 429 ? "rate_limit" : (failure?.kind ?? "permanent");
		const isRetryable = kind === "transient" || kind === "rate_limit" || kind === "interrupted";
		const isFailure = status === "error" || status === "interrupted";
		this.#parts.emit({
			type: "run_result",
			runId,
			...(key !== undefined && { key }),
			status,
			...(last && { stopReason: last.stopReason }),
			...(isFailure &&
				message !== undefined && {
					error: { kind, message, retryable: isRetryable, ...(failure?.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }) },
				}),
			usage,
			...output,
			...(later.length > 0 && { runsLater: [...later] }),
		});
	}
}

const isBudget = (doors: Doors) => doors.policies.some(({ name, halt }) => name === "budget" && halt?.aborted);

function statusOf({ last, interruption }: Run, isAborted: boolean, doors: Doors): RunStatus {
	if (interruption !== undefined) return "interrupted";
	if (isBudget(doors)) return "budget";
	if (isAborted || last?.stopReason === "aborted") return "aborted";
	return last?.stopReason === "error" ? "error" : "completed";
}
