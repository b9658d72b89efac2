# Generated from schema/protocol.json by `npm run generate`. Do not edit.
"""Every shape that crosses the wire."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

__all__ = [
    "ImageInput1",
    "ImageInput2Source",
    "ImageInput2",
    "ImageInput",
    "TodoPhaseInput",
    "TodoItemInput",
    "HostToolDefinition",
    "HostToolEffect",
    "ExtensionUiResponse",
    "HostToolUpdate",
    "ToolResult",
    "Text",
    "Image",
    "HostToolResult",
    "PermissionResponse",
    "PermissionRule",
    "GateResponse",
    "Disposition",
    "SessionStateDumpToolsItem",
    "SessionStateQueuedMessages",
    "SessionState",
    "ModelCostTiersItem",
    "ModelCost",
    "ModelPromptCache",
    "ModelThinking",
    "Model",
    "TodoPhase",
    "TodoItem",
    "SandboxStateLimits",
    "SandboxStateProbesItem",
    "SandboxState",
    "SafetyState",
    "ContextUsage",
    "AgentMessage",
    "UserMessage",
    "Attachment",
    "DeveloperMessage",
    "AssistantMessage",
    "Thinking",
    "RedactedThinking",
    "ToolCall",
    "UsageCost",
    "Usage",
    "ToolResultMessage",
    "BashExecutionMessage",
    "CustomMessage",
    "CompactionSummaryMessage",
    "BranchSummaryMessage",
    "FileMentionMessageFilesItem",
    "FileMentionMessage",
    "LegacyMessage",
    "CycledModel",
    "LevelChange",
    "CompactionResult",
    "BashResult",
    "SandboxUse",
    "Forked",
    "ForkPoint",
    "SessionStatsTokens",
    "SessionStats",
    "CacheUse",
    "CacheBreak",
    "BudgetCeiling",
    "CheckpointInfo",
    "FileChange",
    "RunsLater",
    "RefMove",
    "SlashCommandInput",
    "SlashCommand",
    "SourceInfo",
    "McpServer",
    "SourcedRule",
    "PermissionGrant",
    "PermissionRequestBatch",
    "PermissionRequest",
    "PermissionSubject",
    "PermissionLapse",
    "PermissionOrigin",
    "Resumption",
    "Subagent",
    "ReadyEvent",
    "AgentStartEvent",
    "AgentEndEvent",
    "AgentSettledEvent",
    "TurnStartEvent",
    "TurnEndEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "AssistantMessageEvent",
    "TextStart",
    "TextDelta",
    "TextEnd",
    "ThinkingStart",
    "ThinkingDelta",
    "ThinkingEnd",
    "ToolcallStart",
    "ToolcallDelta",
    "ToolcallEnd",
    "MessageEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "ToolExecutionEndEvent",
    "AutoCompactionStartEvent",
    "AutoCompactionEndEvent",
    "CompactionStartEvent",
    "CompactionEndEvent",
    "AutoRetryStartEvent",
    "AutoRetryEndEvent",
    "TtsrTriggeredEventRulesItem",
    "TtsrTriggeredEvent",
    "TodoReminderEvent",
    "TodoAutoClearEvent",
    "SubagentStartEvent",
    "SubagentEndEvent",
    "VerificationResult",
    "VerificationAttempt",
    "VerificationCommandResult",
    "SubagentVerificationStartEvent",
    "SubagentVerificationCommandStartEvent",
    "SubagentVerificationCommandEndEvent",
    "SubagentVerificationEndEvent",
    "BudgetWarningEvent",
    "BudgetSnapshot",
    "BudgetExceededEvent",
    "QueueUpdateEvent",
    "SessionInfoChangedEvent",
    "ThinkingLevelChangedEvent",
    "McpServerUpdateEvent",
    "PermissionRequestEventBatch",
    "PermissionRequestEvent",
    "PermissionResolvedEvent",
    "PermissionModeChangedEvent",
    "RunResultEvent",
    "RunError",
    "ErrorCode",
    "RunTakeoverEvent",
    "ExtensionErrorEvent",
    "SummarizationRetryScheduledEvent",
    "SummarizationRetryAttemptStartEvent",
    "SummarizationRetryFinishedEvent",
    "BashExecutionUpdateEvent",
    "EntryAppendedEvent",
    "PromptResultEvent",
    "PromptError",
    "SessionSettledEvent",
    "AvailableCommandsUpdateEvent",
    "CommandOutputEvent",
    "SessionInfoUpdateEvent",
    "ModelChangedEvent",
    "ConfigUpdateEvent",
    "SubagentLifecycleEventPayload",
    "SubagentLifecycleEvent",
    "SubagentProgressEventPayload",
    "SubagentProgressEvent",
    "SubagentEventEventPayload",
    "SubagentEventEvent",
    "RpcChunkEvent",
    "RpcFrameErrorEvent",
    "Response",
    "ExtensionUiRequest",
    "UiSelectOptionDetailsItem",
    "UiSelect",
    "UiConfirm",
    "UiInput",
    "UiEditor",
    "UiNotify",
    "UiSetStatus",
    "UiSetWidget",
    "UiSetTitle",
    "UiOpenUrl",
    "UiSetEditorText",
    "UiCancel",
    "HostToolCall",
    "HostToolCancel",
    "GateRequestEstimate",
    "GateRequest",
    "Gap",
    "Snapshot",
    "LiveStateQueue",
    "LiveState",
    "LiveTool",
    "LiveSubagent",
    "LiveRetry",
    "TaskArguments",
    "TaskItem",
    "VerificationRequest",
    "VerificationCommand",
    "TaskDetails",
    "SingleResult",
    "GetMessagesResult",
    "GetLastAssistantTextResult",
    "GetAvailableModelsResult",
    "CycleThinkingLevelResult",
    "GetAvailableThinkingLevelsResult",
    "ClearQueueResult",
    "NewSessionResult",
    "SwitchSessionResult",
    "GetForkMessagesResult",
    "GetBranchMessagesResult",
    "ExportHtmlResult",
    "CloneResult",
    "GetEntriesResult",
    "GetTreeResult",
    "GetMessagesPageResult",
    "OpenSessionResult",
    "GetCheckpointsResult",
    "GetChangesResult",
    "RewindResultHistory",
    "RewindResult",
    "SetTodosResult",
    "SetHostToolsResult",
    "GetCommandsResult",
    "GetAvailableCommandsResult",
    "SetEventFilterResult",
    "SetMcpServersResult",
    "GetMcpServersResult",
    "RestartMcpServerResult",
    "HelloResult",
    "GetPermissionsResult",
    "SubscribeResult",
    "PingResult",
    "NegotiateProtocolResult",
    "SetFastModeResult",
    "SetHostUriSchemesResult",
    "SetSubagentSubscriptionResult",
    "GetSubagentsResult",
    "GetSubagentMessagesResult",
    "Event",
    "EventName",
]


class ImageInput1(TypedDict):
    type: Literal["image"]
    data: str
    mimeType: str


class _ImageInput2Source(TypedDict):
    type: Literal["base64", "url"]


class ImageInput2Source(_ImageInput2Source, total=False):
    mediaType: str
    media_type: str
    data: str
    url: str


class ImageInput2(TypedDict):
    type: Literal["image"]
    source: ImageInput2Source


ImageInput = Union["ImageInput1", "ImageInput2"]
"""An image as hosts send it, flat or with a `source`. A `data:` prefix in `data` is stripped."""


class _TodoPhaseInput(TypedDict):
    name: str


class TodoPhaseInput(_TodoPhaseInput, total=False):
    """A phase as hosts send it; ids, status and tasks are filled in."""

    id: str
    tasks: List[TodoItemInput]


class _TodoItemInput(TypedDict):
    content: str


class TodoItemInput(_TodoItemInput, total=False):
    """A task as hosts send it."""

    id: str
    status: Literal["pending", "in_progress", "completed", "abandoned"]
    notes: str
    details: str
    blocker: str


class _HostToolDefinition(TypedDict):
    # Non-empty, unique, not the name of another tool.
    name: str
    description: str
    # JSON Schema of the arguments, sent to the model as it is.
    parameters: Dict[str, Any]


class HostToolDefinition(_HostToolDefinition, total=False):
    """A tool that the host offers."""

    # Default: the name.
    label: str
    # Registered but not offered to the model.
    hidden: bool
    effect: HostToolEffect


class _HostToolEffect(TypedDict):
    kind: Literal["read", "write", "run", "ask", "none"]


class HostToolEffect(_HostToolEffect, total=False):
    """What a tool of the host does, for rules, modes and checkpoints."""

    # With `read` and `write`: the names of the arguments that are paths, relative to the session's directory or absolute.
    paths: List[str]


class _ExtensionUiResponse(TypedDict):
    type: Literal["extension_ui_response"]
    # The `id` of the `extension_ui_request`.
    id: str


class ExtensionUiResponse(_ExtensionUiResponse, total=False):
    """The answer to a dialog: the member that its method names, or `cancelled`, which wins over other members. Unknown ids are ignored. Without an answer the extension waits."""

    # To `select`, `input` and `editor`.
    value: str
    # To `confirm`.
    confirmed: bool
    # The user closed the dialog.
    cancelled: bool
    # With `cancelled`: the host closed the dialog because its time was over.
    timedOut: bool


class HostToolUpdate(TypedDict):
    """Progress of a call, optional and as often as the host likes; `partialResult` is forwarded as it is."""

    type: Literal["host_tool_update"]
    # The `id` of the `host_tool_call`.
    id: str
    partialResult: ToolResult


class _ToolResult(TypedDict):
    content: List[Union[Text, Image]]


class ToolResult(_ToolResult, total=False):
    """What a tool returns: blocks for the model, details for the host."""

    details: Any


class _Text(TypedDict):
    type: Literal["text"]
    text: str


class Text(_Text, total=False):
    """Plain text."""

    # Opaque replay data of the provider.
    textSignature: str


class Image(TypedDict):
    """A picture."""

    type: Literal["image"]
    # base64
    data: str
    mimeType: str


class _HostToolResult(TypedDict):
    type: Literal["host_tool_result"]
    # The `id` of the `host_tool_call`.
    id: str
    result: ToolResult


class HostToolResult(_HostToolResult, total=False):
    """The end of a call. The model reads the texts and images of `result.content`."""

    # The call failed; the content says why, for the model. The run goes on.
    isError: bool


class _PermissionResponse(TypedDict):
    type: Literal["permission_response"]
    id: str
    decision: Literal["allow", "deny"]


class PermissionResponse(_PermissionResponse, total=False):
    """The answer to a `permission_request`. Unknown and closed ids are ignored. A digest that is missing or different denies."""

    # As in the request.
    digest: str
    # Without it `once`; for a request with `server`: `session`.
    scope: Literal["once", "session", "always"]
    rule: PermissionRule
    # On deny: at most 2000 characters, for the model.
    message: str
    # From an agent to its subagent only: what decided.
    by: Literal["host", "session", "always", "rule", "timeout", "digest", "mode", "changed", "gone", "nobody", "abort", "steer"]


class _PermissionRule(TypedDict):
    action: Literal["allow", "ask", "deny"]


class PermissionRule(_PermissionRule, total=False):
    """Instead of the proposal. It must cover the call."""

    # A tool's name; `*` stands for any characters. `read` means read, grep, find and ls; `write` means edit and write.
    tool: str
    # For `bash`: a pattern of words. Without it: every command.
    command: str
    # For `read` and `write`: a glob on the real path.
    path: str
    # For connections: `name`, `*.name` or an address, with `:port` or `:*`; without a port 443 and 80.
    host: str
    # Instead of a tool: writes of files that run later on their own, see docs/security.md. Only to ask or to deny.
    runsLater: bool
    # The reason. The person sees it on ask, the model on deny.
    because: str
    # With `host`: also where its name leads to a private address.
    private: bool


class _GateResponse(TypedDict):
    type: Literal["gate_response"]
    # The `id` of the `gate_request`.
    id: str
    allow: bool


class GateResponse(_GateResponse, total=False):
    """The answer to a `gate_request`. Unknown and closed ids are ignored."""

    # Why not. A tool call that is denied has it as its result.
    reason: str
    # With `allow: false`: the run ends, and its `run_result` is `interrupted`.
    end: bool
    # With `allow: false`: ask again after this time.
    retryAfterMs: int


class _Disposition(TypedDict):
    disposition: Literal["started", "queued", "handled"]


class Disposition(_Disposition, total=False):
    """What became of a message: a run starts, it waits in a queue, or an extension took it (`handled`). What an extension takes has no `agent_settled` unless a run follows, and may still ask with dialogs after the answer."""

    # With `--seq`, of a prompt that starts a run.
    runId: str
    # The command was accepted before, under the same `key`; nothing was done again.
    duplicate: bool
    # Dialect `omp`, of `prompt`: absent for a command of an extension, whose `prompt_result` says it.
    agentInvoked: bool


class SessionStateDumpToolsItem(TypedDict):
    name: str
    description: str
    parameters: Dict[str, Any]


class SessionStateQueuedMessages(TypedDict):
    """Dialect `omp`: what waits in the queues."""

    steering: List[str]
    followUp: List[str]


class _SessionState(TypedDict):
    # `null` when there is none; then it is absent in dialect `omp`, and in dialect `pi` an object whose provider and id are `unknown`.
    model: Union[Model, None]
    thinkingLevel: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
    # True from the acceptance of a prompt until `agent_settled`.
    isStreaming: bool
    isCompacting: bool
    steeringMode: Literal["all", "one-at-a-time"]
    followUpMode: Literal["all", "one-at-a-time"]
    interruptMode: Literal["immediate", "wait"]
    sessionId: str
    autoCompactionEnabled: bool
    messageCount: int
    # Queued steering and follow-up messages.
    pendingMessageCount: int
    # The same number under its other name.
    queuedMessageCount: int
    todoPhases: List[TodoPhase]


class SessionState(_SessionState, total=False):
    """What is going on now."""

    # Absent when nothing is written to disk.
    sessionFile: str
    sessionName: str
    # With `full`, and always in dialect `omp`: what the model would be told now.
    systemPrompt: str
    # The same for its tools.
    dumpTools: List[SessionStateDumpToolsItem]
    # Of Bowline.
    version: str
    # Version of this protocol: 1.
    protocol: int
    # The agent's working directory.
    cwd: str
    # What this agent offers in addition to the base protocol: a name and its version. A name that is missing is not offered.
    capabilities: Dict[str, int]
    sandbox: SandboxState
    permissionMode: Literal["plan", "ask", "edit", "full"]
    # Open questions about tool calls.
    pendingPermissions: int
    safety: SafetyState
    # Dialect `omp`: nothing runs, and nothing will start automatically.
    isSettled: bool
    contextUsage: ContextUsage
    # Dialect `omp`: speed of the last measured reply.
    tokensPerSecond: Union[float, None]
    # Dialect `omp`: always false.
    hasPendingAsyncWork: bool
    # Dialect `omp`: what waits in the queues.
    queuedMessages: SessionStateQueuedMessages
    # Dialect `omp`: what `set_fast_mode` said; without effect.
    fastModeEnabled: bool
    # Dialect `omp`: always false.
    fastModeActive: bool


class ModelCostTiersItem(TypedDict):
    """The prices of a whole request whose input, cached tokens included, is above so many tokens."""

    inputTokensAbove: int
    input: float
    output: float
    cacheRead: float
    cacheWrite: float


class _ModelCost(TypedDict):
    input: float
    output: float
    cacheRead: float
    cacheWrite: float


class ModelCost(_ModelCost, total=False):
    """USD per million tokens."""

    tiers: List[ModelCostTiersItem]
    # Nothing is known of the price of a model that is not listed: the numbers are 0.
    unknown: bool


class ModelPromptCache(TypedDict):
    """Seconds for which the provider keeps the beginning of a request: usually, and when it is asked to keep it long."""

    short: int
    long: int


class ModelThinking(TypedDict, total=False):
    minLevel: str
    maxLevel: str
    mode: str


class _Model(TypedDict):
    id: str
    name: str
    # Its wire format, such as `openai-completions`.
    api: str
    provider: str
    baseUrl: str
    reasoning: bool
    input: List[Literal["text", "image"]]
    contextWindow: int
    maxTokens: int
    # USD per million tokens.
    cost: ModelCost


class Model(_Model, total=False):
    """A model that can be asked."""

    # Seconds for which the provider keeps the beginning of a request: usually, and when it is asked to keep it long.
    promptCache: ModelPromptCache
    # Extra request headers; secrets are never sent here.
    headers: Dict[str, str]
    compat: Dict[str, Any]
    thinking: ModelThinking


class TodoPhase(TypedDict):
    """A group of things to do."""

    id: str
    name: str
    tasks: List[TodoItem]


class _TodoItem(TypedDict):
    id: str
    content: str
    status: Literal["pending", "in_progress", "completed", "abandoned"]


class TodoItem(_TodoItem, total=False):
    """One thing to do."""

    notes: str
    details: str
    # What it waits for.
    blocker: str


class SandboxStateLimits(TypedDict, total=False):
    processes: int


class SandboxStateProbesItem(TypedDict):
    name: str
    result: Literal["blocked", "open", "works", "failed"]


class _SandboxState(TypedDict):
    mode: Literal["off", "read-only", "workspace-write", "external"]
    # Commands run inside. False with a mode other than `off`: see `reason`.
    active: bool
    # Every probe was blocked before the session began.
    verified: bool


class SandboxState(_SandboxState, total=False):
    """Whether commands and file tools are confined, and how that is known."""

    # The program that makes the sandbox, and its version.
    backend: str
    # All commands of the session share their processes and their loopback network.
    cell: bool
    # A filter refuses system calls that lead out.
    seccomp: bool
    network: Literal["off", "hosts", "on"]
    # The directories that commands and tools may write to.
    writable: List[str]
    # How many paths cannot be read.
    hidden: int
    # How many paths inside writable directories cannot be written.
    protected: int
    limits: SandboxStateLimits
    # What runs outside: extensions, their tools, host tools, MCP servers.
    uncovered: List[str]
    probes: List[SandboxStateProbesItem]
    # How long the probes took.
    checkedMs: int
    # It is not active, and prompts are refused because of that.
    required: bool
    # Why it is not active.
    reason: str
    # What to do about it.
    remedy: str


class SafetyState(TypedDict):
    """What `safety` holds this session to. Absent where it is off."""

    name: Literal["contained"]
    # Settings that are looser than the word says; see docs/security.md.
    loosened: List[str]


class ContextUsage(TypedDict):
    """How full the context window is. `null` until the first reply after a compaction."""

    tokens: Union[int, None]
    contextWindow: int
    percent: Union[float, None]


AgentMessage = Union["UserMessage", "DeveloperMessage", "AssistantMessage", "ToolResultMessage", "BashExecutionMessage", "CustomMessage", "CompactionSummaryMessage", "BranchSummaryMessage", "FileMentionMessage", "LegacyMessage"]
"""Any message, distinguished by `role`."""


class _UserMessage(TypedDict):
    role: Literal["user"]
    content: Union[str, List[Union[Text, Image]]]
    # Unix time in milliseconds.
    timestamp: int


class UserMessage(_UserMessage, total=False):
    """A prompt, a steering message or a follow-up."""

    attachments: List[Attachment]
    attribution: str
    synthetic: bool


class Attachment(TypedDict):
    """A file attached to a user message. Nothing produces it; the list is always empty."""

    id: str
    type: Literal["image", "document"]
    fileName: str
    mimeType: str
    size: int
    # base64
    content: str
    extractedText: Union[str, None]
    preview: Union[str, None]


class DeveloperMessage(TypedDict):
    """A reminder made by the agent itself."""

    role: Literal["developer"]
    content: Union[str, List[Union[Text, Image]]]
    # Unix time in milliseconds.
    timestamp: int


class _AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: List[Union[Text, Thinking, RedactedThinking, ToolCall]]
    api: str
    provider: str
    model: str
    usage: Usage
    stopReason: Literal["stop", "length", "toolUse", "error", "aborted"]
    # Unix time in milliseconds.
    timestamp: int


class AssistantMessage(_AssistantMessage, total=False):
    """A reply of the model."""

    errorMessage: str
    # What the provider says about a refusal: type, category, explanation.
    stopDetails: Dict[str, Any]
    responseId: str
    # Milliseconds from request to end.
    duration: int
    # Milliseconds from request to the first block.
    ttft: int


class _Thinking(TypedDict):
    type: Literal["thinking"]
    thinking: str


class Thinking(_Thinking, total=False):
    """What the model thought before it answered."""

    # Opaque replay data of the provider.
    thinkingSignature: str


class RedactedThinking(TypedDict):
    """Thinking that the provider only hands out encrypted."""

    type: Literal["redactedThinking"]
    data: str


class _ToolCall(TypedDict):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: Dict[str, Any]


class ToolCall(_ToolCall, total=False):
    """The model asks for a tool to be run."""

    thoughtSignature: str
    intent: str


class UsageCost(TypedDict):
    """USD."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class Usage(TypedDict):
    """Tokens and cost of one reply. `input` excludes cached tokens."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    totalTokens: int
    # USD.
    cost: UsageCost


class _ToolResultMessage(TypedDict):
    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: List[Union[Text, Image]]
    isError: bool
    # Unix time in milliseconds.
    timestamp: int


class ToolResultMessage(_ToolResultMessage, total=False):
    """What a tool call gave."""

    details: Any


class _BashExecutionMessage(TypedDict):
    role: Literal["bashExecution"]
    command: str
    output: str
    cancelled: bool
    truncated: bool
    # Unix time in milliseconds.
    timestamp: int


class BashExecutionMessage(_BashExecutionMessage, total=False):
    """A command that the host ran with `bash`."""

    # Absent when the command was killed.
    exitCode: int
    # Where everything is, when the output was cut.
    fullOutputPath: str
    excludeFromContext: bool


class _CustomMessage(TypedDict):
    role: Literal["custom"]
    customType: str
    content: Union[str, List[Union[Text, Image]]]
    display: bool
    # Unix time in milliseconds.
    timestamp: int


class CustomMessage(_CustomMessage, total=False):
    """A message made by an extension."""

    details: Any


class _CompactionSummaryMessage(TypedDict):
    role: Literal["compactionSummary"]
    summary: str
    tokensBefore: int
    # Unix time in milliseconds.
    timestamp: int


class CompactionSummaryMessage(_CompactionSummaryMessage, total=False):
    """Replaces the part of the conversation that was compacted."""

    shortSummary: str


class BranchSummaryMessage(TypedDict):
    """Summarizes a branch that the session left."""

    role: Literal["branchSummary"]
    summary: str
    fromId: str
    # Unix time in milliseconds.
    timestamp: int


class FileMentionMessageFilesItem(TypedDict):
    path: str
    content: str


class FileMentionMessage(TypedDict):
    """Files named in a prompt, with their content."""

    role: Literal["fileMention"]
    files: List[FileMentionMessageFilesItem]
    # Unix time in milliseconds.
    timestamp: int


class LegacyMessage(TypedDict):
    """Roles of older session files; kept, never made."""

    role: Literal["pythonExecution", "hookMessage"]
    # Unix time in milliseconds.
    timestamp: int


class CycledModel(TypedDict):
    """The model that was chosen."""

    model: Model
    thinkingLevel: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
    isScoped: bool


class LevelChange(TypedDict):
    """What another thinking level costs. Absent when it costs nothing."""

    cache: Literal["messages"]


class _CompactionResult(TypedDict):
    summary: str
    firstKeptEntryId: str
    tokensBefore: int
    # `{readFiles, modifiedFiles}` unless an extension made the summary.
    details: Dict[str, Any]


class CompactionResult(_CompactionResult, total=False):
    """A summary took the place of older messages."""

    shortSummary: str
    preserveData: Any
    estimatedTokensAfter: int
    usage: Usage


class _BashResult(TypedDict):
    # stdout and stderr merged, the last 2000 lines or 50 KB.
    output: str
    cancelled: bool
    truncated: bool
    totalLines: int
    totalBytes: int
    outputLines: int
    outputBytes: int


class BashResult(_BashResult, total=False):
    """How a command ended. A non-zero exit code is still a success."""

    # Absent when the command was killed.
    exitCode: int
    # Present exactly when the output was truncated.
    fullOutputPath: str
    artifactId: str
    # It ran inside the sandbox.
    sandboxed: bool
    sandbox: SandboxUse


class _SandboxUse(TypedDict):
    # It ran inside. False after an approval to run outside.
    applied: bool


class SandboxUse(_SandboxUse, total=False):
    """The sandbox of one command: the member `sandbox` of the details of a `bash` call, and of a `BashResult`."""

    mode: Literal["read-only", "workspace-write"]
    network: Literal["off", "hosts", "on"]
    # What was refused by name, such as `host a.example:443`.
    denied: List[str]
    # Why the sandbox may have made the command fail, why it was rebuilt meanwhile, and what was undone after the command.
    note: str


class Forked(TypedDict):
    """The text of the message that was forked at."""

    text: str
    # True when an extension prevented it; nothing changed then.
    cancelled: bool


class ForkPoint(TypedDict):
    """A user message."""

    entryId: str
    text: str


class SessionStatsTokens(TypedDict):
    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    total: int


class _SessionStats(TypedDict):
    sessionId: str
    userMessages: int
    assistantMessages: int
    toolCalls: int
    toolResults: int
    totalMessages: int
    tokens: SessionStatsTokens
    # USD
    cost: float


class SessionStats(_SessionStats, total=False):
    """Counts over the current context; tokens and cost over the whole session."""

    sessionFile: str
    premiumRequests: int
    contextUsage: ContextUsage
    cache: CacheUse
    # The ceilings that are set. Absent without any.
    budget: List[BudgetCeiling]


class CacheUse(TypedDict):
    """What requests should have found in the provider's cache, and what they did, over the whole session. Absent without requests that mark what the provider shall keep."""

    # Those that mark something.
    requests: int
    # By what the requests before had in all, within the lifetime of the cache.
    predictedReadTokens: int
    # As the provider counted.
    reportedReadTokens: int
    breaks: List[CacheBreak]


