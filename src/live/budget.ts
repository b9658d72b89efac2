/** The session's ceilings as the settings have them. The code that enforces them is loaded only when there is one. */
import type { BudgetLimits, Emit } from "../agent/contracts.ts";
import type { BudgetParts, BudgetPolicy } from "../policies/budget.ts";
import type { BudgetReason } from "../protocol/budget.ts";
import { budgetSettings } from "../protocol/budget-refusal.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import type { SettingsView } from "../settings/settings.ts";
import type { Transcript } from "../transcript/transcript.ts";

/** `transcript`: the session as it is now. */
export type MakeBudget = (emit: Emit, estimate: (reply: AssistantMessage) => Usage, transcript: () => Transcript) => BudgetPolicy;

/** A limit that makes no sense is named and left out. */
function limitsOf(settings: SettingsView, warn: (text: string) => void): BudgetLimits {
	const limits: BudgetLimits = {};
	for (const [dimension, name] of Object.entries(budgetSettings) as [BudgetReason, (typeof budgetSettings)[BudgetReason]][]) {
		const limit = settings.get(name);
		if (limit === undefined) continue;
		if (limit >= 0) limits[dimension] = limit;
		else warn(`${settings.origin(name)}: ${name} is ${limit}, but a limit is 0 or more; the value is ignored.`);
	}
	return limits;
}

/** Returns undefined when there is no ceiling. `inherited`: what the session that started this subagent has left. It keeps the accounts. */
export async function loadBudget(settings: SettingsView, warn: (text: string) => void, inherited?: BudgetLimits): Promise<MakeBudget | undefined> {
	const limits = inherited ?? limitsOf(settings, warn);
	if (Object.keys(limits).length === 0) return undefined;
	const [{ budgetPolicy }, { spentBy }] = await Promise.all([import("../policies/budget.ts"), import("../transcript/spent.ts")]);
	const warnAtRatio = settings.get("task.budget.warnAtRatio");
	const onExceeded = settings.get("task.budget.onExceeded");
	return (emit, estimate, transcript) => {
		const parts: BudgetParts = { limits, warnAtRatio, onExceeded, estimate, emit, clock: () => performance.now() };
		return budgetPolicy(inherited ? parts : { ...parts, spent: () => spentBy(transcript().entries, transcript().file) });
	};
}
