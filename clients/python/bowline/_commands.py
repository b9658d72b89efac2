# Generated from schema/protocol.json by `npm run generate`. Do not edit.
"""Every command as a method."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from . import protocol
from ._defaults import DEFAULT, Timeout

# They end when they end: work in the background, and aborts, which wait for what they abort.
UNHURRIED = frozenset(("abort", "abort_and_prompt", "compact", "abort_retry", "bash", "abort_bash", "export_html", "restart_mcp_server", "ping"))
# They change nothing: to send one again does no harm.
READING = frozenset(("get_state", "get_messages", "get_last_assistant_text", "get_available_models", "get_available_thinking_levels", "get_fork_messages", "get_branch_messages", "get_session_stats", "get_entries", "get_tree", "get_messages_page", "get_checkpoints", "get_changes", "get_commands", "get_available_commands", "set_event_filter", "get_mcp_servers", "get_permissions", "subscribe", "ping", "get_integrations", "get_subagents", "get_subagent_messages", "get_login_providers"))


def _given(needed: Dict[str, Any], **free: Any) -> Dict[str, Any]:
    return {**needed, **{name: value for name, value in free.items() if value is not None}}


class AsyncCommands:
    """The commands, for asyncio."""

    async def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        raise NotImplementedError

    async def prompt(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        streaming_behavior: Optional[Literal["steer", "followUp"]] = None,
        output_schema: Optional[Dict[str, Any]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Ask the agent. Answered at once: accepted for scheduling, not finished; the end is `agent_settled`. While busy, `streamingBehavior` says how to queue it; without it the answer is a failure."""
        return await self._call("prompt", _given({"message": message}, key=key, images=images, streamingBehavior=streaming_behavior, outputSchema=output_schema), timeout)

    async def steer(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Queue a message that reaches the model at the next opportunity, in the middle of its work. When idle it waits for the next run."""
        return await self._call("steer", _given({"message": message}, key=key, images=images), timeout)

    async def follow_up(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Queue a message for when the agent would otherwise stop."""
        return await self._call("follow_up", _given({"message": message}, key=key, images=images), timeout)

    async def abort(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Stop the run, a retry wait or a compaction. Queues stay. Open host tool calls get `host_tool_cancel`, the reply ends with `stopReason` `aborted`, and after `agent_settled` comes the answer. Idle: answered at once."""
        await self._call("abort", _given({}, key=key), timeout)

    async def abort_and_prompt(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Abort, wait for idle, then prompt. Answered between the old run's last event and the new run's first."""
        await self._call("abort_and_prompt", _given({"message": message}, key=key, images=images), timeout)

    async def get_state(
        self,
        *,
        key: Optional[str] = None,
        full: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SessionState:
        """The state of the session. `full` adds the system prompt and the tools of the model."""
        return await self._call("get_state", _given({}, key=key, full=full), timeout)

    async def get_messages(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetMessagesResult:
        """The current context. After compaction it starts with a summary."""
        return await self._call("get_messages", _given({}, key=key), timeout)

    async def get_last_assistant_text(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetLastAssistantTextResult:
        """The text of the last reply, `null` when there is none."""
        return await self._call("get_last_assistant_text", _given({}, key=key), timeout)

    async def set_model(
        self,
        provider: str,
        model_id: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Model:
        """Choose the model for the next model call."""
        return await self._call("set_model", _given({"provider": provider, "modelId": model_id}, key=key), timeout)

    async def cycle_model(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> Union[protocol.CycledModel, None]:
        """The next model of the scope, or of all available ones. `null` when there is at most one."""
        return await self._call("cycle_model", _given({}, key=key), timeout)

    async def get_available_models(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableModelsResult:
        """The models that can be used with the credentials at hand."""
        return await self._call("get_available_models", _given({}, key=key), timeout)

    async def set_thinking_level(
        self,
        level: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.LevelChange:
        """How much the model thinks: off, minimal, low, medium, high or xhigh (`max` means the highest there is). A level the model lacks becomes the nearest one it has. It counts from the next prompt: a turn keeps the level with which it began. The answer has `cache: "messages"` when the model's provider then forgets the messages that it keeps, so that the next request costs more."""
        return await self._call("set_thinking_level", _given({"level": level}, key=key), timeout)

    async def cycle_thinking_level(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> Union[protocol.CycleThinkingLevelResult, None]:
        """The next level the model has. `null` when it does not reason."""
        return await self._call("cycle_thinking_level", _given({}, key=key), timeout)

    async def get_available_thinking_levels(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableThinkingLevelsResult:
        """The levels the model has; only `off` when it does not reason."""
        return await self._call("get_available_thinking_levels", _given({}, key=key), timeout)

    async def set_steering_mode(
        self,
        mode: Literal["all", "one-at-a-time"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """How many steering messages one delivery takes."""
        await self._call("set_steering_mode", _given({"mode": mode}, key=key), timeout)

    async def set_follow_up_mode(
        self,
        mode: Literal["all", "one-at-a-time"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """How many follow-ups one delivery takes."""
        await self._call("set_follow_up_mode", _given({"mode": mode}, key=key), timeout)

    async def set_interrupt_mode(
        self,
        mode: Literal["immediate", "wait"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """`immediate`: steering is looked for after every tool call, and skips the rest of the turn's calls. `wait`: only after the turn."""
        await self._call("set_interrupt_mode", _given({"mode": mode}, key=key), timeout)

    async def clear_queue(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.ClearQueueResult:
        """Empty both queues; answers with the texts that were in them."""
        return await self._call("clear_queue", _given({}, key=key), timeout)

    async def compact(
        self,
        *,
        key: Optional[str] = None,
        custom_instructions: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.CompactionResult:
        """Compact the conversation now. A running run is aborted first."""
        return await self._call("compact", _given({}, key=key, customInstructions=custom_instructions), timeout)

    async def set_auto_compaction(
        self,
        enabled: bool,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Automatic compaction on or off, for this session."""
        await self._call("set_auto_compaction", _given({"enabled": enabled}, key=key), timeout)

    async def set_auto_retry(self, enabled: bool, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Automatic retry on or off, for this session."""
        await self._call("set_auto_retry", _given({"enabled": enabled}, key=key), timeout)

    async def abort_retry(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Cancel the wait of a pending retry. A success also when none is pending."""
        await self._call("abort_retry", _given({}, key=key), timeout)

    async def bash(
        self,
        command: str,
        *,
        key: Optional[str] = None,
        sandbox: Optional[bool] = None,
        exclude_from_context: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.BashResult:
        """Run a shell command for the host, also during a run. The model sees it with the next prompt."""
        return await self._call("bash", _given({"command": command}, key=key, sandbox=sandbox, excludeFromContext=exclude_from_context), timeout)

    async def abort_bash(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Kill every running `bash` command."""
        await self._call("abort_bash", _given({}, key=key), timeout)

    async def new_session(
        self,
        *,
        key: Optional[str] = None,
        parent_session: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.NewSessionResult:
        """Start over with an empty conversation. Model, thinking level, modes and host tools stay."""
        return await self._call("new_session", _given({}, key=key, parentSession=parent_session), timeout)

    async def switch_session(
        self,
        session_path: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SwitchSessionResult:
        """Open another session file. A path that does not exist starts a session there."""
        return await self._call("switch_session", _given({"sessionPath": session_path}, key=key), timeout)

    async def fork(self, entry_id: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.Forked:
        """Continue from just before a user message, in a new session. `branch` is the same."""
        return await self._call("fork", _given({"entryId": entry_id}, key=key), timeout)

    async def branch(self, entry_id: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.Forked:
        """Another name for `fork`."""
        return await self._call("branch", _given({"entryId": entry_id}, key=key), timeout)

    async def get_fork_messages(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetForkMessagesResult:
        """Every user message of the session file that can be forked at. `get_branch_messages` is the same."""
        return await self._call("get_fork_messages", _given({}, key=key), timeout)

    async def get_branch_messages(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetBranchMessagesResult:
        """Another name for `get_fork_messages`."""
        return await self._call("get_branch_messages", _given({}, key=key), timeout)

    async def set_session_name(self, name: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Name the session. An empty name is refused."""
        await self._call("set_session_name", _given({"name": name}, key=key), timeout)

    async def get_session_stats(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SessionStats:
        """Messages, tokens and cost."""
        return await self._call("get_session_stats", _given({}, key=key), timeout)

    async def export_html(
        self,
        *,
        key: Optional[str] = None,
        output_path: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.ExportHtmlResult:
        """Write the session as one HTML page."""
        return await self._call("export_html", _given({}, key=key, outputPath=output_path), timeout)

    async def clone(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.CloneResult:
        """Continue in a new session that is a copy of the active branch."""
        return await self._call("clone", _given({}, key=key), timeout)

    async def get_entries(
        self,
        *,
        key: Optional[str] = None,
        since: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetEntriesResult:
        """The entries of the session file in the order they were written, after `since` if given. `docs/sessions.md` describes them."""
        return await self._call("get_entries", _given({}, key=key, since=since), timeout)

    async def get_tree(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetTreeResult:
        """The entries as a tree of `{entry, children, label?, labelTimestamp?}`."""
        return await self._call("get_tree", _given({}, key=key), timeout)

    async def get_messages_page(
        self,
        *,
        key: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetMessagesPageResult:
        """The context in pages of 1 to 256 messages (100 by default)."""
        return await self._call("get_messages_page", _given({}, key=key, cursor=cursor, limit=limit), timeout)

    async def open_session(
        self,
        session_dir: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.OpenSessionResult:
        """Resume the latest session of a directory, or start one there."""
        return await self._call("open_session", _given({"sessionDir": session_dir}, key=key), timeout)

    async def get_checkpoints(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetCheckpointsResult:
        """The states of the files that were noted in this session (`checkpoints.enabled`), oldest first: `before` a turn that may change files, and `after` it."""
        return await self._call("get_checkpoints", _given({}, key=key), timeout)

    async def get_changes(
        self,
        *,
        key: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetChangesResult:
        """What happened to the files between two entries of the session: `from` its first checkpoint and `to` the files as they are now, unless named."""
        return await self._call("get_changes", _given({}, key=key, **{"from": from_}, to=to), timeout)

    async def rewind(
        self,
        entry_id: str,
        *,
        key: Optional[str] = None,
        files: Optional[bool] = None,
        conversation: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.RewindResult:
        """Go back to an entry: files, conversation, or both; all or nothing. A run is aborted first. Files that others changed since stay as they are and are in `skipped`. To undo it, rewind to `undoEntryId`."""
        return await self._call("rewind", _given({"entryId": entry_id}, key=key, files=files, conversation=conversation), timeout)

    async def set_todos(
        self,
        phases: List[protocol.TodoPhaseInput],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetTodosResult:
        """Replace the todo list. Answers with the normalised list."""
        return await self._call("set_todos", _given({"phases": phases}, key=key), timeout)

    async def set_host_tools(
        self,
        tools: List[protocol.HostToolDefinition],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetHostToolsResult:
        """Replace the tools that live in the host. All or nothing: on failure the old set stays."""
        return await self._call("set_host_tools", _given({"tools": tools}, key=key), timeout)

    async def get_commands(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetCommandsResult:
        """The slash commands of this session."""
        return await self._call("get_commands", _given({}, key=key), timeout)

    async def get_available_commands(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableCommandsResult:
        """Another name for `get_commands`."""
        return await self._call("get_available_commands", _given({}, key=key), timeout)

    async def set_event_filter(
        self,
        events: Union[List[str], None],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetEventFilterResult:
        """Send only the named events; `null` sends all again. Responses, dialogs and host tool calls always pass."""
        return await self._call("set_event_filter", _given({"events": events}, key=key), timeout)

    async def set_mcp_servers(
        self,
        servers: Union[Dict[str, Any], List[Dict[str, Any]]],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetMcpServersResult:
        """Replace the host's MCP servers of this session, by name or as a list with names; `{}` removes them. All or nothing: on failure the old set stays. Answered when the entries are checked, before the servers are connected."""
        return await self._call("set_mcp_servers", _given({"servers": servers}, key=key), timeout)

    async def get_mcp_servers(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetMcpServersResult:
        """The MCP servers of this session and what became of them."""
        return await self._call("get_mcp_servers", _given({}, key=key), timeout)

    async def restart_mcp_server(
        self,
        name: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.RestartMcpServerResult:
        """End an MCP server and start it again. Answered when it is ready or has failed."""
        return await self._call("restart_mcp_server", _given({"name": name}, key=key), timeout)

    async def hello(
        self,
        *,
        key: Optional[str] = None,
        client: Optional[Dict[str, Any]] = None,
        capabilities: Optional[Dict[str, int]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.HelloResult:
        """Say who the host is and what it can do. The last `hello` counts; `capabilities: {}` withdraws it. Unknown names are ignored. The answer has the lower version of both sides."""
        return await self._call("hello", _given({}, key=key, client=client, capabilities=capabilities), timeout)

    async def set_permission_mode(
        self,
        mode: Literal["plan", "ask", "edit", "full"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Change how much is allowed without asking, for this session and its subagents. Open questions are decided again at once."""
        await self._call("set_permission_mode", _given({"mode": mode}, key=key), timeout)

    async def get_permissions(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetPermissionsResult:
        """Mode, rules, grants and open questions. A host that reconnects sees here what is open."""
        return await self._call("get_permissions", _given({}, key=key), timeout)

    async def revoke_permission(
        self,
        *,
        key: Optional[str] = None,
        permission_id: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Take a grant back. Without `permissionId` the command's own `id` names it. Fails with `Permission not found: <id>`."""
        await self._call("revoke_permission", _given({}, key=key, permissionId=permission_id), timeout)

    async def subscribe(
        self,
        *,
        key: Optional[str] = None,
        after_seq: Optional[int] = None,
        filter: Optional[List[str]] = None,
        deltas: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SubscribeResult:
        """Number all frames from now on, and send again what this reader missed: one `gap` if anything is missing, the kept frames after `afterSeq`, one `snapshot`, then new frames. Fails with code `cursor_ahead` when `afterSeq` is beyond the last number."""
        return await self._call("subscribe", _given({}, key=key, afterSeq=after_seq, filter=filter, deltas=deltas), timeout)

    async def ping(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.PingResult:
        """Whether the agent is there. Answered at once."""
        return await self._call("ping", _given({}, key=key), timeout)

    async def resume_run(
        self,
        *,
        key: Optional[str] = None,
        note: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Resumption:
        """Go on from the conversation as it is, after a crash, an abort or a failure: calls without results get one that says so, and the model is asked. `nothing` when the last message is a finished reply and no message waits."""
        return await self._call("resume_run", _given({}, key=key, note=note), timeout)

    async def negotiate_protocol(
        self,
        protocol_version: int,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.NegotiateProtocolResult:
        """Agree on a protocol version; served in dialect `omp` only."""
        return await self._call("negotiate_protocol", _given({"protocolVersion": protocol_version}, key=key), timeout)

    async def set_fast_mode(
        self,
        enabled: bool,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetFastModeResult:
        """Accepted in dialect `omp` only, without effect."""
        return await self._call("set_fast_mode", _given({"enabled": enabled}, key=key), timeout)

    async def set_host_uri_schemes(
        self,
        schemes: List[Dict[str, Any]],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetHostUriSchemesResult:
        """Accepted in dialect `omp` only, without effect: the agent never asks for such an address."""
        return await self._call("set_host_uri_schemes", _given({"schemes": schemes}, key=key), timeout)

    async def set_subagent_subscription(
        self,
        level: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetSubagentSubscriptionResult:
        """Hear of subagents as they come, work and go (`progress`), also of their own events (`events`), or not (`off`); served in dialect `omp` only."""
        return await self._call("set_subagent_subscription", _given({"level": level}, key=key), timeout)

    async def get_subagents(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetSubagentsResult:
        """The subagents of this process; served in dialect `omp` only."""
        return await self._call("get_subagents", _given({}, key=key), timeout)

    async def get_subagent_messages(
        self,
        *,
        key: Optional[str] = None,
        subagent_id: Optional[str] = None,
        session_file: Optional[str] = None,
        from_byte: Optional[int] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetSubagentMessagesResult:
        """What a subagent has said, from a place in its session file on; served in dialect `omp` only."""
        return await self._call("get_subagent_messages", _given({}, key=key, subagentId=subagent_id, sessionFile=session_file, fromByte=from_byte), timeout)


class Commands:
    """The commands, each of which waits for its answer."""

    def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        raise NotImplementedError

    def prompt(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        streaming_behavior: Optional[Literal["steer", "followUp"]] = None,
        output_schema: Optional[Dict[str, Any]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Ask the agent. Answered at once: accepted for scheduling, not finished; the end is `agent_settled`. While busy, `streamingBehavior` says how to queue it; without it the answer is a failure."""
        return self._call("prompt", _given({"message": message}, key=key, images=images, streamingBehavior=streaming_behavior, outputSchema=output_schema), timeout)

    def steer(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Queue a message that reaches the model at the next opportunity, in the middle of its work. When idle it waits for the next run."""
        return self._call("steer", _given({"message": message}, key=key, images=images), timeout)

    def follow_up(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Disposition:
        """Queue a message for when the agent would otherwise stop."""
        return self._call("follow_up", _given({"message": message}, key=key, images=images), timeout)

    def abort(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Stop the run, a retry wait or a compaction. Queues stay. Open host tool calls get `host_tool_cancel`, the reply ends with `stopReason` `aborted`, and after `agent_settled` comes the answer. Idle: answered at once."""
        self._call("abort", _given({}, key=key), timeout)

    def abort_and_prompt(
        self,
        message: str,
        *,
        key: Optional[str] = None,
        images: Optional[List[protocol.ImageInput]] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Abort, wait for idle, then prompt. Answered between the old run's last event and the new run's first."""
        self._call("abort_and_prompt", _given({"message": message}, key=key, images=images), timeout)

    def get_state(
        self,
        *,
        key: Optional[str] = None,
        full: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SessionState:
        """The state of the session. `full` adds the system prompt and the tools of the model."""
        return self._call("get_state", _given({}, key=key, full=full), timeout)

    def get_messages(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetMessagesResult:
        """The current context. After compaction it starts with a summary."""
        return self._call("get_messages", _given({}, key=key), timeout)

    def get_last_assistant_text(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetLastAssistantTextResult:
        """The text of the last reply, `null` when there is none."""
        return self._call("get_last_assistant_text", _given({}, key=key), timeout)

    def set_model(
        self,
        provider: str,
        model_id: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Model:
        """Choose the model for the next model call."""
        return self._call("set_model", _given({"provider": provider, "modelId": model_id}, key=key), timeout)

    def cycle_model(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> Union[protocol.CycledModel, None]:
        """The next model of the scope, or of all available ones. `null` when there is at most one."""
        return self._call("cycle_model", _given({}, key=key), timeout)

    def get_available_models(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableModelsResult:
        """The models that can be used with the credentials at hand."""
        return self._call("get_available_models", _given({}, key=key), timeout)

    def set_thinking_level(
        self,
        level: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.LevelChange:
        """How much the model thinks: off, minimal, low, medium, high or xhigh (`max` means the highest there is). A level the model lacks becomes the nearest one it has. It counts from the next prompt: a turn keeps the level with which it began. The answer has `cache: "messages"` when the model's provider then forgets the messages that it keeps, so that the next request costs more."""
        return self._call("set_thinking_level", _given({"level": level}, key=key), timeout)

    def cycle_thinking_level(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> Union[protocol.CycleThinkingLevelResult, None]:
        """The next level the model has. `null` when it does not reason."""
        return self._call("cycle_thinking_level", _given({}, key=key), timeout)

    def get_available_thinking_levels(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableThinkingLevelsResult:
        """The levels the model has; only `off` when it does not reason."""
        return self._call("get_available_thinking_levels", _given({}, key=key), timeout)

    def set_steering_mode(
        self,
        mode: Literal["all", "one-at-a-time"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """How many steering messages one delivery takes."""
        self._call("set_steering_mode", _given({"mode": mode}, key=key), timeout)

    def set_follow_up_mode(
        self,
        mode: Literal["all", "one-at-a-time"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """How many follow-ups one delivery takes."""
        self._call("set_follow_up_mode", _given({"mode": mode}, key=key), timeout)

    def set_interrupt_mode(
        self,
        mode: Literal["immediate", "wait"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """`immediate`: steering is looked for after every tool call, and skips the rest of the turn's calls. `wait`: only after the turn."""
        self._call("set_interrupt_mode", _given({"mode": mode}, key=key), timeout)

    def clear_queue(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.ClearQueueResult:
        """Empty both queues; answers with the texts that were in them."""
        return self._call("clear_queue", _given({}, key=key), timeout)

    def compact(
        self,
        *,
        key: Optional[str] = None,
        custom_instructions: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.CompactionResult:
        """Compact the conversation now. A running run is aborted first."""
        return self._call("compact", _given({}, key=key, customInstructions=custom_instructions), timeout)

    def set_auto_compaction(self, enabled: bool, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Automatic compaction on or off, for this session."""
        self._call("set_auto_compaction", _given({"enabled": enabled}, key=key), timeout)

    def set_auto_retry(self, enabled: bool, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Automatic retry on or off, for this session."""
        self._call("set_auto_retry", _given({"enabled": enabled}, key=key), timeout)

    def abort_retry(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Cancel the wait of a pending retry. A success also when none is pending."""
        self._call("abort_retry", _given({}, key=key), timeout)

    def bash(
        self,
        command: str,
        *,
        key: Optional[str] = None,
        sandbox: Optional[bool] = None,
        exclude_from_context: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.BashResult:
        """Run a shell command for the host, also during a run. The model sees it with the next prompt."""
        return self._call("bash", _given({"command": command}, key=key, sandbox=sandbox, excludeFromContext=exclude_from_context), timeout)

    def abort_bash(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Kill every running `bash` command."""
        self._call("abort_bash", _given({}, key=key), timeout)

    def new_session(
        self,
        *,
        key: Optional[str] = None,
        parent_session: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.NewSessionResult:
        """Start over with an empty conversation. Model, thinking level, modes and host tools stay."""
        return self._call("new_session", _given({}, key=key, parentSession=parent_session), timeout)

    def switch_session(
        self,
        session_path: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SwitchSessionResult:
        """Open another session file. A path that does not exist starts a session there."""
        return self._call("switch_session", _given({"sessionPath": session_path}, key=key), timeout)

    def fork(self, entry_id: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.Forked:
        """Continue from just before a user message, in a new session. `branch` is the same."""
        return self._call("fork", _given({"entryId": entry_id}, key=key), timeout)

    def branch(self, entry_id: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.Forked:
        """Another name for `fork`."""
        return self._call("branch", _given({"entryId": entry_id}, key=key), timeout)

    def get_fork_messages(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetForkMessagesResult:
        """Every user message of the session file that can be forked at. `get_branch_messages` is the same."""
        return self._call("get_fork_messages", _given({}, key=key), timeout)

    def get_branch_messages(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetBranchMessagesResult:
        """Another name for `get_fork_messages`."""
        return self._call("get_branch_messages", _given({}, key=key), timeout)

    def set_session_name(self, name: str, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> None:
        """Name the session. An empty name is refused."""
        self._call("set_session_name", _given({"name": name}, key=key), timeout)

    def get_session_stats(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.SessionStats:
        """Messages, tokens and cost."""
        return self._call("get_session_stats", _given({}, key=key), timeout)

    def export_html(
        self,
        *,
        key: Optional[str] = None,
        output_path: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.ExportHtmlResult:
        """Write the session as one HTML page."""
        return self._call("export_html", _given({}, key=key, outputPath=output_path), timeout)

    def clone(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.CloneResult:
        """Continue in a new session that is a copy of the active branch."""
        return self._call("clone", _given({}, key=key), timeout)

    def get_entries(
        self,
        *,
        key: Optional[str] = None,
        since: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetEntriesResult:
        """The entries of the session file in the order they were written, after `since` if given. `docs/sessions.md` describes them."""
        return self._call("get_entries", _given({}, key=key, since=since), timeout)

    def get_tree(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetTreeResult:
        """The entries as a tree of `{entry, children, label?, labelTimestamp?}`."""
        return self._call("get_tree", _given({}, key=key), timeout)

    def get_messages_page(
        self,
        *,
        key: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetMessagesPageResult:
        """The context in pages of 1 to 256 messages (100 by default)."""
        return self._call("get_messages_page", _given({}, key=key, cursor=cursor, limit=limit), timeout)

    def open_session(
        self,
        session_dir: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.OpenSessionResult:
        """Resume the latest session of a directory, or start one there."""
        return self._call("open_session", _given({"sessionDir": session_dir}, key=key), timeout)

    def get_checkpoints(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetCheckpointsResult:
        """The states of the files that were noted in this session (`checkpoints.enabled`), oldest first: `before` a turn that may change files, and `after` it."""
        return self._call("get_checkpoints", _given({}, key=key), timeout)

    def get_changes(
        self,
        *,
        key: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetChangesResult:
        """What happened to the files between two entries of the session: `from` its first checkpoint and `to` the files as they are now, unless named."""
        return self._call("get_changes", _given({}, key=key, **{"from": from_}, to=to), timeout)

    def rewind(
        self,
        entry_id: str,
        *,
        key: Optional[str] = None,
        files: Optional[bool] = None,
        conversation: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.RewindResult:
        """Go back to an entry: files, conversation, or both; all or nothing. A run is aborted first. Files that others changed since stay as they are and are in `skipped`. To undo it, rewind to `undoEntryId`."""
        return self._call("rewind", _given({"entryId": entry_id}, key=key, files=files, conversation=conversation), timeout)

    def set_todos(
        self,
        phases: List[protocol.TodoPhaseInput],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetTodosResult:
        """Replace the todo list. Answers with the normalised list."""
        return self._call("set_todos", _given({"phases": phases}, key=key), timeout)

    def set_host_tools(
        self,
        tools: List[protocol.HostToolDefinition],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetHostToolsResult:
        """Replace the tools that live in the host. All or nothing: on failure the old set stays."""
        return self._call("set_host_tools", _given({"tools": tools}, key=key), timeout)

    def get_commands(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetCommandsResult:
        """The slash commands of this session."""
        return self._call("get_commands", _given({}, key=key), timeout)

    def get_available_commands(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetAvailableCommandsResult:
        """Another name for `get_commands`."""
        return self._call("get_available_commands", _given({}, key=key), timeout)

    def set_event_filter(
        self,
        events: Union[List[str], None],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetEventFilterResult:
        """Send only the named events; `null` sends all again. Responses, dialogs and host tool calls always pass."""
        return self._call("set_event_filter", _given({"events": events}, key=key), timeout)

    def set_mcp_servers(
        self,
        servers: Union[Dict[str, Any], List[Dict[str, Any]]],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetMcpServersResult:
        """Replace the host's MCP servers of this session, by name or as a list with names; `{}` removes them. All or nothing: on failure the old set stays. Answered when the entries are checked, before the servers are connected."""
        return self._call("set_mcp_servers", _given({"servers": servers}, key=key), timeout)

    def get_mcp_servers(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetMcpServersResult:
        """The MCP servers of this session and what became of them."""
        return self._call("get_mcp_servers", _given({}, key=key), timeout)

    def restart_mcp_server(
        self,
        name: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.RestartMcpServerResult:
        """End an MCP server and start it again. Answered when it is ready or has failed."""
        return self._call("restart_mcp_server", _given({"name": name}, key=key), timeout)

    def hello(
        self,
        *,
        key: Optional[str] = None,
        client: Optional[Dict[str, Any]] = None,
        capabilities: Optional[Dict[str, int]] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.HelloResult:
        """Say who the host is and what it can do. The last `hello` counts; `capabilities: {}` withdraws it. Unknown names are ignored. The answer has the lower version of both sides."""
        return self._call("hello", _given({}, key=key, client=client, capabilities=capabilities), timeout)

    def set_permission_mode(
        self,
        mode: Literal["plan", "ask", "edit", "full"],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Change how much is allowed without asking, for this session and its subagents. Open questions are decided again at once."""
        self._call("set_permission_mode", _given({"mode": mode}, key=key), timeout)

    def get_permissions(
        self,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetPermissionsResult:
        """Mode, rules, grants and open questions. A host that reconnects sees here what is open."""
        return self._call("get_permissions", _given({}, key=key), timeout)

    def revoke_permission(
        self,
        *,
        key: Optional[str] = None,
        permission_id: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> None:
        """Take a grant back. Without `permissionId` the command's own `id` names it. Fails with `Permission not found: <id>`."""
        self._call("revoke_permission", _given({}, key=key, permissionId=permission_id), timeout)

    def subscribe(
        self,
        *,
        key: Optional[str] = None,
        after_seq: Optional[int] = None,
        filter: Optional[List[str]] = None,
        deltas: Optional[bool] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SubscribeResult:
        """Number all frames from now on, and send again what this reader missed: one `gap` if anything is missing, the kept frames after `afterSeq`, one `snapshot`, then new frames. Fails with code `cursor_ahead` when `afterSeq` is beyond the last number."""
        return self._call("subscribe", _given({}, key=key, afterSeq=after_seq, filter=filter, deltas=deltas), timeout)

    def ping(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.PingResult:
        """Whether the agent is there. Answered at once."""
        return self._call("ping", _given({}, key=key), timeout)

    def resume_run(
        self,
        *,
        key: Optional[str] = None,
        note: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.Resumption:
        """Go on from the conversation as it is, after a crash, an abort or a failure: calls without results get one that says so, and the model is asked. `nothing` when the last message is a finished reply and no message waits."""
        return self._call("resume_run", _given({}, key=key, note=note), timeout)

    def negotiate_protocol(
        self,
        protocol_version: int,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.NegotiateProtocolResult:
        """Agree on a protocol version; served in dialect `omp` only."""
        return self._call("negotiate_protocol", _given({"protocolVersion": protocol_version}, key=key), timeout)

    def set_fast_mode(
        self,
        enabled: bool,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetFastModeResult:
        """Accepted in dialect `omp` only, without effect."""
        return self._call("set_fast_mode", _given({"enabled": enabled}, key=key), timeout)

    def set_host_uri_schemes(
        self,
        schemes: List[Dict[str, Any]],
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetHostUriSchemesResult:
        """Accepted in dialect `omp` only, without effect: the agent never asks for such an address."""
        return self._call("set_host_uri_schemes", _given({"schemes": schemes}, key=key), timeout)

    def set_subagent_subscription(
        self,
        level: str,
        *,
        key: Optional[str] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.SetSubagentSubscriptionResult:
        """Hear of subagents as they come, work and go (`progress`), also of their own events (`events`), or not (`off`); served in dialect `omp` only."""
        return self._call("set_subagent_subscription", _given({"level": level}, key=key), timeout)

    def get_subagents(self, *, key: Optional[str] = None, timeout: Timeout = DEFAULT) -> protocol.GetSubagentsResult:
        """The subagents of this process; served in dialect `omp` only."""
        return self._call("get_subagents", _given({}, key=key), timeout)

    def get_subagent_messages(
        self,
        *,
        key: Optional[str] = None,
        subagent_id: Optional[str] = None,
        session_file: Optional[str] = None,
        from_byte: Optional[int] = None,
        timeout: Timeout = DEFAULT,
    ) -> protocol.GetSubagentMessagesResult:
        """What a subagent has said, from a place in its session file on; served in dialect `omp` only."""
        return self._call("get_subagent_messages", _given({}, key=key, subagentId=subagent_id, sessionFile=session_file, fromByte=from_byte), timeout)
