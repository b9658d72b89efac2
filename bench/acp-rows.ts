/** Rows about `bowline acp`, each with `--mode rpc` doing the same in the same round. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuNs, Running, rssMb, startAgent, wholeCpuMs } from "./process.ts";
import { exponent, type Row, type Trial } from "./row.ts";
import { writeSession } from "./session-files.ts";

const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };

/** An editor without a screen. */
class Editor {
	readonly agent: Running;
	readonly #cwd: string;
	#lastId = 0;

	constructor({ program, folder }: Trial, flags: string[] = ["--no-session"], script?: unknown) {
		this.#cwd = folder;
		const model = script ? ["--provider", "scripted", "--model", join(folder, "script.jsonc")] : [];
		if (script) writeFileSync(join(folder, "script.jsonc"), JSON.stringify(script));
		this.agent = new Running(folder, [program, "acp", "--hermetic", ...model, ...flags]);
	}

	/** Waits for the response. Gives the milliseconds and the line. */
	async request(method: string, params: object): Promise<{ ms: number; line: string }> {
		const id = ++this.#lastId;
		const head = `{"jsonrpc":"2.0","id":${id},`;
		let response = "";
		const before = this.agent.onLine;
		this.agent.onLine = (line) => {
			before?.(line);
			if (line.startsWith(head)) response = line;
		};
		const answered = this.agent.line(head);
		const began = performance.now();
		this.agent.send({ jsonrpc: "2.0", id, method, params });
		await answered;
		this.agent.onLine = before;
		return { ms: performance.now() - began, line: response };
	}

	async start(): Promise<this> {
		await this.request("initialize", initialize.params);
		return this;
	}

