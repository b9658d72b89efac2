/** What a dialect may say about the wire. A mapping at the edge: nothing behind it knows which one is spoken. Types only. */
import type { SummaryRetry } from "../../agent/contracts.ts";
import type { ShellUpdate } from "../../lib/shell/index.ts";
import type { Handlers } from "../../live/commands/contract.ts";
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { CommandResult } from "../../protocol/commands/index.ts";
import type { InterruptMode } from "../../protocol/commands/queue.ts";
import type { OutboundFrame, RequestId } from "../../protocol/frames.ts";
import type { Begun } from "../../session/dependencies.ts";
import type { Session } from "../../session/session.ts";
import type { UpdateMode } from "../event-writer.ts";
import type { FrameWriter } from "../stdio.ts";

export interface Dialect {
	/** The line that announces readiness, where there is one. */
	readonly ready?: string;
	/** How replies grow on the wire, unless the host says otherwise. */
	readonly updates: UpdateMode;
	/** The mode to start with where neither a flag nor a setting says so. */
	readonly interruptMode?: InterruptMode;
	/** Whether `setTitle` is sent without being asked for. */
	readonly emitsTitle?: true;
	/** Whether the level `max` is one of its own, above `xhigh`. */
	readonly hasMaxLevel?: true;
	/** Whether failures of unknown commands, and of bugs, carry the id and the command. */
	readonly echoesIds?: true;
	/** What a frame becomes. Without it every frame goes out as it is. */
	readonly frames?: (frame: OutboundFrame) => readonly OutboundFrame[];
	/** How a host is told what becomes of one prompt. Without it: accepted at once, a refusal behind that. */
	readonly prompt?: (id: RequestId | undefined, answer: Answer) => PromptStory;
	/** Commands that are served here otherwise, or only here. */
	readonly handlers?: (handlers: Handlers, parts: DialectParts) => Partial<Handlers>;
	/** Who wants the output of a host's command while it runs. */
	readonly bashOutput?: (id: RequestId | undefined) => (update: ShellUpdate) => void;
	/** Goes around a compaction that was asked for, once nothing else is going on. */
	readonly aroundCompaction?: (work: () => Promise<CompactionResult>, signal: AbortSignal) => Promise<CompactionResult>;
	/** Who wants to hear of entries as they are added to the session. */
	readonly onEntry?: (entry: object) => void;
	/** Who wants to hear that a summary is asked for again. */
	readonly onSummaryRetry?: (retry: SummaryRetry) => void;
	/** What a host is told without having asked, before its first command is served. */
	readonly greet?: (parts: DialectParts) => Promise<void>;
}

/** What a dialect may use, once there is a session. */
export interface DialectParts {
	session: Session;
	slashCommands: () => Promise<CommandResult<"get_commands">["commands"]>;
}

/** How a dialect says something of its own. */
export interface Voice {
	/** Goes out in its order, if the host wants such events. */
	tell: (frame: OutboundFrame) => void;
	readonly writer: Pick<FrameWriter, "split">;
}

export type Answer = (outcome: { data?: unknown } | { error: string; code?: string }) => void;

/** What is said as a prompt goes its way. */
export interface PromptStory {
	/** It is accepted; nothing has happened yet. */
	accepted(data: unknown): void;
	begun?: Begun;
	/** It cannot run after all. */
	refused(error: string): void;
}
