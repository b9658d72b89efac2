/** The events that an extension can listen to: each with its payload and the answers a handler may give. Types and names only. */
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { AgentEvent, EventName } from "../protocol/events.ts";
import type { AgentMessage, CustomMessage } from "../protocol/messages.ts";
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { RegisteredMcpServer } from "./api.ts";
import type { SessionEntry } from "./session-view.ts";

/** The session exists: asked before the first command, and again after the extensions were reloaded. */
export interface SessionStartEvent {
	type: "session_start";
	reason: "startup" | "reload";
}

/** The process is about to end, or the extensions to be reloaded. All handlers together have one second. */
export interface SessionShutdownEvent {
	type: "session_shutdown";
}

/** Another session is about to replace this one. */
export interface SessionBeforeSwitchEvent {
	type: "session_before_switch";
	reason: "new" | "resume";
	/** The file that will be opened. */
	targetSessionFile?: string;
}

export interface SessionBeforeSwitchResult {
	/** Nothing changes, and the host is informed. */
	cancel?: boolean;
}

/** Another session has replaced the former one. */
export interface SessionSwitchEvent {
	type: "session_switch";
	reason: "new" | "resume";
	previousSessionFile?: string;
}

/** The session is about to be continued from an earlier user message. Sent under both names; listen to one. */
export interface SessionBeforeForkEvent {
	type: "session_before_fork" | "session_before_branch";
	/** The user message. */
	entryId: string;
}

export interface SessionBeforeForkResult {
	/** Nothing changes, and the host is informed. */
	cancel?: boolean;
	/** The new session keeps the conversation as it is; only the text of the message is returned. */
	skipConversationRestore?: boolean;
}

/** The session goes on in a fork. Sent under both names. */
export interface SessionForkEvent {
	type: "session_fork" | "session_branch";
	previousSessionFile?: string;
}

/** The conversation is about to be compacted. */
export interface SessionBeforeCompactEvent {
	type: "session_before_compact";
	/** The messages that the summary would replace. */
	preparation: CompactionPreparation;
	/** The entries of the conversation, oldest first. */
	branchEntries: readonly SessionEntry[];
	customInstructions?: string;
	/** Fires on abort. */
	signal: AbortSignal;
}

export interface CompactionPreparation {
	/** The first entry that would be kept word for word. */
	firstKeptEntryId: string;
	messagesToSummarize: readonly AgentMessage[];
	tokensBefore: number;
	previousSummary?: string;
}

export interface SessionBeforeCompactResult {
	/** The conversation stays as it is. */
	cancel?: boolean;
	/** The whole result; no model is asked. `firstKeptEntryId` must be an entry of the conversation. */
	compaction?: Pick<CompactionResult, "summary" | "firstKeptEntryId" | "tokensBefore"> & { details?: Record<string, unknown> };
}

/** The conversation has been compacted. */
export interface SessionCompactEvent {
	type: "session_compact";
	compaction: CompactionResult;
	/** An extension made the summary. */
	fromExtension: boolean;
}

/** The model is about to be asked for a summary. */
export interface SessionCompactingEvent {
	type: "session.compacting";
	tokensBefore: number;
	customInstructions?: string;
}

/** The conversation stays as it was. */
export interface SessionCompactFailedEvent {
	type: "session_compact_failed";
	reason: "manual" | "threshold" | "overflow";
	error: string;
	/** An abort or an extension cancelled it. */
	aborted: boolean;
}

/** The session is about to continue from another entry of the same file. */
export interface SessionBeforeTreeEvent {
	type: "session_before_tree";
	targetId: string;
	/** The entries that will be left. */
	entriesToSummarize: readonly SessionEntry[];
	signal: AbortSignal;
}

export interface SessionBeforeTreeResult {
	cancel?: boolean;
	/** Replaces the branch that is left; no model is asked. */
	summary?: { summary: string; details?: unknown };
	customInstructions?: string;
	label?: string;
}

/** The session continues from another entry. */
export interface SessionTreeEvent {
	type: "session_tree";
	newLeafId: string | null;
	oldLeafId: string | null;
}

/** The agent is looking for skills and templates. */
export interface ResourcesDiscoverEvent {
	type: "resources_discover";
	cwd: string;
	reason: "startup" | "reload";
}

/** Additional directories to search. The answers of all handlers are merged. Themes have no effect here. */
export interface ResourcesDiscoverResult {
	skillPaths?: string[];
	promptPaths?: string[];
	themePaths?: string[];
}

/** A message to the agent has arrived. Asked before skills and templates are expanded. */
export interface InputEvent {
	type: "input";
	text: string;
	images: readonly Image[];
	/** The sender. */
	source: "interactive" | "rpc" | "extension";
}

/** `transform` continues with another text or other images, `handled` ends here: no run starts. */
export type InputResult = { action: "continue" } | { action: "transform"; text?: string; images?: Image[] } | { action: "handled" };

