/** Whether anything may still be started. */
import type { Policy } from "../agent/contracts.ts";

/** Why not, in words for the host; nothing when it may. */
export function haltText(policies: readonly Policy[]): string | undefined {
	for (const { halt } of policies) if (halt?.aborted) return (halt.reason as Error).message;
	return undefined;
}