	async session(): Promise<string> {
		const told = this.agent.line("available_commands_update");
		const { line } = await this.request("session/new", { cwd: this.#cwd, mcpServers: [] });
		await told;
		return (JSON.parse(line) as { result: { sessionId: string } }).result.sessionId;
	}

	prompt(sessionId: string, text: string): Promise<unknown> {
		return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
	}
}

const start: Row = {
	name: "acp-start",
	rounds: 15,
	hasFloor: true,
	async measure(trial) {
		const { program, folder: cwd, contestant } = trial;
		const isFloor = contestant.name === "floor";
		const input = isFloor ? '{"id":"1","type":"get_state"}\n' : `${JSON.stringify(initialize)}\n`;
		const cpu = await wholeCpuMs(process.execPath, [program, ...(isFloor ? ["--mode", "rpc"] : ["acp"])], { cwd, input });
		const what = "acp: spawn to initialize answered and exit, cpu";
		if (isFloor) return [{ what, value: cpu, unit: "ms" }];
		const editor = await new Editor(trial).start();
		await sleep(500);
		const rss = rssMb(editor.agent.pid);
		await editor.agent.end();
		return [
			{ what, value: cpu, unit: "ms", isStrict: true, goal: { timesFloor: 1.5 } },
			{ what: "acp: RSS after initialize", value: rss, unit: "MB", isStrict: true, goal: { most: 45 } },
		];
	},
};

const prompts: Row = {
	name: "acp-prompts",
	rounds: 9,
	async measure(trial) {
		const script = { replies: [{ text: "words of a reply", times: "always" }] };
		const editor = await new Editor(trial, ["--no-session"], script).start();
		await editor.prompt(await editor.session(), "go");
		const cpu = cpuNs(editor.agent.pid) / 1e6;
		await sleep(500);
		const rss = rssMb(editor.agent.pid);
		await editor.agent.end();
		const host = startAgent(trial, ["--updates", "delta"], script);
		await host.prompt("go");
		const rpc = cpuNs(host.pid) / 1e6;
		await host.end();
		return [
			{ what: "acp: spawn to the end of the first prompt, cpu", value: cpu, unit: "ms", isStrict: true },
			{ what: "the same over --mode rpc", value: cpu / rpc, unit: "", goal: { most: 1.2 } },
			{ what: "acp: RSS after the first prompt", value: rss, unit: "MB", isStrict: true, goal: { most: 60 } },
		];
	},
};

const deltaCount = 50_000;
const piece = "lorem ipsum ";

const deltas: Row = {
	name: "acp-deltas",
	rounds: 5,
	async measure(trial) {
		const measured = async (count: number) => {
			const script = { replies: [{ text: "warm" }, { repeat: { text: piece, count } }] };
			const editor = await new Editor(trial, ["--no-session"], script).start();
			const session = await editor.session();
			await editor.prompt(session, "warm up");
			const { agent } = editor;
			const [bytes, before] = [agent.bytes, cpuNs(agent.pid)];
			await editor.prompt(session, "go");
			const [cpu, sent] = [cpuNs(agent.pid) - before, agent.bytes - bytes];
			await agent.end();
			return { cpu, sent };
		};
		const host = startAgent(trial, ["--updates", "delta"], { replies: [{ text: "warm" }, { repeat: { text: piece, count: deltaCount } }] });
		await host.prompt("warm up");
		const began = cpuNs(host.pid);
		await host.prompt("go");
		const rpc = cpuNs(host.pid) - began;
		await host.end();
		const small = await measured(deltaCount / 5);
		const { cpu, sent } = await measured(deltaCount);
		return [
			{ what: "acp: cpu per delta", value: cpu / 1000 / deltaCount, unit: "us" },
			{ what: "the same over --mode rpc --updates delta", value: cpu / rpc, unit: "", goal: { most: 1.2 } },
			{ what: "acp: bytes out per delta", value: sent / deltaCount, unit: "", goal: { most: 300 } },
			{
				what: "acp: 10,000 to 50,000 deltas, exponent of all",
				value: exponent([deltaCount / 5, deltaCount], [small.cpu, cpu]),
				unit: "",
				isExponent: true,
				goal: { most: 1.1 },
			},
		];
	},
};

/** Until the end of the turn: a call of the model's, which a host and an editor see alike. */
const output: Row = {
	name: "acp-output",
	rounds: 3,
	async measure(trial) {
		const script = (bytes: number) => {
			const call = (command: string) => ({ blocks: [{ tool: "bash", arguments: { command } }] });
			return {
				replies: [
					call("true"),
					{ text: "warm" },
					call(`yes 'a line of output that is about as long as lines are' | head -c ${bytes}`),
					{ text: "done" },
				],
			};
		};
		const measured = async (bytes: number) => {
			const editor = await new Editor(trial, ["--no-session"], script(bytes)).start();
			const session = await editor.session();
			await editor.prompt(session, "warm up");
			const { agent } = editor;
			const [before, began] = [agent.bytes, cpuNs(agent.pid)];
			await editor.prompt(session, "go");
			const [cpu, sent] = [cpuNs(agent.pid) - began, agent.bytes - before];
			await agent.end();
			return { cpu, sent };
		};
		const large = 100_000_000;
		const host = startAgent(trial, ["--updates", "delta"], script(large));
		await host.prompt("warm up");
		const began = cpuNs(host.pid);
		await host.prompt("go");
		const rpc = cpuNs(host.pid) - began;
		await host.end();
		const small = await measured(large / 5);
		const { cpu, sent } = await measured(large);
		return [
			{ what: "acp: a command that prints 100 MB, cpu", value: cpu / 1e6, unit: "ms" },
			{ what: "the same over --mode rpc", value: cpu / rpc, unit: "", goal: { most: 1.2 } },
			{ what: "acp: sent for it", value: sent / 1e6, unit: "MB", goal: { most: 2 } },
			{
				what: "acp: 20 to 100 MB, exponent of all",
				value: exponent([large / 5, large], [small.cpu, cpu]),
				unit: "",
				isExponent: true,
				goal: { most: 1.1 },
			},
		];
	},
};

const many: Row = {
	name: "acp-sessions",
	rounds: 3,
	async measure(trial) {
		const count = 50;
		const editor = await new Editor(trial, [], { replies: [{ text: "words", times: "always" }] }).start();
		for (let index = 0; index < 3; index++) await editor.prompt(await editor.session(), "go");
		await sleep(500);
		const before = rssMb(editor.agent.pid);
		for (let index = 0; index < count; index++) await editor.session();
		await sleep(500);
		const growth = (rssMb(editor.agent.pid) - before) / count;
		await editor.request("session/list", {});
		const { ms } = await editor.request("session/list", {});
		await editor.agent.end();
		return [
			{ what: "acp: RSS of one more idle session", value: growth, unit: "MB", isStrict: true, goal: { most: 2 } },
			{ what: "acp: session/list with 50 sessions open", value: ms, unit: "ms", goal: { most: 30 } },
		];
	},
};

const loadSizes = [2000, 10_000];

const load: Row = {
	name: "acp-load",
	rounds: 3,
	prepare(shared) {
		for (const size of loadSizes) writeSession(join(shared, `${size}_bench.jsonl`), size);
	},
	async measure(trial) {
		const cpus: number[] = [];
		let growth = 0;
		for (const size of loadSizes) {
			const folder = join(trial.folder, String(size));
			mkdirSync(folder, { recursive: true });
			copyFileSync(join(trial.shared, `${size}_bench.jsonl`), join(folder, `${size}_bench.jsonl`));
			const editor = await new Editor(trial, ["--session-dir", folder]).start();
			await editor.session();
			const [before, rss] = [cpuNs(editor.agent.pid), rssMb(editor.agent.pid)];
			await editor.request("session/load", { sessionId: "bench", cwd: "/", mcpServers: [] });
			cpus.push((cpuNs(editor.agent.pid) - before) / 1e6);
			growth = rssMb(editor.agent.pid) - rss;
			await editor.agent.end();
		}
		return [
			{ what: "acp: load of 10,000 messages, cpu", value: cpus.at(-1) as number, unit: "ms", goal: { most: 400 } },
			{ what: "acp: load of 10,000 messages, RSS growth", value: growth, unit: "MB", isStrict: true, goal: { most: 50 } },
			{ what: "acp: 2,000 to 10,000 messages, exponent", value: exponent(loadSizes, cpus), unit: "", isExponent: true, goal: { most: 1.1 } },
		];
	},
};

export const acpRows: Row[] = [start, prompts, deltas, output, many, load];
