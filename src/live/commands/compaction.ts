import { CommandError } from "../../lib/command-error.ts";
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { Session } from "../../session/session.ts";
import type { Handlers } from "./contract.ts";

export interface Compacting {
	compact(instructions: string | undefined, signal: AbortSignal): Promise<CompactionResult>;
}

export function compactionHandlers(session: Session, compaction: Compacting): Pick<Handlers, "compact" | "set_auto_compaction"> {
	return {
		async compact({ customInstructions }, call) {
			if (call.isAborted()) throw new CommandError("Compaction cancelled");
			return session.compact((signal) => compaction.compact(customInstructions?.trim() || undefined, signal));
		},
		set_auto_compaction({ enabled }) {
			session.autoCompaction = enabled;
		},
	};
}
