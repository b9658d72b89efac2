/** The types that extensions are written against: `import type { Extension } from "bowline"`. These comments are documentation. */
import type { DialogOptions as AnyDialogOptions, Ui as AnyUi } from "../agent/contracts.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { UserContent } from "../protocol/content.ts";
import type { CustomMessage, ToolResult } from "../protocol/messages.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { ExtensionEvent, ExtensionEventName, ExtensionResult } from "./events.ts";
import type { SessionManager } from "./session-view.ts";

export type { CompactionResult } from "../protocol/commands/compaction.ts";
export type { Image, Text, UserContent } from "../protocol/content.ts";
export type { AgentMessage, AssistantMessage, CustomMessage, ToolResult, ToolResultMessage, UserMessage } from "../protocol/messages.ts";
export type { Model, ThinkingLevel } from "../protocol/model.ts";
export type * from "./events.ts";
export type { SessionEntry, SessionManager } from "./session-view.ts";

export type DialogOptions = Pick<AnyDialogOptions, "timeout" | "signal">;

/** The user in front of the host. A dialog always ends; without an answer it gives its default. */
export interface Ui extends Omit<AnyUi, "select" | "openUrl"> {
	/** Gives the label of the choice. Hosts that can, show the descriptions. */
	select(title: string, choices: readonly (string | { label: string; description?: string })[], options?: DialogOptions): Promise<string | undefined>;
}

/**
 * The default export of an extension. Called once when the program starts. Register your features here; the session does not exist
 * yet, so every member that acts on it (`sendMessage`, `exec`, `setModel`, ...) throws until `session_start`.
 */
export type Extension = (api: ExtensionApi) => void | Promise<void>;

/** May be asynchronous. Errors that it throws are reported as `extension_error`, and the next handler goes on. */
export type Handler<Name extends ExtensionEventName> = (
	event: ExtensionEvent<Name>,
	context: ExtensionContext,
	// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement answers nothing
) => ExtensionResult<Name> | undefined | void | Promise<ExtensionResult<Name> | undefined | void>;

export interface ExtensionApi {
	/**
	 * Listens to an event. Handlers run one after another: extensions in load order, within one extension in order of registration.
	 * A handler that is added while its event is being handled receives the next one.
	 */
	on<Name extends ExtensionEventName>(event: Name, handler: Handler<Name>): void;

	/**
	 * Gives the model a tool. It is active from the next model call on. It replaces a built-in tool of the same name; among
	 * extensions the first one wins. Registering a name again replaces your own tool.
	 */
	registerTool<Args = Record<string, unknown>>(tool: ToolRegistration<Args>): void;
	/** Gives the user `/name args`. It runs at once, even while the agent works, and does not start a run automatically. */
	registerCommand(name: string, command: CommandRegistration): void;
	/** Adds `--name` to the command line. */
	registerFlag(name: string, flag: FlagRegistration): void;
	/** The value of your own flag: from the command line, else its default. Known from `session_start` on. */
	getFlag(name: string): boolean | string | undefined;
	/** Has no effect: there is no keyboard. */
	registerShortcut(key: string, options: unknown): void;
	/** Has no effect: hosts draw messages. */
	registerMessageRenderer(customType: string, renderer: unknown): void;

	/**
	 * Puts a message of your own kind into the conversation; the model reads it as a user's message. While the agent works it is queued:
	 * `steer` (default) reaches the model at the next opportunity, `followUp` when it would stop. When idle it is appended, and with
	 * `triggerTurn` starts a run. `nextTurn` keeps it until the next prompt in any case. A failure reaches the host, not you.
	 */
	sendMessage(message: MessageToSend, options?: SendOptions): void;
	/** Sends a message as the user, which always starts a run. While the agent works, `deliverAs` must say how to queue it. */
	sendUserMessage(content: string | UserContent, options?: { deliverAs?: "steer" | "followUp" }): void;
	/** Writes an entry of type `custom` into the session file. The model never sees it. */
	appendEntry(customType: string, data?: unknown): void;
	setSessionName(name: string): void;
	getSessionName(): string | undefined;
	/** Labels an entry; without a label, removes the existing one. */
	setLabel(entryId: string, label: string | undefined): void;