class _CacheBreak(TypedDict):
    # Unix time in milliseconds.
    at: int
    # Where the lost part begins. A request is tools, system prompt, messages.
    segment: Literal["tools", "system", "messages"]
    # What changed, or why nothing was found, for a person.
    cause: str


class CacheBreak(_CacheBreak, total=False):
    """A part of a request that the provider had kept and had to read again."""

    # What it cost more than to read it from the cache. Absent where the price is not known.
    costUsd: float


class BudgetCeiling(TypedDict):
    """A limit of the session's budget and how much of it is used."""

    dimension: Literal["wall_time", "input_tokens", "output_tokens", "total_tokens", "cost", "tool_calls", "subagents"]
    used: float
    limit: float
    # The share at which a warning is given.
    warnAtRatio: float


class CheckpointInfo(TypedDict):
    """A state of the files that can be gone back to."""

    entryId: str
    timestamp: str
    phase: Literal["before", "after"]
    cause: Literal["turn", "rewind"]


class _FileChange(TypedDict):
    path: str
    status: Literal["added", "modified", "deleted"]


class FileChange(_FileChange, total=False):
    """What happened to a file."""

    # Lines; absent for files that are not text.
    added: int
    removed: int


class _RunsLater(TypedDict):
    # Relative to the `root` of `get_changes`.
    path: str


