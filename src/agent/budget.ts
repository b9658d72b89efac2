/** The ceilings of a session. Types only. */
import type { BudgetCeiling, BudgetReason, BudgetSnapshot } from "../protocol/budget.ts";
import type { Usage } from "../protocol/model.ts";

/** Ceilings of a session; absent where there is none. */
export type BudgetLimits = Partial<Record<BudgetReason, number>>;

/** The session's ceilings, for callers that are about to spend on its behalf. */
export interface Budget {
	readonly snapshot: BudgetSnapshot;
	/** Every ceiling, and how much of it is used. */
	ceilings(): BudgetCeiling[];
	/** The ceiling that is reached: nothing new may be started. */
	readonly exceeded: BudgetReason | undefined;
	/** Called before a subagent starts: the ceiling that forbids it. A ceiling of zero counts as reached once this is asked. */
	gate(): BudgetReason | undefined;
	/** What is left in each dimension that has a ceiling. */
	remaining(): BudgetLimits;
	/** Counts what was spent elsewhere, as it happens: a child's reply, its tool call, its own subagent. */
	spend(spent: { usage?: Usage; toolCalls?: number; subagents?: number }): void;
}
