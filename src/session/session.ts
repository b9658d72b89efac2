/** One conversation: its phase, its inbox and the driver that starts runs. */
import type { Flow, ModelAccess, Policy, Setup, Tool, ValidateArguments } from "../agent/contracts.ts";
import { CommandError, isCommandError } from "../lib/command-error.ts";
import { deferred } from "../lib/deferred.ts";
import type { InterruptMode, QueueMode } from "../protocol/commands/queue.ts";
import type { SessionState } from "../protocol/commands/state.ts";
import type { Image } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, UserMessage } from "../protocol/messages.ts";
import type { Entry, EntryBody } from "../transcript/entries.ts";
import { contextLength, contextMessages, openCalls } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Transcripts } from "../transcript/transcripts.ts";
import type { Bus, Observer } from "./bus.ts";
import { Inbox, type QueueName, type QueueTexts } from "./inbox.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { AcceptedPrompt, BusyPeriod, Phase } from "./phase.ts";
import { storing } from "./storing.ts";

/** What a session is made of; the app puts it together. */
export interface SessionParts {
	models: ModelAccess;
	choice: ModelChoice;
	/** Said when a prompt arrives and there is no model. */
	noModelText: () => string;
	/** The active tools, in their stable order. Loaded before the first run. */
	tools: () => Promise<readonly Tool[]>;
	validate: ValidateArguments;
	systemPrompt: (tools: readonly Tool[]) => string;
	policies: readonly Policy[];
	/** Takes credentials out of a text. */
	redact: (text: string) => string;
	transcripts: Transcripts;
	/** The session to go on with; without it a new one begins. */
	transcript?: Transcript;
	bus: Bus;
	flow: Flow;
	now: () => number;
	start: {
		steeringMode: QueueMode;
		followUpMode: QueueMode;
		interruptMode: InterruptMode;
		autoCompaction: boolean;
	};
}

export interface PromptInput {
	text: string;
	images: Image[];
	streamingBehavior?: "steer" | "followUp";
}

export interface Acceptance {
	disposition: "started" | "queued" | undefined;
	/** Goes on with the prompt once it has been acknowledged. Tells why it cannot run after all. */
	begin: () => Promise<string | undefined>;
}

const busyText = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
export const abortedText = "Request was aborted";

export class Session {
	interruptMode: InterruptMode;
	autoCompaction: boolean;
	readonly inbox: Inbox;
	readonly choice: ModelChoice;
	#parts: SessionParts;
	#transcript: Transcript;
	/** The live context. Absent until somebody wants more of an opened session than its length. */
	#live: AgentMessage[] | undefined;
	#tools: readonly Tool[] = [];
	#phase: Phase = { name: "idle" };
	/** Records of the host's commands that ended during a run: between a call and its result they would break the history. */
	#deferred: AgentMessage[] = [];

	constructor(parts: SessionParts) {
		this.#parts = parts;
		this.choice = parts.choice;
		this.choice.record = (entry) => void this.#transcript.append(entry);
		this.interruptMode = parts.start.interruptMode;
		this.autoCompaction = parts.start.autoCompaction;
		this.#transcript = parts.transcript ?? this.#newTranscript(undefined);
		this.#answerOpenCalls();
		this.inbox = new Inbox(parts.start.steeringMode, parts.start.followUpMode, () => this.announceQueues());
		for (const policy of parts.policies) if (policy.observe) parts.bus.observe((event) => policy.observe?.(event));
	}

	observe(observer: Observer): void {
		this.#parts.bus.observe(observer);
	}

	emit(event: AgentEvent): void {
		this.#parts.bus.emit(event);
	}

	get messages(): readonly AgentMessage[] {
		return this.#messages;
	}

	get transcript(): Transcript {
		return this.#transcript;
	}

	get transcripts(): Transcripts {
		return this.#parts.transcripts;
	}

	get isBusy(): boolean {
		return this.#phase.name !== "idle";
	}

	get state(): SessionState {
		const { sessionId, file } = this.#transcript;
		return {
			model: this.choice.model ?? null,
			thinkingLevel: this.choice.level,
			isStreaming: this.isBusy,
			isCompacting: false,
			steeringMode: this.inbox.steeringMode,
			followUpMode: this.inbox.followUpMode,
			interruptMode: this.interruptMode,
			sessionFile: file,
			sessionId,
			sessionName: this.#transcript.name,
			autoCompactionEnabled: this.autoCompaction,
			messageCount: this.#live?.length ?? contextLength(this.#transcript.branch),
			pendingMessageCount: this.inbox.count,
			queuedMessageCount: this.inbox.count,
			todoPhases: [],
		};
	}