class RunsLater(_RunsLater, total=False):
    """A changed file that runs later without being called by name; see docs/security.md."""

    # What of it counts, such as `scripts`; `instructions` for what the next agent reads; `link` for a link that leads out of the project.
    what: str


class _RefMove(TypedDict):
    # `refs/heads/main`, `refs/tags/v1`, `refs/stash`, `HEAD`; `.git` for a repository as a whole.
    name: str


class RefMove(_RefMove, total=False):
    """What a name of a repository stood for before a rewind, and stands for after it."""

    # Absent when there was none.
    before: str
    # Absent when there is none.
    after: str
    # Where it is below `root`; absent for that of `root` itself.
    repository: str


class SlashCommandInput(TypedDict):
    """Dialect `omp`, of built-in commands: what may follow the name."""

    hint: str


class _SlashCommand(TypedDict):
    name: str
    source: Literal["extension", "prompt", "skill", "builtin"]


class SlashCommand(_SlashCommand, total=False):
    """A name that may follow `/` in a prompt."""

    description: str
    # Dialect `omp`, of built-in commands: what may follow the name.
    input: SlashCommandInput
    # Of the file it comes from, as in `sourceInfo`.
    path: str
    location: Literal["user", "project", "path"]
    sourceInfo: SourceInfo


class _SourceInfo(TypedDict):
    path: str
    source: str
    scope: Literal["user", "project", "temporary"]
    origin: Literal["top-level", "package"]


class SourceInfo(_SourceInfo, total=False):
    """Where a slash command comes from."""

    baseDir: str


class _McpServer(TypedDict):
    name: str
    # Where it is named: the user's settings, the project, a flag, the host, an extension.
    source: Literal["user", "project", "explicit", "host", "extension"]
    transport: Literal["stdio", "http", "sse"]
    status: Literal["waiting", "starting", "ready", "failed", "disabled", "untrusted"]
    tools: List[str]
    prompts: List[str]


class McpServer(_McpServer, total=False):
    """An MCP server of this session. Its variables, headers and arguments are never shown."""

    # What it speaks, once it has answered.
    protocolVersion: str
    # Why it is not used.
    error: str
    # What it wrote to stderr.
    logFile: str


class _SourcedRule(TypedDict):
    action: Literal["allow", "ask", "deny"]
    source: Literal["user", "project", "config", "flags"]


