/** Plays a plan against the real program. Other modules judge the outcome. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Received } from "../models/loopback.ts";
import { askedBy } from "../models/wire.ts";
import { type Frame, Life, permissionTimeoutMs } from "./host.ts";
import type { Plan, Step } from "./plan.ts";
import { Provider, scriptOf } from "./provider.ts";
import { openFiles, type World } from "./world.ts";

export interface Played {
	lives: Life[];
	/** The requests that the provider got. */
	requests: Received[];
	/** The problems that the player itself found. */
	problems: string[];
	/** The durations of operations that have a promised limit. */
	took: { what: "abort" | "eof" | "SIGTERM" | "SIGKILL" | "children"; ms: number }[];
}

/** Longer than anything takes on a machine that is busy with other things: past this it hangs. */
const patienceMs = 30_000;
/** Silence after which the program is not expected to send anything more unprompted. */
const quietMs = 150;

export async function play(root: string, plan: Plan, world: World): Promise<Played> {
	const provider = plan.model === "scripted" ? undefined : await Provider.start(plan.model, plan.replies, plan.seed);
	try {
		return await new Player(root, plan, world, provider).run();
	} finally {
		await provider?.stop();
	}
}

class Player {
	#root: string;
	#plan: Plan;
	#world: World;
	#provider: Provider | undefined;
	#played: Played = { lives: [], requests: [], problems: [], took: [] };
	#firstFile: string | undefined;
	#switched = 0;

	constructor(root: string, plan: Plan, world: World, provider: Provider | undefined) {
		this.#root = root;
		this.#plan = plan;
		this.#world = world;
		this.#provider = provider;
		writeFileSync(join(world.cwd, "script.jsonc"), JSON.stringify(scriptOf(plan.replies)));
		world.fault({});
		if (plan.flags.some((flag) => flag.includes("isolation"))) world.makeRepository();
	}

