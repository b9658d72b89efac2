/** One conversation with a model: accepts prompts, runs them, and does exclusive work in between. */
import type { Doors } from "../agent/doors.ts";
import type { IncomingPrompt } from "../agent/policy.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { SessionState } from "../protocol/commands/state.ts";
import type { Image } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, UserMessage } from "../protocol/messages.ts";
import type { TodoPhase } from "../protocol/todos.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { acceptanceOf, isPlain, type StreamingBehavior } from "./acceptance.ts";
import { AcceptedPrompt, type PromptToAccept } from "./accepted-prompt.ts";
import { Activity, type BusyPeriod } from "./activity.ts";
import type { Briefing } from "./briefing.ts";
import { type Conversation, problemWith } from "./conversation.ts";
import type { Controls, Edges, PromptInput, SessionParts } from "./dependencies.ts";
import type { Inbox, Queued, QueueName, QueueTexts } from "./inbox.ts";
import type { ModelChoice } from "./model-choice.ts";
import { aborted, notQueued, type Refusal } from "./refusal.ts";
import type { Requests } from "./requests.ts";
import { sessionName } from "./restore.ts";
import { replaceTodos, storedTodos } from "./todos.ts";

export class Session {
	readonly conversation: Conversation;
	readonly store: SessionStore;
	readonly briefing: Briefing;
	readonly choice: ModelChoice;
	readonly doors: Doors;
	readonly inbox: Inbox;
	readonly requests: Requests;
	readonly controls: Controls;
	readonly activity = new Activity();
	readonly edges: Edges;
	#parts: SessionParts;

	constructor(parts: SessionParts) {
		this.#parts = parts;
		this.conversation = parts.conversation;
		this.store = parts.store;
		this.briefing = parts.briefing;
		this.choice = parts.briefing.choice;
		this.doors = parts.doors;
		this.inbox = parts.inbox;
		this.requests = parts.requests;
		this.controls = parts.controls;
		this.edges = parts.edges;
		this.#restoreTodos();
		const { bus } = parts.edges;
		bus.observe(parts.doors.observe);
		bus.observe(({ type }) => {
			const { period } = this.activity;
			if (type === "auto_compaction_start" && period) period.isCompacting = true;
			else if (type === "auto_compaction_end" && period) period.isCompacting = false;
		});
	}

	emit(event: AgentEvent): void {
		this.edges.bus.emit(event);
	}

	get messages(): readonly AgentMessage[] {
		return this.conversation.messages;
	}

	get transcript(): Transcript {
		return this.conversation.transcript;
	}

	get isBusy(): boolean {
		return this.activity.isBusy;
	}

	get state(): SessionState {
		const { sessionId, file, name } = this.transcript;
		const { activity, choice, inbox, controls } = this;
		return {
			model: choice.model ?? null,
			thinkingLevel: choice.level,
			isStreaming: activity.isStreaming,
			isCompacting: activity.period?.isCompacting ?? false,
			steeringMode: inbox.steeringMode,
			followUpMode: inbox.followUpMode,
			interruptMode: controls.interruptMode,
			sessionFile: file,
			sessionId,
			sessionName: name,
			autoCompactionEnabled: controls.autoCompaction,
			messageCount: this.conversation.length,
			pendingMessageCount: inbox.count,
			queuedMessageCount: inbox.count,
			// A list stays as it is once it was read.
			todoPhases: this.#parts.todos.read() as TodoPhase[],
		};
	}

	// ── Acceptance ──────────────────────────────────────────────────────────────────────────────────

	/** Accepts a prompt. Nothing is written and no run starts before the prompt is acknowledged. */
	prompt({ text, images, streamingBehavior, source = "rpc", answer }: PromptInput): AcceptedPrompt {
		return this.accept({ messages: [this.userMessage(text, images)], source, answer }, streamingBehavior);
	}

	/** Goes on from the conversation as it is, with a note before it. Nothing when the last message is a finished reply and no message waits. */
	resume(note?: string): AcceptedPrompt | undefined {
		const last = this.messages.findLast(({ role }) => role !== "bashExecution");
		const isDone = !last || (last.role === "assistant" && last.stopReason !== "error" && last.stopReason !== "aborted");
		if (isDone && this.inbox.count === 0 && !this.isBusy) return undefined;
		const message: AgentMessage = { role: "custom", customType: "resume_run", content: note ?? "", display: true, timestamp: this.edges.now() };
		return this.accept({ messages: note === undefined ? [] : [message], resumes: true });
	}

