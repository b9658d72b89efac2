/** Sums of what models used. */
import type { Usage } from "../protocol/model.ts";

export function noUsage(): Usage {
	return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
}

export function addUsage(sum: Usage, more: Usage): void {
	for (const name of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const) sum[name] += more[name] ?? 0;
	for (const name of ["input", "output", "cacheRead", "cacheWrite", "total"] as const) sum.cost[name] += more.cost?.[name] ?? 0;
}

export function summed(usages: readonly (Usage | undefined)[]): Usage {
	const sum = noUsage();
	for (const usage of usages) if (usage) addUsage(sum, usage);
	return sum;
}
