/** The end of a server with agents that are stuck: it comes, and leaves no process, socket file or lock. Twice in the same place. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ask, isAlive, place, spawnServer, until } from "./support.ts";

const readNumber = (path: string) => (existsSync(path) ? Number(readFileSync(path, "utf8")) : 0);

test("two signals, agents that are stopped in a run and without one: nothing is left, and the next server goes on", async () => {
	const at = place();
	const path = join(at.user, "run", "b.sock");
	mkdirSync(dirname(path), { recursive: true });
	const replies = [{ when: { text: "command" }, blocks: [{ tool: "bash", arguments: { command: "echo $$ > pid; sleep 600" } }] }, { text: "done" }];
	const left: number[] = [];
	let known: string[] = [];
	for (const round of [1, 2]) {
		const server = spawnServer({ at, replies, args: ["--socket", path, "--no-token", "--drain", "3600000"] });
		await until("it listens", () => {
			if (server.child.exitCode !== null) throw new Error(`the server ended: ${server.err}`);
			return server.out.includes("\n");
		});
		const call = async (method: string, to: string, body?: object, headers: Record<string, string> = {}) => {
			const { status, json, text } = await ask({ socketPath: path, method, path: to }, body, headers);
			expect(status, text).toBeLessThan(300);
			return json ?? text;
		};
		if (round === 1) known = [(await call("POST", "/v1/sessions", { cwd: at.cwd })).id, (await call("POST", "/v1/sessions", { cwd: at.cwd })).id];
		for (const [index, id] of known.entries()) {
			// Each run of the round before has one result, also the one whose agent was killed.
			const lines: string = await call("GET", `/v1/sessions/${id}/events?after=0`, undefined, { Accept: "application/jsonl" });
			const results = lines.split("\n").filter((line) => line.includes('"type":"run_result"'));
			expect(results.map((line) => JSON.parse(line).status)).toEqual(round === 1 ? [] : [["interrupted"], ["completed"]][index]);
		}
		const before = readNumber(join(at.cwd, "pid"));
		await call("POST", `/v1/sessions/${known[0]}/prompts`, { message: "a command" });
		await call("POST", `/v1/sessions/${known[1]}/prompts`, { message: "words" }, { Prefer: "wait=60" });
		const command = await until("the command runs", () => {
			const pid = readNumber(join(at.cwd, "pid"));
			return pid === before ? 0 : pid;
		});
		const sessions = await Promise.all(known.map((id) => call("GET", `/v1/sessions/${id}`)));
		const agents = sessions.map(({ file }) => (JSON.parse(readFileSync(`${file}.lock`, "utf8")) as { pid: number }).pid);
		for (const agent of agents) process.kill(agent, "SIGSTOP");
		server.child.kill("SIGTERM");
		await until("it drains", () => server.err.includes("draining"));
		server.child.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		left.push(...agents, command);
		await until("no process is left", () => left.every((pid) => !isAlive(pid)));
		expect(existsSync(path)).toBe(false);
		expect(readdirSync(join(at.user, "serve/default")).sort()).toEqual(["index.jsonl", "token", "tokens.json"]);
		for (const { file } of sessions) expect(existsSync(`${file}.lock`), file).toBe(false);
		expect(server.err).not.toContain("ended_by_force");
	}
});