class SourcedRule(_SourcedRule, total=False):
    """A rule and where it comes from."""

    # A tool's name; `*` stands for any characters. `read` means read, grep, find and ls; `write` means edit and write.
    tool: str
    # For `bash`: a pattern of words. Without it: every command.
    command: str
    # For `read` and `write`: a glob on the real path.
    path: str
    # For connections: `name`, `*.name` or an address, with `:port` or `:*`; without a port 443 and 80.
    host: str
    # Instead of a tool: writes of files that run later on their own, see docs/security.md. Only to ask or to deny.
    runsLater: bool
    # The reason. The person sees it on ask, the model on deny.
    because: str
    # With `host`: also where its name leads to a private address.
    private: bool


class PermissionGrant(TypedDict):
    """A rule that came from an answer."""

    id: str
    rule: PermissionRule
    scope: Literal["session", "always"]
    createdAt: str


class PermissionRequestBatch(TypedDict):
    """Its place among the calls of the reply."""

    index: int
    count: int


class _PermissionRequest(TypedDict):
    # A UUID.
    id: str
    toolCallId: str
    subject: PermissionSubject
    # `sha256:` and the hash of the canonical subject.
    digest: str
    # What it is, in a few words.
    title: str
    # The command, the paths, `host:port`, or the arguments as JSON. Raw: escape it before a terminal shows it.
    text: str
    # Why it is asked.
    reason: str
    # The scopes that an answer may have.
    choices: List[Literal["once", "session", "always"]]
    # 0: no deadline.
    timeoutMs: int
    onTimeout: Literal["deny", "abort"]
    # Its place among the calls of the reply.
    batch: PermissionRequestBatch
    # Empty for the session itself; else the subagents, outermost first.
    origin: List[PermissionOrigin]


class PermissionRequest(_PermissionRequest, total=False):
    """An open question about a tool call."""

    # For commands: the words of each one; `null` when the script is opaque.
    words: Union[List[List[str]], None]
    # For `write` and `protected`: what would change, the first 64 KiB.
    diff: str
    diffTruncated: bool
    # The MCP server that it is about: an answer for the session covers all its tools.
    server: str
    lapsed: PermissionLapse
    rule: SourcedRule
    proposal: PermissionRule
    # Milliseconds since 1970. Absent without a deadline.
    expiresAt: int


class PermissionSubject(TypedDict):
    """Exactly what is asked about and will run. The digest covers it."""

    v: Literal[1]
    kind: Literal["read", "write", "protected", "command", "network", "escalation", "tool"]
    tool: str
    args: Dict[str, Any]
    cwd: str
    # Real paths, or `host:port`.
    targets: List[str]
    sandbox: Literal["off", "read-only", "workspace-write", "external", "outside"]


class _PermissionLapse(TypedDict):
    # The first 20, relative to the directory of the command; those that run later come first.
    files: List[str]


class PermissionLapse(_PermissionLapse, total=False):
    """With `permissions.grantsLapse`: an earlier answer covered the command until these files changed."""

    # How many others. Absent where the changes are not known.
    more: int


class PermissionOrigin(TypedDict):
    """A subagent that a question comes from."""

    # Its id, as in `subagent_start`.
    id: str
    agent: str
    # The call of the task tool that sent it.
    toolCallId: str


class _Resumption(TypedDict):
    disposition: Literal["started", "nothing"]


class Resumption(_Resumption, total=False):
    """What became of `resume_run`."""

    runId: str


class _Subagent(TypedDict):
    id: str
    agent: str
    isolated: bool
    status: Literal["running", "completed", "failed", "aborted"]


class Subagent(_Subagent, total=False):
    """A subagent, as hosts of dialect `omp` see it."""

    # Its place in the call.
    index: int
    taskId: str
    agentSource: Literal["bundled", "user", "project"]
    description: str
    assignment: str
    # The call of `task`.
    parentToolCallId: str
    exitCode: int
    # Absent when nothing is stored.
    sessionFile: str
    # `progress` of the last `subagent_progress`.
    progress: Dict[str, Any]


class _ReadyEvent(TypedDict):
    type: Literal["ready"]


class ReadyEvent(_ReadyEvent, total=False):
    """The first frame: commands are read. They are also read before it."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Of Bowline.
    version: str
    # Version of this protocol: 1.
    protocol: int
    # The agent's working directory.
    cwd: str
    # What this agent offers in addition to the base protocol: a name and its version. A name that is missing is not offered.
    capabilities: Dict[str, int]
    sandbox: SandboxState
    # With `--seq`: how many processes have written the log of this session.
    epoch: int
    # With `--seq`: the last number that was given before this process.
    asOf: int
    # Dialect `omp`, like the members that follow: of its framing.
    protocolVersion: int
    supportedProtocolVersions: List[int]
    maxFrameBytes: int
    maxReassembledFrameBytes: int


class _AgentStartEvent(TypedDict):
    type: Literal["agent_start"]


class AgentStartEvent(_AgentStartEvent, total=False):
    """A run begins."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # With `--seq`: of the run, `r_` and a UUID.
    runId: str


class _AgentEndEvent(TypedDict):
    type: Literal["agent_end"]
    messages: List[AgentMessage]


class AgentEndEvent(_AgentEndEvent, total=False):
    """A run is over. `messages` are those that this run added."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Another run will follow automatically.
    willRetry: bool
    # Dialect `omp`: the opposite of `willRetry`.
    isTerminal: bool
    # Dialect `omp`: the agent has finished its turn; false while another run follows automatically.
    yielded: bool
    sessionId: str
    sessionFile: str
    # The value that `outputSchema` of the prompt asked for.
    output: Any
    # Why there is no such value.
    outputError: str


class _AgentSettledEvent(TypedDict):
    type: Literal["agent_settled"]
    aborted: bool


class AgentSettledEvent(_AgentSettledEvent, total=False):
    """Nothing automatic will follow: the session is idle. Once per busy period that had a run."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Only in `--mode json`: why the prompt has no answer.
    errorMessage: str


class _TurnStartEvent(TypedDict):
    type: Literal["turn_start"]


class TurnStartEvent(_TurnStartEvent, total=False):
    """A turn begins: one reply and the tool results it causes."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # From 0.
    turnIndex: int
    timestamp: int


class _TurnEndEvent(TypedDict):
    type: Literal["turn_end"]
    message: AssistantMessage
    toolResults: List[ToolResultMessage]


class TurnEndEvent(_TurnEndEvent, total=False):
    """A turn is over."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    turnIndex: int


class _MessageStartEvent(TypedDict):
    type: Literal["message_start"]
    message: AgentMessage


class MessageStartEvent(_MessageStartEvent, total=False):
    """A message enters the conversation. A reply is empty at this point."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Dialect `omp`: the same for all events of a message.
    messageId: str


class _MessageUpdateEvent(TypedDict):
    type: Literal["message_update"]
    assistantMessageEvent: AssistantMessageEvent


class MessageUpdateEvent(_MessageUpdateEvent, total=False):
    """A reply grew. This example is of `--updates delta`; otherwise `message` and `assistantMessageEvent.partial` have the whole reply so far."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Dialect `omp`: the same for all events of a message.
    messageId: str
    message: AssistantMessage
    usage: Usage


AssistantMessageEvent = Union["TextStart", "TextDelta", "TextEnd", "ThinkingStart", "ThinkingDelta", "ThinkingEnd", "ToolcallStart", "ToolcallDelta", "ToolcallEnd"]
"""One step of a streaming reply. `partial` is the reply so far and equals `message` of the event; both are left out with `--updates delta`. Several deltas of one block may arrive joined in one frame."""


class _TextStart(TypedDict):
    type: Literal["text_start"]
    # Index in `message.content`.
    contentIndex: int


class TextStart(_TextStart, total=False):
    """A text block opened."""

    partial: AssistantMessage


class _TextDelta(TypedDict):
    type: Literal["text_delta"]
    # Index in `message.content`.
    contentIndex: int
    delta: str


class TextDelta(_TextDelta, total=False):
    """Append `delta` to the block."""

    partial: AssistantMessage


class _TextEnd(TypedDict):
    type: Literal["text_end"]
    # Index in `message.content`.
    contentIndex: int
    content: str


class TextEnd(_TextEnd, total=False):
    """The block closed; `content` is its whole text."""

    partial: AssistantMessage


class _ThinkingStart(TypedDict):
    type: Literal["thinking_start"]
    # Index in `message.content`.
    contentIndex: int


class ThinkingStart(_ThinkingStart, total=False):
    """A thinking block opened."""

    partial: AssistantMessage


class _ThinkingDelta(TypedDict):
    type: Literal["thinking_delta"]
    # Index in `message.content`.
    contentIndex: int
    delta: str


class ThinkingDelta(_ThinkingDelta, total=False):
    """Append `delta` to the block."""

    partial: AssistantMessage


class _ThinkingEnd(TypedDict):
    type: Literal["thinking_end"]
    # Index in `message.content`.
    contentIndex: int
    content: str


class ThinkingEnd(_ThinkingEnd, total=False):
    """The block closed; `content` is its whole thinking."""

    partial: AssistantMessage


class _ToolcallStart(TypedDict):
    type: Literal["toolcall_start"]
    # Index in `message.content`.
    contentIndex: int


class ToolcallStart(_ToolcallStart, total=False):
    """A tool call opened."""

    id: str
    toolName: str
    partial: AssistantMessage


class _ToolcallDelta(TypedDict):
    type: Literal["toolcall_delta"]
    # Index in `message.content`.
    contentIndex: int
    delta: str


class ToolcallDelta(_ToolcallDelta, total=False):
    """A raw JSON fragment of the arguments."""

    partial: AssistantMessage


class _ToolcallEnd(TypedDict):
    type: Literal["toolcall_end"]
    # Index in `message.content`.
    contentIndex: int
    toolCall: ToolCall


class ToolcallEnd(_ToolcallEnd, total=False):
    """The call is complete."""

    partial: AssistantMessage


class _MessageEndEvent(TypedDict):
    type: Literal["message_end"]
    message: AgentMessage


