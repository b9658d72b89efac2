/** One conversation: its phase, its inbox and the driver that starts runs. */
import type { Setup, Tool } from "../agent/contracts.ts";
import { CommandError } from "../lib/command-error.ts";
import { deferred } from "../lib/deferred.ts";
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { SessionState } from "../protocol/commands/state.ts";
import type { Image } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, UserMessage } from "../protocol/messages.ts";
import { abortedText, busyText } from "../protocol/texts.ts";
import type { TodoPhase } from "../protocol/todos.ts";
import type { Entry, EntryBody } from "../transcript/entries.ts";
import { type ContextJson, contextJson } from "../transcript/projection.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Transcripts } from "../transcript/transcripts.ts";
import type { Observer } from "./bus.ts";
import { condensing, takenText } from "./compact-when-ready.ts";
import { Conversation, problemWith } from "./conversation.ts";
import type { Acceptance, PromptInput, SessionParts } from "./dependencies.ts";
import { haltText } from "./halt.ts";
import { Inbox, type Queued, type QueueName, type QueueTexts } from "./inbox.ts";
import type { ModelChoice } from "./model-choice.ts";
import { type AcceptedPrompt, accepting, type BusyPeriod, isPlain, newPeriod, type Phase, type Said } from "./phase.ts";
import { sessionName } from "./restore.ts";
import { replaceTodos, storedTodos } from "./todos.ts";
import { storing } from "./write-ahead.ts";

export type { Acceptance, PromptInput, SessionParts } from "./dependencies.ts";

export class Session {
	interruptMode: InterruptMode;
	autoCompaction: boolean;
	/** What the model was told last, or would be told. */
	systemPrompt = "";
	readonly inbox: Inbox;
	readonly choice: ModelChoice;
	#parts: SessionParts;
	#conversation: Conversation;
	#tools: readonly Tool[] = [];
	#phase: Phase = { name: "idle" };
	/** Records of the host's commands that ended during a run: between a call and its result they would break the history. */
	#deferred: AgentMessage[] = [];

