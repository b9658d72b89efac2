/** Plays a plan through a server: the host talks to `bowline attach`, and its sockets are cut at random. The rules for its frames are the same. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CuttingProxy } from "../serve/cutting-proxy.ts";
import { checkFrames } from "./check-frames.ts";
import { Life } from "./host.ts";
import type { Plan, Step } from "./plan.ts";
import { type Played, unanswered } from "./play.ts";
import { scriptOf } from "./provider.ts";
import { Random } from "./random.ts";
import type { Round } from "./round.ts";
import { World } from "./world.ts";

const patienceMs = 60_000;
const quietMs = 400;
/** A round ends: after these the sockets stay. */
const mostCuts = 12;
/** Steps that concern a process of the host's own. */
const ofProcesses = new Set<Step["do"]>(["switch", "disk", "clock", "intruder", "end"]);

export async function roundOverCuts(root: string, given: Plan): Promise<Round> {
	// Approvals have a deadline that is shorter than a cut; `--no-session` has no log to catch up from.
	const { approvals: _, ...rest } = given;
	const steps = given.steps.filter((step) => !ofProcesses.has(step.do));
	const plan: Plan = { ...rest, model: "scripted", steps, flags: given.flags.filter((flag) => flag !== "--no-session") };
	const world = new World();
	const played: Played = { lives: [], requests: [], problems: [], took: [] };
	try {
		await new Player(root, plan, world, played).run();
		const problems = [...played.problems, ...played.lives.flatMap((life) => [...checkAll(life), ...checkNumbers(life), ...checkRuns(life)])];
		return { plan, played, problems };
	} finally {
		world.remove();
	}
}

class Player {
	#root: string;
	#plan: Plan;
	#world: World;
	#played: Played;
	#random: Random;
	#server: ChildProcess | undefined;

	constructor(root: string, plan: Plan, world: World, played: Played) {
		this.#root = root;
		this.#plan = plan;
		this.#world = world;
		this.#played = played;
		this.#random = new Random(plan.seed + 0xc07);
		writeFileSync(join(world.cwd, "script.jsonc"), JSON.stringify(scriptOf(plan.replies)));
		world.fault({});
		if (plan.flags.some((flag) => flag.includes("isolation"))) world.makeRepository();
	}

