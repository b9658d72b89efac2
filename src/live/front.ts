/** What a front provides to a session: the connection to its host. Types only. */

import type { Files } from "../agent/files.ts";
import type { SummaryRetry } from "../agent/policy.ts";
import type { Flow } from "../agent/stream.ts";
import type { Elicit, Ui } from "../agent/ui.ts";
import type { ShellUpdate } from "../lib/shell/index.ts";
import type { OptionDialog } from "../permissions/index.ts";
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { RequestId } from "../protocol/frames.ts";
import type { GateRequest } from "../protocol/gate.ts";
import type { McpServers } from "../protocol/mcp.ts";
import type { ChildListener } from "../subagents/contracts.ts";
import type { LaneFlow } from "./lanes.ts";
import type { Replay, Sequence } from "./sequence.ts";
import type { ToolSource } from "./tool-sources.ts";

export interface Front {
	/** Whether the reader of the output keeps up. */
	flow: Flow & LaneFlow["flow"];
	/** Asks the sender of commands to pause, or to go on. */
	pauseInput?: (paused: boolean) => void;
	/** Answers dialogs. Without a host that can answer, dialogs have their defaults. */
	ui: Ui;
	/** Whether a person may answer dialogs. */
	hasUI: boolean;
	/** Asks hosts about tool calls that do not know typed questions. Absent where no one can be asked. */
	approvals?: Approvals;
	/** The host's own tools and its choice of events, where it has any. */
	host?: Host;
	/** Answers forms and addresses of MCP servers in one go. Without it they become dialogs where `hasUI` says so; `null`: there is no one to answer. */
	elicit?: Elicit | null;
	/** MCP servers for this session alone, by name or as a list with names. Opening the session fails when an entry is wrong. */
	mcpServers?: McpServers;
	/** The texts of files that an editor has open. */
	files?: Files;
	warn: (text: string) => void;
	/** Calls back when everything has ended, for whatever reason. */
	atExit: (then: () => void) => void;
	/** A message of an extension could not be sent. */
	sendFailed: (command: "extension_send" | "extension_send_user", error: string, code: ErrorCode) => void;
	/** An extension asks for the end, once the session is at rest. */
	shutdown: () => void;
	/** The host is gone: questions and calls that wait for it end. */
	disconnect?: () => void;
	/** Sends a question before a step. Absent where no host can be asked. */
	askGate?: (request: GateRequest) => void;
	/** The one reader of this door, where it has frames with numbers. */
	reader?: Reader;
	/** Frames are numbered from now on. */
	numbered?: (sequence: Sequence) => void;
	/** How this door differs from the others inside the agent. */
	variations?: Variations;
}

export type SubagentListener = ChildListener;

export interface Reader {
	/** Sends what the reader missed; frames that come meanwhile wait. `filter` and `deltas` hold from now on. */
	replay(replay: Replay, wanted: { filter?: readonly string[]; deltas: boolean }): void | Promise<void>;
}

export interface Approvals {
	choose: OptionDialog;
	/** Whether the host has ever answered a dialog. */
	hasAnswered(): boolean;
}

export interface Host {
	tools: ToolSource & { set(definitions: readonly unknown[], taken: ReadonlySet<string>): string[] };
	/** The events that the host receives; all without names. */
	setEventFilter(names: readonly string[] | undefined): void;
}

/** What a dialect changes inside the agent, as values. */
export interface Variations {
	/** The mode to start with where neither a flag nor a setting decides. */
	readonly interruptMode?: InterruptMode;
	/** Whether the level `max` is a separate one, above `xhigh`. */
	readonly hasMaxLevel?: true;
	/** Receives the output of a host's command while it runs. */
	readonly bashOutput?: (id: RequestId | undefined) => (update: ShellUpdate) => void;
	/** Whether the prompt that names a command of an extension is answered when the command has ended. */
	readonly awaitsCommands?: true;
	/** Whether frames never have numbers. */
	readonly hasNoNumbers?: true;
	/** Receives entries as they are added to the session. */
	readonly onEntry?: (entry: object) => void;
	/** Hears of subagents and their events. */
	readonly subagents?: SubagentListener;
	/** Called when a summary is requested again. */
	readonly onSummaryRetry?: (retry: SummaryRetry) => void;
}
