/** Rows about MCP servers: what they cost while they wait, to connect, for each call, and to end. */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Servers } from "../test/mcp/support.ts";
import { cpuNs, startAgent, wholeCpuMs } from "./process.ts";
import type { Row } from "./row.ts";

/** An entry for the tests' small server with these habits. */
const small = (...habits: string[]) => ({ command: process.execPath, args: [join(import.meta.dirname, "../test/mcp/servers/small.mjs"), ...habits] });

const calls = 4000;
const blocks = 8;
const hundred = "x".repeat(100);

/** Servers in the settings cost nothing before the first prompt. */
const waiting: Row = {
	name: "mcp-waiting",
	rounds: 9,
	async measure({ program, folder }) {
		const servers = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`s${number}`, small()]));
		const input = `${JSON.stringify({ id: "1", type: "get_state" })}\n`;
		const start = (...flags: string[]) =>
			wholeCpuMs(process.execPath, [program, "--mode", "rpc", "--no-session", "--hermetic", ...flags], { cwd: folder, input });
		const without = await start();
		const withServers = await start("--set", `mcpServers=${JSON.stringify(servers)}`);
		return [
			{ what: "start and get_state without servers, cpu", value: without, unit: "ms" },
			{ what: "the same with 5 servers in the settings, more cpu", value: withServers - without, unit: "ms", goal: { most: 3 } },
		];
	},
};

const connecting: Row = {
	name: "mcp-connect",
	rounds: 5,
	isInProcess: true,
	async measure() {
		const one = await connect({ s: small() });
		const ten = await connect(Object.fromEntries([...Array(10).keys()].map((number) => [`s${number}`, small("many=100")])));
		const stubborn = { ...Object.fromEntries([...Array(9).keys()].map((number) => [`s${number}`, small()])), last: small("stubborn") };
		const servers = await new Servers(stubborn).prepare();
		const began = performance.now();
		await servers.close();
		return [
			{ what: "connect one server and list its tools, cpu", value: one, unit: "ms", goal: { most: 10 } },
			{ what: "1,000 tools of 10 servers, cpu", value: ten, unit: "ms", goal: { most: 40 } },
			{ what: "the end of 10 servers, one of which ignores SIGTERM", value: performance.now() - began, unit: "ms", goal: { most: 2000 } },
		];
	},
};

const calling: Row = {
	name: "mcp-calls",
	rounds: 5,
	isInProcess: true,
	async measure() {
		const { ours, theirs } = await compared();
		const servers = await new Servers({ s: small() }).prepare();
		const large = async (count: number) => (await cpuOf(() => servers.call("mcp__s__lines", { count }))) / 1000;
		await large(1000);
		const one = await large((1024 * 1024) / 11);
		const before = process.memoryUsage().rss;
		const five = await large((5 * 1024 * 1024) / 11);
		await servers.close();
		const noisy = new Servers({ s: small("noise", "noiseLines=900", "loud") });
		const noise = (await cpuOf(() => noisy.prepare())) / 1000;
		await noisy.close();
		return [
			{ what: "a call of 100 bytes, cpu", value: ours, unit: "µs", goal: { most: 100 } },
			{ what: "over that of the official SDK's client", value: ours / theirs, unit: "", goal: { most: 0.7 } },
			{ what: "a result of 1 MB, cpu", value: one, unit: "ms", goal: { most: 10 } },
			{ what: "a result of 5 MB, cpu", value: five, unit: "ms", goal: { most: 40 } },
			{ what: "a result of 5 MB, RSS growth", value: (process.memoryUsage().rss - before) / 2 ** 20, unit: "MB" },
			{ what: "10 MB of stderr and 900 lines that are not MCP, cpu", value: noise, unit: "ms", goal: { most: 100 } },
		];
	},
};

/** A turn with a tool of a server, against one with a tool of our own. */
const turns: Row = {
	name: "mcp-turns",
	rounds: 5,
	async measure(trial) {
		const count = 200;
		const perTurn = async (tool: string, args: object): Promise<number> => {
			const call = { blocks: [{ tool, arguments: args }] };
			const replies = [{ ...call, times: 20 }, { text: "warm" }, { ...call, times: count }, { text: "done" }];
			const agent = startAgent(trial, ["--updates", "delta", "--mcp-config", JSON.stringify({ s: small() })], { replies });
			await agent.prompt("warm up");
			const before = cpuNs(agent.pid);
			await agent.prompt("go");
			const ms = (cpuNs(agent.pid) - before) / 1e6 / count;
			await agent.end();
			return ms;
		};
		const own = await perTurn("ls", { path: "." });
		const server = await perTurn("mcp__s__echo", { text: hundred });
		return [
			{ what: "a turn with ls, cpu", value: own, unit: "ms" },
			{ what: "a turn with a tool of a server, more cpu", value: server - own, unit: "ms", goal: { most: 0.5 } },
		];
	},
};

export const mcpRows: Row[] = [waiting, connecting, calling, turns];

async function connect(entries: object): Promise<number> {
	const servers = new Servers(entries);
	const cpu = await cpuOf(async () => {
		await servers.prepare();
		servers.registry.tools();
	});
	await servers.close();
	return cpu / 1000;
}

/** Microseconds of a call with our client and with that of the official SDK. They take turns. */
async function compared(): Promise<{ ours: number; theirs: number }> {
	const servers = await new Servers({ s: small() }).prepare();
	const { command, args } = small();
	const client = new Client({ name: "bench", version: "1" });
	await client.connect(new StdioClientTransport({ command, args }));
	const ourCall = () => servers.call("mcp__s__echo", { text: hundred });
	const theirCall = () => client.callTool({ name: "echo", arguments: { text: hundred } });
	const some = async (call: () => Promise<unknown>) => {
		for (let count = 0; count < calls / blocks; count++) await call();
	};
	await some(ourCall);
	await some(theirCall);
	let [ours, theirs] = [0, 0];
	for (let block = 0; block < blocks; block++) {
		ours += await cpuOf(() => some(ourCall));
		theirs += await cpuOf(() => some(theirCall));
	}
	await Promise.all([servers.close(), client.close()]);
	return { ours: ours / calls, theirs: theirs / calls };
}

/** Microseconds that this process used meanwhile. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return user + system;
}
