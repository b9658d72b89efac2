/** Texts that tell a host about a reached ceiling. */
import type { BudgetReason } from "./budget.ts";
import type { SettingName } from "./settings.ts";

/** The setting of each ceiling. */
export const budgetSettings = {
	wall_time: "task.budget.maxWallTimeMs",
	input_tokens: "task.budget.maxInputTokens",
	output_tokens: "task.budget.maxOutputTokens",
	total_tokens: "task.budget.maxTotalTokens",
	cost: "task.budget.maxCostUsd",
	tool_calls: "task.budget.maxToolCalls",
	subagents: "task.budget.maxSubagents",
} as const satisfies Record<BudgetReason, SettingName>;

export const budgetRefusal = (reason: BudgetReason): string =>
	`Session budget exceeded (${reason}). Raise ${budgetSettings[reason]}, or begin a new session.`;