	async run(): Promise<Played> {
		let life = await this.#start([]);
		try {
			for (const step of this.#plan.steps) {
				if (life.isOver) break;
				life = (await this.#step(life, step)) ?? life;
			}
			if (!life.isOver) await this.#calm(life);
			await this.#end(life, "eof");
		} finally {
			for (const each of this.#played.lives) if (!each.isOver) await each.end("SIGKILL", patienceMs);
		}
		this.#played.requests = this.#provider?.loopback.received ?? [];
		return this.#played;
	}

	async #start(flags: readonly string[]): Promise<Life> {
		const { model } = this.#plan;
		const asked =
			model === "scripted"
				? { flags: ["--provider", "scripted", "--model", "script.jsonc"], env: {} }
				: askedBy(model, this.#provider?.loopback.url ?? "", "torture-key-0123456789");
		const extension = ["--extension", join(this.#root, "test/torture/fixtures/extension.ts")];
		const settings = ["--set", "retry.baseDelayMs=20", "--set", "retry.maxDelayMs=100"];
		const { approvals } = this.#plan;
		const gate = approvals ? ["--permission-mode", "ask", "--set", `permissions.timeoutMs=${permissionTimeoutMs}`] : [];
		const all = [...asked.flags, ...extension, ...settings, ...gate, ...this.#plan.flags, ...flags];
		const life = new Life(this.#root, this.#world, all, asked.env, approvals);
		this.#played.lives.push(life);
		if (!(await life.until(({ type }) => type === "ready", patienceMs))) this.#problem(`it did not start: ${life.stderr}`);
		if (approvals) life.send({ id: `hello ${this.#played.lives.length}`, type: "hello", capabilities: { permissions: 1 } });
		return life;
	}

	/** Returns the process that goes on, if it is another one. */
	async #step(life: Life, step: Step): Promise<Life | undefined> {
		switch (step.do) {
			case "send":
				life.send(step.frame);
				return undefined;
			case "raw":
				life.raw(step.text);
				return undefined;
			case "flood":
				life.flood(step.frame, step.count);
				return undefined;
			case "wait":
				await this.#wait(life, step.for);
				return undefined;
			case "until":
				if (!(await life.until(({ type }) => type === step.type, patienceMs))) this.#problem(`${step.type} did not come`);
				return undefined;
			case "reader":
				life.reads(step.reads);
				return undefined;
			case "switch":
				this.#switch(life, step);
				return undefined;
			case "fork":
				await this.#fork(life, step);
				return undefined;
			case "disk":
				if (step.fault !== "none") life.hadTrouble = true;
				await this.#fault(life, { disk: { fault: step.fault, after: step.after } });
				return undefined;
			case "clock":
				await this.#fault(life, { clockMs: step.byMs });
				return undefined;
			case "intruder":
				await this.#intruder(life);
				return undefined;
			case "end":
				await this.#end(life, step.how);
				await this.#fault(undefined, { disk: undefined });
				return this.#start(["--continue"]);
		}
	}

	async #wait(life: Life, what: string): Promise<void> {
		if (what === "quiet") return life.quiet(quietMs);
		let heard = true;
		for (let isThere = false; !isThere && heard; ) {
			const frame = await life.until(() => true, quietMs);
			heard = frame !== undefined;
			isThere = frame?.type === what || frame?.type === "agent_settled";
		}
	}

	#switch(life: Life, { id, to }: Step & { do: "switch" }): void {
		const { sessions, root } = this.#world;
		const current = fileOf(life);
		this.#firstFile ??= current;
		const paths = {
			first: this.#firstFile ?? join(sessions, "first.jsonl"),
			same: current ?? join(sessions, "same.jsonl"),
			fresh: join(sessions, `fresh-${++this.#switched}.jsonl`),
			"no session": join(root, "no-session"),
			"no directory": join(root, "no-session", "x.jsonl"),
		};
		life.send({ id, type: "switch_session", sessionPath: paths[to] });
	}

	async #fork(life: Life, { id, nth, command }: Step & { do: "fork" }): Promise<void> {
		life.reads(true);
		const answer = await life.ask({ id: `${id}?`, type: "get_fork_messages" }, 2000);
		const messages = (answer?.data as { messages?: { entryId: string }[] } | undefined)?.messages ?? [];
		life.send({ id, type: command, entryId: messages[nth]?.entryId ?? "none" });
	}

	/** Changes what goes wrong, and waits until the program knows. */
	async #fault(life: Life | undefined, change: Record<string, unknown>): Promise<void> {
		const sequence = this.#world.fault(change);
		if (!life) return;
		life.note("fault", change);
		life.child.kill("SIGUSR2");
		for (let waited = 0; this.#world.faultsSeen < sequence && !life.isOver && waited < patienceMs; waited += 5) await sleep(5);
	}

	async #intruder(life: Life): Promise<void> {
		const file = fileOf(life);
		if (!file || !existsSync(`${file}.lock`)) return;
		const other = new Life(this.#root, this.#world, ["--session", file]);
		const hasEnded = await new Promise<boolean>((resolve) => {
			const timer = setTimeout(() => resolve(false), patienceMs);
			other.child.once("close", () => {
				clearTimeout(timer);
				resolve(true);
			});
		});
		life.note("intruder", { code: other.ending?.code, stderr: other.stderr });
		if (!hasEnded) await other.end("SIGKILL", patienceMs);
		if (!life.isOver && (other.ending?.code !== 1 || !other.stderr.includes(`in use by process ${life.pid}`))) {
			this.#problem(`a second process was not refused: ${JSON.stringify(other.ending)} ${other.stderr}`);
		}
	}

	/** Stops everything; then nothing may be going on, waiting or open. */
	async #calm(life: Life): Promise<void> {
		life.reads(true);
		await this.#fault(life, { disk: { fault: "none", after: 0 } });
		const began = performance.now();
		const [aborted] = await Promise.all([
			life.ask({ id: "calm abort", type: "abort" }, patienceMs),
			life.ask({ id: "calm bash", type: "abort_bash" }, patienceMs),
		]);
		if (life.isOver) return;
		if (!aborted) return this.#problem("abort was not answered");
		this.#played.took.push({ what: "abort", ms: performance.now() - began });
		const state = await life.ask({ id: "calm state", type: "get_state" }, patienceMs);
		if (!state) return this.#problem("get_state was not answered behind an abort");
		for (let waited = 0; unanswered(life).length && waited < patienceMs && !life.isOver; waited += 20) await sleep(20);
		life.wasCalmed = true;
		// Entries that could not be written before are written with the next entry.
		await life.ask({ id: "calm name", type: "set_session_name", name: "calm" }, patienceMs);
		await life.ask({ id: "calm messages", type: "get_messages" }, patienceMs);
		await life.ask({ id: "calm entries", type: "get_entries" }, patienceMs);
		await this.#resources(life);
		life.note("children", { lines: this.#world.processes(life.pid) });
		life.note("open", { files: openFiles(life.pid) });
	}

	/** The resources that keep the process awake. A timer of an extension may be about to end. */
	async #resources(life: Life): Promise<void> {
		for (let look = 1; look <= 10; look++) {
			const told = life.until((frame) => String(frame.message).startsWith("resources ") || /budget exceeded/.test(String(frame.error)), patienceMs);
			life.send({ id: `resources ${look}`, type: "prompt", message: "/resources" });
			const frame = await told;
			if (!frame) return this.#problem("an extension's command did not run behind an abort");
			if (!String(frame.message).includes("Timeout")) return;
			await sleep(100 * look);
		}
	}

	async #end(life: Life, how: "eof" | "SIGTERM" | "SIGKILL"): Promise<void> {
		if (!life.isOver && !(await life.end(how, patienceMs))) {
			this.#problem(`it did not end by ${how}`);
			await life.end("SIGKILL", patienceMs);
		}
		if (life.ending?.how === how) this.#played.took.push({ what: how, ms: life.ending.tookMs });
		const began = performance.now();
		let left = this.#world.processes(undefined);
		for (; left.length && performance.now() - began < patienceMs; left = this.#world.processes(undefined)) await sleep(20);
		this.#played.took.push({ what: "children", ms: performance.now() - began });
		if (left.length) this.#problem(`processes are left after ${how}: ${left.join(" | ")}`);
		life.note("litter", { names: this.#world.litter() });
	}

	#problem(text: string): void {
		this.#played.problems.push(text);
	}
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The session file that the program reported last. */
function fileOf(life: Life): string | undefined {
	for (const { frame } of life.trace.toReversed()) {
		const file = frame.type === "agent_end" ? frame.sessionFile : (frame.data as { sessionFile?: string } | null | undefined)?.sessionFile;
		if (typeof file === "string") return file;
	}
	return undefined;
}

/** Commands with an id that have no answer. */
export function unanswered(life: Life): Frame[] {
	const answered = new Set(life.trace.flatMap(({ way, frame }) => (way === "<" && frame.type === "response" ? [frame.id] : [])));
	return life.trace.flatMap(({ way, frame }) => (way === ">" && isCommand(frame) && !answered.has(frame.id) ? [frame] : []));
}

export const isCommand = (frame: Frame) => frame.id !== undefined && !/^(host_tool_|extension_ui_|permission_)/.test(frame.type);
