/** The fleet as the server sees it. Who starts the server opens the queue; the server reads it, submits and cancels. */
import type { FleetRun, FleetWorker } from "../../protocol/serve.ts";

export interface RunFilter {
	ids?: readonly string[];
	state?: FleetRun["state"];
	lane?: string;
	batch?: string;
	limit?: number;
	before?: string;
}

export interface LogLine {
	line: number;
	epoch: number;
	body: string;
}

/** Lines after `…Cut` up to `…From` were undone: another worker went on from the last checkpoint. */
export interface Takeover {
	epoch: number;
	worker: string;
	sessionCut: number;
	eventCut: number;
	sessionFrom: number;
	eventFrom: number;
	at: string;
}

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
	list(filter: RunFilter): Promise<FleetRun[]>;
	count(filter: Pick<RunFilter, "lane" | "batch">): Promise<Record<string, number>>;
	result(runId: string): Promise<RunResult | undefined>;
	lines(runId: string, file: "session" | "events", after: number, limit: number): Promise<LogLine[]>;
	takeovers(runId: string): Promise<Takeover[]>;
	workers(): Promise<FleetWorker[]>;
	lanes(): Promise<{ name: string; maxRunning: number; running: number; queued: number; pausedMs: number }[]>;
	close(): Promise<void>;
}