class MessageEndEvent(_MessageEndEvent, total=False):
    """A message is complete. Its content is authoritative, and it is on disk."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Dialect `omp`: the same for all events of a message.
    messageId: str


class _ToolExecutionStartEvent(TypedDict):
    type: Literal["tool_execution_start"]
    toolCallId: str
    toolName: str
    args: Dict[str, Any]


class ToolExecutionStartEvent(_ToolExecutionStartEvent, total=False):
    """A tool call starts, or is about to be reported as skipped. `args` are the model's raw arguments."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    intent: str
    parentToolCallId: str


class _ToolExecutionUpdateEvent(TypedDict):
    type: Literal["tool_execution_update"]
    toolCallId: str
    toolName: str
    args: Dict[str, Any]
    partialResult: ToolResult


class ToolExecutionUpdateEvent(_ToolExecutionUpdateEvent, total=False):
    """Progress. `partialResult` is cumulative: replace, do not append."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _ToolExecutionEndEvent(TypedDict):
    type: Literal["tool_execution_end"]
    toolCallId: str
    toolName: str
    result: ToolResult
    isError: bool


class ToolExecutionEndEvent(_ToolExecutionEndEvent, total=False):
    """A tool call is over."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    durationMs: float


class _AutoCompactionStartEvent(TypedDict):
    type: Literal["auto_compaction_start"]
    reason: Literal["threshold", "overflow", "idle"]


class AutoCompactionStartEvent(_AutoCompactionStartEvent, total=False):
    """The conversation is about to be compacted."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    action: Literal["context-full", "handoff"]


class _AutoCompactionEndEvent(TypedDict):
    type: Literal["auto_compaction_end"]
    result: Union[CompactionResult, None]
    aborted: bool
    willRetry: bool


class AutoCompactionEndEvent(_AutoCompactionEndEvent, total=False):
    """Compaction is over; `result` is `null` when it was aborted or failed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    errorMessage: str
    action: Literal["context-full", "handoff"]


class _CompactionStartEvent(TypedDict):
    type: Literal["compaction_start"]
    reason: Literal["manual", "threshold", "overflow"]


class CompactionStartEvent(_CompactionStartEvent, total=False):
    """`compact` is about to compact the conversation. Dialect `pi` says so of every compaction, in place of `auto_compaction_start`; `omp` and `strict` never do."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _CompactionEndEvent(TypedDict):
    type: Literal["compaction_end"]
    reason: Literal["manual", "threshold", "overflow"]
    aborted: bool
    willRetry: bool


class CompactionEndEvent(_CompactionEndEvent, total=False):
    """That compaction is over; there is no `result` when it was aborted or failed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    result: CompactionResult
    errorMessage: str


class _AutoRetryStartEvent(TypedDict):
    type: Literal["auto_retry_start"]
    # From 1.
    attempt: int
    maxAttempts: int
    delayMs: int
    errorMessage: str


class AutoRetryStartEvent(_AutoRetryStartEvent, total=False):
    """The provider failed in a way that may be transient; waiting to ask again."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _AutoRetryEndEvent(TypedDict):
    type: Literal["auto_retry_end"]
    success: bool
    attempt: int


class AutoRetryEndEvent(_AutoRetryEndEvent, total=False):
    """The retries are over."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    finalError: str


class _TtsrTriggeredEventRulesItem(TypedDict):
    name: str


class TtsrTriggeredEventRulesItem(_TtsrTriggeredEventRulesItem, total=False):
    path: str
    content: str


class _TtsrTriggeredEvent(TypedDict):
    type: Literal["ttsr_triggered"]
    rules: List[TtsrTriggeredEventRulesItem]


class TtsrTriggeredEvent(_TtsrTriggeredEvent, total=False):
    """A stream rule matched and cut the reply."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _TodoReminderEvent(TypedDict):
    type: Literal["todo_reminder"]
    todos: List[TodoItem]
    attempt: int
    maxAttempts: int


class TodoReminderEvent(_TodoReminderEvent, total=False):
    """The agent stopped with open todos and is reminded of them."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _TodoAutoClearEvent(TypedDict):
    type: Literal["todo_auto_clear"]


class TodoAutoClearEvent(_TodoAutoClearEvent, total=False):
    """Finished todos were removed; read them again with `get_state`."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SubagentStartEvent(TypedDict):
    type: Literal["subagent_start"]
    # Unique within the session: a number and the task's id.
    id: str
    agent: str
    isolated: bool


class SubagentStartEvent(_SubagentStartEvent, total=False):
    """A subagent is about to start."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str


class _SubagentEndEvent(TypedDict):
    type: Literal["subagent_end"]
    # Unique within the session: a number and the task's id.
    id: str
    agent: str
    exitCode: int


class SubagentEndEvent(_SubagentEndEvent, total=False):
    """A subagent and its verification are finished."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str
    verification: VerificationResult


class _VerificationResult(TypedDict):
    requested: bool
    status: Literal["not_requested", "passed", "failed", "skipped"]
    attempts: List[VerificationAttempt]
    retriesUsed: int


class VerificationResult(_VerificationResult, total=False):
    """The verdict on one task."""

    profile: str
    mode: Literal["none", "command"]
    onFailure: Literal["return_failure", "discard_patch", "retry_once"]


class _VerificationAttempt(TypedDict):
    attempt: int
    status: Literal["passed", "failed", "skipped"]
    startedAt: int
    endedAt: int
    commandResults: List[VerificationCommandResult]


class VerificationAttempt(_VerificationAttempt, total=False):
    """One run of all checks."""

    error: str


class _VerificationCommandResult(TypedDict):
    name: str
    command: str
    exitCode: int
    durationMs: float


class VerificationCommandResult(_VerificationCommandResult, total=False):
    """How one check ended."""

    optional: bool
    timedOut: bool
    artifactPath: str
    # The last 20 lines, at most 4000 characters.
    outputPreview: str


class _SubagentVerificationStartEvent(TypedDict):
    type: Literal["subagent_verification_start"]
    # Unique within the session: a number and the task's id.
    id: str
    attempt: int


class SubagentVerificationStartEvent(_SubagentVerificationStartEvent, total=False):
    """An attempt to verify begins."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str
    profile: str


class _SubagentVerificationCommandStartEvent(TypedDict):
    type: Literal["subagent_verification_command_start"]
    # Unique within the session: a number and the task's id.
    id: str
    attempt: int
    commandName: str


class SubagentVerificationCommandStartEvent(_SubagentVerificationCommandStartEvent, total=False):
    """A check is about to run."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str


class _SubagentVerificationCommandEndEvent(TypedDict):
    type: Literal["subagent_verification_command_end"]
    # Unique within the session: a number and the task's id.
    id: str
    attempt: int
    commandName: str
    exitCode: int
    durationMs: float


class SubagentVerificationCommandEndEvent(_SubagentVerificationCommandEndEvent, total=False):
    """A check ended; `artifactId` is the path of its log."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str
    artifactId: str


class _SubagentVerificationEndEvent(TypedDict):
    type: Literal["subagent_verification_end"]
    # Unique within the session: a number and the task's id.
    id: str
    attempt: int
    status: Literal["passed", "failed", "skipped", "budget_exceeded"]


class SubagentVerificationEndEvent(_SubagentVerificationEndEvent, total=False):
    """An attempt to verify is over."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id as given in `tasks[]`.
    taskId: str


class _BudgetWarningEvent(TypedDict):
    type: Literal["budget_warning"]
    scope: Literal["session", "task", "subagent"]
    snapshot: BudgetSnapshot


class BudgetWarningEvent(_BudgetWarningEvent, total=False):
    """A counter came near its limit. Once per dimension."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _BudgetSnapshot(TypedDict):
    status: Literal["ok", "warning", "exceeded"]
    wallTimeMs: float
    inputTokens: int
    outputTokens: int
    totalTokens: int
    costUsd: float
    toolCalls: int
    subagents: int


class BudgetSnapshot(_BudgetSnapshot, total=False):
    """Counters of the session's budget and their values."""

    estimated: bool
    reason: Literal["wall_time", "input_tokens", "output_tokens", "total_tokens", "cost", "tool_calls", "subagents"]


class _BudgetExceededEvent(TypedDict):
    type: Literal["budget_exceeded"]
    scope: Literal["session", "task", "subagent"]
    snapshot: BudgetSnapshot


class BudgetExceededEvent(_BudgetExceededEvent, total=False):
    """A limit is reached: prompts are refused from now on."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _QueueUpdateEvent(TypedDict):
    type: Literal["queue_update"]
    steering: List[str]
    followUp: List[str]


class QueueUpdateEvent(_QueueUpdateEvent, total=False):
    """A queue changed; both are listed whole."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SessionInfoChangedEvent(TypedDict):
    type: Literal["session_info_changed"]
    # Empty when it has none.
    name: str


class SessionInfoChangedEvent(_SessionInfoChangedEvent, total=False):
    """The session's name changed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _ThinkingLevelChangedEvent(TypedDict):
    type: Literal["thinking_level_changed"]
    level: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class ThinkingLevelChangedEvent(_ThinkingLevelChangedEvent, total=False):
    """The thinking level changed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Dialect `omp`: the same.
    thinkingLevel: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class _McpServerUpdateEvent(TypedDict):
    type: Literal["mcp_server_update"]
    name: str
    status: Literal["waiting", "starting", "ready", "failed", "disabled", "untrusted"]