	/**
	 * Runs a program, without a shell, in the working directory. On timeout or abort it gets SIGTERM and after a second SIGKILL. Never
	 * rejects because the program failed: look at `code`; 127 when it could not be started.
	 */
	exec(file: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;

	/** The names of the tools that the model has. */
	getActiveTools(): string[];
	/** From the next model call on the model has these tools only. Unknown names are ignored. */
	setActiveTools(names: readonly string[]): void;
	getAllTools(): ToolInfo[];
	/** The slash commands of extensions, templates and skills. */
	getCommands(): CommandInfo[];

	/** Chooses a model for this session; false when there is no key for it. */
	setModel(model: Model): Promise<boolean>;
	getThinkingLevel(): ThinkingLevel;
	/** A level that the model does not have becomes the nearest one. */
	setThinkingLevel(level: ThinkingLevel): void;
	/** The settings in effect, nested as in a file. A copy. */
	getSettings(): Record<string, unknown>;
	/** Adds a provider with its models, as an entry of `models.jsonc` would, or overrides parts of a known one. */
	registerProvider(name: string, provider: ProviderRegistration): void;
	/** Removes your own registration. */
	unregisterProvider(name: string): void;

	/**
	 * Adds an MCP server for this session, as an entry of `mcpServers`. It starts with the next prompt. An entry of the user, the project or
	 * the host with the same name is used instead. Registering a name again replaces your own entry.
	 */
	registerMcpServer(name: string, config: Record<string, unknown>): void;
	/** Removes your own registration, and ends the server. */
	unregisterMcpServer(name: string): void;
	/** The servers that extensions have registered. */
	getMcpServers(): RegisteredMcpServer[];

	/** Lets extensions talk to each other. */
	events: EventBus;
}

export interface RegisteredMcpServer {
	name: string;
	config: Record<string, unknown>;
	extensionPath: string;
}

/** A tool in the family's shape. */
export interface ToolRegistration<Args = Record<string, unknown>> {
	/** Letters, digits, `_` and `-`, at most 64. */
	name: string;
	/** For people; default the name. */
	label?: string;
	/** For the model: what it does and when to use it. */
	description: string;
	/** JSON Schema of the arguments, an object; TypeBox produces one. Arguments are checked before `execute` sees them. */
	parameters: object;
	/** One line about the tool for the system prompt. */
	hint?: string;
	/**
	 * What a call does, for rules, modes and checkpoints. `paths`, with `read` and `write`: the names of the arguments that are paths, relative to
	 * the working directory or absolute; calls are then judged like those of the built-in file tools. Default `{ kind: "run" }`: anything.
	 */
	effect?: { kind: "read" | "write" | "run" | "ask" | "none"; paths?: readonly string[] };
	/** True when calls may run in parallel with others. Without it a call waits for all earlier ones. */
	parallel?: boolean;
	/**
	 * Does the work. If it throws, the model reads the error's text. `signal` fires on abort; `onUpdate` reports progress
	 * with the whole result so far.
	 */
	execute(
		toolCallId: string,
		args: Args,
		signal: AbortSignal,
		onUpdate: (partial: ToolResult) => void,
		context: ExtensionContext,
	): Promise<ToolOutcome> | ToolOutcome;
}

/** `content` is for the model, `details` are for the host. */
export type ToolOutcome = ToolResult & { isError?: boolean };

export interface CommandRegistration {
	description?: string;
	/** `args` is the text after the name. Errors that it throws are reported as `extension_error` of `command:<name>`. */
	handler(args: string, context: CommandContext): void | Promise<void>;
	/** Has no effect: hosts do their own completion. */
	getArgumentCompletions?: unknown;
}

export interface FlagRegistration {
	type: "boolean" | "string";
	description?: string;
	default?: boolean | string;
}

/** As an entry of `providers` in `models.jsonc`: see `docs/providers.md`. */
export interface ProviderRegistration {
	baseUrl?: string;
	/** A key, the name of an environment variable, or `!command`. */
	apiKey?: string;
	api?: string;
	headers?: Record<string, string>;
	/** The key is sent as `Authorization: Bearer`. */
	authHeader?: boolean;
	compat?: Record<string, unknown>;
	models?: (Partial<Omit<Model, "provider">> & { id: string })[];
	modelOverrides?: Record<string, Partial<Omit<Model, "provider" | "id">>>;
}

export type MessageToSend = Pick<CustomMessage, "customType" | "content"> & Partial<Pick<CustomMessage, "display" | "details">>;

export interface SendOptions {
	/** Start a run when idle. */
	triggerTurn?: boolean;
	deliverAs?: "steer" | "followUp" | "nextTurn";
}

export interface ExecOptions {
	cwd?: string;
	/** Milliseconds. */
	timeout?: number;
	signal?: AbortSignal;
}

export interface ExecResult {
	stdout: string;
	stderr: string;
	/** 128 + n after death by signal n. */
	code: number;
	/** Whether a timeout or an abort ended it. */
	killed: boolean;
}

export interface ToolInfo {
	name: string;
	description: string;
	parameters: Record<string, unknown>;
}

export interface CommandInfo {
	name: string;
	description?: string;
	source: "extension" | "prompt" | "skill";
	sourceInfo: SourceInfo;
}

/** Where something comes from, in the words of `get_commands`. */
export interface SourceInfo {
	path: string;
	/** How it was found: `local` in a directory, `settings`, or `cli` for `--extension`. */
	source: string;
	scope: "user" | "project" | "temporary";
	origin: "top-level" | "package";
	baseDir?: string;
}

export interface EventBus {
	/** The returned function ends it. */
	on(channel: string, handler: (data: unknown) => void | Promise<void>): () => void;
	/** Calls all listeners, synchronously. */
	emit(channel: string, data?: unknown): void;
}

/** What a handler gets with its event. Values are read when you access them. */
export interface ExtensionContext {
	/** Dialogs and notices at the host. A dialog ends with its hook: an abort withdraws it and gives its default. */
	readonly ui: Ui;
	/** Whether a host may answer dialogs. */
	readonly hasUI: boolean;
	readonly cwd: string;
	/** Fires when the result is no longer awaited: the user aborted, or the session is over. */
	readonly signal: AbortSignal;
	readonly sessionManager: SessionManager;
	/** Purpose of the process: a host drives it (`rpc`), or it gives one answer as events (`json`) or as text (`print`). There is no terminal. */
	readonly mode: "rpc" | "json" | "print";
	readonly modelRegistry: ModelRegistry;
	readonly model: Model | undefined;
	readonly thinkingLevel: ThinkingLevel;
	/** The models to choose from, of `--models` or the setting `enabledModels`; empty when the user named none. */
	readonly scopedModels: readonly { model: Model; thinkingLevel?: ThinkingLevel }[];
	/** Whether code and settings of this project are used. */
	isProjectTrusted(): boolean;
	/** Whether no run is going on. */
	isIdle(): boolean;
	/** Stops the run. */
	abort(): void;
	/** Whether messages are queued. */
	hasPendingMessages(): boolean;
	/** Ends the program, once the current command has been answered and the session is idle. */
	shutdown(): void;
	/** How full the context window is; `tokens` is null until the first reply after a compaction. */
	getContextUsage(): ContextUsage | undefined;
	/** Compacts the conversation in the background. A current run is aborted first. */
	compact(options?: CompactOptions): void;
	getSystemPrompt(): string;
}

/** The models as they were read when the session began, and when a provider was registered. */
export interface ModelRegistry {
	/** Models that can be asked with the credentials at hand. */
	getAvailable(): Model[];
	/** Every known model, with a key or without. */
	getAll(): Model[];
	find(provider: string, id: string): Model | undefined;
	/** Whether the model can be asked. */
	hasConfiguredAuth(model: Model): boolean;
	/** Always false: there is no login. */
	isUsingOAuth(model: Model): boolean;
	/**
	 * The key for requests of your own; undefined when none is there or needed. It stays out of everything that hosts and session files
	 * get; what you send elsewhere is yours to guard.
	 */
	getApiKey(model: Model): Promise<string | undefined>;
	getApiKeyForProvider(provider: string): Promise<string | undefined>;
	/** The key with the headers and the address of `models.jsonc`, or the reason why there is none. */
	getApiKeyAndHeaders(model: Model): Promise<({ ok: true } & ProviderAuth) | { ok: false; error: string }>;
	getProviderAuth(provider: string): Promise<ProviderAuth | undefined>;
}

export interface ProviderAuth {
	apiKey?: string;
	headers: Record<string, string>;
	baseUrl?: string;
}

export interface ContextUsage {
	tokens: number | null;
	contextWindow: number;
	percent: number | null;
}

export interface CompactOptions {
	customInstructions?: string;
	onComplete?: (result: CompactionResult) => void;
	onError?: (error: Error) => void;
}

/** Commands can do more, because no run waits for them. */
export interface CommandContext extends ExtensionContext {
	/** Resolves when nothing is running and nothing automatic will follow. */
	waitForIdle(): Promise<void>;
	newSession(options?: { parentSession?: string }): Promise<{ cancelled: boolean }>;
	/** Goes on from just before a user message, in a new session. */
	fork(entryId: string): Promise<{ cancelled: boolean; text?: string }>;
	/** Another name for `fork`. */
	branch(entryId: string): Promise<{ cancelled: boolean; text?: string }>;
	switchSession(sessionPath: string): Promise<{ cancelled: boolean }>;
	/** Goes on from another entry of the same file. */
	navigateTree(targetId: string, options?: { summarize?: boolean; customInstructions?: string; label?: string }): Promise<{ cancelled: boolean }>;
	/** Loads extensions, skills and templates again. */
	reload(): Promise<void>;
}
