/**
 * The one way to change the course of a session. A policy takes part at a few doors; `doors.ts` asks all policies at a door in one order
 * and combines their answers. A policy holds no session and starts no run. Types only.
 */

import type { BashResult } from "../protocol/commands/bash.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { Entry } from "../protocol/entries.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { AgentMessage, AssistantMessage, CustomMessage } from "../protocol/messages.ts";
import type { Model, Usage } from "../protocol/model.ts";
import type { ErrorCode } from "../protocol/types.generated.ts";
import type { ProviderFailure, StreamEvent } from "./stream.ts";

/** States a fact. Synchronous, cannot be answered, one order for all observers. */
export type Emit = (event: AgentEvent) => void;

/** Waits, and reports whether the wait was cut short. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<"elapsed" | "aborted">;

/** Doors must not throw, and must end promptly when their signal fires. */
export interface Policy {
	name: string;
	/** It judges what others may change: policies that are added later come in front of it. */
	isLast?: true;

	// ── Facts ───────────────────────────────────────────────────────────────────────────────────────

	/** Receives every event; the steps of a reply only with `observesUpdates`. */
	observe?(event: AgentEvent): void;
	/** Receives `message_update` too: thousands of a long reply. */
	observesUpdates?: boolean;
	/** Receives what no event reports. */
	notice?(fact: SessionFact): void;
	/** The host aborted: end every wait that neither a run nor a command ends. */
	abort?(): void;
	/** Another session begins. */
	renew?(): void;
	/**
	 * Once it has fired, nothing new is started: nothing follows a run automatically and queued messages wait. Its reason is a `Halt`.
	 * Read again at each use.
	 */
	readonly halt?: AbortSignal;

	// ── Doors ───────────────────────────────────────────────────────────────────────────────────────

	/** A prompt arrives. Each policy sees what the previous one made of it; the first refusal or "handled" ends it. */
	admit?(prompt: IncomingPrompt, signal: AbortSignal): Promise<Admission | undefined>;
	/** A run is about to start: what to say with the prompt. Collected. */
	preface?(prompt: StartingPrompt, signal: AbortSignal): Promise<Preface | undefined>;
	/** Before a run with the messages it will add, and between its turns: make room for the next model call. In order. */
	prepare?(pending: readonly AgentMessage[], signal: AbortSignal): Promise<void>;
	/** The messages that the model gets in this call. Each policy sees the previous one's. */
	context?(messages: readonly AgentMessage[], signal: AbortSignal): Promise<readonly AgentMessage[]>;
	/** The body of a request to a provider. Each policy sees the previous one's. */
	payload?(payload: unknown, signal: AbortSignal): Promise<unknown>;
	/** The headers of a request to a provider. Each policy sees the previous one's. */
	headers?(headers: Record<string, string>, signal: AbortSignal): Promise<Record<string, string>>;
	/** The head of a provider's answer is there, and its body is not read yet. */
	answered?(head: ProviderHead): void;
	/** An event of an answer as the provider sent it; hot, and read twice for this. */
	raw?(event: ProviderEvent): void;
	/** Each event of a reply; synchronous and hot. The first text cuts the reply, which then ends `aborted` with it; `settle` decides how to go on. */
	watch?(event: StreamEvent): string | undefined;
	/** A call with validated arguments. In order: those that change arguments come first, those that judge them last; the first denial ends it. */
	beforeTool?(call: PendingCall, signal: AbortSignal): Promise<ToolDecision | undefined>;
	/** A result is in. Each policy sees the previous one's. */
	afterTool?(call: PendingCall, outcome: ToolOutcome, signal: AbortSignal): Promise<ToolOutcome>;
	/** Before `agent_end`, synchronous: true when `settle` will ask for another run. All are asked. */
	foresee?(outcome: Outcome): boolean;
	/**
	 * A run has ended: should another one follow, from the context as it is? The first answer wins. `gap` ends a mere wait: it fires for an
	 * abort, and for a prompt that takes over. `signal` fires for an abort only: work that a prompt has to wait for ends with it.
	 */
	settle?(outcome: Outcome, gap: AbortSignal, signal?: AbortSignal): Promise<Again | undefined>;
	/** Before a summary is made: cancel the compaction, or supply it. The first answer wins. */
	compact?(plan: CompactionPlan, signal: AbortSignal): Promise<{ cancel: true } | { compaction: CompactionResult } | undefined>;
	/** Before the session continues elsewhere: another session, a fork, another entry. The first answer wins. */
	leave?(departure: Departure): Promise<LeaveDecision | undefined>;
	/** The host runs a command: its result, when the policy supplies it. Rejects when running it elsewhere fails. The first answer wins. */
	shell?(command: string, signal: AbortSignal): Promise<BashResult | undefined>;
}

