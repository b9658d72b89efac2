import { CommandError } from "../../protocol/command-error.ts";
import type { UserBash } from "../../session/user-bash.ts";
import type { Variations } from "../front.ts";
import type { Handlers } from "./contract.ts";

/** The answer to a command that was cancelled before its turn came. */
const neverRun = { output: "", cancelled: true, truncated: false, totalLines: 0, totalBytes: 0, outputLines: 0, outputBytes: 0 };

export function bashHandlers(bash: UserBash, output?: Variations["bashOutput"]): Pick<Handlers, "bash" | "abort_bash"> {
	return {
		async bash({ command, excludeFromContext, sandbox }, call) {
			if (call.isAborted("abort_bash")) return neverRun;
			try {
				return await bash.run(command, { excludeFromContext, sandbox }, output?.(call.id));
			} catch (error) {
				// Only a command that could not be started at all: no shell, no working directory.
				throw new CommandError("io", (error as Error).message);
			}
		},
		abort_bash: () => bash.abort(),
	};
}