	async run(): Promise<void> {
		const { port, tokenFile } = await this.#serve();
		const proxy = await new CuttingProxy(() => port).listen();
		const words = ["attach", "--new", "--seq", "--url", proxy.url, "--token-file", tokenFile];
		const life = new Life(this.#root, this.#world, this.#flags(false), {}, [], words);
		this.#played.lives.push(life);
		try {
			if (!(await life.until(({ type }) => type === "ready", patienceMs))) return this.#problem(`it did not start: ${life.stderr}`);
			this.#cutAtRandom(proxy, life);
			for (const step of this.#plan.steps) if (!life.isOver) await this.#step(life, step);
			await this.#calm(life);
			const began = performance.now();
			if (!(await life.end("eof", patienceMs))) this.#problem("it did not end at the end of stdin");
			this.#played.took.push({ what: "eof", ms: performance.now() - began });
		} finally {
			if (!life.isOver) await life.end("SIGKILL", patienceMs);
			proxy.close();
			await this.#stop();
		}
	}

	/** Those of the server are defaults of its sessions. */
	#flags(isServers: boolean): string[] {
		const { flags } = this.#plan;
		return flags.flatMap((flag, index) => (flag.startsWith("--") && (flag === "--set") === isServers ? [flag, flags[index + 1] ?? ""] : []));
	}

	async #serve(): Promise<{ port: number; tokenFile: string }> {
		const model = ["--provider", "scripted", "--model", join(this.#world.cwd, "script.jsonc")];
		const extension = ["--extension", join(this.#root, "test/torture/fixtures/extension.ts")];
		const settings = ["--set", "retry.baseDelayMs=20", "--set", "retry.maxDelayMs=100"];
		const args = [join(this.#root, "dist/bowline.js"), "serve", "--port", "0", ...model, ...extension, ...settings, ...this.#flags(true)];
		const server = spawn(process.execPath, args, { cwd: this.#world.cwd, env: this.#world.environment(), stdio: ["ignore", "pipe", "pipe"] });
		this.#server = server;
		let out = "";
		let err = "";
		server.stderr?.on("data", (chunk) => (err = `${err}${chunk}`.slice(-4000)));
		await new Promise<void>((resolve, reject) => {
			server.stdout?.on("data", (chunk) => {
				out += chunk;
				if (out.includes("\n")) resolve();
			});
			server.on("exit", () => reject(new Error(`the server ended: ${err}`)));
		});
		const { url, tokenFile } = JSON.parse(out.split("\n")[0] as string) as { url: string; tokenFile: string };
		return { port: Number(new URL(url).port), tokenFile };
	}

	/** A long frame needs a long connection: most are short, some are long. */
	#cutAtRandom(proxy: CuttingProxy, life: Life): void {
		const next = () => (this.#random.chance(0.7) ? this.#random.int(200, 8000) : this.#random.int(20_000, 400_000));
		let left = next();
		proxy.onBytes = (size) => {
			left -= size;
			if (left > 0 || proxy.cuts >= mostCuts) return;
			left = next();
			life.note("cut");
			proxy.cut();
		};
	}

	async #step(life: Life, step: Step): Promise<void> {
		switch (step.do) {
			case "send":
				return life.send(step.frame);
			case "raw":
				return life.raw(step.text);
			case "flood":
				return life.flood(step.frame, step.count);
			case "reader":
				return life.reads(step.reads);
			case "wait":
			case "until":
				return this.#wait(life, step.do === "wait" ? step.for : step.type);
			case "fork":
				return this.#fork(life, step);
		}
	}

	/** Until the event, the end of what is going on, or silence: a cut may swallow what is not kept. */
	async #wait(life: Life, what: string): Promise<void> {
		for (;;) {
			const frame = await life.until(() => true, quietMs);
			if (!frame || (what !== "quiet" && (frame.type === what || frame.type === "agent_settled"))) return;
		}
	}

	async #fork(life: Life, { id, nth, command }: Step & { do: "fork" }): Promise<void> {
		life.reads(true);
		const answer = await life.ask({ id: `${id}?`, type: "get_fork_messages" }, patienceMs);
		const messages = (answer?.data as { messages?: { entryId: string }[] } | undefined)?.messages ?? [];
		const entryId = messages[nth % Math.max(1, messages.length)]?.entryId ?? "none";
		life.send({ id, type: command, entryId });
	}

	async #calm(life: Life): Promise<void> {
		life.reads(true);
		const asked = ["abort", "abort_bash", "get_state"].map((type) =>
			life.ask({ id: type === "get_state" ? "calm state" : `calm ${type}`, type }, patienceMs),
		);
		const [aborted] = await Promise.all(asked.slice(0, 2));
		if (life.isOver) return;
		if (!aborted) return this.#problem("abort was not answered");
		await asked[2];
		const state = await life.ask({ id: "calm last", type: "get_state" }, patienceMs);
		if (!state) return this.#problem("get_state was not answered behind an abort");
		for (let waited = 0; unanswered(life).length && waited < patienceMs && !life.isOver; waited += 20) await sleep(20);
		await life.quiet(quietMs);
	}

	async #stop(): Promise<void> {
		const server = this.#server as ChildProcess;
		const ended = new Promise<void>((resolve) => (server.exitCode !== null ? resolve() : server.on("exit", () => resolve())));
		const began = performance.now();
		server.kill("SIGTERM");
		const again = setInterval(() => server.kill("SIGTERM"), 200);
		const force = setTimeout(() => {
			this.#problem("the server did not end");
			server.kill("SIGKILL");
		}, patienceMs);
		await ended;
		clearInterval(again);
		clearTimeout(force);
		let left = this.#world.processes(undefined);
		for (; left.length && performance.now() - began < patienceMs; left = this.#world.processes(undefined)) await sleep(20);
		if (left.length) this.#problem(`processes are left: ${left.join(" | ")}`);
	}

	#problem(text: string): void {
		this.#played.problems.push(text);
	}
}

/**
 * The rules for every process, but one: that a prompt was aborted before its run began is said by a second answer, which a cut may swallow. The
 * result of the run, which is kept, says it too.
 */
function checkAll(life: Life): string[] {
	const heard = life.trace.flatMap(({ way, frame }) => (way === "<" ? [frame] : []));
	const begun = new Set(heard.flatMap(({ type, runId }) => (type === "agent_start" ? [runId] : [])));
	let neverBegun = heard.filter(({ type, runId }) => type === "run_result" && !begun.has(runId)).length;
	return checkFrames(life).filter((problem) => !(problem.endsWith("was accepted and nothing came of it") && neverBegun-- > 0));
}

/** Every kept frame once and in order. A session that is moved to has numbers of its own. */
export function checkNumbers({ trace }: Pick<Life, "trace">): string[] {
	const problems: string[] = [];
	let last = 0;
	for (const { way, frame } of trace) {
		if (way !== "<" || frame.type === "snapshot") continue;
		if (frame.type === "session_moved") last = 0;
		if (typeof frame.seq !== "number") continue;
		if (frame.seq <= last) problems.push(`the number ${frame.seq} of ${frame.type} came after ${last}`);
		last = frame.seq;
	}
	return problems;
}

/** Exactly one result for each run that was accepted. */
export function checkRuns({ trace, ending }: Pick<Life, "trace" | "ending">): string[] {
	if (ending?.how !== "eof") return [];
	const results = trace.flatMap(({ way, frame }) => (way === "<" && frame.type === "run_result" ? [frame.runId] : []));
	return trace.flatMap(({ way, frame }) => {
		const { runId, disposition } = (frame.data ?? {}) as { runId?: string; disposition?: string };
		if (way !== "<" || frame.type !== "response" || disposition !== "started" || runId === undefined) return [];
		const count = results.filter((each) => each === runId).length;
		return count === 1 ? [] : [`the run ${runId} has ${count} results`];
	});
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
