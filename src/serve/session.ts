/** One session: its state, its process when it is awake, its readers and its seat. It interprets no conversation; it routes frames. */

import { asSentence } from "../lib/as-sentence.ts";
import { claimOf } from "../lib/claim.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { type CommandFrame, type ControlFrame, parseInbound, type RequestId } from "../protocol/frames.ts";
import { isNumbered } from "../protocol/live.ts";
import { movers } from "../protocol/movers.ts";
import { commandAccess } from "../protocol/names.generated.ts";
import type { ServedSession, SessionStateName } from "../protocol/serve.ts";
import { Agent, type AgentExit, type AgentListener } from "./agent.ts";
import type { DeltaRun } from "./agent-lines.ts";
import { Dialogs } from "./dialogs.ts";
import { Feed, type FeedCounts, filterOf, type Reader, type Replay, type Slots } from "./feed.ts";
import { FileTail } from "./file-tail.ts";
import { headOf, isDurable, withOwnId } from "./frames.ts";
import { HostCalls } from "./host-calls.ts";
import { Outbox } from "./outbox.ts";
import { logPosition, SessionPast } from "./past.ts";
import type { SessionRecord } from "./record.ts";
import { isRefusal, Refusal } from "./refusal.ts";
import { graceMs, Seat, type SeatHolder } from "./seat.ts";
import { settledWithin } from "./settled.ts";
import { type Bearer, mayUse } from "./tokens.ts";

/** A connection that reads a session, and may speak to it. */
export interface Connection {
	readonly client: string;
	readonly name: string;
	readonly bearer: Bearer;
	readonly reader: Reader;
	/** What it said in `hello`. */
	capabilities: Readonly<Record<string, number>>;
	/** The session moved, and the connection goes along. */
	follow?: (to: Session) => void;
	/** Lines that wait until the connection has gone on to another session. */
	held?: string[] | undefined;
}

/** The sender of a command over plain HTTP. */
export interface Caller {
	bearer: Bearer;
	name: string;
}

export interface SessionHost {
	now(): number;
	readonly counts: FeedCounts;
	readonly replays: Slots;
	/** One session at a time gives frames again from its memory: they are read as a whole. */
	remembering<T>(work: () => Promise<T>): Promise<T>;
	/** Waits for its turn to start. Throws a Refusal when there is no room. */
	startSlot<T>(session: Session, start: () => Promise<T>): Promise<T>;
	/** The command line of the session's agent. */
	agentCommand(record: SessionRecord): readonly string[];
	/** Calls `start` with the session's directory, checked at this moment. Throws a Refusal when it is missing or leads elsewhere. */
	inDirectory<T>(record: SessionRecord, start: (cwd: string) => T): T;
	env: NodeJS.ProcessEnv;
	/** To everyone who listens to the server. */
	announce(frame: object): void;
	/** The record changed. */
	save(record: SessionRecord): void;
	/** Another session, if it is there. */
	find(id: string): Session | undefined;
	/** The agent went to another session. */
	moved(from: Session, to: string, state: AgentState): Session;
	/** An ephemeral session ended. */
	forget(session: Session): void;
	log(line: Record<string, unknown>): void;
	onStart(seconds: number): void;
	onCrash(): void;
	onUsage(tokens: number, costUsd: number): void;
	readonly isDraining: boolean;
}

/** Of `get_state`, what the server uses. */
export interface AgentState {
	sessionId: string;
	sessionFile?: string;
	sessionName?: string;
	model?: { provider: string; id: string } | null;
	cwd?: string;
	pendingMessageCount?: number;
}

interface AgentSnapshot {
	seq: number;
	json: string;
	/** Of the ring: live frames go on here. */
	position: number;
	remembered?: readonly string[];
}

interface Request {
	command: string;
	id: RequestId | undefined;
	key?: string;
	/** Of the server itself. */
	isOwn: boolean;
	/** Receives the response as a line with the asker's id. */
	answer: (line: string) => void;
}

const readyMs = 30_000;
const abortMs = 5000;
const crashWindowMs = 60_000;
const mostCrashes = 3;
const mostResumed = 2;
const keptResults = 16;
const keptDepartures = 16;
const runners: ReadonlySet<string> = new Set(["prompt", "resume_run"]);
const starts: ReadonlySet<string> = new Set(["compaction_start", "auto_compaction_start"]);
const ends: ReadonlySet<string> = new Set(["compaction_end", "auto_compaction_end"]);

export class Session {
	readonly feed: Feed;
	readonly seat: Seat<Connection>;
	readonly connections = new Set<Connection>();
	record: SessionRecord;
	state: SessionStateName = "asleep";
	since: number;
	reason: string | undefined;
	epoch = 0;
	run: { runId: string; startedAt: number } | null = null;
	#host: SessionHost;
	#agent: Agent | undefined;
	#starting: Promise<void> | undefined;
	#requests = new Map<number, Request>();
	/** Prompts that were acknowledged. */
	#answered = new Map<number, Request>();
	#nextRequest = 1;
	#outbox = new Outbox(() => this.#agent);
	#past = new SessionPast(() => this.record.file);
	/** Ends of calls whose results may not be stored yet. */
	#toolEnds = new Map<number, string>();
	#dialogs: Dialogs;
	#hostCalls: HostCalls;
	#isRunning = false;
	#compactions = 0;
	#bashes = 0;
	#queued = 0;
	#crashes: number[] = [];
	#isStopRequested = false;
	/** The last start was refused because of the directory. The next request looks again: a person may have put it back. */
	#isMisplaced = false;
	#whenStopped: (() => void)[] = [];
	#onReady: { resolve: () => void; reject: (error: Refusal) => void } | undefined;
	#snapshots: ((json: string | undefined) => void)[] = [];
	/** Lines that the agent gives again from its memory, until the snapshot that ends them. */
	#remembering: string[] | undefined;
	/** The last results: one may come before its waiter. */
	#results = new Map<string, string>();
	#resultWaiters = new Map<string, ((line: string) => void)[]>();
	/** Lines that wait until it is known where the agent went. */
	#moving: string[] | undefined;
	#agentHello: string | undefined;
	/** What clients said in `hello` whose connection was lost. It holds for a while, as their seat does. */
	#away = new Map<string, Pick<Connection, "bearer" | "capabilities"> & { timer: NodeJS.Timeout }>();

