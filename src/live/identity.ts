/** What this agent says about itself: which program, which protocol, where it works, and what it offers. */
import { version } from "../lib/version.ts";
import type { Identity } from "../protocol/identity.ts";
import type { Workspace } from "./workspace.ts";

/** Raised when a host of the current protocol would no longer work. */
const protocol = 1;

const off = { mode: "off", active: false, verified: false } as const;

export function identityOf(workspace: Pick<Workspace, "cwd" | "settings" | "options" | "sandbox">): Identity {
	return {
		version,
		protocol,
		cwd: workspace.cwd,
		capabilities: capabilitiesOf(workspace),
		get sandbox() {
			return workspace.sandbox?.state ?? off;
		},
	};
}

/**
 * What this session offers in addition to the base protocol. A feature adds one line: its name, and the version of its commands and events.
 * A feature that settings or flags turn off is not offered.
 */
function capabilitiesOf(_workspace: Pick<Workspace, "settings" | "options">): Record<string, number> {
	return { mcp: 1, permissions: 1 };
}
