/** The sockets of the agent: what the loop needs and who may plug in. Types only. */
import type { BudgetReason, BudgetSnapshot } from "../protocol/budget.ts";
import type { BashResult } from "../protocol/commands/bash.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { Entry } from "../protocol/entries.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, CustomMessage, StopReason, ToolResult, ToolResultMessage, UserMessage } from "../protocol/messages.ts";
import type { Model, ThinkingLevel, Usage } from "../protocol/model.ts";
import type { AssistantMessageEvent } from "../protocol/stream.ts";

/** States a fact. Synchronous, cannot be answered, one order for everybody. */
export type Emit = (event: AgentEvent) => void;

/** Waits, and tells whether the wait was cut short. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<"elapsed" | "aborted">;

/** Whether the reader of our output keeps up. Producers wait here before they make more. */
export interface Flow {
	readonly isOpen: boolean;
	/** Resolves when there is room again, or when the signal fires. */
	whenOpen(signal?: AbortSignal): Promise<void>;
}

// ── Models ─────────────────────────────────────────────────────────────────────────────────────────────

/** The roles that reach a provider. Everything else has been turned into one of these. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

export interface ToolDefinition {
	name: string;
	description: string;
	/** JSON Schema of the arguments, an object. */
	parameters: Record<string, unknown>;
}

export interface ModelRequest {
	model: Model;
	thinkingLevel: ThinkingLevel;
	systemPrompt: string;
	/** Messages keep their identity from call to call, so that an adapter may cache what it made of them. */
	messages: readonly ModelMessage[];
	tools: readonly ToolDefinition[];
	/** The longest reply wanted, in tokens, where the model itself would allow more. */
	maxTokens?: number;
	/** The tool that the reply shall call, where the model can be told so. */
	toolChoice?: string;
	/** Opaque key for provider-side caches. */
	sessionId: string;
}

/** What kind of failure ended a reply, decided where the facts are known. */
export interface ProviderFailure {
	kind: "transient" | "overflow" | "permanent";
	status?: number;
	/** The provider asks for at least this wait. */
	retryAfterMs?: number;
}

type Block = AssistantMessageEvent & { partial: AssistantMessage };

export type StreamEvent =
	| { type: "start"; partial: AssistantMessage }
	| Block
	| { type: "done"; reason: Exclude<StopReason, "error" | "aborted">; message: AssistantMessage }
	| { type: "error"; reason: "error" | "aborted"; error: AssistantMessage; failure: ProviderFailure };

export interface StreamOptions {
	signal: AbortSignal;
	flow: Flow;
	/** Called synchronously for every event, in order. Each `partial` is a value: it never changes afterwards. */
	onEvent: (event: StreamEvent) => void;
}

/**
 * Asks a model. Must not throw and must not reject: a failure is the last event. Sends `start`, then per block `x_start`, `x_delta`*,
 * `x_end`, then exactly one `done` or `error`, and resolves after it. Ends promptly with `error`/`aborted` when the signal fires.
 * Waits on `flow` instead of reading on while the host is behind.
 */
export type StreamFunction = (request: ModelRequest, options: StreamOptions) => Promise<void>;

// ── Tools ──────────────────────────────────────────────────────────────────────────────────────────────

export interface ToolExecution {
	toolCallId: string;
	/** Checked against `parameters`, with types coerced. */
	args: Record<string, unknown>;
	/** Fires on abort and when steering skips the call. A mutation under way is finished, not torn. */
	signal: AbortSignal;
	/** Progress: the whole partial result so far, not what was added. Ignored once the call has ended. */
	onUpdate: (partial: ToolResult) => void;
}

/** Something the model can call. Returns content or throws; the text of what is thrown is what the model reads. */
export interface Tool extends ToolDefinition {
	label: string;
	/** `exclusive` calls wait for all earlier ones; `shared` calls only for the last earlier exclusive one. */
	concurrency: "shared" | "exclusive";
	/** One line for the system prompt. */
	hint?: string;
	/** Not offered to the model unless somebody asks for it. */
	isHidden?: boolean;
	/** Turns older argument shapes into the advertised one, before validation. */
	adapt?: (args: Record<string, unknown>) => Record<string, unknown>;
	/** What arguments are held to, where the tool checks the rest of `parameters` itself. */
	accepted?: Record<string, unknown>;
	/** A call that succeeds is the last act of its run: the model is not asked again. */
	endsRun?: true;
	/** How long a call may take to end after it was told to, where the usual two seconds would cost what it has to tell. */
	abortPatienceMs?: number;
	execute: (call: ToolExecution) => Promise<ToolResult>;
}

