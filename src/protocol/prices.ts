/** Which prices a request has. */
import type { Model } from "./model.ts";

type Prices = Omit<Model["cost"], "tiers" | "unknown">;

/** Returns the prices of a request with this input: those of the highest step that the whole of it, cached or not, is above. */
export function pricesOf({ cost }: Pick<Model, "cost">, { input, cacheRead = 0, cacheWrite = 0 }: Partial<Prices> & { input: number }): Prices {
	const size = input + cacheRead + cacheWrite;
	const above = (cost.tiers ?? []).filter(({ inputTokensAbove }) => size > inputTokensAbove);
	return above.sort((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0] ?? cost;
}