/** A prompt is about to start a run. */
export interface BeforeAgentStartEvent {
	type: "before_agent_start";
	/** The expanded text. */
	prompt: string;
	images: readonly Image[];
	/** As earlier handlers left it. */
	systemPrompt: string;
}

export interface BeforeAgentStartResult {
	/** Goes into the conversation next to the prompt. Those of all handlers are kept. */
	message?: Pick<CustomMessage, "customType" | "content" | "display" | "details">;
	/** For this run only. The next handler sees it. */
	systemPrompt?: string;
}

/** The model is about to be asked. `messages` is a copy: change it in place, or answer with another list. */
export interface ContextEvent {
	type: "context";
	messages: AgentMessage[];
}

export interface ContextResult {
	/** The messages that the model gets this time. The session keeps its own. */
	messages?: AgentMessage[];
}

/** The request to the provider is built. `payload` is a copy of its body; an answer other than undefined replaces it. */
export interface BeforeProviderRequestEvent {
	type: "before_provider_request";
	payload: unknown;
}

/** A request to the provider is about to be sent. `headers` is a copy and includes the key; an object as answer replaces it. */
export interface BeforeProviderHeadersEvent {
	type: "before_provider_headers";
	headers: Record<string, string | null | undefined>;
}

/** A run has ended, and nothing would follow automatically. Handlers are awaited; messages queued here are part of the same work. */
export interface AgentBeforeSettleEvent {
	type: "agent_before_settle";
}

/** A tool is about to run. `input` may be changed in place. A handler that throws blocks the call. */
export interface ToolCallEvent {
	type: "tool_call";
	toolName: string;
	toolCallId: string;
	input: Record<string, unknown>;
}

export interface ToolCallResult {
	/** The tool does not run; the model reads the reason. */
	block?: boolean;
	reason?: string;
}

/** A tool has run. */
export interface ToolResultEvent {
	type: "tool_result";
	toolName: string;
	toolCallId: string;
	input: Record<string, unknown>;
	content: UserContent;
	details: unknown;
	isError: boolean;
}

/** Given members replace the tool's own; the next handler sees them. */
export interface ToolResultResult {
	content?: UserContent;
	details?: unknown;
	isError?: boolean;
}

/** The host runs a command with `bash`. */
export interface UserBashEvent {
	type: "user_bash";
	command: string;
	cwd: string;
}

/** The first answer wins: `result` as it is, or `operations` that run the command elsewhere. */
export interface UserBashResult {
	result?: { output: string; exitCode?: number; cancelled?: boolean; truncated?: boolean; fullOutputPath?: string };
	operations?: BashOperations;
}

/** Runs commands in another place, such as a container or over ssh. */
export interface BashOperations {
	exec(
		command: string,
		cwd: string,
		options: { onData: (data: Uint8Array | string) => void; signal: AbortSignal },
	): Promise<{ exitCode: number | null }>;
}

/** An extension asks the user, and the agent may be waiting for that. Dialogs that overlap are reported once. */
export interface UiPromptEvent {
	type: "ui_prompt_start" | "ui_prompt_end";
	reason: "ui_prompt";
	kind: "select" | "confirm" | "input" | "editor";
	title: string;
}

/** A provider has answered a request; the reply is not read yet. */
export interface AfterProviderResponseEvent {
	type: "after_provider_response";
	status: number;
	/** Names in lower case. */
	headers: Record<string, string>;
}

/** An event of a reply, as the provider sent it. */
export interface ProviderStreamEvent {
	type: "provider_stream_event";
	provider: string;
	/** The id. */
	model: string;
	data: unknown;
}

/** An extension has registered an MCP server, or withdrawn one. */
export interface McpServersChangeEvent {
	type: "mcp_servers_change";
	/** All that are registered now. */
	servers: readonly RegisteredMcpServer[];
}

/** Another thinking level is used from now on. */
export interface ThinkingLevelSelectEvent {
	type: "thinking_level_select";
	level: ThinkingLevel;
	previousLevel: ThinkingLevel;
}

/** Another model was chosen. */
export interface ModelSelectEvent {
	type: "model_select";
	model: Model;
	previousModel?: Model;
	source: "set" | "cycle" | "restore";
}

type Wire = { [Name in EventName]: { event: Extract<AgentEvent, { type: Name }>; result: undefined } };

/**
 * Every event: what the handler gets, and what it may answer. Those with the result `undefined` are facts: reported in order, not awaited.
 * The data they carry belongs to the session, so do not change it. The events of the wire protocol are among them.
 */
