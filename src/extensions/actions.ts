/** What extensions need from the session. The app provides it, after loading. */

import type { Credentials, ModelWithLevel, Ui } from "../agent/contracts.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { UserContent } from "../protocol/content.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { CommandInfo, ContextUsage, ExecOptions, ExecResult, SendOptions, ToolInfo } from "./api.ts";
import type { SessionFacts } from "./session-view.ts";

/** A message as `sendMessage` and `before_agent_start` give it, with everything filled in except the time. */
export type OwnMessage = Pick<CustomMessage, "customType" | "content" | "display" | "details">;

/** Handlers, tools, providers, commands or MCP servers of extensions. */
export type Change = "handlers" | "tools" | "providers" | "commands" | "mcpServers";

/** The models, for code that does not wait: the lists are read before the session begins. */
export interface KnownModels {
	/** Those that can be asked. */
	readonly available: readonly Model[];
	readonly all: readonly Model[];
	/** The models that the user named to choose from. */
	readonly scoped: readonly ModelWithLevel[];
	credentials(provider: string, model: Model | undefined, signal: AbortSignal): Promise<Credentials | { problem: string }>;
}

export interface ExtensionActions {
	ui: Ui;
	/** Whether a host may answer dialogs. */
	hasUI: boolean;
	cwd: string;
	/** Throws or rejects when it cannot send; the error becomes a failure frame of `extension_send`. */
	sendMessage(message: OwnMessage, options: SendOptions): void | Promise<void>;
	/** Likewise, of `extension_send_user`. */
	sendUserMessage(content: string | UserContent, options: { deliverAs?: "steer" | "followUp" }): void | Promise<void>;
	/** Reports to the host that a message could not be sent: a failure frame without id. */
	sendFailed(command: "extension_send" | "extension_send_user", error: string, code: ErrorCode): void;
	appendEntry(customType: string, data: unknown): void;
	setLabel(entryId: string, label: string | undefined): void;
	getSessionName(): string | undefined;
	setSessionName(name: string): void;
	readonly model: Model | undefined;
	/** False when the model cannot be asked. */
	setModel(model: Model): Promise<boolean>;
	models: KnownModels;
	/** All settings as they are in effect, nested as in a file. */
	settings(): Record<string, unknown>;
	isProjectTrusted(): boolean;
	/** What the process is for. */
	mode: "rpc" | "json" | "print";
	getThinkingLevel(): ThinkingLevel;
	setThinkingLevel(level: ThinkingLevel): void;
	getActiveTools(): string[];
	setActiveTools(names: readonly string[]): void;
	getAllTools(): ToolInfo[];
	/** Templates and skills only: the caller already knows the commands of extensions. */
	getCommands(): CommandInfo[];
	abort(): void;
	isIdle(): boolean;
	hasPendingMessages(): boolean;
	waitForIdle(): Promise<void>;
	newSession(options: { parentSession?: string }): Promise<{ cancelled: boolean }>;
	fork(entryId: string): Promise<{ cancelled: boolean; text?: string }>;
	switchSession(sessionPath: string): Promise<{ cancelled: boolean }>;
	navigateTree?(targetId: string, options: { summarize?: boolean; customInstructions?: string; label?: string }): Promise<{ cancelled: boolean }>;
	reload?(): Promise<void>;
	compact(customInstructions: string | undefined): Promise<CompactionResult>;
	contextUsage(): ContextUsage | undefined;
	systemPrompt(): string;
	sessionView(): SessionFacts;
	/** Ends the program when the current command has been answered and the session is idle. */
	shutdown(): void;
	/** `execProgram` of this folder over the session's shell. */
	exec(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
	/** Something was registered or withdrawn after `bind`. */
	changed?(what: Change): void;
}
