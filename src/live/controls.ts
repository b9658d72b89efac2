/** The modes a session begins with. */
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { Controls } from "../session/dependencies.ts";
import type { Variations } from "./front.ts";
import type { Workspace } from "./workspace.ts";

export function startControls({ options, settings }: Workspace, variations: Variations): Controls {
	// A flag, then a setting that a person made, then what is usual in the host's dialect.
	const usual = settings.origin("interruptMode") === "default" ? variations.interruptMode : undefined;
	return {
		interruptMode: (options["interrupt-mode"] as InterruptMode | undefined) ?? usual ?? settings.get("interruptMode"),
		autoCompaction: settings.get("compaction.enabled"),
		autoRetry: settings.get("retry.enabled"),
	};
}
