/**
 * Searches without ripgrep, in a thread of its own. Patterns of the model and directories of others can keep a search busy indefinitely:
 * the thread that receives the host's commands must not wait for it, and a thread can be terminated.
 */
import { parentPort, workerData } from "node:worker_threads";
import { closedBelow } from "./closed-paths.ts";
import { pathCollector } from "./find-collector.ts";
import { searchWithWalk } from "./grep-walk.ts";
import type { FoundPaths, SearchTask } from "./search-worker-host.ts";
import { walk } from "./walk.ts";

async function find({ directory, pattern, limit, leftOut }: Extract<SearchTask, { kind: "find" }>): Promise<FoundPaths> {
	const notes: string[] = [];
	const collected = await pathCollector(pattern, limit);
	for await (const file of walk(directory, notes, closedBelow(leftOut))) if (!collected.add(file)) break;
	return { paths: collected.found(), isLimited: collected.isLimited(), notes };
}

async function run(task: SearchTask): Promise<object> {
	try {
		return { result: task.kind === "find" ? await find(task) : await searchWithWalk(task.search) };
	} catch (error) {
		return { problem: (error as Error).message };
	}
}

// In a sandbox it is a process, which the kernel confines; a thread would have the rights of this program.
if (parentPort) void run(workerData as SearchTask).then((answer) => parentPort?.postMessage(answer));
else void run(JSON.parse(process.argv[2] ?? "") as SearchTask).then((answer) => process.stdout.write(JSON.stringify(answer)));
