/** What the server knows of a session beyond its file. One line of the index each. */
import type { CreateSession } from "../protocol/serve.ts";

export interface SessionRecord {
	id: string;
	cwd: string;
	/** Absent before the first message. */
	file?: string;
	createdAt: number;
	updatedAt: number;
	name?: string;
	model?: { provider: string; id: string } | null;
	usage?: { totalTokens: number; costUsd: number };
	/** What it was created with; absent for a session that this server did not create. */
	created?: Omit<CreateSession, "cwd" | "prompt">;
	lastExit?: { code: number | null; signal: string | null; at: number; stderr?: string } | null;
	/** Where its agent went with commands that had a key: who sends one again is led there. The last ones. */
	departures?: { key: string; to: string }[];
	/** The run that was open, and how often it was resumed after crashes. */
	resumed?: { runId: string; count: number };
}
