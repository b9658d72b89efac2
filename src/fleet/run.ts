/** One run in the hands of a worker: checkout, agent, gate, commits, verification, one result. Whatever happens, it ends in one of a few ways. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import { deferred } from "../lib/deferred.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { EventOf, GateRequest, GateResponse, SandboxState } from "../protocol/types.generated.ts";
import type { Git } from "../snapshots/git.ts";
import { type Agent, startAgent } from "./agent.ts";
import { type Estimate, Wallet } from "./budget.ts";
import { CheckoutError, checkOut, type Mirror, type Mirrors } from "./checkout.ts";
import { FileStates, PatchTooLarge } from "./checkpoint.ts";
import { type ChildProgress, InFlight } from "./in-flight.ts";
import type { Lease } from "./lease.ts";
import { backOffMs, type Claim, queueErrorCode, type RunQueue, type SavedRun, type Status, seqOf } from "./queue.ts";
import type { Rates } from "./rates.ts";
import { type ReceiptSandbox, RunAccount, sandboxOf } from "./receipt.ts";
import type { RunSpec } from "./spec.ts";
import { Tail } from "./tail.ts";
import { Verification, type VerificationSettings } from "./verify.ts";
import { workplaceIn } from "./workplace.ts";

/** Shells for what is not the agent's own work. */
export interface RunShells {
	/** Prepares the checkout; outside of walls. */
	outside(): Promise<Shell>;
	/** Runs what the agent has written; inside walls where there are some. */
	inside(): Promise<Shell>;
	close(): Promise<void>;
}

export interface RunLimits {
	stallMs: number;
	patchBytes: number;
	/** How often lines are committed while a step runs. */
	commitEveryMs: number;
}

export interface RunParts {
	queue: RunQueue;
	lease: Pick<Lease, "isHeld">;
	rates: Rates;
	git: Git;
	mirrors: Mirrors;
	/** Everything of this run on this machine; removed at the end. */
	directory: string;
	/** Starts agents: they die with the worker. */
	agentShell: Shell;
	/** The program of the agent, and what comes before its flags. */
	program: readonly string[];
	/** What the agent is started with, besides the flags of the submission. */
	settingsOf(run: { mirror: string; spec: RunSpec }): { settings: Record<string, unknown> } | { problem: string };
	environmentOf(run: { claim: Claim }): { environment: Record<string, string | undefined> } | { problem: string };
	shellsOf(run: { cwd: string; environment: Record<string, string | undefined>; settings: Record<string, unknown> }): Promise<RunShells>;
	verification: VerificationSettings;
	limits: RunLimits;
	worker: { host: string; version: string };
	log(text: string): void;
}

type Ending =
	| { how: "finish"; status: Status; reason?: string; withoutPatch?: true }
	| { how: "requeue"; why: string; delayMs: number; counts: boolean }
	| { how: "fenced" };

class Fenced extends Error {
	override readonly name = "Fenced";
}
/** Thrown where the run is to end in a known way. */
class EndWith extends Error {
	readonly ending: Ending;
	constructor(ending: Ending) {
		super("The run ends.");
		this.ending = ending;
	}
}

type RunResult = EventOf<"run_result">;