class McpServerUpdateEvent(_McpServerUpdateEvent, total=False):
    """The status of an MCP server changed, or its list of tools."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    error: str
    toolCount: int


class PermissionRequestEventBatch(TypedDict):
    """Its place among the calls of the reply."""

    index: int
    count: int


class _PermissionRequestEvent(TypedDict):
    type: Literal["permission_request"]
    # A UUID.
    id: str
    toolCallId: str
    subject: PermissionSubject
    # `sha256:` and the hash of the canonical subject.
    digest: str
    # What it is, in a few words.
    title: str
    # The command, the paths, `host:port`, or the arguments as JSON. Raw: escape it before a terminal shows it.
    text: str
    # Why it is asked.
    reason: str
    # The scopes that an answer may have.
    choices: List[Literal["once", "session", "always"]]
    # 0: no deadline.
    timeoutMs: int
    onTimeout: Literal["deny", "abort"]
    # Its place among the calls of the reply.
    batch: PermissionRequestEventBatch
    # Empty for the session itself; else the subagents, outermost first.
    origin: List[PermissionOrigin]


class PermissionRequestEvent(_PermissionRequestEvent, total=False):
    """A tool call needs an approval. Answer with `permission_response`. Only for hosts that said `hello` with `permissions: 1`; `set_event_filter` does not hide it."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # For commands: the words of each one; `null` when the script is opaque.
    words: Union[List[List[str]], None]
    # For `write` and `protected`: what would change, the first 64 KiB.
    diff: str
    diffTruncated: bool
    # The MCP server that it is about: an answer for the session covers all its tools.
    server: str
    lapsed: PermissionLapse
    rule: SourcedRule
    proposal: PermissionRule
    # Milliseconds since 1970. Absent without a deadline.
    expiresAt: int


class _PermissionResolvedEvent(TypedDict):
    type: Literal["permission_resolved"]
    id: str
    toolCallId: str
    digest: str
    outcome: Literal["allowed", "denied", "cancelled"]
    by: Literal["host", "session", "always", "rule", "timeout", "digest", "mode", "changed", "gone", "nobody", "abort", "steer"]
    waitedMs: int


class PermissionResolvedEvent(_PermissionResolvedEvent, total=False):
    """A question about a tool call is closed: every `permission_request` has exactly one, before the call runs or ends. Close its dialog now."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    scope: Literal["once", "session", "always"]
    # `rule_not_covering`: the rule of the answer does not cover the call, so the answer counts as `once`.
    note: str


class _PermissionModeChangedEvent(TypedDict):
    type: Literal["permission_mode_changed"]
    mode: Literal["plan", "ask", "edit", "full"]


class PermissionModeChangedEvent(_PermissionModeChangedEvent, total=False):
    """`set_permission_mode` changed the mode."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _RunResultEvent(TypedDict):
    type: Literal["run_result"]
    runId: str
    status: Literal["completed", "aborted", "error", "budget", "interrupted"]
    usage: Usage


class RunResultEvent(_RunResultEvent, total=False):
    """With `--seq`: the outcome of a run, exactly once for each, also when the agent was killed (then it is written when the session is opened again)."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Of the command that was accepted.
    key: str
    # Of the last reply.
    stopReason: str
    error: RunError
    # As on the last `agent_end`.
    output: Any
    outputError: str
    # With checkpoints: what the run changed of files that run later on their own. Absent when nothing.
    runsLater: List[RunsLater]


class _RunError(TypedDict):
    # `rate_limit`, `transient`, `overflow` or `permanent`; `refused` for a prompt that could not start; `interrupted`.
    kind: str
    message: str
    # Whether `resume_run` may succeed without any change.
    retryable: bool


class RunError(_RunError, total=False):
    """Why a run failed."""

    code: ErrorCode
    # How long the provider asks to wait.
    retryAfterMs: int


ErrorCode = Literal["bad_json", "unknown_command", "bad_field", "unsupported", "not_found", "nothing_to_do", "key_reused", "frame_too_large", "unknown_since", "stale_cursor", "cursor_ahead", "busy", "session_busy", "aborted", "interrupted", "conflict", "no_model", "unknown_model", "unknown_provider", "no_key", "key_failed", "no_address", "price_unknown", "model_failed", "budget_exceeded", "no_sandbox", "refused", "no_session", "bad_session", "elsewhere", "not_stored", "io", "failed", "internal", "agent_crashed", "stopped", "session_deleted", "seat_taken", "not_attached", "unauthorized", "scope", "read_only", "token_in_url", "wrong_host", "wrong_origin", "cross_site", "no_route", "wrong_method", "upgrade", "too_many_requests", "too_many_connections", "not_settable", "outside_roots", "directory_moved", "directory_missing", "no_room", "draining", "timeout", "no_artifact", "no_fleet", "no_result", "unknown_run", "unknown_lane", "unknown_budget", "not_initialised", "other_version", "owned", "unavailable", "unreachable", "token", "http", "too_long"]
"""Why something failed, as a word for programs; [each code](errors.md) says what to do. Later versions may have more: keep a default. Dialects `pi` and `omp` give those that their hosts know, `strict` none."""


class _RunTakeoverEvent(TypedDict):
    type: Literal["run_takeover"]
    epoch: int
    worker: str
    cutSeq: int


class RunTakeoverEvent(_RunTakeoverEvent, total=False):
    """Of a fleet: another worker goes on with the run, from its last checkpoint. Frames of older epochs after `cutSeq` are void."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _ExtensionErrorEvent(TypedDict):
    type: Literal["extension_error"]
    extensionPath: str
    event: str
    error: str


class ExtensionErrorEvent(_ExtensionErrorEvent, total=False):
    """Code of an extension threw."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SummarizationRetryScheduledEvent(TypedDict):
    type: Literal["summarization_retry_scheduled"]
    # From 1.
    attempt: int
    maxAttempts: int
    delayMs: int
    errorMessage: str


class SummarizationRetryScheduledEvent(_SummarizationRetryScheduledEvent, total=False):
    """The provider failed while a summary was made; it will be asked again."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SummarizationRetryAttemptStartEvent(TypedDict):
    type: Literal["summarization_retry_attempt_start"]
    attempt: int


class SummarizationRetryAttemptStartEvent(_SummarizationRetryAttemptStartEvent, total=False):
    """The provider is asked again for a summary."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SummarizationRetryFinishedEvent(TypedDict):
    type: Literal["summarization_retry_finished"]
    success: bool
    attempt: int


class SummarizationRetryFinishedEvent(_SummarizationRetryFinishedEvent, total=False):
    """The retries for a summary are over."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    finalError: str


class _BashExecutionUpdateEvent(TypedDict):
    type: Literal["bash_execution_update"]
    delta: str


class BashExecutionUpdateEvent(_BashExecutionUpdateEvent, total=False):
    """Output of a `bash` command as it comes, for display: at most every 100 ms and 16 KB each. What is more is left out; the response is authoritative."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id of the command, if it had one.
    id: Union[str, float]


class _EntryAppendedEvent(TypedDict):
    type: Literal["entry_appended"]
    entry: Dict[str, Any]


class EntryAppendedEvent(_EntryAppendedEvent, total=False):
    """An entry was added to the session."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _PromptResultEvent(TypedDict):
    type: Literal["prompt_result"]
    # Whether the model was asked because of it.
    agentInvoked: bool
    status: Literal["completed", "aborted", "error"]
    # Whether the session was idle with it.
    sessionSettled: bool


class PromptResultEvent(_PromptResultEvent, total=False):
    """The outcome of a prompt that was accepted: once for each, after its last `agent_end`, and after the handler of a command has ended. Always sent, whatever the filter."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # The id of the command, if it had one.
    id: Union[str, float]
    error: PromptError


class _PromptError(TypedDict):
    message: str
    # The failure passes: the same prompt may succeed later. Automatic retries are over.
    retryable: bool


class PromptError(_PromptError, total=False):
    """Why a prompt failed, in dialect `omp`."""

    # Like the members that follow: of the reply that failed.
    provider: str
    model: str
    # What the provider answered with.
    httpStatus: int


class _SessionSettledEvent(TypedDict):
    type: Literal["session_settled"]


class SessionSettledEvent(_SessionSettledEvent, total=False):
    """The session is idle; nothing will follow automatically."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _AvailableCommandsUpdateEvent(TypedDict):
    type: Literal["available_commands_update"]
    commands: List[SlashCommand]


class AvailableCommandsUpdateEvent(_AvailableCommandsUpdateEvent, total=False):
    """The slash commands of this session: at the start, and when they have changed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _CommandOutputEvent(TypedDict):
    type: Literal["command_output"]
    text: str


class CommandOutputEvent(_CommandOutputEvent, total=False):
    """What a built-in slash command answers. It comes before the acknowledgement of its prompt, which has `agentInvoked: false`."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SessionInfoUpdateEvent(TypedDict):
    type: Literal["session_info_update"]
    sessionId: str


class SessionInfoUpdateEvent(_SessionInfoUpdateEvent, total=False):
    """The session has another name."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    # Absent when it has none.
    title: str


class _ModelChangedEvent(TypedDict):
    type: Literal["model_changed"]


class ModelChangedEvent(_ModelChangedEvent, total=False):
    """Another model is asked from now on; `get_state` and `config_update` say which."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _ConfigUpdateEvent(TypedDict):
    type: Literal["config_update"]
    thinkingLevel: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class ConfigUpdateEvent(_ConfigUpdateEvent, total=False):
    """The model or the thinking level has changed."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int
    model: Model


class _SubagentLifecycleEventPayload(TypedDict):
    id: str
    agent: str
    isolated: bool
    status: Literal["started", "completed", "failed", "aborted"]


class SubagentLifecycleEventPayload(_SubagentLifecycleEventPayload, total=False):
    # Its place in the call.
    index: int
    taskId: str
    agentSource: Literal["bundled", "user", "project"]
    description: str
    assignment: str
    # The call of `task`.
    parentToolCallId: str
    exitCode: int
    # Absent when nothing is stored.
    sessionFile: str


class _SubagentLifecycleEvent(TypedDict):
    type: Literal["subagent_lifecycle"]
    payload: SubagentLifecycleEventPayload


class SubagentLifecycleEvent(_SubagentLifecycleEvent, total=False):
    """A subagent begins or has ended, after `set_subagent_subscription`. `subagent_start` and `subagent_end` are sent as ever."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _SubagentProgressEventPayload(TypedDict):
    agent: str
    progress: Dict[str, Any]


class SubagentProgressEventPayload(_SubagentProgressEventPayload, total=False):
    index: int
    agentSource: Literal["bundled", "user", "project"]
    # The assignment.
    task: str
    parentToolCallId: str
    sessionFile: str