	constructor(record: SessionRecord, host: SessionHost) {
		this.record = record;
		this.#host = host;
		this.since = record.updatedAt;
		this.feed = new Feed(record.id, { replay: (after, reason) => this.#replay(after, reason) }, host);
		this.seat = new Seat((holder) => this.#seatChanged(holder));
		this.#dialogs = new Dialogs({
			now: () => host.now(),
			hasDriver: () => this.#hasDriver(),
			send: (frame) => this.#agent?.send(JSON.stringify(frame)),
		});
		this.#hostCalls = new HostCalls({
			send: (frame) => this.#agent?.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
			toSeat: (line) => {
				this.seat.connection?.reader.send(line);
				return this.seat.connection !== undefined;
			},
		});
		this.#readPosition(false);
	}

	/** Ends what a process that was killed with its server had begun. */
	repair(): void {
		if (!this.isAwake && this.#elsewhere() === undefined) this.#readPosition(true);
	}

	get id(): string {
		return this.record.id;
	}

	get isAwake(): boolean {
		return this.#agent !== undefined;
	}

	get pid(): number | undefined {
		return this.#agent?.pid;
	}

	get isBusy(): boolean {
		return this.state === "busy";
	}

	/** Whether its process may be ended to make room. */
	get maySleep(): boolean {
		return (
			this.state === "idle" &&
			!this.seat.holder &&
			this.#dialogs.count === 0 &&
			this.#queued === 0 &&
			!this.#hostCalls.isRegistered &&
			this.#requests.size === 0 &&
			!this.record.created?.ephemeral
		);
	}

	/** The session as clients see it. */
	view(): ServedSession {
		const { record } = this;
		const holder = this.seat.holder;
		const elsewhere = this.#elsewhere();
		return {
			id: record.id,
			...(record.name !== undefined && { name: record.name }),
			cwd: record.cwd,
			state: elsewhere !== undefined ? "elsewhere" : this.state === "elsewhere" ? "asleep" : this.state,
			since: this.since,
			createdAt: record.createdAt,
			updatedAt: record.updatedAt,
			model: record.model ?? null,
			asOf: this.feed.ring.lastSeq,
			epoch: this.epoch,
			run: this.run,
			seat: holder ? { client: publicClient(holder.client), name: holder.name, since: holder.since } : null,
			readers: this.feed.readers.size,
			pending: { dialogs: this.#dialogs.count, queued: this.#queued },
			usage: record.usage ?? { totalTokens: 0, costUsd: 0 },
			lastExit: record.lastExit ?? null,
			...(this.reason !== undefined && { reason: this.reason }),
			...(elsewhere !== undefined && { pid: elsewhere }),
			...(record.file !== undefined && { file: record.file }),
		};
	}

	/**
	 * Shows readers what another process writes. Called before a reader comes, so that it is followed from that place on, and now and then while
	 * there are readers and no process of ours.
	 */
	watch(): void {
		const { file } = this.record;
		if (this.isAwake || this.#starting || file === undefined) return;
		const pid = this.#elsewhere();
		if (this.#tail === undefined || (this.feed.readers.size === 0 && this.state !== "elsewhere")) this.#tail = new FileTail(file);
		if (pid !== undefined && this.state !== "elsewhere") this.#setState("elsewhere", `process ${pid} has it open`);
		// Also without a process: one may have come and gone since the last look.
		this.#attempt("log_fault", () => this.#tellNews());
		if (pid !== undefined || this.state !== "elsewhere") return;
		this.#setState("asleep");
		// The other process may have been killed.
		this.#attempt("log_fault", () => this.#readPosition(true));
	}

	/** Reads on to this moment: a reader gets what is there from the log, and is shown what comes. Refuses a cursor beyond that. */
	beforeReader(after: number | undefined): void {
		this.watch();
		const { lastSeq } = this.feed.ring;
		if (after !== undefined && after > lastSeq) throw new Refusal("cursor_ahead", cursorAheadText(after, lastSeq));
	}

	/** New lines of the session file as entries, and the frames of the other process, if it keeps a log. */
	#tellNews(): void {
		// Entries are written before their frames: read in this order, they reach readers before them too.
		const mark = this.#past.mark;
		const frames = mark === this.#newsMark ? [] : [...this.#past.news(this.feed.ring.lastSeq)];
		this.#newsMark = mark;
		const lines = this.#tail?.lines() ?? [];
		for (const line of lines) {
			const json = `{"type":"entry_appended","sessionId":${JSON.stringify(this.id)},"entry":${line}}`;
			for (const reader of this.feed.readers) reader.send(json);
		}
		if (lines.length > 0) this.record.updatedAt = this.#host.now();
		for (const frame of frames) this.feed.push({ ...frame, isDurable: true });
	}
	#tail: FileTail | undefined;
	/** Of the files when they were last read for news. */
	#newsMark = "";

	/** The process that writes the session, when it is not ours. */
	#elsewhere(): number | undefined {
		if (this.isAwake || this.record.file === undefined) return undefined;
		const pid = claimOf(`${this.record.file}.lock`)?.holder?.pid;
		return pid === process.pid ? undefined : pid;
	}

	#readPosition(repairs: boolean): void {
		const { file } = this.record;
		if (file === undefined) return;
		const { lastSeq, epoch, isUnfinished } = logPosition(file);
		this.feed.ring.reach(lastSeq);
		this.epoch = epoch;
		if (repairs && isUnfinished) this.#catchUpWithLog(true);
	}

	// ─── Starting and stopping ───

	/** Ensures that there is a process. Throws a Refusal when that is not possible. */
	wake(isAsked = false): Promise<void> {
		if (this.state === "failed" && !isAsked && !this.#isMisplaced)
			return Promise.reject(
				new Refusal("agent_crashed", `The agent of this session does not start: ${asSentence(this.reason ?? "")} Start it with POST …/start.`),
			);
		if (this.#host.isDraining && !this.#agent) return Promise.reject(drainingRefusal());
		if (this.state === "stopping") return new Promise<void>((resolve) => this.#whenStopped.push(resolve)).then(() => this.wake(isAsked));
		if (isAsked) this.#crashes = [];
		if (this.#agent) this.#starting ??= Promise.resolve();
		if (this.#starting) return this.#starting;
		const starting = this.#begin();
		this.#starting = starting;
		// The next request that needs the agent tries again. A newer start is not touched.
		starting.catch(() => {
			if (this.#starting === starting) this.#starting = undefined;
		});
		return starting;
	}

	async #begin(): Promise<void> {
		// What another process wrote comes before what ours will write.
		this.watch();
		const elsewhere = this.#elsewhere();
		if (elsewhere !== undefined)
			throw new Refusal("elsewhere", `This session is in use by process ${elsewhere}. Close it there first.`, { details: { pid: elsewhere } });
		await this.#host.startSlot(this, () => this.#startAgent());
	}

	async #startAgent(): Promise<void> {
		// The drain may have begun while this start waited for its turn.
		if (this.#host.isDraining) throw drainingRefusal();
		const begin = this.#host.now();
		this.#tail = undefined;
		this.#isStopRequested = false;
		const agent = this.#spawn();
		const ready = new Promise<void>((resolve, reject) => (this.#onReady = { resolve, reject }));
		this.#setState("starting");
		this.#agent = agent;
		// An agent that says it is ready and then answers nothing would hold its turn for ever.
		const timer = setTimeout(() => agent.kill("it was not ready within 30 seconds"), readyMs);
		try {
			try {
				await ready;
			} finally {
				this.#onReady = undefined;
			}
			this.#host.onStart((this.#host.now() - begin) / 1000);
			this.#setState("idle");
			await this.#refresh();
		} finally {
			clearTimeout(timer);
		}
		this.#sayHello();
	}

	#spawn(): Agent {
		const { agentCommand, env } = this.#host;
		this.#isMisplaced = false;
		try {
			return this.#host.inDirectory(this.record, (cwd) => new Agent({ command: agentCommand(this.record), cwd, env }, this.#listener()));
		} catch (error) {
			// Otherwise the system refuses the command line, as one that is too long.
			const { message } = error as Error;
			this.#isMisplaced = isRefusal(error);
			this.#setState("failed", message);
			if (isRefusal(error)) throw error;
			throw new Refusal("agent_crashed", `The agent of this session did not start: ${message}`);
		}
	}

	/** Ends the process, whatever it does. Resolves when it is gone. `hurry`: when it resolves, the process gets less time. */
	async end(hurry: Promise<void>): Promise<void> {
		const agent = this.#agent;
		if (!agent) return;
		void hurry.then(() => agent.hurry());
		if (this.isBusy) await Promise.race([settledWithin(abortMs, this.ask({ type: "abort" })), hurry]);
		this.#isStopRequested = true;
		this.#setState("stopping");
		await agent.stop();
	}

	/** Ends the process. Resolves when it is gone. */
	async stop(options: { abort?: boolean } = {}): Promise<void> {
		// A failed start is reported to the request that caused it.
		if (this.state === "starting") await this.#starting?.catch(() => undefined);
		const agent = this.#agent;
		if (!agent) return;
		if (this.state === "busy" && !options.abort) throw new Refusal("busy", 'The session is busy. Send abort first, or stop it with {"abort":true}.');
		this.#isStopRequested = true;
		this.#setState("stopping");
		await agent.stop();
	}

	kill(cause: string): void {
		this.#agent?.kill(cause);
	}

	#exited(exit: AgentExit): void {
		const { now } = this.#host;
		const wasStarting = this.#onReady;
		const wasAsked = this.#isStopRequested;
		this.#agent = undefined;
		this.#starting = undefined;
		this.#moving = undefined;
		this.#isRunning = false;
		this.#compactions = 0;
		this.#bashes = 0;
		this.#queued = 0;
		this.#outbox.clear();
		this.#toolEnds.clear();
		this.#agentHello = undefined;
		const how = exit.signal ?? (exit.code === null ? "did not start" : `code ${exit.code}`);
		const last = exit.cause ?? exit.stderr.split("\n").at(-1) ?? "";
		const text = `The agent ended unexpectedly (${how})${last ? `: ${last}` : ""}`;
		for (const { command, id, answer } of [...this.#requests.values()])
			answer(
				JSON.stringify({
					asOf: this.feed.ring.lastSeq,
					...(id !== undefined && { id }),
					type: "response",
					command,
					success: false,
					error: wasAsked ? "The session was stopped before this was answered. Send it again." : text,
					code: (wasAsked ? "stopped" : "agent_crashed") satisfies ErrorCode,
				}),
			);
		this.#requests.clear();
		this.#answered.clear();
		// An agent that ends between its answer and the snapshot must not keep a reader waiting.
		for (const give of this.#snapshots) give(undefined);
		this.#remembering = undefined;
		this.#dialogs.clear();
		this.#hostCalls.clear();
		const { runId } = this.run ?? {};
		this.record.lastExit = { code: exit.code, signal: exit.signal, at: now(), ...(exit.stderr && !wasAsked && { stderr: exit.stderr.slice(-4000) }) };
		this.record.updatedAt = now();
		// One that was asked and had to be killed has closed nothing either.
		this.#attempt("log_fault", () => this.#catchUpWithLog(!wasAsked || exit.signal !== null));
		this.run = null;
		if (this.record.file !== undefined) this.#tail = new FileTail(this.record.file);
		if (wasAsked) {
			this.#setState("asleep");
			wasStarting?.reject(new Refusal("stopped", "The session was stopped before its agent was ready. Start it again."));
		} else {
			this.#host.onCrash();
			this.#crashes = [...this.#crashes.filter((at) => now() - at < crashWindowMs), now()];
			if (wasStarting || this.#crashes.length >= mostCrashes) {
				this.#setState("failed", last || how);
				wasStarting?.reject(new Refusal("agent_crashed", `The agent of this session did not start (${how})${last ? `: ${last}` : ""}`));
			} else this.#setState("crashed", text);
		}
		this.#attempt("save_failed", () => this.#host.save(this.record));
		for (const then of this.#whenStopped.splice(0)) then();
		if (this.record.created?.ephemeral) return this.#host.forget(this);
		if (!wasAsked && this.state === "crashed" && runId !== undefined && this.record.created?.onCrash === "resume") void this.#resume(runId);
	}

	/** The disk may be full, or the files gone: the session's end goes on. */
	#attempt(event: string, work: () => void): void {
		try {
			work();
		} catch (error) {
			this.#host.log({ event, error: (error as Error).message });
		}
	}

	async #resume(runId: string): Promise<void> {
		const count = this.record.resumed?.runId === runId ? this.record.resumed.count : 0;
		if (count >= mostResumed || this.#host.isDraining) return;
		try {
			await this.wake();
			const { data } = (await this.ask({ type: "resume_run" })) as { data?: { runId?: string } };
			if (data?.runId !== undefined) this.record.resumed = { runId: data.runId, count: count + 1 };
			this.#host.save(this.record);
		} catch (error) {
			this.#host.log({ event: "resume_failed", error: (error as Error).message });
		}
	}

	/** What the process logged and did not say any more, and after a crash the ends of what it had begun. */
	#catchUpWithLog(isCrash: boolean): void {
		const frames = this.#past.after(this.feed.ring.lastSeq, isCrash, (text) => this.#host.log({ event: "log_fault", text }));
		for (const { seq, type, json } of frames) {
			this.feed.push({ seq, type, json, isDurable: true });
			if (type === "run_result") this.#onRunResult(json);
		}
		this.#readPosition(false);
	}

	#setState(state: SessionStateName, reason?: string): void {
		if (state === this.state && reason === this.reason) return;
		this.state = state;
		this.reason = reason;
		this.since = this.#host.now();
		const exit = state === "crashed" || state === "failed" ? this.record.lastExit : undefined;
		const frame = {
			type: "session_state",
			sessionId: this.id,
			state,
			since: this.since,
			...(reason !== undefined && { reason }),
			...(exit && { exit: { code: exit.code, signal: exit.signal } }),
		};
		this.feed.announce(frame);
		this.#host.announce(frame);
		this.#host.log({ event: "session_state", state });
	}

	#updateBusy(): void {
		if (this.state !== "idle" && this.state !== "busy") return;
		this.#setState(this.#isRunning || this.#compactions > 0 || this.#bashes > 0 ? "busy" : "idle");
	}

	// ─── From the agent ───

	#listener(): AgentListener {
		return {
			line: (line) => this.#receive(line),
			deltas: (run) => this.#receiveDeltas(run),
			exit: (exit) => this.#exited(exit),
			drain: () => this.#outbox.drained(),
		};
	}

	/** Most of what an agent says. Nothing is to be known of it. */
	#receiveDeltas(run: DeltaRun): boolean {
		if (this.#moving || this.#remembering) return false;
		this.feed.pushDeltas(run);
		return true;
	}

	#receive(line: string): void {
		const head = headOf(line);
		if (!head) return this.#agent?.note(line);
		if (this.#moving && !(head.kind === "response" && this.#requests.get(head.request)?.command === "get_state")) {
			this.#moving.push(line);
			return;
		}
		if (head.kind === "response") return this.#answer(head.request, line);
		if (head.type === "ready") return this.#onReadyFrame(line);
		if (head.kind === "directed") return this.#directed(head.type, line);
		const { seq, type } = head;
		if (this.#remembering && seq <= this.feed.ring.lastSeq) return void this.#remembering.push(line);
		this.feed.push({ seq, type, json: line, isDurable: isDurable(type, line) });
		if (type === "message_update") return;
		if (type === "tool_execution_end") this.#toolEnds.set(seq, line);
		else if (type === "turn_end" || type === "agent_settled") this.#toolEnds.clear();
		this.#observe(type, line);
	}

	/** Keeps the few facts that the server shows. Deltas never come here. */
	#observe(type: string, line: string): void {
		if (starts.has(type)) this.#compactions++;
		else if (ends.has(type)) this.#compactions = Math.max(0, this.#compactions - 1);
		else if (type === "agent_start") {
			this.#isRunning = true;
			const { runId } = JSON.parse(line) as { runId?: string };
			if (runId !== undefined) this.run = { runId, startedAt: this.#host.now() };
		} else if (type === "agent_settled") {
			this.#isRunning = false;
			void this.#refresh();
		} else if (type === "run_result") this.#onRunResult(line);
		else if (type === "queue_update") {
			const { steering = [], followUp = [] } = JSON.parse(line) as { steering?: unknown[]; followUp?: unknown[] };
			this.#queued = steering.length + followUp.length;
		} else if (type === "extension_ui_request" || type === "permission_request" || type === "permission_resolved")
			this.#dialogs.observe(JSON.parse(line));
		else return;
		this.#updateBusy();
	}

	#onRunResult(line: string): void {
		const { runId, usage } = JSON.parse(line) as { runId: string; usage?: { totalTokens?: number; cost?: { total?: number } } };
		const tokens = usage?.totalTokens ?? 0;
		const cost = usage?.cost?.total ?? 0;
		this.#host.onUsage(tokens, cost);
		if (!this.run || this.run.runId === runId) this.#isRunning = false;
		if (this.run?.runId === runId) this.run = null;
		this.#results.set(runId, line);
		for (const old of this.#results.keys()) if (this.#results.size > keptResults) this.#results.delete(old);
		for (const then of this.#resultWaiters.get(runId) ?? []) then(line);
		this.#resultWaiters.delete(runId);
	}

	#onReadyFrame(line: string): void {
		const { epoch, asOf } = JSON.parse(line) as { epoch?: number; asOf?: number };
		if (epoch !== undefined) this.epoch = epoch;
		if (asOf !== undefined) this.feed.ring.reach(asOf);
		this.#onReady?.resolve();
	}

	#directed(type: string, line: string): void {
		if (type === "snapshot") return this.#takeSnapshot(line);
		if (type === "gap") return void this.#remembering?.push(line); // Of our own subscribe: readers get their own.
		if (type === "host_tool_call" || type === "host_tool_cancel") return this.#hostCalls.receive(type, line);
		if (!isNumbered({ type })) return void this.seat.connection?.reader.send(line);
		// The agent could not reserve a number for it: current readers get it, and later readers get a gap.
		if (isDurable(type, line)) this.feed.ring.miss();
		for (const reader of this.feed.readers) reader.send(line);
		this.#observe(type, line);
	}

	#takeSnapshot(line: string): void {
		const [give] = this.#snapshots;
		give?.(line);
		// Who asked for it may have stayed with another session.
		this.#remembering = undefined;
	}

	#answer(number: number, line: string): void {
		const request = this.#requests.get(number);
		if (!request) return this.#lateAnswer(number, line);
		const { command } = request;
		this.#requests.delete(number);
		// Until its snapshot frames come again.
		if (command === "subscribe" && request.isOwn && line.slice(0, 300).includes('"success":true')) this.#remembering = [];
		if (command === "prompt" || command === "abort_and_prompt") this.#keepAnswered(number, request);
		if (!request.isOwn) this.#crashes = [];
		if (command === "bash") this.#bashes = Math.max(0, this.#bashes - 1);
		const isSuccess = line.slice(0, 300).includes('"success":true');
		// Its first event comes later; until then the session must not sleep.
		if (isSuccess && runners.has(command) && line.includes('"disposition":"started"') && !line.includes('"duplicate":true')) this.#isRunning = true;
		if (isSuccess && command === "set_host_tools") this.#hostCalls.isRegistered = true;
		const answer = () => request.answer(withOwnId(line, request.id));
		if (isSuccess && movers.has(command)) {
			this.#moving = [];
			// The client that asked learns first where the session continues.
			void this.#findOutWhere(request.key).then(answer);
			return this.#updateBusy();
		}
		answer();
		if (isSuccess && commandAccess[command as keyof typeof commandAccess] === "seat") void this.#refresh();
		this.#updateBusy();
	}

	/** A prompt that is refused after its acknowledgement is answered a second time. */
	#lateAnswer(number: number, line: string): void {
		const request = this.#answered.get(number);
		this.#answered.delete(number);
		request?.answer(withOwnId(line, request.id));
	}

	#keepAnswered(number: number, request: Request): void {
		this.#answered.set(number, request);
		for (const old of this.#answered.keys()) if (this.#answered.size > keptResults) this.#answered.delete(old);
	}

	/** Asks the agent for its state, and keeps what changed. */
	async #refresh(): Promise<void> {
		const agent = this.#agent;
		if (!agent) return;
		try {
			const [state, stats] = (await Promise.all([this.ask({ type: "get_state" }), this.ask({ type: "get_session_stats" })])) as [
				{ data?: AgentState },
				{ data?: { tokens?: { total?: number }; cost?: number } },
			];
			if (agent !== this.#agent || !state.data || state.data.sessionId !== this.id) return;
			this.#take(state.data);
			if (stats.data) this.record.usage = { totalTokens: stats.data.tokens?.total ?? 0, costUsd: stats.data.cost ?? 0 };
			this.#host.save(this.record);
		} catch {
			// The agent ended; that is reported elsewhere.
		}
	}

	#take(state: AgentState): void {
		const { record } = this;
		if (state.sessionFile !== undefined) record.file = state.sessionFile;
		if (state.sessionName === undefined) delete record.name;
		else record.name = state.sessionName;
		record.model = state.model ? { provider: state.model.provider, id: state.model.id } : null;
		record.updatedAt = this.#host.now();
		this.#queued = state.pendingMessageCount ?? this.#queued;
	}

	// ─── Sessions that move ───

	async #findOutWhere(key: string | undefined): Promise<void> {
		try {
			const { data } = (await this.ask({ type: "get_state" })) as { data?: AgentState };
			const lines = this.#moving ?? [];
			this.#moving = undefined;
			const target = data && data.sessionId !== this.id ? this.#moveTo(data, key) : this;
			for (const line of lines) target.#receive(line);
		} catch {
			this.#moving = undefined; // The agent ended.
		}
	}

	#moveTo(state: AgentState, key: string | undefined): Session {
		const to = this.#host.moved(this, state.sessionId, state);
		if (key !== undefined) this.record.departures = [...(this.record.departures ?? []), { key, to: to.id }].slice(-keptDepartures);
		const agent = this.#agent as Agent;
		to.#adopt(this, agent, state);
		const frame = { type: "session_moved", from: this.id, to: to.id };
		this.feed.announce(frame);
		this.#host.announce(frame);
		const { connection: driver, holder } = this.seat;
		if (driver) this.#lead(driver, to);
		// Its connection is lost for a moment: it finds its seat where the agent went.
		else if (holder) to.seat.keepFor(holder);
		this.seat.free();
		this.#agent = undefined;
		this.#starting = undefined;
		this.#isRunning = false;
		this.run = null;
		// The agent says no more what goes on here, which is nothing.
		for (const give of this.#snapshots) give(undefined);
		this.#setState("asleep");
		this.#host.save(this.record);
		return to;
	}

	#lead(connection: Connection, to: Session, takesSeat = true): void {
		this.connections.delete(connection);
		connection.reader.moveTo(to.feed);
		to.connections.add(connection);
		connection.follow?.(to);
		if (takesSeat) to.seat.take(connection, this.#host.now());
	}

	/** Where the agent went with this very command, which is sent again because its answer was lost. */
	#destination({ name, params }: CommandFrame): Session | undefined {
		const departure = movers.has(name) ? this.record.departures?.find(({ key }) => key === params.key) : undefined;
		return departure && this.#host.find(departure.to);
	}

	/** The connection goes on there, as it would have at the first time; the agent there knows the key. What follows the command waits. */
	async #leadAgain(connection: Connection, to: Session, line: string): Promise<void> {
		const held = [line];
		connection.held = held;
		await connection.reader.whenLive();
		connection.held = undefined;
		if (!this.connections.has(connection)) return;
		connection.reader.send(JSON.stringify({ type: "session_moved", from: this.id, to: to.id }));
		this.leaveSeat(connection);
		this.#lead(connection, to, to.seat.isFreeFor(connection.client));
		for (const each of held) void to.receive(connection, each);
	}

	#adopt(from: Session, agent: Agent, state: AgentState): void {
		this.#agent = agent;
		agent.listener = this.#listener();
		this.#starting = Promise.resolve();
		this.#requests = from.#requests;
		this.#nextRequest = from.#nextRequest;
		from.#requests = new Map();
		this.#take(state);
		this.#readPosition(false);
		this.#setState("idle");
		this.#host.save(this.record);
	}

	// ─── To the agent ───

	/** A command of the server's own. Rejects when the agent ends. */
	ask(frame: Record<string, unknown> & { type: string }): Promise<Record<string, unknown>> {
		return new Promise((resolve, reject) => {
			const answer = (line: string) => {
				const response = JSON.parse(line) as Record<string, unknown>;
				if (response.code === "agent_crashed" || response.code === "stopped") reject(new Refusal("agent_crashed", String(response.error)));
				else resolve(response);
			};
			this.#send(frame, { id: undefined, isOwn: true, answer }, true);
		});
	}

	#send(frame: Record<string, unknown> & { type: string }, request: Omit<Request, "command">, mayPass: boolean): void {
		const number = this.#nextRequest++;
		this.#requests.set(number, { command: frame.type, ...request });
		if (frame.type === "bash") {
			this.#bashes++;
			this.#updateBusy();
		}
		this.#outbox.send(JSON.stringify({ ...frame, id: `s${number}` }), mayPass);
	}

	/** The agent does not read, and commands wait. */
	get isBehind(): boolean {
		return this.#outbox.isFull;
	}

	/** One line of a connection. Frames that fail here never reach an agent. */
	async receive(connection: Connection, line: string): Promise<void> {
		if (connection.held) return void connection.held.push(line);
		const inbound = parseInbound(line);
		const { reader } = connection;
		if (inbound.kind === "failure") {
			const { id, command, error, code } = inbound;
			return reader.send(this.#failure(id, command, error, code));
		}
		if (inbound.kind === "control") return this.#control(connection, inbound.frame, line);
		const { name, id } = inbound;
		const to = this.#destination(inbound);
		if (to) return this.#leadAgain(connection, to, line);
		const refuse = (error: Refusal) => reader.send(this.#failure(id, name, error.message, error.code));
		try {
			if (this.#answerHere(connection, inbound)) return;
			this.#checkAccess(connection.bearer, name, connection);
			await this.#whenAwake(connection.bearer, name);
			const params = name === "hello" ? this.#mergedHello(connection, inbound) : inbound.params;
			const answer = (response: string) => reader.send(response);
			this.#send(params as { type: string }, { id, ...keyOf(inbound), isOwn: false, answer }, commandAccess[name] === "interject");
		} catch (error) {
			if (!isRefusal(error)) throw error;
			refuse(error);
		}
	}

	/** A command over HTTP. It uses the seat when that is free. */
	async command(caller: Caller, line: string): Promise<string> {
		const inbound = parseInbound(line);
		if (inbound.kind === "failure") return this.#failure(inbound.id, inbound.command, inbound.error, inbound.code);
		if (inbound.kind === "control") {
			const { type } = inbound.frame;
			if (type !== "extension_ui_response" && type !== "permission_response")
				throw new Refusal("bad_field", `${type} is for the connection that holds the seat.`);
			if (!mayUse(caller.bearer.scope, "drive")) throw readOnly(type);
			this.#settleDialog(inbound.frame, line, caller.name, undefined);
			return JSON.stringify({ type: "response", command: type, success: true });
		}
		const { name, id, params } = inbound;
		if (name === "subscribe" || name === "set_event_filter" || name === "hello")
			throw new Refusal("bad_field", `${name} belongs to a connection: send it over a socket. For frames over HTTP see …/events.`);
		const to = this.#destination(inbound);
		if (to) return to.command(caller, line);
		this.#checkAccess(caller.bearer, name, undefined);
		await this.#whenAwake(caller.bearer, name);
		const asked = { id, ...keyOf(inbound), isOwn: false };
		return new Promise((answer) => this.#send(params as { type: string }, { ...asked, answer }, commandAccess[name] === "interject"));
	}

	/** Resolves with the line of this run's `run_result`. */
	whenRunEnds(runId: string): { line: Promise<string>; forget: () => void } {
		const known = this.#results.get(runId);
		if (known !== undefined) return { line: Promise.resolve(known), forget: () => undefined };
		const waiters = this.#resultWaiters.get(runId) ?? [];
		this.#resultWaiters.set(runId, waiters);
		let waiter: (line: string) => void = () => undefined;
		const line = new Promise<string>((resolve) => {
			waiter = resolve;
			waiters.push(resolve);
		});
		const forget = () => {
			const rest = (this.#resultWaiters.get(runId) ?? []).filter((each) => each !== waiter);
			if (rest.length) this.#resultWaiters.set(runId, rest);
			else this.#resultWaiters.delete(runId);
		};
		return { line, forget };
	}

	/** Commands that concern the connection, not the session. */
	#answerHere(connection: Connection, { name, id, params }: CommandFrame): boolean {
		const { reader } = connection;
		if (name === "set_event_filter") {
			const names = params.events as string[] | null;
			reader.options = { ...reader.options, filter: filterOf(names ?? undefined) };
			reader.send(this.#success(id, name, { events: names }));
			return true;
		}
		if (name !== "subscribe") return false;
		const { afterSeq, filter, deltas } = params as { afterSeq?: number; filter?: string[]; deltas?: boolean };
		this.watch();
		const asOf = this.feed.ring.lastSeq;
		if (afterSeq !== undefined && afterSeq > asOf) {
			reader.send(this.#failure(id, name, cursorAheadText(afterSeq, asOf), "cursor_ahead"));
			return true;
		}
		reader.options = { ...reader.options, filter: filterOf(filter), deltas };
		const firstSeq = this.record.file === undefined ? 0 : logPosition(this.record.file).firstSeq;
		reader.send(this.#success(id, name, { replayTo: asOf, firstSeq, epoch: this.epoch }));
		void this.catchUp(reader, afterSeq ?? asOf);
		return true;
	}

	/** Replays to a reader; a failure closes its connection. */
	async catchUp(reader: Reader, after: number): Promise<void> {
		try {
			await reader.catchUp(after, "ephemeral");
		} catch (error) {
			this.#host.log({ event: "replay_failed", error: (error as Error).message });
			reader.sink.close(1011, "the frames could not be replayed");
		}
	}

	async #whenAwake(bearer: Bearer, command: string): Promise<void> {
		if (this.#agent && this.state !== "starting" && this.state !== "stopping") return;
		if (!mayUse(bearer.scope, "drive"))
			throw new Refusal("read_only", `${command} needs a process, and the session is ${this.state}. A token of scope drive may wake it.`);
		await this.wake();
	}

	#checkAccess(bearer: Bearer, name: keyof typeof commandAccess, connection: Connection | undefined): void {
		const access = commandAccess[name];
		// What a connection can do is not a change of the session.
		if (access === "read" || name === "hello") return;
		if (!mayUse(bearer.scope, "drive")) throw readOnly(name);
		if (this.#host.isDraining && (name === "prompt" || name === "abort_and_prompt")) throw drainingRefusal();
		if (access === "interject") return;
		const { holder } = this.seat;
		if (connection ? this.seat.isHeldBy(connection) : !holder) return;
		if (connection && !holder) throw new Refusal("seat_taken", `${name} needs the seat. Connect with mode=write.`);
		throw seatTaken(name, holder as SeatHolder);
	}

	// ─── Answers to questions ───

	#control(connection: Connection, frame: ControlFrame, line: string): void {
		const { reader, bearer, name } = connection;
		if (!mayUse(bearer.scope, "drive")) return reader.send(this.#failure(undefined, frame.type, readOnly(frame.type).message, "read_only"));
		if (frame.type === "extension_ui_response" || frame.type === "permission_response") return this.#settleDialog(frame, line, name, connection);
		if (this.seat.isHeldBy(connection)) return this.#hostCalls.answer(frame as { type: string; id: string }, line);
		reader.send(this.#failure(undefined, frame.type, `${frame.type} needs the seat.`, "seat_taken"));
	}

	/** The first answer counts; others learn that the question is over. */
	#settleDialog(frame: ControlFrame & { id: string }, line: string, by: string, connection: Connection | undefined): void {
		if (!this.#dialogs.settle(frame.id)) return;
		this.#agent?.send(line);
		if (frame.type !== "extension_ui_response") return;
		const cancel = JSON.stringify({ type: "extension_ui_request", id: frame.id, method: "cancel", targetId: frame.id, by });
		for (const other of this.connections) if (other !== connection) other.reader.send(cancel);
	}

	#hasDriver(): boolean {
		return [...this.connections].some(({ bearer }) => mayUse(bearer.scope, "drive"));
	}

	// ─── Connections ───

	/** Throws a Refusal when the seat is taken. */
	checkSeat(client: string, takeover: boolean): void {
		const { holder } = this.seat;
		if (holder && !takeover && !this.seat.isFreeFor(client)) throw seatTaken("mode=write", holder);
	}

	attach(connection: Connection, wantsSeat: boolean): void {
		this.connections.add(connection);
		const away = this.#away.get(connection.client);
		// What it missed is sent at once, also the questions that it asked for.
		if (away) connection.capabilities = away.capabilities;
		this.#forgetAway(connection.client);
		connection.reader.hides = (type) =>
			connection.capabilities.permissions === undefined && (type === "permission_request" || type === "permission_resolved");
		this.feed.add(connection.reader);
		if (wantsSeat) this.takeSeat(connection);
	}

	takeSeat(connection: Connection): void {
		this.seat.take(connection, this.#host.now());
		this.#hostCalls.seatBack();
	}

	/** `isBye`: it does not come back. */
	detach(connection: Connection, isBye = false): void {
		this.connections.delete(connection);
		connection.reader.close();
		if (this.seat.isHeldBy(connection)) {
			this.seat.lose(connection);
			this.#hostCalls.seatGone();
		}
		if (connection.capabilities.permissions === undefined) return;
		if (!isBye) this.#keepAway(connection);
		this.#sayHello();
	}

	/** Without a word, a question that waits for an answer would be over before its client is back. */
	#keepAway({ client, bearer, capabilities }: Connection): void {
		this.#forgetAway(client);
		const timer = setTimeout(() => {
			this.#away.delete(client);
			this.#sayHello();
		}, graceMs);
		timer.unref();
		this.#away.set(client, { bearer, capabilities, timer });
	}

	#forgetAway(client: string): void {
		clearTimeout(this.#away.get(client)?.timer);
		this.#away.delete(client);
	}

	/** The holder gives it back. */
	leaveSeat(connection: Connection): void {
		if (this.seat.isHeldBy(connection)) this.seat.free();
	}

	#seatChanged(holder: SeatHolder | undefined): void {
		const seat = holder ? { client: publicClient(holder.client), name: holder.name, since: holder.since } : null;
		for (const connection of this.connections) {
			const held = this.seat.isHeldBy(connection);
			connection.reader.send(JSON.stringify({ type: "seat", sessionId: this.id, held, ...(holder && !held && { by: holder.name }), seat }));
		}
		this.#host.announce({ type: "seat", sessionId: this.id, seat });
		if (!holder) this.#hostCalls.seatEmpty();
	}

	// ─── Hello ───

	/** The agent hears what any connection that may drive can do. */
	#mergedHello(connection: Connection, { params }: CommandFrame): Record<string, unknown> {
		connection.capabilities = (params.capabilities as Record<string, number> | undefined) ?? {};
		const hello = { ...params, capabilities: this.#capabilities() };
		this.#agentHello = JSON.stringify(hello.capabilities);
		return hello;
	}

	#capabilities(): Record<string, number> {
		const all: Record<string, number> = {};
		for (const { bearer, capabilities } of [...this.connections, ...this.#away.values()])
			if (mayUse(bearer.scope, "drive")) for (const [name, version] of Object.entries(capabilities)) all[name] = Math.max(all[name] ?? 0, version);
		return all;
	}

	#sayHello(): void {
		const capabilities = this.#capabilities();
		const text = JSON.stringify(capabilities);
		if (!this.#agent || this.state === "stopping" || text === (this.#agentHello ?? "{}")) return;
		this.#agentHello = text;
		this.ask({ type: "hello", capabilities }).catch(() => undefined); // The agent ended.
	}

	// ─── Replay ───

	async #replay(after: number, reason: "ephemeral" | "slow_reader"): Promise<Replay> {
		const { ring } = this.feed;
		// Without a file the only log is in the agent's memory.
		const remembers = this.record.file === undefined && !ring.hasDurableAfter(after);
		const snapshot = remembers ? await this.#host.remembering(() => this.#snapshot(after)) : await this.#sharedSnapshot();
		const position = snapshot?.position ?? ring.end;
		const upTo = snapshot?.seq ?? ring.lastSeq;
		const exact = new Map(this.#toolEnds);
		const { json, remembered } = snapshot ?? {};
		const frames = this.#past.frames({ after, upTo, reason, epoch: this.epoch, ring, exact, snapshot: json, ...(remembered && { remembered }) });
		return { frames, position, upTo };
	}

	/** Many readers come back at once: those who wait for a snapshot get the same one. */
	#sharedSnapshot(): Promise<AgentSnapshot | undefined> {
		const coming = this.#comingSnapshot ?? this.#snapshot();
		if (this.#snapshots.length > 0) this.#comingSnapshot = coming;
		return coming;
	}
	#comingSnapshot: Promise<AgentSnapshot | undefined> | undefined;

	/** What is going on, asked of the agent, with its kept frames after a number. Nothing while there is no agent. */
	#snapshot(afterSeq?: number): Promise<AgentSnapshot | undefined> {
		if (!this.#agent || this.state === "starting" || this.state === "stopping") return Promise.resolve(undefined);
		return new Promise((resolve) => {
			const settle = (snapshot: AgentSnapshot | undefined) => {
				this.#snapshots = this.#snapshots.filter((each) => each !== waiter);
				// The next one who comes needs a newer one.
				this.#comingSnapshot = undefined;
				resolve(snapshot);
			};
			// The snapshot is the first line after the response, so that the order is that of the questions.
			// Its place in the ring is that of this moment: the lines after it may be read before this promise is seen.
			const waiter = (json: string | undefined) => {
				if (json === undefined) return settle(undefined);
				const remembered = this.#remembering;
				this.#remembering = undefined;
				const seq = Number(/"seq":(\d+)/.exec(json)?.[1] ?? this.feed.ring.lastSeq);
				settle({ seq, json, position: this.feed.ring.end, ...(afterSeq !== undefined && remembered && { remembered }) });
			};
			this.#snapshots.push(waiter);
			this.ask({ type: "subscribe", ...(afterSeq !== undefined && { afterSeq }) }).then(
				({ success }) => (success === true ? undefined : settle(undefined)),
				() => settle(undefined),
			);
		});
	}

	#success(id: RequestId | undefined, command: string, data?: object): string {
		return JSON.stringify({
			asOf: this.feed.ring.lastSeq,
			...(id !== undefined && { id }),
			type: "response",
			command,
			success: true,
			...(data && { data }),
		});
	}

	#failure(id: RequestId | undefined, command: string, error: string, code: ErrorCode): string {
		return JSON.stringify({
			asOf: this.feed.ring.lastSeq,
			...(id !== undefined && { id }),
			type: "response",
			command,
			success: false,
			error,
			code,
		});
	}

	/** Ends timers. */
	close(): void {
		for (const client of [...this.#away.keys()]) this.#forgetAway(client);
		this.seat.close();
		this.#dialogs.clear();
		this.#hostCalls.clear();
	}
}

export const cursorAheadText = (after: number, asOf: number) =>
	`This session has no frame ${after}: its last one is ${asOf}. Start again without a cursor.`;

export const drainingRefusal = () =>
	new Refusal("draining", "The server is about to end and takes no new work. Try again when it is back.", { headers: { "Retry-After": "5" } });

const keyOf = ({ params: { key } }: CommandFrame) => (typeof key === "string" ? { key } : {});

const readOnly = (command: string) => new Refusal("read_only", `${command} needs a token of scope drive; this one may only read.`);

function seatTaken(what: string, { name, since, client }: SeatHolder): Refusal {
	return new Refusal("seat_taken", `${what} needs the seat, which ${name} holds`, { details: { name, since, client: publicClient(client) } });
}

/** Whoever knows a client's id can take its seat back: others see its beginning only. */
const publicClient = (client: string) => client.slice(0, 8);
