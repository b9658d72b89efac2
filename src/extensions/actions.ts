/** What extensions need of the session. The app provides it, after loading. */
import type { ModelCatalogue, Ui } from "../agent/contracts.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { UserContent } from "../protocol/content.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { CommandInfo, ContextUsage, ExecOptions, ExecResult, SendOptions, ToolInfo } from "./api.ts";
import type { SessionFacts } from "./session-view.ts";

/** A message as `sendMessage` and `before_agent_start` give it, with everything filled in but the time. */
export type OwnMessage = Pick<CustomMessage, "customType" | "content" | "display" | "details">;

/** Handlers, tools, providers or commands of extensions. */
export type Change = "handlers" | "tools" | "providers" | "commands";

export interface ExtensionActions {
	ui: Ui;
	/** Somebody may answer dialogs. */
	hasUI: boolean;
	cwd: string;
	/** Throws or rejects when it cannot be done; that becomes a failure frame of `extension_send`. */
	sendMessage(message: OwnMessage, options: SendOptions): void | Promise<void>;
	/** Likewise, of `extension_send_user`. */
	sendUserMessage(content: string | UserContent, options: { deliverAs?: "steer" | "followUp" }): void | Promise<void>;
	/** Tells the host that a message could not be sent: a failure frame without id. */
	sendFailed(command: "extension_send" | "extension_send_user", error: string): void;
	appendEntry(customType: string, data: unknown): void;
	setLabel(entryId: string, label: string | undefined): void;
	getSessionName(): string | undefined;
	setSessionName(name: string): void;
	readonly model: Model | undefined;
	/** False when the model cannot be asked. */
	setModel(model: Model): Promise<boolean>;
	models: Pick<ModelCatalogue, "available" | "find">;
	getThinkingLevel(): ThinkingLevel;
	setThinkingLevel(level: ThinkingLevel): void;
	getActiveTools(): string[];
	setActiveTools(names: readonly string[]): void;
	getAllTools(): ToolInfo[];
	/** Those of extensions are known here already: templates and skills only. */
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
	/** `execProgram` of this room over the session's shell. */
	exec(file: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
	/** Something was registered or withdrawn after `bind`. */
	changed?(what: Change): void;
}