class _SubagentProgressEvent(TypedDict):
    type: Literal["subagent_progress"]
    payload: SubagentProgressEventPayload


class SubagentProgressEvent(_SubagentProgressEvent, total=False):
    """What a subagent is doing, when it has changed. `progress` is a member of `details.progress` of the `task` tool, with `requests`."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class SubagentEventEventPayload(TypedDict):
    id: str
    event: Dict[str, Any]


class _SubagentEventEvent(TypedDict):
    type: Literal["subagent_event"]
    payload: SubagentEventEventPayload


class SubagentEventEvent(_SubagentEventEvent, total=False):
    """An event of a subagent's session, with the level `events`, of subagents that start after that."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _RpcChunkEvent(TypedDict):
    type: Literal["rpc_chunk"]
    # The same for all parts of a frame.
    chunkId: str
    # From 0.
    index: int
    count: int
    # Of the whole frame.
    byteLength: int
    # base64
    data: str


class RpcChunkEvent(_RpcChunkEvent, total=False):
    """A part of a frame of more than 1 MiB, after `negotiate_protocol` with version 2. Join the decoded parts in order."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _RpcFrameErrorEvent(TypedDict):
    type: Literal["rpc_frame_error"]
    frameType: str
    byteLength: int
    error: str


class RpcFrameErrorEvent(_RpcFrameErrorEvent, total=False):
    """An event of more than 64 MiB could not be sent. A response of that size becomes a failure with its id instead."""

    # With `--seq`: the number of the frame, increasing within the session, with holes.
    seq: int


class _Response(TypedDict):
    type: Literal["response"]
    command: str
    success: bool


class Response(_Response, total=False):
    """The answer to a command. `data` only on success, `error` only on failure."""

    # With `--seq`: all frames with `seq` up to this one were sent before.
    asOf: int
    # The id of the command, as sent.
    id: Union[str, float]
    data: Any
    # On failure: the reason in words.
    error: str
    code: ErrorCode
    # On failure: a guess for a person, such as the name that was probably meant. Not in dialect `strict`.
    hint: str


ExtensionUiRequest = Union["UiSelect", "UiConfirm", "UiInput", "UiEditor", "UiNotify", "UiSetStatus", "UiSetWidget", "UiSetTitle", "UiOpenUrl", "UiSetEditorText", "UiCancel"]
"""An extension asks the user or shows something. Bowline itself asks with `select` before a tool call, if the permission mode says so and the host has not sent `hello` with `permissions: 1`; such a title has several lines."""


class UiSelectOptionDetailsItem(TypedDict, total=False):
    description: str


class _UiSelect(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["select"]
    title: str
    options: List[str]


class UiSelect(_UiSelect, total=False):
    """Choose one option. Answer: `value`, one of `options`; after `cancelled` or the timeout: nothing chosen."""

    # What the options mean, in their order; absent when none is described.
    optionDetails: List[UiSelectOptionDetailsItem]
    # Milliseconds, enforced by the agent. No frame says that they are over: the host takes the dialog away itself.
    timeout: int


class _UiConfirm(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["confirm"]
    title: str
    message: str


class UiConfirm(_UiConfirm, total=False):
    """Yes or no. Answer: `confirmed`; after `cancelled` or the timeout: no."""

    # Milliseconds, enforced by the agent. No frame says that they are over: the host takes the dialog away itself.
    timeout: int


class _UiInput(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["input"]
    title: str


class UiInput(_UiInput, total=False):
    """A line of text. Answer: `value`; after `cancelled` or the timeout: nothing."""

    placeholder: str
    # Milliseconds, enforced by the agent. No frame says that they are over: the host takes the dialog away itself.
    timeout: int


class _UiEditor(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["editor"]
    title: str


class UiEditor(_UiEditor, total=False):
    """A longer text. Answer: `value`; after `cancelled`: nothing. It never times out."""

    prefill: str
    promptStyle: bool


class _UiNotify(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["notify"]
    message: str


class UiNotify(_UiNotify, total=False):
    """Tell the user something. No answer."""

    notifyType: Literal["info", "warning", "error"]


class _UiSetStatus(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["setStatus"]
    statusKey: str


class UiSetStatus(_UiSetStatus, total=False):
    """Show a status text, or clear it (without `statusText`). No answer."""

    statusText: str


class _UiSetWidget(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["setWidget"]
    widgetKey: str


class UiSetWidget(_UiSetWidget, total=False):
    """Show lines of text, or remove them (without `widgetLines`). No answer."""

    widgetLines: List[str]
    widgetPlacement: Literal["aboveEditor", "belowEditor"]


class UiSetTitle(TypedDict):
    """Set the window title; only sent when `PI_RPC_EMIT_TITLE` is set, or in dialect `pi`. No answer."""

    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["setTitle"]
    title: str


class _UiOpenUrl(TypedDict):
    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["open_url"]
    url: str


class UiOpenUrl(_UiOpenUrl, total=False):
    """Open an address that the user agreed to. Dialect `omp` only. No answer."""

    instructions: str


class UiSetEditorText(TypedDict):
    """Put text into the host's editor. No answer."""

    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["set_editor_text"]
    text: str


class UiCancel(TypedDict):
    """Withdraw the open dialog `targetId`. No answer."""

    type: Literal["extension_ui_request"]
    # A UUID.
    id: str
    method: Literal["cancel"]
    targetId: str


class HostToolCall(TypedDict):
    """The model calls a host tool; answer with `host_tool_result` and the same id."""

    type: Literal["host_tool_call"]
    # A UUID.
    id: str
    toolCallId: str
    toolName: str
    arguments: Dict[str, Any]


class HostToolCancel(TypedDict):
    """The call `targetId` is no longer wanted; a later result is ignored."""

    type: Literal["host_tool_cancel"]
    # Of this frame.
    id: str
    # The `id` of the `host_tool_call`.
    targetId: str


class _GateRequestEstimate(TypedDict):
    inputTokens: int
    maxOutputTokens: int
    usd: float


class GateRequestEstimate(_GateRequestEstimate, total=False):
    """Of `model`: what the request may use at most."""

    # The model is not listed, so `usd` is 0 and means nothing.
    priceUnknown: bool


class _GateRequest(TypedDict):
    type: Literal["gate_request"]
    # A UUID.
    id: str
    kind: Literal["model", "tool", "subagent"]
    asOf: int


class GateRequest(_GateRequest, total=False):
    """The agent waits before a step. Everything up to `asOf` is on disk. Answer with `gate_response`."""

    # Of `model`: what the request may use at most.
    estimate: GateRequestEstimate
    # Of `tool` and `subagent`: the call.
    toolCallId: str
    toolName: str
    # The subagents that the question comes from, outermost first; absent for the session itself.
    agentPath: List[PermissionOrigin]


Gap = TypedDict(
    "Gap",
    {
        "type": Literal["gap"],
        "from": int,
        "to": int,
        "reason": Literal["ephemeral", "slow_reader", "restart", "hole", "log_trimmed", "log_missing"],
        "durableLost": bool,
    },
)
"""To one reader: frames are missing here. Without it nothing that is kept is missing, whatever holes the numbers have."""


class Snapshot(TypedDict):
    """To one reader, after the frames that were sent again: what is going on at the place `seq`."""

    type: Literal["snapshot"]
    # A place, not a number of its own.
    seq: int
    epoch: int
    live: LiveState


class LiveStateQueue(TypedDict):
    steering: List[str]
    followUp: List[str]


class _LiveState(TypedDict):
    phase: Literal["idle", "running", "retrying", "compacting"]
    tools: List[LiveTool]
    # Open questions, in the order in which they were asked.
    dialogs: List[Union[ExtensionUiRequest, PermissionRequest]]
    queue: LiveStateQueue
    todoPhases: List[TodoPhase]
    subagents: List[LiveSubagent]
    # Texts of `setStatus` by key.
    status: Dict[str, str]
    # Lines of `setWidget` by key.
    widgets: Dict[str, List[str]]
    retry: Union[LiveRetry, None]


class LiveState(_LiveState, total=False):
    """What is going on: what a reader needs besides the finished messages."""

    runId: str
    message: AssistantMessage
    budget: BudgetSnapshot


class _LiveTool(TypedDict):
    toolCallId: str
    toolName: str
    args: Dict[str, Any]


class LiveTool(_LiveTool, total=False):
    """A tool call that has started and not ended."""

    partialResult: ToolResult


class _LiveSubagent(TypedDict):
    id: str
    agent: str
    isolated: bool


class LiveSubagent(_LiveSubagent, total=False):
    """A subagent that has started and not ended."""

    taskId: str


class LiveRetry(TypedDict):
    """The wait before the provider is asked again."""

    attempt: int
    maxAttempts: int
    delayMs: int
    errorMessage: str


class _TaskArguments(TypedDict):
    # The name of the agent to start.
    agent: str
    tasks: List[TaskItem]


class TaskArguments(_TaskArguments, total=False):
    """Arguments of the `task` tool."""

    # Shared background, put before each assignment.
    context: str
    # The required shape of each result, as JSON Schema or JSON Type Definition.
    schema: Dict[str, Any]
    # Work in a copy of the repository; what was changed is merged at the end.
    isolated: bool
    # Checks that isolated work must pass: true (the default profile), the name of a profile, or commands.
    verify: Union[bool, str, VerificationRequest]


class TaskItem(TypedDict):
    """One piece of work."""

    # A CamelCase word of at most 48 characters, different for each task of the call.
    id: str
    # What it is about, in a few words, for a person who follows the run.
    description: str
    # Everything the agent must know: the goal, the places, the limits, how to know that it is done.
    assignment: str


class VerificationRequest(TypedDict, total=False):
    """Which checks to run; laid over the named profile."""

    profile: str
    mode: str
    commands: List[VerificationCommand]
    maxRetries: int
    onFailure: Literal["return_failure", "discard_patch", "retry_once"]


class _VerificationCommand(TypedDict):
    name: str
    # Run by a login bash in the isolated workspace.
    command: str


