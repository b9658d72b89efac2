/** Starts the thread that searches without ripgrep, and ends it when it is done, aborted or too slow. */
import { basename, dirname, join } from "node:path";
import { onAbort } from "../lib/abort.ts";
import type { Search } from "./found-lines.ts";

export type SearchTask = { kind: "find"; directory: string; pattern: string; limit: number } | { kind: "grep"; search: Search };

export interface FoundPaths {
	paths: string[];
	/** There are more paths than the limit. */
	isLimited: boolean;
	/** What the search skipped, and why. */
	notes: string[];
}

/** As long as ripgrep gets. */
const defaultLimitMs = 120_000;
const resourceLimits = { maxOldGenerationSizeMb: 768 };

export async function runSearchWorker<Result>(task: SearchTask, signal: AbortSignal, limitMs = defaultLimitMs): Promise<Result> {
	const { Worker } = await import("node:worker_threads");
	if (signal.aborted) throw new Error("Operation aborted");
	// Streams of its own: nothing that it prints may get to ours.
	const worker = new Worker(program(), { workerData: task, env: {}, execArgv: [], stdout: true, stderr: true, resourceLimits });
	let release: () => void = () => undefined;
	let timer: NodeJS.Timeout | undefined;
	try {
		return await new Promise<Result>((resolve, reject) => {
			release = onAbort(signal, () => reject(new Error("Operation aborted")));
			timer = setTimeout(() => reject(new Error(`The search took longer than ${limitMs / 1000} s and was ended. Search in fewer places.`)), limitMs);
			worker.once("message", (answer: { result: Result } | { problem: string }) =>
				"result" in answer ? resolve(answer.result) : reject(new Error(answer.problem)),
			);
			worker.once("error", (error) => reject(new Error(`The search failed: ${error.message}`)));
			worker.once("exit", () => reject(new Error("The search ended without a result.")));
		});
	} finally {
		release();
		clearTimeout(timer);
		void worker.terminate();
	}
}

/** The built program has it next to this chunk. Run from the sources, as tests do, it is the built one too. */
function program(): string {
	const here = import.meta.dirname;
	const directory = basename(here) === "tools" && basename(dirname(here)) === "src" ? join(here, "../../dist") : here;
	return join(directory, "tools-search-worker.js");
}
