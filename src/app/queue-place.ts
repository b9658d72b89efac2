/** Which queue the settings of a workspace name. */
import { join } from "node:path";
import type { QueuePlace } from "../fleet/open.ts";
import type { Workspace } from "../live/workspace.ts";

export function queuePlaceOf({ settings, userDirectory }: Workspace): QueuePlace {
	const url = settings.get("fleet.url");
	return { ...(url === undefined ? {} : { url }), schema: settings.get("fleet.schema"), directory: join(userDirectory, "fleet") };
}