class VerificationCommand(_VerificationCommand, total=False):
    """A command that checks isolated work."""

    timeoutMs: int
    # Its failure does not fail the attempt.
    optional: bool


class _TaskDetails(TypedDict):
    projectAgentsDir: Union[str, None]
    results: List[SingleResult]
    totalDurationMs: float


class TaskDetails(_TaskDetails, total=False):
    """`details` of a `task` result."""

    usage: Usage
    # Of all subagents, and of theirs.
    toolCalls: int
    outputPaths: List[str]
    progress: List[Dict[str, Any]]


class _SingleResult(TypedDict):
    index: int
    id: str
    agent: str
    agentSource: str
    task: str
    exitCode: int
    output: str
    stderr: str
    truncated: bool
    durationMs: float
    tokens: int


class SingleResult(_SingleResult, total=False):
    """What became of one task."""

    assignment: str
    description: str
    error: str
    aborted: bool
    abortReason: str
    verification: VerificationResult
    usage: Usage
    toolCalls: int
    outputPath: str
    patchPath: str
    branchName: str


class GetMessagesResult(TypedDict):
    messages: List[AgentMessage]


class GetLastAssistantTextResult(TypedDict):
    text: Union[str, None]


class GetAvailableModelsResult(TypedDict):
    models: List[Model]


class CycleThinkingLevelResult(TypedDict):
    level: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class GetAvailableThinkingLevelsResult(TypedDict):
    levels: List[str]


class ClearQueueResult(TypedDict):
    steering: List[str]
    followUp: List[str]


class NewSessionResult(TypedDict):
    # True when an extension prevented it; nothing changed then.
    cancelled: bool


class SwitchSessionResult(TypedDict):
    # True when an extension prevented it; nothing changed then.
    cancelled: bool


class GetForkMessagesResult(TypedDict):
    messages: List[ForkPoint]


class GetBranchMessagesResult(TypedDict):
    messages: List[ForkPoint]


class ExportHtmlResult(TypedDict):
    path: str


class CloneResult(TypedDict):
    # True when an extension prevented it; nothing changed then.
    cancelled: bool


class GetEntriesResult(TypedDict):
    entries: List[Dict[str, Any]]
    leafId: Union[str, None]


class GetTreeResult(TypedDict):
    tree: List[Dict[str, Any]]
    leafId: Union[str, None]


class _GetMessagesPageResult(TypedDict):
    messages: List[AgentMessage]
    totalMessages: int


class GetMessagesPageResult(_GetMessagesPageResult, total=False):
    nextCursor: str


class _OpenSessionResult(TypedDict):
    # True when an extension prevented it; nothing changed then.
    cancelled: bool
    resumed: bool
    sessionId: str


class OpenSessionResult(_OpenSessionResult, total=False):
    sessionFile: str


class _GetCheckpointsResult(TypedDict):
    enabled: bool
    checkpoints: List[CheckpointInfo]


class GetCheckpointsResult(_GetCheckpointsResult, total=False):
    # Why it is off.
    reason: str
    # The directory that `path` members are relative to.
    root: str
    # Files that are too large, or too many, to keep; at most 1,000 names.
    leftOut: List[str]
    # Repositories whose commits and branches are not kept, and why.
    withoutHistory: List[str]


class _GetChangesResult(TypedDict):
    # The directory that `path` members are relative to.
    root: str
    files: List[FileChange]
    # Unified, for `git apply` and people; at most 1 MiB.
    diff: str
    # The difference is longer.
    truncated: bool


class GetChangesResult(_GetChangesResult, total=False):
    # Those of the files that run later on their own; absent when none does.
    runsLater: List[RunsLater]
    # Files and folders that git ignores, that were there and are gone or empty: too large to be kept, so they are not put back. Absent when there is none.
    lost: List[str]
    # What was lost of commits and branches, as a rewind to `from` would put it back; absent when nothing was.
    history: List[RefMove]


class _RewindResultHistory(TypedDict):
    restored: List[RefMove]


class RewindResultHistory(_RewindResultHistory, total=False):
    """What of commits and branches had been lost; absent when nothing was."""

    # Where commits are that were made since, and that no branch has now.
    kept: List[str]
    # What could not be put back.
    problems: List[str]
    # So many names are left out.
    more: int


class _RewindResult(TypedDict):
    # An extension refused. Nothing was done.
    cancelled: bool
    restored: List[str]
    skipped: List[str]


class RewindResult(_RewindResult, total=False):
    # Files and folders that git ignores, that were there and are gone or empty: too large to be kept, so they are not put back. Absent when there is none.
    lost: List[str]
    # What of commits and branches had been lost; absent when nothing was.
    history: RewindResultHistory
    undoEntryId: str
    # The text of the prompt that the conversation went back to, to be edited and sent again.
    text: str


class SetTodosResult(TypedDict):
    todoPhases: List[TodoPhase]


class SetHostToolsResult(TypedDict):
    toolNames: List[str]


class GetCommandsResult(TypedDict):
    commands: List[SlashCommand]


class GetAvailableCommandsResult(TypedDict):
    commands: List[SlashCommand]


class _SetEventFilterResult(TypedDict):
    events: Union[List[str], None]


class SetEventFilterResult(_SetEventFilterResult, total=False):
    # For a person: names that no event has, and the ones that were probably meant.
    hint: str


class SetMcpServersResult(TypedDict):
    serverNames: List[str]


class GetMcpServersResult(TypedDict):
    servers: List[McpServer]


class RestartMcpServerResult(TypedDict):
    server: McpServer


class HelloResult(TypedDict):
    # Of Bowline.
    version: str
    # Version of this protocol: 1.
    protocol: int
    # The agent's working directory.
    cwd: str
    # What both sides can do.
    capabilities: Dict[str, int]
    sandbox: SandboxState
    permissionMode: Literal["plan", "ask", "edit", "full"]


class GetPermissionsResult(TypedDict):
    mode: Literal["plan", "ask", "edit", "full"]
    rules: List[SourcedRule]
    grants: List[PermissionGrant]
    pending: List[PermissionRequest]


class SubscribeResult(TypedDict):
    # The number up to which frames are sent again.
    replayTo: int
    # The first number that the log may have.
    firstSeq: int
    epoch: int


class _PingResult(TypedDict):
    phase: Literal["idle", "running", "retrying", "compacting"]


class PingResult(_PingResult, total=False):
    # With `--seq`.
    asOf: int


class NegotiateProtocolResult(TypedDict):
    protocolVersion: int


class SetFastModeResult(TypedDict):
    enabled: bool
    # Always false.
    active: bool


class SetHostUriSchemesResult(TypedDict):
    schemes: List[str]


class SetSubagentSubscriptionResult(TypedDict):
    level: str


class GetSubagentsResult(TypedDict):
    subagents: List[Subagent]


class GetSubagentMessagesResult(TypedDict):
    sessionFile: str
    fromByte: int
    # Where to go on next time.
    nextByte: int
    # The file was shorter than `fromByte` and has been read from its start.
    reset: bool
    entries: List[Dict[str, Any]]
    messages: List[AgentMessage]


EventName = Literal[
    "ready",
    "agent_start",
    "agent_end",
    "agent_settled",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "auto_compaction_start",
    "auto_compaction_end",
    "compaction_start",
    "compaction_end",
    "auto_retry_start",
    "auto_retry_end",
    "ttsr_triggered",
    "todo_reminder",
    "todo_auto_clear",
    "subagent_start",
    "subagent_end",
    "subagent_verification_start",
    "subagent_verification_command_start",
    "subagent_verification_command_end",
    "subagent_verification_end",
    "budget_warning",
    "budget_exceeded",
    "queue_update",
    "session_info_changed",
    "thinking_level_changed",
    "mcp_server_update",
    "permission_request",
    "permission_resolved",
    "permission_mode_changed",
    "run_result",
    "run_takeover",
    "extension_error",
    "summarization_retry_scheduled",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
    "bash_execution_update",
    "entry_appended",
    "prompt_result",
    "session_settled",
    "available_commands_update",
    "command_output",
    "session_info_update",
    "model_changed",
    "config_update",
    "subagent_lifecycle",
    "subagent_progress",
    "subagent_event",
    "rpc_chunk",
    "rpc_frame_error",
]
Event = Union[
    "ReadyEvent",
    "AgentStartEvent",
    "AgentEndEvent",
    "AgentSettledEvent",
    "TurnStartEvent",
    "TurnEndEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "MessageEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "ToolExecutionEndEvent",
    "AutoCompactionStartEvent",
    "AutoCompactionEndEvent",
    "CompactionStartEvent",
    "CompactionEndEvent",
    "AutoRetryStartEvent",
    "AutoRetryEndEvent",
    "TtsrTriggeredEvent",
    "TodoReminderEvent",
    "TodoAutoClearEvent",
    "SubagentStartEvent",
    "SubagentEndEvent",
    "SubagentVerificationStartEvent",
    "SubagentVerificationCommandStartEvent",
    "SubagentVerificationCommandEndEvent",
    "SubagentVerificationEndEvent",
    "BudgetWarningEvent",
    "BudgetExceededEvent",
    "QueueUpdateEvent",
    "SessionInfoChangedEvent",
    "ThinkingLevelChangedEvent",
    "McpServerUpdateEvent",
    "PermissionRequestEvent",
    "PermissionResolvedEvent",
    "PermissionModeChangedEvent",
    "RunResultEvent",
    "RunTakeoverEvent",
    "ExtensionErrorEvent",
    "SummarizationRetryScheduledEvent",
    "SummarizationRetryAttemptStartEvent",
    "SummarizationRetryFinishedEvent",
    "BashExecutionUpdateEvent",
    "EntryAppendedEvent",
    "PromptResultEvent",
    "SessionSettledEvent",
    "AvailableCommandsUpdateEvent",
    "CommandOutputEvent",
    "SessionInfoUpdateEvent",
    "ModelChangedEvent",
    "ConfigUpdateEvent",
    "SubagentLifecycleEvent",
    "SubagentProgressEvent",
    "SubagentEventEvent",
    "RpcChunkEvent",
    "RpcFrameErrorEvent",
]