	/** The same for messages that exist already. */
	accept(incoming: PromptToAccept, streamingBehavior?: StreamingBehavior): AcceptedPrompt {
		const acceptance = acceptanceOf(this.activity.phase, streamingBehavior, this.doors.halted);
		switch (acceptance.act) {
			case "start": {
				const prompt = new AcceptedPrompt(incoming, "started", () => this.#start(period));
				const period = this.activity.open("running", prompt);
				return prompt;
			}
			case "take-over": {
				const { period, gap } = acceptance;
				const prompt = new AcceptedPrompt(incoming, "started", () => gap.abort());
				period.prompt = prompt;
				this.activity.enter(period, { name: "running", period });
				return prompt;
			}
			case "succeed": {
				const prompt = new AcceptedPrompt(incoming, "started", () => undefined);
				acceptance.period.successor = prompt;
				return prompt;
			}
			case "queue":
				if (incoming.answer) return AcceptedPrompt.refused(notQueued);
				return this.#queuePrompt(acceptance.queue, incoming, acceptance.period);
			case "refuse":
				return AcceptedPrompt.refused(acceptance.refusal, streamingBehavior && "queued");
		}
	}

	/** Queues a prompt: at once where no policy has to be asked about it, else after the acknowledgement. */
	#queuePrompt(queue: QueueName, incoming: IncomingPrompt, { controller: { signal } }: BusyPeriod): AcceptedPrompt {
		const add = (messages: readonly AgentMessage[]) => {
			for (const message of messages) this.inbox.add(queue, message as Queued);
		};
		const finish = (prompt: AcceptedPrompt) => {
			prompt.decide(prompt.messages.length ? "queued" : "handled");
			this.announceQueues();
		};
		if (isPlain(incoming, this.doors)) {
			add(incoming.messages);
			return new AcceptedPrompt(incoming, "queued", finish);
		}
		const admitThenQueue = async (prompt: AcceptedPrompt) => {
			const { admit } = await import("./run.ts");
			const admission = await admit(prompt, this.#parts, signal);
			if (signal.aborted) return prompt.refuse(aborted);
			if ("refused" in admission) return prompt.refuse({ text: admission.refused, code: admission.code });
			prompt.messages = admission.messages;
			// The run may have ended meanwhile.
			if (prompt.messages.length > 0 && !this.isBusy) return this.#restart(prompt);
			add(prompt.messages);
			finish(prompt);
		};
		return new AcceptedPrompt(incoming, "queued", (prompt) => void admitThenQueue(prompt).catch((error) => prompt.refuse(this.#unexpected(error))));
	}

	/** Runs a prompt that was meant to be queued. It has been admitted already. */
	#restart(prompt: AcceptedPrompt): void {
		const started = this.accept({ messages: prompt.messages });
		void started
			.acknowledge((disposition, messages) => {
				prompt.messages = [...messages];
				prompt.decide(disposition);
			})
			.then((refusal) => (refusal ? prompt.refuse(refusal) : undefined));
	}

	/** Queues a message; it waits for the next opportunity, also when the session is idle. Synchronous unless its text must be expanded. */
	queue(queue: QueueName, text: string, images: Image[]): void | Promise<void> {
		const message = this.userMessage(text, images);
		if (!text.startsWith("/")) return this.inbox.add(queue, message);
		return import("./run.ts").then(async ({ expandMessage }) => this.inbox.add(queue, await expandMessage(message, this.#parts.expand)));
	}

	announceQueues(): void {
		this.emit({ type: "queue_update", ...this.inbox.texts });
	}

	userMessage(text: string, images: readonly Image[]): UserMessage {
		return { role: "user", content: [{ type: "text", text }, ...images], attachments: [], timestamp: this.edges.now() };
	}

	// ── The run ─────────────────────────────────────────────────────────────────────────────────────

	#start(period: BusyPeriod): void {
		void this.#run(period).then(period.finish);
	}

	/** Everything that happens between the acknowledgement of a prompt and the next idle moment. */
	async #run(period: BusyPeriod): Promise<void> {
		const { prompt } = period;
		try {
			const { runPeriod } = await import("./run.ts");
			await runPeriod(period, this.activity, this.#parts);
		} catch (error) {
			// What an abort or the end of the session interrupts may fail in any way.
			if (period.controller.signal.aborted) this.edges.log.debug("a run failed while it was aborted", error);
			else {
				const failure = this.#unexpected(error);
				period.prompt?.refuse(failure);
			}
		}
		period.prompt?.refuse(aborted);
		if (prompt?.refusal?.code === "aborted") period.hasLostPrompt = true;
		this.briefing.override = undefined;
		this.briefing.answer = undefined;
		this.#leave(period, prompt);
	}

	#unexpected(error: unknown): Refusal {
		this.edges.log.error("a run failed unexpectedly", error);
		return { text: `The prompt could not be run: ${error instanceof Error ? error.message : String(error)}`, code: "internal" };
	}

	/** `prompt`: the one that opened the period. */
	#leave(period: BusyPeriod, prompt?: AcceptedPrompt): void {
		this.activity.enter(period, { name: "idle" });
		problemWith(() => this.conversation.addDeferred());
		// A host that received a start waits for an end, even if an abort came first.
		if (period.hasLostPrompt) this.#reportLostRun(prompt);
		if (period.hadRun || period.hasLostPrompt) this.emit({ type: "agent_settled", aborted: period.controller.signal.aborted });
		const { successor } = period;
		if (!successor) return;
		const next = this.activity.open("running", successor);
		// Not before the command that ended this period has been answered.
		setImmediate(() => this.#start(next));
	}

	/** The end of a run that an abort kept from beginning. */
	#reportLostRun(prompt?: AcceptedPrompt): void {
		const { sessionId, file: sessionFile } = this.transcript;
		const end = { type: "agent_end" as const, messages: [], willRetry: false, sessionId, sessionFile };
		this.emit(prompt?.answer ? prompt.answer.concluded(end, undefined) : end);
	}

	/** An accepted prompt was aborted before its turn came. Its host still gets the end of a run, unless another run will end. */
	reportAborted(prompt: AcceptedPrompt): void {
		if (this.isBusy) return;
		this.#reportLostRun(prompt);
		this.emit({ type: "agent_settled", aborted: true });
	}

	/** Stops the current activity. Resolves when the session is idle; queues stay. */
	abort(): Promise<void> {
		return this.activity.stop();
	}

	/** Resolves when nothing runs and nothing automatic will follow. */
	settled(): Promise<void> {
		return this.activity.settled();
	}

	/** Returns a function that adds a message without an event: at once when idle, else after the run. No effect once the session has changed. */
	recorder(): (message: AgentMessage) => void {
		const { transcript } = this;
		return (message) => {
			if (transcript !== this.transcript) return;
			if (this.isBusy) return this.conversation.defer(message);
			this.conversation.addDeferred();
			this.conversation.add(message);
		};
	}

	/** Adds a message with its events. Nothing may be running. */
	say(message: AgentMessage): void {
		this.conversation.add(message);
		this.emit({ type: "message_start", message });
		this.emit({ type: "message_end", message });
	}

	// ── Exclusive work ──────────────────────────────────────────────────────────────────────────────

	/** Runs exclusive work: a run is aborted first, a prompt that arrives meanwhile waits. An abort fires the signal. */
	async runExclusively<T>(work: (signal: AbortSignal) => Promise<T>, isCompacting = false): Promise<T> {
		const { phase, period: before } = this.activity;
		if (phase.name === "exclusive") throw new CommandError("busy", takenText(phase.period));
		const period = this.activity.open("exclusive");
		period.isCompacting = isCompacting;
		try {
			if (before) await this.activity.stop(before);
			return await work(period.controller.signal);
		} finally {
			// Callers that wait for the end continue after the answer, and before the next run.
			setImmediate(period.finish);
			this.#leave(period);
		}
	}

	/** Makes sure that the model can be asked for a summary. Otherwise returns the reason. */
	async ensureReady(signal: AbortSignal): Promise<Refusal | undefined> {
		return (await import("./run.ts")).ensureReady(this.#parts, signal);
	}

	/** Starts over with an empty conversation. */
	async renew(parentSession: string | undefined): Promise<QueueTexts> {
		await this.abort();
		const transcript = this.store.create(parentSession);
		for (const entry of this.choice.entries()) transcript.prepare(entry);
		return this.adopt(transcript);
	}

	/** Continues with another conversation. Nothing may be running. Returns the texts that were queued. */
	adopt(transcript: Transcript): QueueTexts {
		this.conversation.adopt(transcript);
		this.#restoreTodos();
		this.doors.renew();
		return this.inbox.clear();
	}

	/** Continues from another entry of the file. Nothing may be running. False when there is no such entry. */
	moveTo(id: string | null): boolean {
		if (!this.conversation.moveTo(id)) return false;
		this.#restoreTodos();
		return true;
	}

	// ── Small things ────────────────────────────────────────────────────────────────────────────────

	/** Replaces the todo list as the host asks. */
	setTodos(value: unknown): readonly TodoPhase[] {
		return replaceTodos(this.#parts.todos, value, (entry) => this.conversation.append(entry));
	}

	/** Names the session. */
	rename(name: string): void {
		this.conversation.append({ type: "session_info", name: sessionName(name) });
	}

	/** Ends everything for good. */
	async close(): Promise<void> {
		await this.abort();
		this.transcript.close();
	}

	#restoreTodos(): void {
		this.#parts.todos.restore(storedTodos(this.transcript));
	}
}

/** Why nothing else can be done exclusively now. */
function takenText({ isCompacting }: BusyPeriod): string {
	return `${isCompacting ? "A compaction is already running" : "The session is about to go on from another entry"}. Wait for it, or send abort`;
}
