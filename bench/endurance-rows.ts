/** An hour's worth of work in one process, and many processes side by side: nothing may grow, nothing may stall. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, program, Running, rssMb, startAgent } from "./process.ts";
import { type Figure, median } from "./table.ts";

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
export async function endurance(): Promise<Figure[]> {
	return inFolder(async (folder) => {
		writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
		writeFileSync(join(folder, "notes.txt"), "some notes\n".repeat(50));
		const flags = ["--provider", "scripted", "--model", "script.jsonc", "--set", "retry.baseDelayMs=1", "--set", "retry.maxRetries=1"];
		const agent = new Running(folder, [program, "--mode", "rpc", ...flags]);
		const marks: Mark[] = [];
		const latencies: number[] = [];
		for (let count = 1; count <= 10_000; count++) {
			const settled = agent.line('"agent_settled"');
			const message = count % 50 === 0 ? "fail" : count % 10 === 0 ? "use a tool" : "say something";
			const began = performance.now();
			agent.send({ id: String(count), type: "prompt", message });
			await settled;
			if (message === "say something") latencies.push(performance.now() - began);
			if (count % 40 === 0) await answered(agent, { id: "n", type: "new_session" });
			if (count % 25 === 0) await answered(agent, { id: "b", type: "bash", command: "true" });
			if (count % 1000 === 0) {
				marks.push({ rss: rssMb(agent.pid), files: openFiles(agent.pid), latency: median(latencies.splice(0)) });
				process.stderr.write(`  ${count} prompts: ${JSON.stringify(marks.at(-1))}\n`);
			}
		}
		await agent.end();
		const [first, last] = [marks[1] as Mark, marks.at(-1) as Mark];
		const growth = last.rss - first.rss;
		const slower = last.latency / first.latency;
		return [
			{
				what: "RSS after 2,000 and after 10,000 prompts",
				value: `${first.rss.toFixed(0)} and ${last.rss.toFixed(0)} MB`,
				goal: "grows <= 15 MB",
				isMet: growth <= 15,
			},
			{
				what: "open files after 2,000 and after 10,000",
				value: `${first.files} and ${last.files}`,
				goal: "the same",
				isMet: last.files <= first.files + 1,
			},
			{
				what: "median time of a plain prompt, last 1,000 against the second",
				value: `${last.latency.toFixed(2)} ms`,
				against: `${first.latency.toFixed(2)} ms`,
				ratio: slower.toFixed(2),
				goal: "<= 1.3",
				isMet: slower <= 1.3,
			},
		];
	});
}

async function answered(agent: Running, frame: { id: string; type: string; command?: string }): Promise<void> {
	const line = agent.line(`"command":"${frame.type}"`);
	agent.send(frame);
	await line;
}

/** Fifty agents, each with a run of its own, on whatever machine this is. */
export async function crowd(): Promise<Figure[]> {
	const count = 50;
	return inFolder(async (folder) => {
		const began = performance.now();
		const agents = Array.from({ length: count }, () => startAgent(folder, [], script));
		const ready = agents.map((agent) => agent.line('"ready"'));
		await Promise.all(ready);
		const started = performance.now() - began;
		const rss = agents.map((agent) => rssMb(agent.pid)).reduce((sum, each) => sum + each, 0);
		const runBegan = performance.now();
		const settled = agents.map((agent) => agent.line('"agent_settled"'));
		for (const agent of agents) agent.send({ id: "1", type: "prompt", message: "use a tool" });
		await Promise.all(settled);
		const ran = performance.now() - runBegan;
		const busy = agents.map((agent) => rssMb(agent.pid)).reduce((sum, each) => sum + each, 0);
		await Promise.all(agents.map((agent) => agent.end()));
		return [
			{ what: `${count} processes: from the first start to the last ready`, value: `${(started / 1000).toFixed(1)} s` },
			{ what: "a run with two tools in each, all at once", value: `${(ran / 1000).toFixed(1)} s` },
			{ what: "RSS of one, idle and after its run", value: `${(rss / count).toFixed(0)} and ${(busy / count).toFixed(0)} MB` },
		];
	});
}
