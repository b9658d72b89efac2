/** The session's ceilings as the settings have them. The code that enforces them is loaded only when there is one. */
import type { BudgetLimits, Emit } from "../agent/contracts.ts";
import type { BudgetPolicy } from "../policies/budget.ts";
import type { BudgetReason } from "../protocol/budget.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import type { SettingsView } from "../settings/settings.ts";

export type MakeBudget = (emit: Emit, estimate: (reply: AssistantMessage) => Usage) => BudgetPolicy;

const names = {
	wall_time: "task.budget.maxWallTimeMs",
	input_tokens: "task.budget.maxInputTokens",
	output_tokens: "task.budget.maxOutputTokens",
	total_tokens: "task.budget.maxTotalTokens",
	cost: "task.budget.maxCostUsd",
	tool_calls: "task.budget.maxToolCalls",
	subagents: "task.budget.maxSubagents",
} as const satisfies Record<BudgetReason, string>;

/** A limit that makes no sense is named and left out. */
function limitsOf(settings: SettingsView, warn: (text: string) => void): BudgetLimits {
	const limits: BudgetLimits = {};
	for (const [dimension, name] of Object.entries(names) as [BudgetReason, (typeof names)[BudgetReason]][]) {
		const limit = settings.get(name);
		if (limit === undefined) continue;
		if (limit >= 0) limits[dimension] = limit;
		else warn(`${settings.origin(name)}: ${name} is ${limit}, but a limit is 0 or more; the value is ignored.`);
	}
	return limits;
}

/** Nothing when there is no ceiling. A subagent gets the ceilings of the session that started it. */
export async function loadBudget(
	settings: SettingsView,
	warn: (text: string) => void,
	limits = limitsOf(settings, warn),
): Promise<MakeBudget | undefined> {
	if (Object.keys(limits).length === 0) return undefined;
	const { budgetPolicy } = await import("../policies/budget.ts");
	const warnAtRatio = settings.get("task.budget.warnAtRatio");
	const onExceeded = settings.get("task.budget.onExceeded");
	return (emit, estimate) => budgetPolicy({ limits, warnAtRatio, onExceeded, estimate, emit, clock: () => performance.now() });
}
