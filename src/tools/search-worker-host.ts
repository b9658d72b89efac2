/** Starts the thread that searches without ripgrep, and ends it when it is done, aborted or too slow. */
import { basename, dirname, join } from "node:path";
import { onAbort } from "../lib/abort.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { LeftOut } from "./closed-paths.ts";
import type { Search } from "./found-lines.ts";

export type SearchTask = { kind: "find"; directory: string; pattern: string; limit: number; leftOut?: LeftOut } | { kind: "grep"; search: Search };

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

export function searchWithoutRipgrep<Result>({ searchShell }: { searchShell?: Shell }, task: SearchTask, signal: AbortSignal): Promise<Result> {
	return searchShell ? runSearchProcess(searchShell, task, signal) : runSearchWorker(task, signal);
}

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

/** The same in a process inside the sandbox. */
export async function runSearchProcess<Result>(shell: Shell, task: SearchTask, signal: AbortSignal, limitMs = defaultLimitMs): Promise<Result> {
	const { child, kill } = await shell.start(process.execPath, [program(), JSON.stringify(task)]);
	const chunks: Buffer[] = [];
	child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
	child.stderr?.resume();
	const release = onAbort(signal, kill);
	const timer = setTimeout(kill, limitMs);
	try {
		await new Promise((resolve) => child.once("close", resolve));
	} finally {
		release();
		clearTimeout(timer);
	}
	if (signal.aborted) throw new Error("Operation aborted");
	const text = Buffer.concat(chunks).toString();
	if (text === "") throw new Error("The search ended without a result. Search in fewer places.");
	const answer = JSON.parse(text) as { result: Result } | { problem: string };
	if ("problem" in answer) throw new Error(answer.problem);
	return answer.result;
}

/** The built program has it next to this chunk. Run from the sources, as tests do, it is the built one too. */
function program(): string {
	const here = import.meta.dirname;
	const directory = basename(here) === "tools" && basename(dirname(here)) === "src" ? join(here, "../../dist") : here;
	return join(directory, "tools-search-worker.js");
}