/** Why a policy halts the session: the reason of its signal. */
export interface Halt {
	/** What a host reads. */
	message: string;
	code: "budget_exceeded" | "no_sandbox";
	/** What happens to the current run: it finishes normally; it ends after what has begun; it is aborted. */
	run: "finish" | "stop" | "abort";
}

/** The doors around a request to a provider. */
export type RequestDoors = Readonly<Pick<Policy, "payload" | "headers" | "answered" | "raw">>;

export interface ProviderHead {
	status: number;
	/** Names in lower case. */
	headers: Record<string, string>;
}

export interface ProviderEvent {
	provider: string;
	/** The id. */
	model: string;
	data: unknown;
}

export type PromptSource = "rpc" | "extension";

export interface PromptText {
	text: string;
	images: Image[];
}

/** What arrives as a prompt. Without a source it is taken as it is. */
export interface IncomingPrompt {
	messages: AgentMessage[];
	source?: PromptSource;
}

export type Admission =
	/** No run starts; a host reads the text and the code. */
	| { refused: string; code: ErrorCode }
	/** The messages to continue with. An empty list means that the policy handled the prompt. */
	| { messages: AgentMessage[] };

export interface StartingPrompt {
	/** What the user says; absent when code starts the run. */
	user: PromptText | undefined;
	/** The system prompt the run would have. Made only when asked for. */
	systemPrompt: () => Promise<string>;
}

export interface Preface {
	/** Follow the prompt. */
	messages?: CustomMessage[];
	/** The tool that the first reply must call. */
	tool?: string;
	/** Another system prompt for this run. */
	systemPrompt?: string;
}

export interface PendingCall {
	toolName: string;
	toolCallId: string;
	input: Record<string, unknown>;
	/** Its place among the calls of the reply. Absent for commands that no reply contains. */
	batch?: { index: number; count: number };
}

/** `details` go into the failed result. */
export type ToolDecision = { denied: string; details?: unknown } | { input: Record<string, unknown> };

export interface ToolOutcome {
	content: UserContent;
	details: unknown;
	isError: boolean;
}

/** How a run ended. */
export interface Outcome {
	/** Every message the run added, in context order. */
	messages: AgentMessage[];
	last: AssistantMessage | undefined;
	failure: ProviderFailure | undefined;
}

export interface Again {
	/** The failed reply, and the results of its calls, leave the context at once (not the session file). */
	dropFailedReply: boolean;
	/** Resolves when it is time; false when it was called off. */
	due: Promise<boolean>;
	/** What the run begins with, after the context. */
	messages?: AgentMessage[];
	/** The tool that the model must then call first, where it supports that. */
	tool?: string;
}

/** What a compaction is going to do. */
export interface CompactionPlan {
	preparation: { firstKeptEntryId: string; messagesToSummarize: AgentMessage[]; tokensBefore: number; previousSummary?: string };
	/** The entries of the conversation, oldest first. */
	branchEntries: readonly Entry[];
	customInstructions?: string;
}

export type Departure =
	| { to: "session"; reason: "new" | "resume"; targetSessionFile?: string }
	| { to: "fork"; entryId: string }
	/** The entries that would no longer be in the conversation, oldest first. */
	| { to: "entry"; entryId: string; entriesToSummarize: readonly Entry[]; signal: AbortSignal };

export interface LeaveDecision {
	cancel?: boolean;
	/** A fork keeps the whole conversation. */
	keepsConversation?: boolean;
	/** Supplied for the entries that are left behind. */
	summary?: { summary: string; details?: unknown; usage?: Usage };
	customInstructions?: string;
	label?: string;
}

export type SessionFact =
	| { type: "session_switch"; reason: "new" | "resume"; previousSessionFile?: string }
	| { type: "session_fork"; previousSessionFile?: string }
	| { type: "session_compact"; compaction: CompactionResult; fromExtension: boolean }
	| { type: "session.compacting"; tokensBefore: number; customInstructions?: string }
	| { type: "session_compact_failed"; reason: "manual" | "threshold" | "overflow"; error: string; aborted: boolean }
	| { type: "session_tree"; newLeafId: string | null; oldLeafId: string | null }
	| { type: "model_select"; model: Model; previousModel?: Model; source: "set" | "cycle" | "restore" };

/** A summary is requested again after a transient failure. Every streak that begins also finishes. */
export type SummaryRetry =
	| { stage: "scheduled"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
	| { stage: "started"; attempt: number }
	| { stage: "finished"; attempt: number; success: boolean; finalError?: string };