export interface ExtensionEvents extends Omit<Wire, "ready" | "extension_error"> {
	session_start: { event: SessionStartEvent; result: undefined };
	session_shutdown: { event: SessionShutdownEvent; result: undefined };
	session_before_switch: { event: SessionBeforeSwitchEvent; result: SessionBeforeSwitchResult };
	session_switch: { event: SessionSwitchEvent; result: undefined };
	session_before_fork: { event: SessionBeforeForkEvent; result: SessionBeforeForkResult };
	session_before_branch: { event: SessionBeforeForkEvent; result: SessionBeforeForkResult };
	session_fork: { event: SessionForkEvent; result: undefined };
	session_branch: { event: SessionForkEvent; result: undefined };
	session_before_compact: { event: SessionBeforeCompactEvent; result: SessionBeforeCompactResult };
	session_compact: { event: SessionCompactEvent; result: undefined };
	"session.compacting": { event: SessionCompactingEvent; result: undefined };
	session_compact_failed: { event: SessionCompactFailedEvent; result: undefined };
	session_before_tree: { event: SessionBeforeTreeEvent; result: SessionBeforeTreeResult };
	session_tree: { event: SessionTreeEvent; result: undefined };
	resources_discover: { event: ResourcesDiscoverEvent; result: ResourcesDiscoverResult };
	input: { event: InputEvent; result: InputResult };
	before_agent_start: { event: BeforeAgentStartEvent; result: BeforeAgentStartResult };
	context: { event: ContextEvent; result: ContextResult };
	before_provider_request: { event: BeforeProviderRequestEvent; result: unknown };
	before_provider_headers: { event: BeforeProviderHeadersEvent; result: Record<string, string> };
	agent_before_settle: { event: AgentBeforeSettleEvent; result: undefined };
	tool_call: { event: ToolCallEvent; result: ToolCallResult };
	tool_result: { event: ToolResultEvent; result: ToolResultResult };
	user_bash: { event: UserBashEvent; result: UserBashResult };
	model_select: { event: ModelSelectEvent; result: undefined };
	thinking_level_select: { event: ThinkingLevelSelectEvent; result: undefined };
	ui_prompt_start: { event: UiPromptEvent; result: undefined };
	ui_prompt_end: { event: UiPromptEvent; result: undefined };
	after_provider_response: { event: AfterProviderResponseEvent; result: undefined };
	mcp_servers_change: { event: McpServersChangeEvent; result: undefined };
	provider_stream_event: { event: ProviderStreamEvent; result: undefined };
}

export type ExtensionEventName = keyof ExtensionEvents;
export type ExtensionEvent<Name extends ExtensionEventName> = ExtensionEvents[Name]["event"];
export type ExtensionResult<Name extends ExtensionEventName> = ExtensionEvents[Name]["result"];

/** The facts: reported, not asked. */
export type FactName = { [Name in ExtensionEventName]: [ExtensionEvents[Name]["result"]] extends [undefined] ? Name : never }[ExtensionEventName];
/** An event that an extension receives and cannot answer. Those that are awaited all the same have their own methods. */
export type Fact = ExtensionEvent<Exclude<FactName, "session_start" | "session_shutdown" | "agent_before_settle">>;

/** Questions are asked and answered; facts are reported; a handler that does not keep up may miss updates among the facts. */
export const eventKinds: { readonly [Name in ExtensionEventName]: "question" | "fact" | "update" } = {
	session_start: "fact",
	session_shutdown: "fact",
	session_before_switch: "question",
	session_switch: "fact",
	session_before_fork: "question",
	session_before_branch: "question",
	session_fork: "fact",
	session_branch: "fact",
	session_before_compact: "question",
	session_compact: "fact",
	"session.compacting": "fact",
	session_compact_failed: "fact",
	session_before_tree: "question",
	session_tree: "fact",
	resources_discover: "question",
	input: "question",
	before_agent_start: "question",
	context: "question",
	before_provider_request: "question",
	before_provider_headers: "question",
	agent_before_settle: "question",
	tool_call: "question",
	tool_result: "question",
	user_bash: "question",
	model_select: "fact",
	thinking_level_select: "fact",
	ui_prompt_start: "fact",
	ui_prompt_end: "fact",
	after_provider_response: "fact",
	provider_stream_event: "fact",
	mcp_servers_change: "fact",
	agent_start: "fact",
	agent_end: "fact",
	agent_settled: "fact",
	run_result: "fact",
	run_takeover: "fact",
	turn_start: "fact",
	turn_end: "fact",
	message_start: "fact",
	message_update: "update",
	message_end: "fact",
	tool_execution_start: "fact",
	tool_execution_update: "update",
	tool_execution_end: "fact",
	auto_compaction_start: "fact",
	auto_compaction_end: "fact",
	compaction_start: "fact",
	compaction_end: "fact",
	auto_retry_start: "fact",
	auto_retry_end: "fact",
	ttsr_triggered: "fact",
	todo_reminder: "fact",
	todo_auto_clear: "fact",
	subagent_start: "fact",
	subagent_end: "fact",
	subagent_verification_start: "fact",
	subagent_verification_command_start: "fact",
	subagent_verification_command_end: "fact",
	subagent_verification_end: "fact",
	budget_warning: "fact",
	budget_exceeded: "fact",
	mcp_server_update: "fact",
	queue_update: "fact",
	session_info_changed: "fact",
	thinking_level_changed: "fact",
	permission_request: "fact",
	permission_resolved: "fact",
	permission_mode_changed: "fact",
};