/** Checks arguments. Gives the coerced arguments, or a list of problems. */
export type ValidateArguments = (
	tool: ToolDefinition,
	args: Record<string, unknown>,
) => Promise<{ args: Record<string, unknown> } | { problems: { path: string; message: string }[] }>;

// ── The loop ───────────────────────────────────────────────────────────────────────────────────────────

/** What a model call is made with; read anew before each one. */
export interface Setup {
	model: Model;
	thinkingLevel: ThinkingLevel;
	systemPrompt: string;
	tools: readonly Tool[];
	/** The tool that the reply shall call. */
	toolChoice?: string;
}

/** The queues, as the loop sees them. Taking respects the queue modes. */
export interface Queues {
	/** How many messages wait. */
	readonly count: number;
	hasSteering(): boolean;
	takeSteering(): AgentMessage[];
	takeFollowUps(): AgentMessage[];
}

/** Where a run takes its first messages from. */
export type Next = { from: "prompt"; messages: AgentMessage[]; toolChoice?: string } | { from: "context" } | { from: "queues" };

export interface LoopInput {
	next: Next;
	/** The live context, as it is at the moment of the call. */
	context: () => readonly AgentMessage[];
	setup: () => Promise<Setup>;
	stream: StreamFunction;
	validate: ValidateArguments;
	queues: Queues;
	interruptMode: () => InterruptMode;
	/** Asked between two turns: make room for the next model call. */
	prepare: () => Promise<void>;
	/** Looks at each event of a reply; a text cuts it. Absent when nobody wants to. */
	watch: ((event: StreamEvent) => string | undefined) | undefined;
	/** Asked before `agent_end`: will another run follow by itself? */
	foresee: (outcome: Outcome) => boolean;
	/** The run may still come to its own end, but messages that wait do not prolong it. */
	isHalted: () => boolean;
	sessionId: () => string;
	/** Takes credentials out of what tools give. */
	redact: (text: string) => string;
	hooks?: Hooks;
	flow: Flow;
	signal: AbortSignal;
	now: () => number;
}

/** How a run ended. */
export interface Outcome {
	/** Every message the run added, in context order. */
	messages: AgentMessage[];
	last: AssistantMessage | undefined;
	failure: ProviderFailure | undefined;
}

// ── Policies ───────────────────────────────────────────────────────────────────────────────────────────

/** Changes the course of the session by answering at a few doors. Holds no session and starts no run. */
export interface Policy {
	name: string;
	/** Hears every event. */
	observe?(event: AgentEvent): void;
	/**
	 * Once it has fired nothing more is started: prompts are refused with the message of its reason (an Error), nothing follows a run by
	 * itself, queued messages wait. Read anew each time.
	 */
	readonly halt?: AbortSignal;
	/** Another session begins. */
	renew?(): void;
	/**
	 * Asked before a prompt starts its run, with the messages it will add, and between the turns of a run: make room for the next
	 * model call. May change the context. The signal ends it; it must not throw.
	 */
	prepare?(pending: readonly AgentMessage[], signal: AbortSignal): Promise<void>;
	/** Asked when a prompt is about to start its run: what is to be said beside it. */
	beside?(): Beside | undefined;
	/** Asked at each event of a reply, synchronously and often. A text cuts the reply, which then ends `aborted` with that text; `settle` says how to go on. */
	watch?(event: StreamEvent): string | undefined;
	/** Asked synchronously before `agent_end`: true when `settle` will ask for another run. */
	foresee?(outcome: Outcome): boolean;
	/**
	 * Asked after a run: shall there be another one, from the context as it is? `gap` ends a mere wait: it fires for an abort, and for a
	 * prompt that takes over. `signal` fires for an abort only: work that a prompt has to wait for ends with it.
	 */
	settle?(outcome: Outcome, gap: AbortSignal, signal?: AbortSignal): Promise<Again | undefined>;
}

