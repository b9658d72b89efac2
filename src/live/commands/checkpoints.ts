import { CommandError } from "../../protocol/command-error.ts";
import type { SessionCheckpoints } from "../checkpoints.ts";
import type { Handlers } from "./contract.ts";

type Names = "get_checkpoints" | "get_changes" | "rewind";

const offText = "the setting checkpoints.enabled is off, or the session is not stored";

export function checkpointHandlers(checkpoints: () => SessionCheckpoints | undefined): Pick<Handlers, Names> {
	const known = () => {
		const found = checkpoints();
		if (!found) throw new CommandError("unsupported", `There are no checkpoints: ${offText}`);
		return found;
	};
	return {
		get_checkpoints: () => checkpoints()?.list() ?? { enabled: false, reason: offText, checkpoints: [] },
		get_changes: (params) => known().changes(params),
		rewind: (params) => known().rewind(params),
	};
}
