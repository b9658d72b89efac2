/** Rows about the states of files that are noted while an agent works. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TreeStore } from "../src/checkpoints/tree-store.ts";
import { redactor } from "../src/lib/redact.ts";
import { Shell } from "../src/lib/shell/index.ts";
import type { Row } from "./row.ts";

const directories = 200;
const each = 50;
const repeats = 10;

export const checkpoints: Row = {
	name: "checkpoints",
	rounds: 5,
	isInProcess: true,
	prepare(shared) {
		for (let directory = 0; directory < directories; directory++) {
			mkdirSync(join(shared, "files", `d${directory}`), { recursive: true });
			for (let file = 0; file < each; file++) put(shared, directory, file, "");
		}
	},
	async measure({ folder, shared }) {
		const cwd = join(shared, "files");
		const environment = () => ({ PATH: process.env.PATH, HOME: shared });
		const shell = new Shell({ cwd, environment, redact: redactor(() => []) });
		const store = await TreeStore.open({ cwd, root: join(folder, "checkpoints"), own: () => [], shell: async () => shell, environment });
		const first = await timed(() => store.take());
		const unchanged = await timed(async () => {
			for (let count = 0; count < repeats; count++) await store.take();
		});
		for (let file = 0; file < 100; file++) put(shared, file, 7, `${folder} ${file}`);
		const changed = await timed(() => store.take());
		await shell.close();
		return [
			{ what: "the first state of 10,000 files", value: first.ms, unit: "ms" },
			{ what: "10,000 files unchanged", value: unchanged.ms / repeats, unit: "ms", goal: { most: 40 } },
			{ what: "the same, cpu", value: unchanged.cpuMs / repeats, unit: "ms", goal: { most: 60 } },
			{ what: "100 of 10,000 files changed", value: changed.ms, unit: "ms", goal: { most: 100 } },
			{ what: "the same, cpu", value: changed.cpuMs, unit: "ms" },
		];
	},
};

function put(shared: string, directory: number, file: number, text: string): void {
	writeFileSync(join(shared, "files", `d${directory}`, `f${file}.ts`), `// ${text}\n${`const x = ${file};\n`.repeat(100 + file)}`);
}

/** Its own cpu time and that of the programs it started. */
async function timed(work: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
	const began = performance.now();
	const before = cpu();
	await work();
	return { ms: performance.now() - began, cpuMs: cpu() - before };
}

function cpu(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000 + childrenCpu();
}

/** Of the children that have ended, as the system counts it, in hundredths of a second. */
function childrenCpu(): number {
	const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
	return (Number(fields[13]) + Number(fields[14])) * 10;
}