	/** Accepts a prompt. Nothing is written and no run starts before `begin`. */
	prompt({ text, images, streamingBehavior }: PromptInput): Acceptance {
		const message = this.#userMessage(text, images);
		const phase = this.#phase;
		if (phase.name === "running") {
			const { period } = phase;
			// An abort that was read before is under way: the prompt is due when it has ended.
			if (period.controller.signal.aborted && !period.successor) {
				const answer = deferred<string | undefined>();
				period.successor = { messages: [message], answer: answer.resolve };
				return { disposition: "started", begin: () => answer.promise };
			}
			if (!streamingBehavior) return { disposition: undefined, begin: async () => busyText };
			this.inbox.add(streamingBehavior === "steer" ? "steering" : "followUp", message);
			return {
				disposition: "queued",
				begin: async () => {
					this.announceQueues();
					return undefined;
				},
			};
		}
		const answer = deferred<string | undefined>();
		const accepted = { messages: [message], answer: answer.resolve };
		if (phase.name === "settling") {
			phase.period.prompt = accepted;
			this.#phase = { name: "running", period: phase.period };
			return { disposition: "started", begin: () => this.#takeOver(phase.gap, answer.promise) };
		}
		const start = this.#openPeriod(accepted);
		return {
			disposition: "started",
			begin: () => {
				start();
				return answer.promise;
			},
		};
	}

	/** The session is busy from now on; the returned function sets it to work. */
	#openPeriod(prompt: AcceptedPrompt): () => void {
		const finished = deferred();
		const period: BusyPeriod = { controller: new AbortController(), done: finished.promise, prompt, successor: undefined, hadRun: false };
		this.#phase = { name: "running", period };
		return () => void this.#work(period).then(finished.resolve);
	}