export interface Beside {
	messages: CustomMessage[];
	/** The tool that the first reply shall call. */
	tool?: string;
}

export interface Again {
	/** The reply that failed, and the results of its calls, leave the context at once (not the session file). */
	dropFailedReply: boolean;
	/** Resolves when it is time; false when it was called off. */
	due: Promise<boolean>;
	/** What the run begins with, beside the context. */
	messages?: AgentMessage[];
	/** The tool that the model must then call first, where it can be told so. */
	tool?: string;
}

/** A summary is asked for again after a passing failure. Every streak that begins also finishes. */
export type SummaryRetry =
	| { stage: "scheduled"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
	| { stage: "started"; attempt: number }
	| { stage: "finished"; attempt: number; success: boolean; finalError?: string };

// ── Budgets ────────────────────────────────────────────────────────────────────────────────────────────

/** Ceilings of a session; absent where there is none. */
export type BudgetLimits = Partial<Record<BudgetReason, number>>;

/** The session's ceilings, for those who are about to spend on its behalf. */
export interface Budget {
	readonly snapshot: BudgetSnapshot;
	/** The ceiling that is reached: nothing new may be started. */
	readonly exceeded: BudgetReason | undefined;
	/** Asked before a subagent is sent: the ceiling that forbids it. One that allows none at all is reached by the question. */
	gate(): BudgetReason | undefined;
	/** What is left in each dimension that has a ceiling. */
	remaining(): BudgetLimits;
	/** Counts what was spent elsewhere, as it happens: a child's reply, its tool call, its own subagent. */
	spend(spent: { usage?: Usage; toolCalls?: number; subagents?: number }): void;
}

// ── Hooks ──────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Doors for code of the user's own, that is extensions. A door that nobody listens at is absent, so asking costs nothing then. They do
 * not throw, and their signal ends the wait.
 */
export interface Hooks {
	/** A prompt arrived: `handled` ends it without a run. */
	readonly input?: (given: PromptText & { source: PromptSource }, signal: AbortSignal) => Promise<"handled" | PromptText>;
	/** A run is about to start: what to say beside the prompt, and another system prompt for this run. */
	readonly beforeRun?: (
		given: PromptText & { systemPrompt: string },
		signal: AbortSignal,
	) => Promise<{ messages: CustomMessage[]; systemPrompt: string | undefined }>;
	/** What the model gets this time. */
	readonly context?: (messages: readonly AgentMessage[], signal: AbortSignal) => Promise<readonly AgentMessage[]>;
	/** The body of a request to a provider. */
	readonly request?: (payload: unknown, signal: AbortSignal) => Promise<unknown>;
	/** Its headers. */
	readonly headers?: (headers: Record<string, string>, signal: AbortSignal) => Promise<Record<string, string>>;
	/** Nothing would follow the run by itself: who wants something queues it now. */
	readonly beforeSettle?: (signal: AbortSignal) => Promise<void>;
	/** May this call run, and with which arguments? */
	readonly beforeTool?: (call: HookedCall, signal: AbortSignal) => Promise<{ reason: string } | { input: Record<string, unknown> }>;
	/** A tool has run. */
	readonly afterTool?: (call: HookedCall, given: HookedResult, signal: AbortSignal) => Promise<HookedResult>;
	/** Shall the session be left? */
	readonly beforeSwitch?: (given: { reason: "new" | "resume"; targetSessionFile?: string }) => Promise<{ cancel: boolean }>;
	readonly beforeFork?: (given: { entryId: string }) => Promise<{ cancel: boolean; skipConversationRestore: boolean }>;
	readonly beforeCompact?: (given: CompactionPlan, signal: AbortSignal) => Promise<{ cancel: true } | { compaction: CompactionResult } | undefined>;
	/** The host runs a command: its result, when somebody else supplies it. Rejects when running it elsewhere fails. */
	readonly userBash?: (command: string, signal: AbortSignal) => Promise<BashResult | undefined>;
	/** Further places of skills and templates. */
	readonly resources?: () => Promise<{ skillPaths: string[]; promptPaths: string[] }>;
	/** What `/name args` runs, when somebody has registered it. */
	readonly command?: (text: string) => { run: () => Promise<void>; queueRefusal: string } | undefined;
	/** The tools that the model is offered, made of those that are built in and those of the host. */
	readonly tools?: (builtIn: BuiltInTools, host: readonly Tool[]) => readonly Tool[];
	/** Tells what no event tells. */
	readonly tell?: (fact: HookFact) => void;
	/** Ends every wait that no run or command ends. */
	readonly abort?: () => void;
}

export type PromptSource = "rpc" | "extension";

export interface PromptText {
	text: string;
	images: Image[];
}

export interface HookedCall {
	toolName: string;
	toolCallId: string;
	input: Record<string, unknown>;
}

export interface HookedResult {
	content: UserContent;
	details: unknown;
	isError: boolean;
}

/** What a compaction is going to do. */
export interface CompactionPlan {
	preparation: { firstKeptEntryId: string; messagesToSummarize: AgentMessage[]; tokensBefore: number; previousSummary?: string };
	/** The entries of the conversation, oldest first. */
	branchEntries: readonly Entry[];
	customInstructions?: string;
}

export interface BuiltInTools {
	/** Also those that are not offered unless somebody asks. */
	all: readonly Tool[];
	active: readonly Tool[];
}

export type HookFact =
	| { type: "session_switch"; reason: "new" | "resume"; previousSessionFile?: string }
	| { type: "session_fork"; previousSessionFile?: string }
	| { type: "session_compact"; compaction: CompactionResult; fromExtension: boolean }
	| { type: "session.compacting"; tokensBefore: number; customInstructions?: string }
	| { type: "session_compact_failed"; reason: "manual" | "threshold" | "overflow"; error: string; aborted: boolean }
	| { type: "session_tree"; newLeafId: string | null; oldLeafId: string | null }
	| { type: "model_select"; model: Model; previousModel?: Model; source: "set" | "cycle" | "restore" };

// ── Models for the session ─────────────────────────────────────────────────────────────────────────────

export interface ModelAccess {
	stream: StreamFunction;
	/** Makes sure that the model can be asked: gives it, perhaps with better facts, or says why not in words for the host. */
	prepare(model: Model): Promise<{ model: Model } | { problem: string }>;
}

export interface ModelWithLevel {
	model: Model;
	level?: ThinkingLevel;
}

/** Which models there are. */
export interface ModelCatalogue {
	/** Those that can be asked with the credentials at hand. */
	available(): Promise<Model[]>;
	/** A model by its name, whether or not it can be asked. */
	find(provider: string, id: string): Promise<Model | undefined>;
	/** A model that a session file names, only if the user has chosen or configured it: a file must not choose scripts and servers. */
	findStored(provider: string, id: string): Promise<Model | undefined>;
	/** Why a model cannot be asked, in words for the host; nothing when it can. */
	problem(model: Model): Promise<string | undefined>;
}

// ── The host's user ────────────────────────────────────────────────────────────────────────────────────

export interface DialogOptions {
	/** Milliseconds; then the default is the answer. */
	timeout?: number;
	signal?: AbortSignal;
}

/** How code of ours reaches the person in front of the host. A dialog always ends; without an answer it gives its default. */
export interface Ui {
	select(title: string, choices: string[], options?: DialogOptions): Promise<string | undefined>;
	confirm(title: string, message: string, options?: DialogOptions): Promise<boolean>;
	input(title: string, placeholder?: string, options?: DialogOptions): Promise<string | undefined>;
	editor(title: string, prefill?: string, options?: DialogOptions): Promise<string | undefined>;
	notify(message: string, type?: "info" | "warning" | "error"): void;
	setStatus(key: string, text?: string): void;
	setWidget(key: string, lines?: string[], options?: { placement?: "aboveEditor" | "belowEditor" }): void;
	setTitle(title: string): void;
	setEditorText(text: string): void;
}
