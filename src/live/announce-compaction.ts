/** A compaction that a host or an extension asks for, with the events around it. */
import type { Emit } from "../agent/policy.ts";
import type { CompactionPolicy } from "../policies/compaction/policy.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { EventOf } from "../protocol/events.ts";

export function announcing(policy: CompactionPolicy, emit: Emit): CompactionPolicy {
	const end = (outcome: Partial<EventOf<"compaction_end">>) =>
		emit({ type: "compaction_end", reason: "manual", aborted: false, willRetry: false, ...outcome });
	return {
		...policy,
		async compactNow(instructions, signal) {
			emit({ type: "compaction_start", reason: "manual" });
			try {
				const result = await policy.compactNow(instructions, signal);
				end({ result });
				return result;
			} catch (error) {
				const isCancelled = signal.aborted || (isCommandError(error) && error.code === "aborted");
				end(isCancelled ? { aborted: true } : { errorMessage: error instanceof Error ? error.message : String(error) });
				throw error;
			}
		},
	};
}