	/** Queues a message; it waits for the next opportunity, also when the session is idle. */
	queue(queue: QueueName, text: string, images: Image[]): void {
		this.inbox.add(queue, this.#userMessage(text, images));
	}

	announceQueues(): void {
		this.#parts.bus.emit({ type: "queue_update", ...this.inbox.texts });
	}

	/** Gives a way to add a message without any event: at once when idle, else behind the run. It leads nowhere when the session has changed meanwhile. */
	recorder(): (message: AgentMessage) => void {
		const transcript = this.#transcript;
		return (message) => {
			if (transcript !== this.#transcript) return;
			if (this.#phase.name !== "idle") return void this.#deferred.push(message);
			this.#flushDeferred();
			this.#add(message);
		};
	}

	/** Adds an entry that is no message. Throws a CommandError when it cannot be stored. */
	append(entry: EntryBody): Entry {
		return this.#transcript.append(entry);
	}

	/** Makes the live context anew from the session's branch: after a compaction, or when the branch is another. */
	reproject(): void {
		this.#live = undefined;
	}

	/** Names the session. */
	rename(name: string): void {
		const trimmed = name.replace(/[\r\n]+/g, " ").trim();
		if (trimmed === "") throw new CommandError("Session name cannot be empty");
		this.append({ type: "session_info", name: trimmed });
	}

	/** Stops what is going on. Resolves when the session is idle; queues stay. */
	async abort(): Promise<void> {
		if (this.#phase.name === "idle") return;
		const { period } = this.#phase;
		period.controller.abort();
		period.successor?.answer(abortedText);
		period.successor = undefined;
		await period.done;
	}

	/** Starts over with an empty conversation. */
	async renew(parentSession: string | undefined): Promise<QueueTexts> {
		await this.abort();
		return this.adopt(this.#newTranscript(parentSession));
	}

	/** Goes on with another conversation. Nothing may be running. Gives the texts that were queued. */
	adopt(transcript: Transcript): QueueTexts {
		// The same file opened again is still ours.
		this.#transcript.close(transcript.file === this.#transcript.file);
		this.#transcript = transcript;
		this.#live = undefined;
		this.#deferred = [];
		this.#answerOpenCalls();
		return this.inbox.clear();
	}

	/** The text of the last reply; aborted ones without content do not count. */
	get lastAssistantText(): string | null {
		const last = this.#messages.findLast(
			(message): message is AssistantMessage => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
		);
		const text = last?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
		return text?.trim() || null;
	}

	/** Ends everything for good. */
	async close(): Promise<void> {
		await this.abort();
		this.#transcript.close();
	}

	/** Read from the transcript when first needed: most of a long session is never looked at. */
	get #messages(): AgentMessage[] {
		this.#live ??= contextMessages(this.#transcript.branch);
		return this.#live;
	}

	/** Ends the wait between two runs, so that an accepted prompt can go on. */
	#takeOver(gap: AbortController, answer: Promise<string | undefined>): Promise<string | undefined> {
		gap.abort();
		return answer;
	}

	/** Everything that happens between the acceptance of a prompt and the next idle moment. */
	async #work(period: BusyPeriod): Promise<void> {
		const { bus, flow, models, validate, policies, redact, now } = this.#parts;
		const { signal } = period.controller;
		const emit = (event: AgentEvent) =>
			bus.emit(event.type === "agent_end" ? { ...event, sessionId: this.state.sessionId, sessionFile: this.#transcript.file } : event);
		const stored = storing({ add: (message) => this.#tryToAdd(message), emit, stream: models.stream, validate });
		try {
			const { drive } = await import("./drive.ts");
			await drive({
				policies,
				period,
				refusal: () => this.#refusal(signal),
				hasQueued: () => this.inbox.count > 0,
				dropLastReply: () => this.#dropLastReply(),
				enter: (gap) => {
					this.#phase = gap ? { name: "settling", period, gap } : { name: "running", period };
				},
				emit: stored.emit,
				loop: {
					context: () => this.#messages,
					setup: () => this.#setup(),
					stream: stored.stream,
					validate: stored.validate,
					queues: this.inbox,
					interruptMode: () => this.interruptMode,
					sessionId: () => this.#transcript.sessionId,
					redact,
					flow,
					signal,
					now,
				},
			});
		} catch (error) {
			console.error("bowline: a run failed unexpectedly:", error);
		}
		period.prompt?.answer(abortedText);
		this.#phase = { name: "idle" };
		this.#tryTo(() => this.#flushDeferred());
		if (period.hadRun) bus.emit({ type: "agent_settled", aborted: signal.aborted });
		// Not before the abort that ended this period has been answered.
		if (period.successor) setImmediate(this.#openPeriod(period.successor));
	}

	/** Why a prompt cannot run now; nothing when it can. */
	async #refusal(signal: AbortSignal): Promise<string | undefined> {
		const { models, noModelText } = this.#parts;
		if (!this.choice.model) return noModelText();
		const prepared = await models.prepare(this.choice.model);
		if ("problem" in prepared) return prepared.problem;
		if (this.choice.refine(prepared.model)) this.emit({ type: "thinking_level_changed", level: this.choice.level });
		this.#tools = await this.#parts.tools();
		if (signal.aborted) return abortedText;
		return this.#tryTo(() => {
			this.#answerOpenCalls();
			this.#flushDeferred();
		});
	}

	async #setup(): Promise<Setup> {
		this.#tools = await this.#parts.tools();
		const { model, level } = this.choice;
		if (!model) throw new Error("No model selected.");
		return { model, thinkingLevel: level, tools: this.#tools, systemPrompt: this.#parts.systemPrompt(this.#tools) };
	}

	#dropLastReply(): void {
		const index = this.#messages.findLastIndex((message) => message.role === "assistant");
		if (index >= 0) this.#messages.length = index;
	}

	#newTranscript(parentSession: string | undefined): Transcript {
		const transcript = this.#parts.transcripts.create(parentSession);
		for (const entry of this.choice.entries()) transcript.prepare(entry);
		return transcript;
	}

	#userMessage(text: string, images: Image[]): UserMessage {
		return { role: "user", content: [{ type: "text", text }, ...images], attachments: [], timestamp: this.#parts.now() };
	}

	#flushDeferred(): void {
		for (let message = this.#deferred[0]; message; message = this.#deferred[0]) {
			this.#add(message);
			this.#deferred.shift();
		}
	}

	/** A call whose result was never stored gets one that says so: no model takes a conversation without it. */
	#answerOpenCalls(): void {
		const text = "Tool execution was aborted: the agent ended before its result was kept.";
		for (const { id, name } of openCalls(this.#transcript.branch)) {
			const message: AgentMessage = {
				role: "toolResult",
				toolCallId: id,
				toolName: name,
				content: [{ type: "text", text }],
				details: {},
				isError: true,
				timestamp: this.#parts.now(),
			};
			this.#transcript.prepare({ type: "message", message });
			this.#live?.push(message);
		}
	}

	/** On disk first: what cannot be stored is not in the context either. */
	#add(message: AgentMessage): void {
		this.#transcript.append({ type: "message", message });
		this.#live?.push(message);
	}

	#tryToAdd(message: AgentMessage): string | undefined {
		return this.#tryTo(() => this.#add(message));
	}

	/** The reason when the session file could not be written. */
	#tryTo(store: () => void): string | undefined {
		try {
			store();
			return undefined;
		} catch (error) {
			if (!isCommandError(error)) throw error;
			return error.message;
		}
	}
}
