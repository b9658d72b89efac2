/** An hour's worth of work in one process, and many processes side by side: nothing may grow, nothing may stall. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Running, rssMb, startAgent } from "./process.ts";
import type { Row } from "./row.ts";
import { median } from "./statistics.ts";

const script = {
	replies: [
		{
			when: { text: "tool" },
			blocks: [{ text: "I look. " }, { tool: "bash", arguments: { command: "echo hi" } }, { tool: "read", arguments: { path: "notes.txt" } }],
		},
		{ when: { text: "fail" }, fail: { status: 529 } },
		{ text: "A reply of some words, as they are.", times: "always" },
	].map((reply) => ({ times: "always", ...reply })),
};

const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

interface Mark {
	rss: number;
	files: number;
	/** Milliseconds from the prompt to `agent_settled`, in the middle. */
	latency: number;
}

/** Ten thousand prompts: replies, tools, retries, new sessions, commands of the host. */
const endurance: Row = {
	name: "endurance",
	rounds: 1,
	async measure({ program, folder }) {
		writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
		writeFileSync(join(folder, "notes.txt"), "some notes\n".repeat(50));
		const flags = ["--provider", "scripted", "--model", "script.jsonc", "--set", "retry.baseDelayMs=1", "--set", "retry.maxRetries=1"];
		const agent = new Running(folder, [program, "--mode", "rpc", ...flags]);
		const marks: Mark[] = [];
		const latencies: number[] = [];
		for (let count = 1; count <= 10_000; count++) {
			const message = count % 50 === 0 ? "fail" : count % 10 === 0 ? "use a tool" : "say something";
			const began = performance.now();
			await agent.prompt(message);
			if (message === "say something") latencies.push(performance.now() - began);
			if (count % 40 === 0) await agent.ask({ type: "new_session" });
			if (count % 25 === 0) await agent.ask({ type: "bash", command: "true" });
			if (count % 1000 === 0) {
				marks.push({ rss: rssMb(agent.pid), files: openFiles(agent.pid), latency: median(latencies.splice(0)) });
				process.stderr.write(`  ${count} prompts: ${JSON.stringify(marks.at(-1))}\n`);
			}
		}
		await agent.end();
		const [first, last] = [marks[1] as Mark, marks.at(-1) as Mark];
		return [
			{ what: "RSS after 10,000 prompts", value: last.rss, unit: "MB", isStrict: true },
			{ what: "RSS growth from 2,000 to 10,000 prompts", value: last.rss - first.rss, unit: "MB", goal: { most: 15 } },
			{ what: "open files more than after 2,000", value: last.files - first.files, unit: "", goal: { most: 1 } },
			{ what: "plain prompt, wall, last 1,000", value: last.latency, unit: "ms" },
			{ what: "plain prompt, last 1,000 over the second", value: last.latency / first.latency, unit: "", goal: { most: 1.3 } },
		];
	},
};

/** Fifty agents, each with a run of its own, on whatever machine this is. */
const crowd: Row = {
	name: "crowd",
	rounds: 3,
	async measure(trial) {
		const count = 50;
		const began = performance.now();
		const agents = Array.from({ length: count }, () => startAgent(trial, [], script));
		await Promise.all(agents.map((agent) => agent.line('"ready"')));
		const started = performance.now() - began;
		const rss = agents.map((agent) => rssMb(agent.pid)).reduce((sum, each) => sum + each, 0);
		const runBegan = performance.now();
		await Promise.all(agents.map((agent) => agent.prompt("use a tool")));
		const ran = performance.now() - runBegan;
		const busy = agents.map((agent) => rssMb(agent.pid)).reduce((sum, each) => sum + each, 0);
		await Promise.all(agents.map((agent) => agent.end()));
		return [
			{ what: `${count} processes: from the first start to the last ready`, value: started, unit: "ms", isStrict: true },
			{ what: "a run with two tools in each, all at once", value: ran, unit: "ms" },
			{ what: "RSS of one, idle", value: rss / count, unit: "MB", isStrict: true },
			{ what: "RSS of one, after its run", value: busy / count, unit: "MB", isStrict: true },
		];
	},
};

export const enduranceRows: Row[] = [endurance, crowd];