	constructor(parts: SessionParts) {
		this.#parts = parts;
		this.choice = parts.choice;
		this.choice.record = (entry) => void this.transcript.append(entry);
		this.interruptMode = parts.start.interruptMode;
		this.autoCompaction = parts.start.autoCompaction;
		this.#conversation = new Conversation(parts.transcript ?? this.#newTranscript(undefined), parts.now);
		if (parts.transcript) parts.todos.restore(storedTodos(parts.transcript));
		this.inbox = new Inbox(parts.start.steeringMode, parts.start.followUpMode, () => this.announceQueues());
		for (const policy of parts.policies) if (policy.observe) parts.bus.observe((event) => policy.observe?.(event));
		parts.bus.observe(({ type }) => {
			const isStart = type === "auto_compaction_start";
			if ((isStart || type === "auto_compaction_end") && this.#phase.name !== "idle") this.#phase.period.isCompacting = isStart;
		});
	}

	observe(observer: Observer): void {
		this.#parts.bus.observe(observer);
	}

	emit(event: AgentEvent): void {
		this.#parts.bus.emit(event);
	}

	get messages(): readonly AgentMessage[] {
		return this.#conversation.messages;
	}

	/** The same as JSON, for a host that asks for all of them. */
	get messagesJson(): ContextJson {
		return contextJson(this.transcript.branch);
	}

	get transcript(): Transcript {
		return this.#conversation.transcript;
	}

	get transcripts(): Transcripts {
		return this.#parts.transcripts;
	}

	get isBusy(): boolean {
		return this.#phase.name !== "idle";
	}

	/** While something is done alone, as by a compaction: when it has been done. */
	get aloneUntil(): Promise<void> | undefined {
		return this.#phase.name === "compacting" ? this.#phase.period.done : undefined;
	}

	get state(): SessionState {
		const { sessionId, file } = this.transcript;
		return {
			model: this.choice.model ?? null,
			thinkingLevel: this.choice.level,
			isStreaming: this.#phase.name === "compacting" ? this.#phase.period.successor !== undefined : this.isBusy,
			isCompacting: this.#phase.name !== "idle" && this.#phase.period.isCompacting,
			steeringMode: this.inbox.steeringMode,
			followUpMode: this.inbox.followUpMode,
			interruptMode: this.interruptMode,
			sessionFile: file,
			sessionId,
			sessionName: this.transcript.name,
			autoCompactionEnabled: this.autoCompaction,
			messageCount: this.#conversation.length,
			pendingMessageCount: this.inbox.count,
			queuedMessageCount: this.inbox.count,
			todoPhases: [...this.#parts.todos.read()],
		};
	}

	/** Why no prompt is taken any more, if so. */
	get refusal(): string | undefined {
		return haltText(this.#parts.policies);
	}

	/** Accepts a prompt. Nothing is written and no run starts before `begin`. */
	prompt({ text, images, streamingBehavior, source = "rpc" }: PromptInput): Acceptance {
		return this.accept({ messages: [this.userMessage(text, images)], source }, streamingBehavior);
	}

	/** The same for messages that are made already. */
	accept(said: Said, streamingBehavior?: "steer" | "followUp"): Acceptance {
		const phase = this.#phase;
		const { prompt, started } = accepting(said);
		if (phase.name === "running" || phase.name === "compacting") {
			const { period } = phase;
			// A compaction, or an abort that was read before, is under way: the prompt is due when it has ended.
			if ((phase.name === "compacting" || period.controller.signal.aborted) && !period.successor) {
				period.successor = prompt;
				return started();
			}
			const { refusal } = this;
			if (refusal || !streamingBehavior) return { disposition: streamingBehavior && "queued", begin: async () => refusal ?? busyText };
			return { disposition: "queued", begin: this.#queueSaid(streamingBehavior === "steer" ? "steering" : "followUp", said, period) };
		}
		if (phase.name === "settling") {
			phase.period.prompt = prompt;
			this.#phase = { name: "running", period: phase.period };
			return started(() => phase.gap.abort());
		}
		return started(this.#openPeriod(prompt));
	}

	/** Queues what was said, at once where nobody is to be asked about it; the returned function does the rest. */
	#queueSaid(queue: QueueName, said: Said, { controller: { signal } }: BusyPeriod): Acceptance["begin"] {
		const add = (messages: readonly AgentMessage[]) => {
			for (const message of messages) this.inbox.add(queue, message as Queued);
		};
		const wasPlain = isPlain(said, this.#parts.hooks);
		if (wasPlain) add(said.messages);
		return async (begun) => {
			let { messages } = said;
			if (!wasPlain) {
				const { admitted } = await import("./drive.ts");
				messages = await admitted(said, this.#parts, signal);
				if (signal.aborted) return abortedText;
				// The run may have ended meanwhile.
				if (messages.length > 0 && !this.isBusy) return this.accept({ messages }).begin(begun);
				add(messages);
			}
			begun?.(messages.length ? "queued" : "handled", messages);
			this.announceQueues();
			return undefined;
		};
	}

	/** The session is busy from now on; the returned function sets it to work. */
	#openPeriod(prompt: AcceptedPrompt): () => void {
		const finished = deferred();
		const period = newPeriod(finished.promise, prompt);
		this.#phase = { name: "running", period };
		return () => void this.#work(period).then(finished.resolve);
	}

	/** Queues a message; it waits for the next opportunity, also when the session is idle. Synchronous unless its text must be expanded. */
	queue(queue: QueueName, text: string, images: Image[]): void | Promise<void> {
		const message = this.userMessage(text, images);
		if (!text.startsWith("/")) return this.inbox.add(queue, message);
		return import("./drive.ts").then(async ({ expanded }) => this.inbox.add(queue, await expanded(message, this.#parts)));
	}

	announceQueues(): void {
		this.#parts.bus.emit({ type: "queue_update", ...this.inbox.texts });
	}

	/** Gives a way to add a message without any event: at once when idle, else behind the run. It leads nowhere when the session has changed meanwhile. */
	recorder(): (message: AgentMessage) => void {
		const transcript = this.transcript;
		return (message) => {
			if (transcript !== this.transcript) return;
			if (this.#phase.name !== "idle") return void this.#deferred.push(message);
			this.#flushDeferred();
			this.#conversation.add(message);
		};
	}

	/** Adds a message with its events. Nothing may be running. */
	say(message: AgentMessage): void {
		this.#conversation.add(message);
		this.emit({ type: "message_start", message });
		this.emit({ type: "message_end", message });
	}

	/** Adds an entry that is no message. Throws a CommandError when it cannot be stored. */
	append(entry: EntryBody): Entry {
		return this.transcript.append(entry);
	}

	/** Makes the live context anew from the session's branch: after a compaction, or when the branch is another. */
	reproject(): void {
		this.#conversation.reproject();
	}

	/** Goes on from another entry of the file. Nothing may be running. False when there is no such entry. */
	moveTo(id: string | null): boolean {
		if (!this.#conversation.moveTo(id)) return false;
		this.#parts.todos.restore(storedTodos(this.transcript));
		return true;
	}

	/** Replaces the todo list as the host wants it. */
	setTodos(value: unknown): readonly TodoPhase[] {
		return replaceTodos(this.#parts.todos, value, (entry) => this.append(entry));
	}

	/** Names the session. */
	rename(name: string): void {
		this.append({ type: "session_info", name: sessionName(name) });
	}

	/** Condenses the conversation with nothing else going on. */
	compact<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
		return this.alone((signal) => condensing(this, signal, work), true);
	}

	/** Does something with nothing else going on: a run is aborted first, a prompt that comes meanwhile waits. An abort fires the signal. */
	async alone<T>(work: (signal: AbortSignal) => Promise<T>, isCompacting = false): Promise<T> {
		const before = this.#phase;
		if (before.name === "compacting") throw new CommandError(takenText(before.period));
		const finished = deferred();
		const period: BusyPeriod = { ...newPeriod(finished.promise), isCompacting };
		this.#phase = { name: "compacting", period };
		try {
			if (before.name !== "idle") await this.#stop(before.period);
			return await work(period.controller.signal);
		} finally {
			// Who waits for the end hears of it behind the answer, and before the next run.
			setImmediate(finished.resolve);
			this.#leave(period);
		}
	}

	/** Stops what is going on. Resolves when the session is idle; queues stay. */
	async abort(): Promise<void> {
		if (this.#phase.name !== "idle") await this.#stop(this.#phase.period);
	}

	/** Resolves when nothing runs and nothing automatic will follow. */
	async settled(): Promise<void> {
		while (this.#phase.name !== "idle") await this.#phase.period.done;
	}

	async #stop(period: BusyPeriod): Promise<void> {
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
		this.transcript.close(transcript.file === this.transcript.file);
		this.#conversation = new Conversation(transcript, this.#parts.now);
		this.#parts.todos.restore(storedTodos(transcript));
		this.#deferred = [];
		this.inbox.asides.length = 0;
		for (const policy of this.#parts.policies) policy.renew?.();
		return this.inbox.clear();
	}

	get lastAssistantText(): string | null {
		return this.#conversation.lastText;
	}

	/** Ends everything for good. */
	async close(): Promise<void> {
		await this.abort();
		this.transcript.close();
	}

	/** Everything that happens between the acceptance of a prompt and the next idle moment. */
	async #work(period: BusyPeriod): Promise<void> {
		const { bus, flow, models, validate, policies, redact, hooks, now } = this.#parts;
		const { signal } = period.controller;
		const emit = (event: AgentEvent) =>
			bus.emit(event.type === "agent_end" ? { ...event, sessionId: this.transcript.sessionId, sessionFile: this.transcript.file } : event);
		const stored = storing({ conversation: this.#conversation, inbox: this.inbox, emit, stream: models.stream, validate });
		try {
			const { drive, refusalOf } = await import("./drive.ts");
			const doing = { asides: this.inbox.asides, unready: () => this.unready(signal), setup: () => this.setup() };
			await drive({
				policies,
				period,
				refusal: () => refusalOf(period, this.#parts, doing, abortedText),
				hasQueued: () => this.inbox.count > 0,
				dropLastReply: () => this.#conversation.dropLastReply(),
				enter: (gap) => this.#enter(period, gap ? { name: "settling", period, gap } : { name: "running", period }),
				emit: stored.emit,
				loop: {
					context: () => this.messages,
					setup: () => this.setup(),
					stream: stored.stream,
					validate: stored.validate,
					queues: stored.queues,
					interruptMode: () => this.interruptMode,
					sessionId: () => this.transcript.sessionId,
					redact,
					hooks,
					flow,
					signal,
					now,
				},
			});
		} catch (error) {
			console.error("bowline: a run failed unexpectedly:", error);
			period.prompt?.answer(`The prompt could not be run: ${(error as Error).message}`);
		}
		period.prompt?.answer(abortedText);
		this.#leave(period);
	}

	/** Not when a compaction that aborted the run has already taken its place. */
	#enter(period: BusyPeriod, phase: Phase): void {
		if (this.#phase.name !== "idle" && this.#phase.period === period) this.#phase = phase;
	}

	#leave(period: BusyPeriod): void {
		this.#enter(period, { name: "idle" });
		problemWith(() => this.#flushDeferred());
		if (period.hadRun) this.emit({ type: "agent_settled", aborted: period.controller.signal.aborted });
		// Not before the command that ended this period has been answered.
		if (period.successor) setImmediate(this.#openPeriod(period.successor));
	}

	/** Why the model cannot be asked now; nothing when it can. */
	async unready(signal: AbortSignal): Promise<string | undefined> {
		const { models, noModelText } = this.#parts;
		if (!this.choice.model) return noModelText();
		const prepared = await models.prepare(this.choice.model);
		if ("problem" in prepared) return prepared.problem;
		const problem = problemWith(() => {
			if (this.choice.refine(prepared.model)) this.emit({ type: "thinking_level_changed", level: this.choice.level });
		});
		if (problem) return problem;
		this.#tools = await this.#parts.tools();
		if (signal.aborted) return abortedText;
		return problemWith(() => {
			this.#conversation.answerOpenCalls();
			this.#flushDeferred();
		});
	}

	/** Whether the model was last offered this tool. */
	isToolActive(name: string): boolean {
		return this.#tools.some((tool) => tool.name === name);
	}

	/** What the next model call is made with. */
	async setup(): Promise<Setup> {
		this.#tools = await this.#parts.tools();
		const { model, level } = this.choice;
		if (!model) throw new Error("No model selected.");
		const own = this.#phase.name === "idle" ? undefined : this.#phase.period.systemPrompt;
		this.systemPrompt = own ?? (await this.#parts.systemPrompt(this.#tools));
		return { model, thinkingLevel: level, tools: this.#tools, systemPrompt: this.systemPrompt };
	}

	#newTranscript(parentSession: string | undefined): Transcript {
		const transcript = this.#parts.transcripts.create(parentSession);
		for (const entry of this.choice.entries()) transcript.prepare(entry);
		return transcript;
	}

	userMessage(text: string, images: readonly Image[]): UserMessage {
		return { role: "user", content: [{ type: "text", text }, ...images], attachments: [], timestamp: this.#parts.now() };
	}

	#flushDeferred(): void {
		for (let message = this.#deferred[0]; message; message = this.#deferred[0]) {
			this.#conversation.add(message);
			this.#deferred.shift();
		}
	}
}
