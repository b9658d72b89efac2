/** Opens the queue that the settings name: PostgreSQL, or a directory of this machine. */
import { UsageError } from "../lib/usage-error.ts";
import { type SharedQueue, sharedFileQueue } from "./file/control.ts";

export type { SharedQueue } from "./file/control.ts";

export interface QueuePlace {
	/** Absent: the directory. */
	url?: string;
	schema: string;
	directory: string;
	/** Connections at most. */
	connections?: number;
}

/** For clients that query and submit, not for workers. */
export async function openQueue({ url, schema, directory, connections }: QueuePlace): Promise<SharedQueue> {
	if (url === undefined) return sharedFileQueue(directory);
	const { openPostgresQueue } = await import("./postgres/queue.ts");
	return openPostgresQueue({ url, schema, ...(connections === undefined ? {} : { connections }) });
}

/** Passwords on a command line can be read by every user of the machine. */
export async function refusePassword(assignments: readonly string[]): Promise<void> {
	const given = assignments.filter((each) => each.startsWith("fleet.url="));
	if (given.length === 0) return;
	const { holdsPassword } = await import("./postgres/connect.ts");
	if (given.some((each) => holdsPassword(each.slice("fleet.url=".length))))
		throw new UsageError("fleet.url on a command line must not hold a password: others can read it. Use PGPASSWORD, .pgpass, or your settings file.");
}
