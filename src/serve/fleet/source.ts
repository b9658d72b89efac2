/** The fleet as the server sees it. Who starts the server opens the queue; the server reads it, submits and cancels. */
import type { FleetCut, FleetLine, FleetRun, FleetRunFilter, FleetWorker } from "../../protocol/serve.ts";

export interface RunResult {
	status: string;
	patch?: Buffer;
	receipt: Record<string, unknown>;
	finishedAt: string;
}

/** Everything here may throw a `Refusal`. */
export interface Fleet {
	/** Which queue this is, without secrets. */
	readonly name: string;
	submit(body: Record<string, unknown>, key: string | undefined): Promise<{ runId: string; fresh: boolean }>;
	cancel(runId: string): Promise<void>;
	list(filter: FleetRunFilter): Promise<FleetRun[]>;
	count(filter: Pick<FleetRunFilter, "lane" | "batch">): Promise<Record<string, number>>;
	result(runId: string): Promise<RunResult | undefined>;
	lines(runId: string, file: "session" | "events", after: number, limit: number): Promise<FleetLine[]>;
	takeovers(runId: string): Promise<FleetCut[]>;
	workers(): Promise<FleetWorker[]>;
	lanes(): Promise<{ name: string; maxRunning: number; running: number; queued: number; pausedMs: number }[]>;
	close(): Promise<void>;
}
