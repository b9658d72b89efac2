/** How much of a ceiling is used. */
import type { Static } from "typebox";
import { flag, integer, number, optional, shape, words } from "./define.ts";

export const BudgetReason = words("wall_time", "input_tokens", "output_tokens", "total_tokens", "cost", "tool_calls", "subagents");

export const BudgetSnapshot = shape("BudgetSnapshot", "Counters of the session's budget and their values.", {
	status: words("ok", "warning", "exceeded"),
	wallTimeMs: number(),
	inputTokens: integer(),
	outputTokens: integer(),
	totalTokens: integer(),
	costUsd: number(),
	toolCalls: integer(),
	subagents: integer(),
	estimated: optional(flag()),
	reason: optional(BudgetReason),
});

export const BudgetCeiling = shape("BudgetCeiling", "A limit of the session's budget and how much of it is used.", {
	dimension: BudgetReason,
	used: number(),
	limit: number(),
	warnAtRatio: number({ description: "The share at which a warning is given." }),
});

export const BudgetScope = words("session", "task", "subagent");

export type BudgetSnapshot = Static<typeof BudgetSnapshot>;
export type BudgetReason = Static<typeof BudgetReason>;
export type BudgetCeiling = Static<typeof BudgetCeiling>;
