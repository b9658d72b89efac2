import { CommandError } from "../../protocol/command-error.ts";
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import { compactWhenReady } from "../../session/compact-when-ready.ts";
import type { Session } from "../../session/session.ts";
import type { Handlers } from "./contract.ts";

export interface Compacting {
	compactNow(instructions: string | undefined, signal: AbortSignal): Promise<CompactionResult>;
}

export function compactionHandlers(session: Session, compaction: Compacting): Pick<Handlers, "compact" | "set_auto_compaction"> {
	return {
		async compact({ customInstructions }, call) {
			if (call.isAborted()) throw new CommandError("aborted", "Compaction cancelled");
			return compactWhenReady(session, (signal) => compaction.compactNow(customInstructions?.trim() || undefined, signal));
		},
		set_auto_compaction({ enabled }) {
			session.controls.autoCompaction = enabled;
		},
	};
}
