import { CommandError } from "../../lib/command-error.ts";
import type { UserBash } from "../../session/user-bash.ts";
import type { Handlers } from "./contract.ts";

export function bashHandlers(bash: UserBash): Pick<Handlers, "bash" | "abort_bash"> {
	return {
		async bash({ command, excludeFromContext }) {
			try {
				return await bash.run(command, excludeFromContext ?? false);
			} catch (error) {
				// Only a command that could not be started at all: no shell, no working directory.
				throw new CommandError((error as Error).message);
			}
		},
		abort_bash: () => bash.abort(),
	};
}
