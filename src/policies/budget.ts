/** Ceilings for time, tokens, money, tool calls and subagents: warns before each, and stops new work at the first one reached. */

import type { Budget, BudgetLimits } from "../agent/budget.ts";
import type { Emit, Halt, Policy } from "../agent/policy.ts";
import type { StreamFunction } from "../agent/stream.ts";
import { linkedController } from "../lib/abort.ts";
import type { BudgetReason, BudgetSnapshot } from "../protocol/budget.ts";
import { budgetRefusal } from "../protocol/budget-refusal.ts";
import { emptyReply } from "../protocol/empty-reply.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";

export interface BudgetParts {
	limits: BudgetLimits;
	/** The share of a ceiling at which it warns. */
	warnAtRatio: number;
	/** What happens to the current run: `stop` ends it after the calls that have begun. */
	onExceeded: "stop" | "finish";
	/** Tokens and cost of a reply that its provider did not count. */
	estimate?: (reply: AssistantMessage) => Usage;
	emit: Emit;
	/** Monotonic milliseconds. */
	clock: () => number;
	/** Returns what the session had spent before this process opened or switched to it. */
	spent?: () => Counters;
}

export interface BudgetPolicy extends Policy, Budget {
	/** The same model, for calls that no event reports: they count, and they are refused once the budget has stopped the session. */
	meter(stream: StreamFunction): StreamFunction;
	/** Stops the clock. */
	close(): void;
}

/** In order of checking: the first one reached is the reason. */
const dimensions = ["wall_time", "input_tokens", "output_tokens", "total_tokens", "cost", "tool_calls", "subagents"] as const;
const longestPeriodMs = 5000;

type Counters = Record<BudgetReason, number>;

const nothing: Counters = { wall_time: 0, input_tokens: 0, output_tokens: 0, total_tokens: 0, cost: 0, tool_calls: 0, subagents: 0 };