const maxRestarts = 2;
const graceMs = 10_000;
const setupTimeoutMs = 1_800_000;
const failed: ReadonlySet<string> = new Set(["error", "aborted"]);
const endOfLog = /^\{"s":\d+,"end":true/;
const rateLimited = /\b(429|529)\b|rate.?limit|overloaded/i;

export class RunAtWork {
	readonly claim: Claim;
	readonly done: Promise<void>;
	readonly #parts: RunParts;
	readonly #fence = new AbortController();
	/** The run is to end, for whatever reason. */
	readonly #stopping = new AbortController();
	readonly #inFlight = new InFlight();
	readonly #account = new RunAccount((toolCallId, used) => this.#inFlight.settled(toolCallId, used));
	readonly #wallet: Wallet;
	readonly #top: string;
	readonly #sessionFile: string;
	readonly #eventFile: string;
	#spec: RunSpec;
	#session: Tail;
	#events: Tail;
	#counts: { session: number; events: number };
	#committing: Promise<unknown> = Promise.resolve();
	/** Lines are committed from the first checkpoint on, so that a run without one starts from nothing. */
	#hasCheckpoint = false;
	#states: FileStates | undefined;
	#checkpoint = { n: 0, tree: "" };
	/** Tool calls of the agent itself that have begun and not ended. */
	readonly #calls = new Set<string>();
	/** A call has ended since the newest checkpoint: its result is lost with its files unless the next one comes first. */
	#hasNewResult = false;
	#agent: Agent | undefined;
	#ending: { status: Status; reason: string } | undefined;
	#requeue: { why: string; counts: boolean } | undefined;
	#results = new Map<string, RunResult>();
	#onResult = deferred<void>();
	/** Its ending is known: no further step is granted while the agent ends. */
	#isOver = false;
	#provider = "";
	#usd: number;
	#tokens: number;
	#toolCalls = 0;
	/** How often in a row it had to wait for others to give money back: it asks less and less often. */
	#waitsForMoney = 0;
	#lastLife = performance.now();
	#agentRuns: string[] = [];
	readonly #startedAt = performance.now();
	#timers: NodeJS.Timeout[] = [];

	constructor(parts: RunParts, claim: Claim) {
		this.#parts = parts;
		this.claim = claim;
		this.#spec = claim.spec;
		this.#usd = claim.usd;
		this.#tokens = claim.tokens;
		this.#counts = { session: claim.sessionLines, events: claim.eventLines };
		this.#top = join(parts.directory, "tree");
		this.#sessionFile = join(parts.directory, "session", `${claim.runId}.jsonl`);
		this.#eventFile = join(parts.directory, "session", `${claim.runId}.events`);
		this.#session = new Tail(this.#sessionFile);
		this.#events = new Tail(this.#eventFile);
		const { usd, tokens } = claim.spec.limits ?? {};
		this.#wallet = new Wallet(parts.queue, claim, { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) });
		this.done = this.#work();
	}

	/** The worker lost the run: kills the agent at once, and nothing more is written. */
	fence(): void {
		if (this.#fence.signal.aborted) return;
		this.#fence.abort(new Fenced());
		this.#stopping.abort();
		this.#agent?.kill();
		this.#onResult.resolve();
	}

	cancel(): void {
		this.#stop("cancelled", "It was cancelled.");
	}

	/** Gives the run back, from its last checkpoint. */
	giveBack(why: string): void {
		if (this.#ending || this.#requeue) return;
		this.#requeue = { why, counts: false };
		this.#stopping.abort();
		this.#agent?.kill();
		this.#onResult.resolve();
	}

	async #work(): Promise<void> {
		let ending: Ending;
		try {
			// Where the disk is full or cannot be written, the run goes back and the worker lives on.
			mkdirSync(join(this.#parts.directory, "session"), { recursive: true, mode: 0o700 });
			ending = await this.#toTheEnd();
		} catch (error) {
			ending = this.#endingOf(error);
		}
		for (const timer of this.#timers) clearInterval(timer);
		this.#isOver = true;
		// An agent that ends in order removes the private files of its sandbox. `#close` waits for it, and kills it if it takes too long.
		if (ending.how !== "finish") this.#agent?.kill();
		try {
			if (ending.how !== "fenced") await this.#close(ending);
		} catch (error) {
			if (!this.#fence.signal.aborted) this.#parts.log(`${this.claim.runId}: ${(error as Error).message}`);
		}
		try {
			rmSync(this.#parts.directory, { recursive: true, force: true, maxRetries: 3 });
		} catch (error) {
			this.#parts.log(`${this.claim.runId}: ${(error as Error).message}`);
		}
	}

	#endingOf(error: unknown): Ending {
		if (error instanceof EndWith) return error.ending;
		if (this.#fence.signal.aborted || error instanceof Fenced) return { how: "fenced" };
		if (this.#requeue) return { how: "requeue", delayMs: 0, ...this.#requeue };
		if (this.#ending) return this.#stopped();
		if (error instanceof PatchTooLarge) return { how: "finish", status: "failed", reason: `patch_too_large: ${error.message}`, withoutPatch: true };
		if (error instanceof CheckoutError && !error.isPassing) return { how: "finish", status: "failed", reason: error.message };
		return this.#again((error as Error).message);
	}

	/** Another try, unless there were enough. */
	#again(why: string): Ending {
		const { attempts, maxAttempts } = this.claim;
		this.#parts.log(`${this.claim.runId}: attempt ${attempts} of ${maxAttempts} failed: ${why}`);
		if (attempts >= maxAttempts) return { how: "finish", status: "failed", reason: why };
		return { how: "requeue", why, delayMs: backOffMs(attempts), counts: true };
	}

	async #toTheEnd(): Promise<Ending> {
		const { claim } = this;
		const signal = this.#fence.signal;
		const given = this.#parts.environmentOf({ claim });
		if ("problem" in given) return { how: "finish", status: "failed", reason: given.problem };
		const mirror = await this.#prepare();
		const cwd = workplaceIn(this.#top, this.#spec.repo.subdir);
		const chosen = this.#parts.settingsOf({ mirror: mirror.path, spec: this.#spec });
		if ("problem" in chosen) return { how: "finish", status: "failed", reason: chosen.problem };
		const { settings } = chosen;
		const shells = await this.#parts.shellsOf({ cwd, environment: given.environment, settings });
		try {
			await this.#setup(shells, cwd);
			this.#watchTime();
			return await this.#drive(cwd, settings, given.environment, shells);
		} finally {
			await shells.close();
			signal.throwIfAborted();
		}
	}

	async #prepare(): Promise<Mirror> {
		const { claim } = this;
		const { git, mirrors, directory, limits, queue } = this.#parts;
		const signal = this.#fence.signal;
		const mirror = await mirrors.ensure(this.#spec.repo, signal);
		if (this.#spec.repo.commit === undefined) {
			this.#spec = { ...this.#spec, repo: { ...this.#spec.repo, commit: mirror.commit } };
			if (!(await this.#persistently(() => queue.pin(claim, this.#spec)))) throw new Fenced();
		}
		await checkOut(git, mirror, this.#spec.repo, this.#top, signal);
		this.#states = await FileStates.open(git, this.#top, directory, mirror.commit, limits.patchBytes, signal);
		if (claim.epoch > 1) await this.#restore(await this.#persistently(() => queue.load(claim)));
		return mirror;
	}

	async #restore(saved: SavedRun): Promise<void> {
		const { checkpoint, session, events, highestSeq, cutEvents } = saved;
		if (!checkpoint) return;
		await this.#states?.restore(checkpoint, this.#fence.signal);
		this.#checkpoint = { n: checkpoint.n, tree: checkpoint.tree };
		this.#hasCheckpoint = true;
		this.#account.add(session, events);
		this.#toolCalls = this.#account.toolCalls;
		const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
		// The mark at the head is of another file, on another machine.
		const kept = { session: text(session), events: text(events).replace(/^(\{[^\n]*?),"mark":"[^"\n]*"/, "$1") };
		// Numbers go on above the highest one that was ever seen, those of lines that were cut included.
		const number = highestSeq + 1;
		const cutSeq = events.reduce((highest, line) => (line.startsWith('{"s":') ? Math.max(highest, seqOf(line)) : highest), 0);
		const takeover = { type: "run_takeover", epoch: this.claim.epoch, worker: this.claim.worker, cutSeq };
		const first = [JSON.stringify({ r: number, e: this.claim.epoch }), JSON.stringify({ s: number, t: Date.now(), f: takeover })];
		writeFileSync(this.#sessionFile, kept.session, { mode: 0o600 });
		writeFileSync(this.#eventFile, kept.events + text(first), { mode: 0o600 });
		this.#session = new Tail(this.#sessionFile, Buffer.byteLength(kept.session));
		this.#events = new Tail(this.#eventFile, Buffer.byteLength(kept.events));
		this.#grantedBefore = begunCalls(events, cutEvents);
	}
	#grantedBefore: string[] = [];

	async #setup(shells: RunShells, cwd: string): Promise<void> {
		for (const command of this.#spec.setup ?? []) {
			const shell = await shells.outside();
			const result = await shell.run({ command, cwd, timeoutMs: setupTimeoutMs, sweep: true, stripControls: true, signal: this.#stopping.signal });
			this.#stopping.signal.throwIfAborted();
			if (result.exitCode !== 0) {
				const how = result.timedOut ? "took too long" : `ended with code ${result.exitCode}`;
				throw new EndWith({ how: "finish", status: "failed", reason: `setup: ${command} ${how}.\n${result.output.slice(-2000)}` });
			}
		}
	}

	/** Ceilings of time, and signs of life. */
	#watchTime(): void {
		const { wallMs } = this.#spec.limits ?? {};
		const { stallMs, commitEveryMs } = this.#parts.limits;
		const every = (ms: number, act: () => void) => this.#timers.push(setInterval(act, ms));
		every(Math.min(1000, commitEveryMs), () => {
			const elapsed = this.claim.elapsedMs + performance.now() - this.#startedAt;
			if (wallMs !== undefined && elapsed > wallMs) this.#stop("timeout", `It took longer than ${wallMs} ms.`);
			if (performance.now() - this.#lastLife > stallMs) this.#stop("stalled", `There was no sign of work for ${stallMs} ms.`);
		});
		every(commitEveryMs, () => {
			// The agent is about to ask, and the result of its call is stored with its files then.
			if (this.#hasNewResult && this.#calls.size === 0) return;
			// A failure is noticed at the next gate.
			if (this.#hasCheckpoint && !this.#fence.signal.aborted) this.#commit({ onlyIfNew: true }).catch(() => undefined);
		});
	}

	/** Asks the agent to end, and ensures that it does. */
	#stop(status: Status, reason: string): void {
		if (this.#ending || this.#requeue) return;
		this.#ending = { status, reason };
		this.#stopping.abort();
		const agent = this.#agent;
		if (!agent) return this.#onResult.resolve();
		// An agent that does not answer is killed below.
		agent.client.request("abort").catch(() => undefined);
		const timer = setTimeout(() => {
			agent.kill();
			this.#onResult.resolve();
		}, graceMs);
		this.#timers.push(timer);
	}

	async #drive(cwd: string, settings: Record<string, unknown>, environment: Record<string, string | undefined>, shells: RunShells): Promise<Ending> {
		const verification = new Verification(this.#spec.verify, this.#parts.verification, {
			id: this.claim.runId,
			cwd,
			directory: join(this.#parts.directory, "checks"),
			shell: () => shells.inside(),
			signal: this.#stopping.signal,
		});
		if (verification.problem !== undefined) return { how: "finish", status: "failed", reason: verification.problem };
		let isResumed = this.#hasCheckpoint;
		for (let restarts = 0; ; restarts++) {
			this.#inFlight.clear();
			this.#calls.clear();
			this.#agent = await this.#startAgent(settings, environment);
			const ended = await this.#converse(this.#agent, isResumed, verification);
			this.#fence.signal.throwIfAborted();
			if (ended !== "died") {
				this.#verified = verification.result;
				this.#verificationFrames = verification.frames;
				return ended;
			}
			if (this.#requeue) return { how: "requeue", delayMs: 0, ...this.#requeue };
			if (this.#ending) return this.#stopped();
			const { exit } = this.#agent;
			const how = exit?.signal ? `was ended by ${exit.signal}` : `ended with code ${exit?.code ?? "?"}`;
			if (restarts >= maxRestarts) return this.#again(`The agent ${how}. ${exit?.stderr.trim().slice(-1000) ?? ""}`.trim());
			isResumed = existsSync(this.#sessionFile);
		}
	}
	#verified: unknown;
	#verificationFrames: { t: number; f: object }[] = [];

	async #startAgent(settings: Record<string, unknown>, environment: Record<string, string | undefined>): Promise<Agent> {
		this.#fence.signal.throwIfAborted();
		const { model, provider, thinking } = this.#spec;
		const config = join(this.#parts.directory, "settings.json");
		writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
		const flags = [
			...["--session", this.#sessionFile, "--hermetic", "--no-approve", "--config", config],
			...(provider === undefined ? [] : ["--provider", provider]),
			...(model === undefined ? [] : ["--model", model]),
			...(thinking === undefined ? [] : ["--thinking", thinking]),
		];
		const agent = await startAgent({
			shell: this.#parts.agentShell,
			program: this.#parts.program,
			flags,
			cwd: workplaceIn(this.#top, this.#spec.repo.subdir),
			environment,
			onFrame: (frame) => {
				this.#lastLife = performance.now();
				if (frame.type === "turn_end" && !failed.has(String((frame.message as { stopReason?: string }).stopReason)))
					this.#parts.rates.succeeded(this.#provider);
				if (frame.type === "tool_execution_start") {
					this.#calls.add(frame.toolCallId);
					if (frame.toolName === "task") this.#inFlight.begun(frame.toolCallId);
				}
				if (frame.type === "tool_execution_end") {
					this.#calls.delete(frame.toolCallId);
					this.#hasNewResult = true;
				}
				if (frame.type !== "tool_execution_update" || frame.toolName !== "task") return;
				const { progress } = (frame.partialResult.details ?? {}) as { progress?: ChildProgress[] };
				if (progress) this.#inFlight.progressed(frame.toolCallId, progress);
			},
			onGate: (request) => this.#gate(request),
			onResult: (result) => {
				this.#results.set(result.runId, result);
				this.#onResult.resolve();
			},
			onExit: () => this.#onResult.resolve(),
		});
		if (this.#fence.signal.aborted) agent.kill();
		return agent;
	}

	/** From the prompt, or from where it was left, to the verdict. */
	async #converse(agent: Agent, isResumed: boolean, verification: Verification): Promise<Ending | "died"> {
		const { client } = agent;
		const { runId } = this.claim;
		let result: RunResult | "nothing" | "died";
		try {
			const { model, sandbox } = await client.request("get_state");
			this.#provider = model?.provider ?? "";
			this.#noteSandbox(sandbox);
			// The worker had a sandbox at its start: what is missing now may be there for another attempt, here or elsewhere.
			if (sandbox?.required && !sandbox.active)
				return this.#again(
					`The sandbox of the run is not available: ${asSentence(sandbox.reason ?? "unknown reason")} ${sandbox.remedy ?? ""}`.trim(),
				);
			result = isResumed
				? await this.#await(agent, await client.request("resume_run", { note: this.#note() }))
				: await this.#await(agent, await client.request("prompt", { message: this.#spec.prompt, images: this.#spec.images, key: runId } as never));
			for (;;) {
				const next = await this.#settle(agent, result, verification);
				if (next === "died" || "how" in next) return next;
				result = await this.#await(agent, await client.request(next.command as "resume_run", next.params as never));
			}
		} catch (error) {
			if (agent.exit) return "died";
			if ((error as Error).name === "RequestError") return { how: "finish", status: "failed", reason: (error as Error).message };
			throw error;
		}
	}

	/** An agent that was killed has a successor: one outside is enough to say that the run was outside. */
	#noteSandbox(state: SandboxState | undefined): void {
		if (this.#sandbox?.mode === "off") return;
		this.#sandbox = sandboxOf(state);
	}
	#sandbox: ReceiptSandbox | undefined;

	#note(): string {
		const calls = this.#grantedBefore;
		const first = "The worker that ran this was replaced. The conversation and the files are as they were at the last checkpoint.";
		if (calls.length === 0) return first;
		return `${first} These tool calls had been started after it; their changes to files are undone, but effects elsewhere may have happened: ${calls.join("; ")}.`;
	}

	/** The outcome of the run that this very command started. */
	async #await(agent: Agent, answer: unknown): Promise<RunResult | "nothing" | "died"> {
		const { runId, disposition } = (answer ?? {}) as { runId?: string; disposition?: string };
		if (disposition === "nothing") return "nothing";
		if (runId === undefined) throw new Error("The agent gave no runId.");
		if (!this.#agentRuns.includes(runId)) this.#agentRuns.push(runId);
		for (;;) {
			const changed = deferred<void>();
			this.#onResult = changed;
			const result = this.#results.get(runId);
			if (result) return result;
			if (agent.exit || this.#fence.signal.aborted || this.#requeue) return "died";
			await changed.promise;
		}
	}

	async #settle(
		agent: Agent,
		result: RunResult | "nothing" | "died",
		verification: Verification,
	): Promise<Ending | "died" | { command: string; params: object }> {
		if (result === "died") return "died";
		if (this.#ending) return this.#stopped();
		if (this.#failure) return this.#again(this.#failure.message);
		const status = result === "nothing" ? "completed" : result.status;
		if (status === "completed") {
			// The reply and the files are of one moment: a worker that takes over now has only the checks to do.
			await this.#commit({ checkpoint: await this.#takeCheckpoint() });
			if (this.#ending) return this.#stopped();
			const verdict = await verification.attempt();
			if (this.#ending) return this.#stopped();
			this.#stopping.signal.throwIfAborted();
			if (verdict.status === "passed") return { how: "finish", status: "completed" };
			if (verdict.status === "repair") {
				const params = { message: verdict.prompt, key: `${this.claim.runId}-repair-${verdict.attempt}` };
				return { command: "prompt", params };
			}
			return { how: "finish", status: "verification_failed", reason: verdict.reason, ...(verdict.discard ? { withoutPatch: true } : {}) };
		}
		const { error } = result as RunResult;
		if (status === "error") {
			const message = error?.message ?? "The run failed.";
			if (error?.kind === "rate_limit" || rateLimited.test(message)) {
				await this.#pause(error?.retryAfterMs);
				return { command: "resume_run", params: {} };
			}
			if (error?.retryable) return this.#again(message);
			return { how: "finish", status: "failed", reason: message };
		}
		if (status === "budget") return { how: "finish", status: "budget", reason: error?.message ?? "A ceiling of the run's settings was reached." };
		if (agent.exit) return "died";
		if (status === "interrupted") return { command: "resume_run", params: { note: "The run was interrupted. Go on." } };
		return { how: "finish", status: "failed", reason: error?.message ?? "The run was aborted." };
	}

	#stopped(): Ending {
		const { status, reason } = this.#ending as { status: Status; reason: string };
		if (status === "stalled" && this.claim.attempts < 2) {
			// Not longer than the silence itself was.
			const delayMs = Math.min(backOffMs(1), this.#parts.limits.stallMs);
			return { how: "requeue", why: reason, delayMs, counts: true };
		}
		return { how: "finish", status, reason };
	}

	/** One pause for the fleet; the gates of all runs wait for it. */
	async #pause(retryAfterMs: number | undefined): Promise<void> {
		await this.#persistently(() => this.#parts.rates.refused(this.#provider, retryAfterMs));
	}

	/** Nothing is granted before everything up to here is stored under our epoch. Undefined: no answer, the agent is being killed. */
	async #gate(request: GateRequest): Promise<Omit<GateResponse, "type" | "id"> | undefined> {
		this.#lastLife = performance.now();
		if (this.#isOver) return { allow: false, end: true, reason: "The run is over." };
		try {
			await this.#commit(this.#isBetweenSteps(request) ? { checkpoint: await this.#takeCheckpoint() } : {});
			const answer = await this.#decide(request);
			// The last look at the clock is right before the answer: a worker that was frozen in between must not grant anything.
			return this.#parts.lease.isHeld && !this.#fence.signal.aborted ? answer : undefined;
		} catch (error) {
			if (this.#fence.signal.aborted) return undefined;
			if (error instanceof PatchTooLarge) this.#ending ??= { status: "failed", reason: `patch_too_large: ${error.message}` };
			else this.#failure ??= error as Error;
			return { allow: false, end: true, reason: (error as Error).message };
		}
	}
	#failure: Error | undefined;

	/** Whether no call is at work and the files are those of the conversation: before a request, and before a call that follows another of its turn. */
	#isBetweenSteps({ kind, agentPath, toolCallId }: GateRequest): boolean {
		if (agentPath?.length) return false;
		return kind === "model" || (kind === "tool" && this.#hasNewResult && [...this.#calls].every((id) => id === toolCallId));
	}

	async #decide(request: GateRequest): Promise<Omit<GateResponse, "type" | "id">> {
		const refuse = (status: Status, reason: string) => {
			this.#ending ??= { status, reason };
			return { allow: false, end: true, reason: this.#ending.reason };
		};
		if (this.#ending) return refuse(this.#ending.status, this.#ending.reason);
		const { usd, tokens, toolCalls } = this.#spec.limits ?? {};
		this.#inFlight.asked(request);
		if (usd !== undefined && this.#usd >= usd) return refuse("budget", `The run has spent ${this.#usd.toFixed(4)} of ${usd} dollars.`);
		if (tokens !== undefined && this.#tokens >= tokens) return refuse("budget", `The run has used ${this.#tokens} of ${tokens} tokens.`);
		if (request.kind !== "model") {
			this.#toolCalls += 1;
			if (toolCalls !== undefined && this.#toolCalls > toolCalls)
				return refuse("budget", `The run has made ${toolCalls} tool calls, which is its limit.`);
			return { allow: true };
		}
		const estimate = estimateOf(request);
		if (request.estimate?.priceUnknown && (usd !== undefined || (await this.#persistently(() => this.#wallet.hasCeilingInDollars())))) {
			return refuse("budget", 'The price of the model is not known, so a limit in dollars cannot be kept. Give it a "cost" in models.jsonc.');
		}
		const inFlight = this.#inFlight.total;
		// Subagents side by side keep to the run's own limits together.
		if ((usd !== undefined && this.#usd + inFlight.usd >= usd) || (tokens !== undefined && this.#tokens + inFlight.tokens >= tokens)) {
			if (this.#inFlight.isMoving) return { allow: false, retryAfterMs: 1000 };
			return refuse("budget", "What the subagents of its subagents may have used reaches the run's limit.");
		}
		const waitMs = this.#parts.rates.take(this.#provider, estimate.tokens);
		if (waitMs > 0) return { allow: false, retryAfterMs: Math.min(waitMs, 30_000) };
		const funds = await this.#persistently(() => this.#wallet.cover(request, estimate, this.#inFlight));
		if (funds === "wait") return { allow: false, retryAfterMs: Math.min(5000, 500 * 2 ** this.#waitsForMoney++) };
		this.#waitsForMoney = 0;
		if (funds === "refused") return refuse("budget", `The budget ${this.claim.budget} is used up.`);
		return { allow: true };
	}

	/** A new checkpoint when the files have changed, else the newest one is moved up. */
	async #takeCheckpoint(): Promise<{ n: number; tree: string; patch: Buffer } | { n: number }> {
		const states = this.#states as FileStates;
		const tree = await states.take(this.#fence.signal);
		if (this.#hasCheckpoint && tree === this.#checkpoint.tree) return { n: this.#checkpoint.n };
		return { n: this.#checkpoint.n + 1, tree, patch: await states.patch(tree) };
	}

	/** One at a time: what is new in both files, with the checkpoint, in one transaction. */
	#commit({
		checkpoint,
		onlyIfNew = false,
	}: {
		checkpoint?: { n: number; tree: string; patch: Buffer } | { n: number };
		onlyIfNew?: boolean;
	}): Promise<void> {
		// A commit that failed was reported to its caller; this one takes its lines along.
		const work = this.#committing
			.catch(() => undefined)
			.then(async () => {
				this.#fence.signal.throwIfAborted();
				const session = this.#session.peek();
				const written = this.#events.peek();
				// An agent that ends in order says so with the number of its last frame; frames of checks follow under higher numbers.
				const events = { ...written, lines: written.lines.filter((line) => !endOfLog.test(line)) };
				if (onlyIfNew && session.lines.length + events.lines.length === 0) return;
				this.#lastLife = session.lines.length + events.lines.length > 0 ? performance.now() : this.#lastLife;
				const used = this.#inFlight.takeUsed();
				const added = this.#account.add(session.lines, events.lines);
				const spent = { usd: added.usd + used.usd, tokens: added.tokens + used.tokens };
				const commit = { from: this.#counts, session: session.lines, events: events.lines, ...spent, ...(checkpoint ? { checkpoint } : {}) };
				const answer = await this.#persistently(() => this.#parts.queue.commit(this.claim, commit));
				if (answer === "fenced") {
					this.fence();
					throw new Fenced();
				}
				this.#counts = { session: this.#counts.session + session.lines.length, events: this.#counts.events + events.lines.length };
				this.#session.taken(session.offset);
				this.#events.taken(events.offset);
				this.#usd += spent.usd;
				this.#tokens += spent.tokens;
				this.#wallet.spent(spent);
				if (checkpoint) {
					this.#checkpoint = { ...this.#checkpoint, ...checkpoint };
					this.#hasCheckpoint = true;
					this.#hasNewResult = false;
				}
				if (answer.cancel) this.#stop("cancelled", "It was cancelled.");
			});
		this.#committing = work;
		return work;
	}

	/** Asks until there is an answer, or the lease is over: while Postgres cannot be reached, the agent waits. */
	async #persistently<T>(ask: () => Promise<T>): Promise<T> {
		for (let wait = 100; ; wait = Math.min(2000, wait * 2)) {
			this.#fence.signal.throwIfAborted();
			try {
				return await ask();
			} catch (error) {
				if (queueErrorCode(error) !== "unavailable") throw error;
				await new Promise((resolve) => setTimeout(resolve, wait));
			}
		}
	}

	/** The result row, or the way back into the queue. The agent has ended before, so that the files stand still. */
	async #close(ending: Exclude<Ending, { how: "fenced" }>): Promise<void> {
		const { queue } = this.#parts;
		const { claim } = this;
		await this.#agent?.close();
		if (ending.how === "requeue") {
			const { why, delayMs, counts } = ending;
			await this.#persistently(() => queue.requeue(claim, { why, delayMs, counts }));
			return;
		}
		this.#appendVerification();
		let { status, reason } = ending;
		let tree = "";
		let patch: Buffer | undefined;
		let checkpoint: { n: number; tree: string; patch: Buffer } | { n: number } | undefined;
		if (this.#states && this.#hasCheckpoint) {
			try {
				checkpoint = await this.#takeCheckpoint();
				tree = "tree" in checkpoint ? checkpoint.tree : this.#checkpoint.tree;
				if (!ending.withoutPatch) patch = await this.#states.patch(tree);
			} catch (error) {
				if (!(error instanceof PatchTooLarge)) throw error;
				status = "failed";
				reason = `patch_too_large: ${error.message}`;
			}
		}
		await this.#commit(checkpoint ? { checkpoint } : {});
		let branch: string | undefined;
		if (patch && patch.length > 0 && this.#spec.deliver === "branch" && status === "completed") {
			branch = `bowline/${claim.runId}-${claim.epoch}`;
			const message = `${this.#spec.prompt.split("\n")[0]?.slice(0, 72)}\n\nRun ${claim.runId}`;
			const { url, commit = "" } = this.#spec.repo;
			try {
				await this.#states?.push(this.#parts.git, { tree, commit, branch, message, url });
			} catch (error) {
				status = "failed";
				reason = `The branch ${branch} could not be pushed. ${(error as Error).message}`;
				branch = undefined;
			}
		}
		const files = patch && tree !== "" ? await this.#states?.changedFiles(tree) : undefined;
		const receipt = await this.#receipt({ status, reason, patch, tree, files, branch });
		const result = { status, receipt, ...(patch ? { patch } : {}) };
		await this.#persistently(() => queue.finish(claim, result));
	}

	async #receipt(of: { status: Status; reason?: string; patch?: Buffer; tree: string; files?: number; branch?: string }): Promise<object> {
		const { createHash } = await import("node:crypto");
		const { claim } = this;
		const { patch, tree, branch } = of;
		return {
			runId: claim.runId,
			key: claim.key,
			epoch: claim.epoch,
			attempts: claim.attempts,
			worker: this.#parts.worker,
			repo: { url: this.#spec.repo.url, base: this.#spec.repo.commit, ...(tree === "" ? {} : { tree }) },
			...(patch ? { patch: { sha256: createHash("sha256").update(patch).digest("hex"), bytes: patch.length, files: of.files ?? 0 } } : {}),
			...(branch === undefined ? {} : { branch }),
			...(this.#sandbox ? { sandbox: this.#sandbox } : {}),
			...(this.#verified ? { verification: this.#verified } : {}),
			...this.#account.facts,
			usd: this.#usd,
			tokens: this.#tokens,
			agentRuns: this.#agentRuns,
			startedAt: claim.startedAt,
			status: of.status,
			...(of.reason === undefined ? {} : { reason: of.reason.slice(0, 8000) }),
		};
	}

	/** The agent has ended; its log is ours to close. */
	#appendVerification(): void {
		if (this.#verificationFrames.length === 0 || !existsSync(this.#eventFile)) return;
		const highest = new Tail(this.#eventFile).peek().lines.reduce((most, line) => Math.max(most, seqOf(line)), 0);
		const lines = this.#verificationFrames.map(({ t, f }, index) => JSON.stringify({ s: highest + 2 + index, t, f }));
		const reservation = JSON.stringify({ r: highest + 1 + lines.length, e: this.claim.epoch });
		writeFileSync(this.#eventFile, `${[reservation, ...lines].join("\n")}\n`, { flag: "a" });
	}
}

function estimateOf({ estimate }: GateRequest): Estimate {
	return { usd: estimate?.usd ?? 0, tokens: (estimate?.inputTokens ?? 0) + (estimate?.maxOutputTokens ?? 0) };
}

/** Tool calls whose effects may be half done: those without an end in the part of the log that was kept, and all of the part that was cut. */
function begunCalls(kept: readonly string[], cut: readonly string[]): string[] {
	const open = new Map<string, string>();
	const begun: string[] = [];
	for (const [index, line] of [...kept, ...cut].entries()) {
		const { f } = JSON.parse(line) as { f?: { type?: string; toolName?: string; toolCallId?: string; args?: Record<string, unknown> } };
		const id = f?.toolCallId ?? "";
		if (f?.type === "tool_execution_end" && index < kept.length) open.delete(id);
		if (f?.type !== "tool_execution_start") continue;
		const what = typeof f.args?.command === "string" ? f.args.command : typeof f.args?.path === "string" ? f.args.path : id;
		const text = `${f.toolName} ${JSON.stringify(what.slice(0, 200))}`;
		if (index < kept.length) open.set(id, text);
		else begun.push(text);
	}
	return [...open.values(), ...begun];
}