export function budgetPolicy({ limits, warnAtRatio, onExceeded, estimate, emit, clock, spent = () => nothing }: BudgetParts): BudgetPolicy {
	/** Read with the first use: reading it takes all entries of the session. */
	let read: Counters | undefined;
	/** The ceiling that was reached before this process, until the host is told. */
	let untold: BudgetReason | undefined;
	const warned = new Set<BudgetReason>();
	let exceeded: BudgetReason | undefined;
	let halt = linkedController().controller;
	let startedAt: number | undefined;
	let timer: NodeJS.Timeout | undefined;
	/** A provider did not count, so that part of the counters is estimated. */
	let isEstimated = false;
	/** Calls that began before the ceiling was reached. */
	const begun = new Set<string>();
	let halted: Halt | undefined;
	const isStopped = () => {
		counters();
		return halted !== undefined && halted.run !== "finish";
	};
	/** The last allowed subagent must be able to finish, and the run to use its result: this ceiling only refuses further subagents. */
	const fateOfRun = (reason: BudgetReason): Halt["run"] => {
		if (onExceeded === "finish" || reason === "subagents") return "finish";
		return reason === "wall_time" ? "abort" : "stop";
	};

	const counters = (): Counters => {
		if (read) return read;
		read = { ...spent() };
		const isReached = (dimension: BudgetReason) => value(dimension) > 0 && value(dimension) >= (limits[dimension] ?? Number.POSITIVE_INFINITY);
		untold = dimensions.find(isReached);
		if (untold) stop(untold);
		return read;
	};
	const value = (dimension: BudgetReason): number => {
		const count = counters()[dimension];
		if (dimension === "wall_time") return count + (startedAt === undefined ? 0 : clock() - startedAt);
		// Sums of cents are never exact.
		return dimension === "cost" ? Math.round(count * 1e9) / 1e9 : count;
	};
	const stop = (reason: BudgetReason): void => {
		exceeded = reason;
		if (reason !== "subagents") clearInterval(timer);
		halted = { message: budgetRefusal(reason), code: "budget_exceeded", run: fateOfRun(reason) };
		halt.abort(halted);
	};
	const snapshot = (reason = exceeded ?? dimensions.find((dimension) => warned.has(dimension))): BudgetSnapshot => ({
		status: exceeded ? "exceeded" : reason ? "warning" : "ok",
		wallTimeMs: Math.round(value("wall_time")),
		inputTokens: value("input_tokens"),
		outputTokens: value("output_tokens"),
		totalTokens: value("total_tokens"),
		costUsd: value("cost"),
		toolCalls: value("tool_calls"),
		subagents: value("subagents"),
		...(isEstimated ? { estimated: true } : {}),
		...(reason ? { reason } : {}),
	});

	/** Evaluates the latest counts, and the clock. A ceiling of 0 is reached with the first count of its own. */
	const evaluate = (counted: readonly BudgetReason[]): void => {
		if (exceeded && exceeded !== "subagents") return;
		const limited = dimensions.filter((dimension) => limits[dimension] !== undefined);
		const looked = limited.filter((dimension) => (dimension === "wall_time" ? startedAt !== undefined : counted.includes(dimension)));
		const reached = looked.find((dimension) => value(dimension) >= (limits[dimension] as number));
		if (halted) {
			// The end of the budget has been reported; a second ceiling may still stop the run.
			if (reached && reached !== "subagents" && onExceeded === "stop") halted.run = "stop";
			return;
		}
		if (reached) {
			exceeded = reached;
			emit({ type: "budget_exceeded", scope: "session", snapshot: snapshot() });
			stop(reached);
			return;
		}
		for (const dimension of looked) {
			if (warned.has(dimension) || value(dimension) / (limits[dimension] as number) < warnAtRatio) continue;
			warned.add(dimension);
			emit({ type: "budget_warning", scope: "session", snapshot: snapshot(dimension) });
		}
	};
	const count = (added: Partial<Counters>): void => {
		const counted = dimensions.filter((dimension) => added[dimension] !== undefined);
		for (const dimension of counted) counters()[dimension] += amount(added[dimension]);
		evaluate(counted);
	};
	/** Reports once that an earlier process reached a ceiling. */
	const tell = (): void => {
		counters();
		if (untold) emit({ type: "budget_exceeded", scope: "session", snapshot: snapshot() });
		untold = undefined;
		evaluate(dimensions.filter((dimension) => value(dimension) > 0));
	};
	const start = (): void => {
		tell();
		if (startedAt !== undefined) return;
		startedAt = clock();
		if (limits.wall_time === undefined) return;
		timer = setInterval(() => evaluate([]), Math.min(longestPeriodMs, Math.ceil(limits.wall_time / 10))).unref();
		evaluate([]);
	};
	/** The provider's count; if it counted nothing for a reply that has content, an estimate. */
	const counted = (reply: AssistantMessage): Usage => {
		const { totalTokens, input, output } = reply.usage;
		if (!estimate || totalTokens + input + output > 0 || reply.content.length === 0) return reply.usage;
		isEstimated = true;
		return estimate(reply);
	};
	const spend: Budget["spend"] = ({ usage, toolCalls, subagents }) => count({ ...(usage && tokensOf(usage)), tool_calls: toolCalls, subagents });

	return {
		name: "budget",
		observe(event) {
			switch (event.type) {
				case "agent_start":
					return start();
				case "turn_end":
					return spend({ usage: counted(event.message) });
				case "tool_execution_start":
					if (!exceeded && value("tool_calls") < (limits.tool_calls ?? Number.POSITIVE_INFINITY)) begun.add(event.toolCallId);
					return spend({ toolCalls: 1 });
				case "tool_execution_end":
					begun.delete(event.toolCallId);
					return;
				case "subagent_start":
					return spend({ subagents: 1 });
			}
		},
		async admit() {
			tell();
			return halt.signal.aborted ? { refused: (halt.signal.reason as Halt).message, code: "budget_exceeded" } : undefined;
		},
		/** A check of a subagent's work has its own id and counts as a call that has not begun. */
		beforeTool: async ({ toolCallId }) => (isStopped() && !begun.has(toolCallId) ? { denied: `Budget exceeded (${exceeded})` } : undefined),
		get halt() {
			counters();
			return halt.signal;
		},
		renew() {
			clearInterval(timer);
			read = undefined;
			untold = undefined;
			warned.clear();
			begun.clear();
			isEstimated = false;
			halted = undefined;
			exceeded = undefined;
			startedAt = undefined;
			halt = linkedController().controller;
		},
		get snapshot() {
			return snapshot();
		},
		get exceeded() {
			counters();
			return exceeded;
		},
		gate() {
			evaluate(["subagents"]);
			return exceeded;
		},
		ceilings() {
			const limited = dimensions.filter((dimension) => limits[dimension] !== undefined);
			return limited.map((dimension) => ({ dimension, used: value(dimension), limit: limits[dimension] as number, warnAtRatio }));
		},
		remaining() {
			const limited = dimensions.filter((dimension) => limits[dimension] !== undefined);
			return Object.fromEntries(limited.map((dimension) => [dimension, Math.max(0, (limits[dimension] as number) - value(dimension))]));
		},
		spend,
		meter: (stream) => async (request, options) => {
			if (isStopped()) {
				const errorMessage = budgetRefusal(exceeded as BudgetReason);
				const error: AssistantMessage = { ...emptyReply(request.model, Date.now()), stopReason: "error", errorMessage };
				return options.onEvent({ type: "error", reason: "error", error, failure: { kind: "permanent" } });
			}
			return stream(request, {
				...options,
				onEvent(event) {
					if (event.type === "done") spend({ usage: event.message.usage });
					if (event.type === "error") spend({ usage: event.error.usage });
					options.onEvent(event);
				},
			});
		},
		close: () => clearInterval(timer),
	};
}

function tokensOf({ input, output, cacheRead, cacheWrite, totalTokens, cost }: Usage): Partial<Counters> {
	const sum = amount(input) + amount(output) + amount(cacheRead) + amount(cacheWrite);
	return { input_tokens: input, output_tokens: output, total_tokens: amount(totalTokens) || sum, cost: cost.total };
}

/** User-defined providers may return odd counts. */
const amount = (given: number | undefined) => (given !== undefined && given > 0 && Number.isFinite(given) ? given : 0);
