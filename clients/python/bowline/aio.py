"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generator, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ._calls import Calls
from ._commands import UNHURRIED, AsyncCommands
from ._connect import Connects
from ._defaults import DEFAULT, Default, Timeout
from ._dialogs import DialogHandler, Dialogs
from ._events import AsyncEvents, Events
from ._gates import GateHandler, Gates
from ._link import SessionLink, Target, open_questions
from ._permissions import PermissionHandler, Permissions
from ._process import AgentProcess, guarded
from ._watch import Watch
from .errors import ExitError, RequestError, RequestTimeout, ServerError
from .protocol import Event, ImageInput
from .run import RunResult, StreamingBehavior
from .tools import HostTool

# Deltas only: sending the whole reply again with each delta costs the square of its length.
DEFAULT_COMMAND = ("bowline", "--mode", "rpc", "--updates", "delta")

Frame = Dict[str, Any]
Listener = Callable[[Any], Union[None, Awaitable[None]]]


class AsyncClient(AsyncCommands, Connects["Connecting"]):
    """Drives one agent: a process of its own, or with ``connect`` a session of a server.

    Use it as ``async with AsyncClient([...]) as client``, or call ``start`` and ``close``. Functions that are handed in (tools, dialogs)
    may be coroutines or plain functions; plain ones run in a thread of their own, so that they may block.
    """

    def __init__(
        self,
        command: Sequence[str] = DEFAULT_COMMAND,
        *,
        args: Sequence[str] = (),
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        wait_for_ready: bool = True,
        start_timeout: Optional[float] = 30.0,
        request_timeout: Optional[float] = 30.0,
        close_patience: float = 5.0,
        on_stderr: Optional[Callable[[str], None]] = None,
    ) -> None:
        self.command = [*command, *args]
        self.cwd = cwd
        # Beside the variables of this process.
        self.env = env
        # Agents that announce nothing are asked for their state instead.
        self.wait_for_ready = wait_for_ready
        self.start_timeout = start_timeout
        self.request_timeout = request_timeout
        self.close_patience = close_patience
        self._on_stderr = on_stderr
        # Where the session is, when a server has it.
        self._target: Optional[Target] = None
        # The process, or the connection to a server.
        self._process: Union[AgentProcess, SessionLink, None] = None
        self._ready: Optional[asyncio.Future[None]] = None
        self._count = 0
        self._pending: Dict[str, Tuple[str, asyncio.Future[Any]]] = {}
        # Those that wait for an end: of the prompt with that id, or of whatever goes on.
        self._watches: Dict[str, Watch] = {}
        self._listeners: Dict[str, List[Listener]] = {}
        self._queues: "weakref.WeakSet[Union[AsyncEvents, Events]]" = weakref.WeakSet()
        self._calls = Calls(self._send, self._work)
        self._dialogs = Dialogs(self._send, self._work)
        self._permissions = Permissions(self._send, self._work)
        self._gates = Gates(self._send, self._work)
        # The session file of the last run.
        self._last_session: Optional[str] = None
        self._tasks: Set[asyncio.Task[None]] = set()

    # ── Life ────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def _connected(cls, target: Target, start_timeout: Optional[float], request_timeout: Optional[float]) -> "Connecting":
        client = cls(start_timeout=start_timeout, request_timeout=request_timeout)
        client._target = target
        return Connecting(client)

    async def __aenter__(self) -> "AsyncClient":
        # One that `connect` gave is connected.
        if not (self._target and self.is_running):
            await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def start(self) -> None:
        """Starts the agent and waits until it is ready. Raises ExitError when it ends instead."""
        if self.is_running:
            raise RuntimeError("the agent is already running")
        self._ready = asyncio.get_running_loop().create_future()
        try:
            await self._open()
            if self.wait_for_ready:
                await _within(self.start_timeout, self._ready, "start")
            else:
                await self.request("get_state", timeout=self.start_timeout)
            if self._permissions.handler:
                await self._greet()
        except BaseException as error:
            await self.close()
            # A server's refusal says more than that the connection is over.
            if isinstance(error, ExitError) and isinstance(error.__cause__, ServerError):
                raise error.__cause__ from None
            raise

    async def _open(self) -> None:
        if self._target is None:
            self._process = process = AgentProcess(self._receive, self._end, self._on_stderr)
            try:
                await process.start(self.command, self.cwd, self.env)
            except OSError as error:
                self._process = None
                raise ExitError(f"could not start {self.command[0]} ({error})", None, []) from error
        else:
            self._process = link = SessionLink(self._target, self._receive, self._end)
            await _within(self.start_timeout, link.start(), "start")
            # A session is created once, also when the client is started again.
            self._target = self._target._replace(session=link.session_id)

    async def close(self) -> Optional[int]:
        """Closes the agent's stdin and waits for its end; then sends SIGTERM, then SIGKILL. Returns the exit code.

        Of a server: leaves the session, which lives on.
        """
        if self._process is None:
            return None
        try:
            return await self._process.close(self.close_patience)
        finally:
            for task in list(self._tasks):
                task.cancel()

    async def restart(self, *, resume: bool = False) -> None:
        """Ends the agent and starts it again. Listeners, handlers and the tools stay. Of a server: connects again.

        The session is a new one. With ``resume`` the agent goes on with the session it had, also after it died in the middle of it.
        """
        file = await self._find_session() if resume and self._target is None else None
        await self.close()
        await self.start()
        if self._calls.tools:
            await self.set_custom_tools(list(self._calls.tools.values()))
        if file is not None:
            await self.request("switch_session", {"sessionPath": file})

    async def _find_session(self) -> str:
        """The file of the session: asked of the agent, or from its last run when it is gone."""
        file = self._last_session
        if self.is_running:
            try:
                file = (await self.request("get_state")).get("sessionFile")
            except (ExitError, RequestTimeout):
                # It is going: what its last run said holds.
                pass
        if not file:
            raise RuntimeError("There is no session file to go on with: nothing was stored, or the agent ended before its first run did.")
        return file

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running

    @property
    def exit_code(self) -> Optional[int]:
        return self._process.exit_code if self._process else None

    @property
    def stderr(self) -> List[str]:
        """The last lines the agent wrote to stderr."""
        return list(self._process.stderr) if self._process else []

    def _gone(self, doing: str) -> ExitError:
        cause = self._process.cause if isinstance(self._process, SessionLink) else None
        return ExitError(doing, self.exit_code, self.stderr, cause)

    # ── Requests ────────────────────────────────────────────────────────────────────────────────────────

    async def request(self, command: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Timeout = DEFAULT) -> Any:
        """Sends any command and gives the data of its answer. Raises RequestError, RequestTimeout or ExitError."""
        return await self._ask(command, params or {}, timeout, self._next_id())

    async def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        return await self.request(command, params, timeout=timeout)

    async def _ask(self, command: str, params: Mapping[str, Any], timeout: Timeout, request_id: str) -> Any:
        if not self.is_running:
            raise self._gone(command)
        limit = (None if command in UNHURRIED else self.request_timeout) if isinstance(timeout, Default) else timeout
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = (command, answer)
        try:
            self._send({"id": request_id, "type": command, **params})
            return await _within(limit, answer, command)
        finally:
            self._pending.pop(request_id, None)

    def _next_id(self) -> str:
        self._count += 1
        return f"py-{self._count}"

    def _send(self, frame: Mapping[str, Any]) -> None:
        if self._process:
            self._process.send(frame)

    # ── Prompts ─────────────────────────────────────────────────────────────────────────────────────────

    async def prompt_and_wait(
        self,
        message: str,
        *,
        images: Optional[List[ImageInput]] = None,
        streaming_behavior: Optional[StreamingBehavior] = None,
        schema: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> RunResult:
        """Sends a prompt and waits until the agent is idle again. Raises RequestError when it is refused.

        A prompt with the ``key`` of an earlier one is not run again. With ``schema``, a JSON Schema, the model answers with a value: ``result.output``, or ``result.output_error`` when there is none.
        A wait that is over before the run is (``timeout``, or a cancelled task) aborts the run.
        """
        params: Dict[str, Any] = {"message": message}
        if images:
            params["images"] = images
        if streaming_behavior:
            params["streamingBehavior"] = streaming_behavior
        if schema is not None:
            params["outputSchema"] = schema
        if key is not None:
            params["key"] = key
        prompt_id = self._next_id()
        watch = self._watches[prompt_id] = Watch(self._state, is_prompt=True)
        try:
            await self._ask("prompt", params, DEFAULT, prompt_id)
            result: RunResult = await _within(timeout, watch.over, "prompt")
            if schema is not None and not watch.has_output:
                result.output_error = "The agent reported no value."
            return result
        except (RequestTimeout, asyncio.CancelledError):
            # Nobody waits for it any more: the run must not go on behind our back.
            self._send({"type": "abort"})
            raise
        finally:
            del self._watches[prompt_id]
            watch.end()

    async def wait_for_idle(self, timeout: Optional[float] = None) -> None:
        """Waits until the agent is idle and nothing will follow automatically."""
        if not self.is_running:
            raise self._gone("wait_for_idle")
        watch_id = self._next_id()
        watch = self._watches[watch_id] = Watch(self._state, is_prompt=False)
        try:
            watch.look()
            await _within(timeout, watch.over, "wait_for_idle")
        finally:
            del self._watches[watch_id]
            watch.end()

    async def _state(self) -> Any:
        return await self.request("get_state")

    # ── Events ──────────────────────────────────────────────────────────────────────────────────────────

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Calls the listener for every event of that type. Returns a function that removes it.

        A listener may be a coroutine function. Events do not wait for it: a second call may begin before the first one has ended.
        Beside the types of events there are ``"event"`` (all of them), ``"extension_ui_request"`` (questions and notices of extensions),
        ``"response"`` (answers that no request waits for) and ``"exit"`` (the exit code).
        """
        self._listeners.setdefault(event, []).append(listener)

        def stop() -> None:
            if listener in self._listeners.get(event, []):
                self._listeners[event].remove(listener)

        return stop

    def events(self) -> AsyncIterator[Event]:
        """Every event from this call on, until the agent ends. What is not fetched is kept."""
        events = AsyncEvents()
        self._fill(events)
        return events

    def _fill(self, queue: Union[AsyncEvents, Events]) -> None:
        if self.is_running:
            self._queues.add(queue)
        else:
            queue.end()

    # ── The host's side ─────────────────────────────────────────────────────────────────────────────────

    async def set_custom_tools(self, tools: Sequence[HostTool]) -> List[str]:
        """Replaces the tools that this program offers to the model. On failure the old ones stay."""
        before, after = self._calls.tools, {tool.name: tool for tool in tools}
        # The model may call as soon as the agent knows them, which is before we hear its answer.
        self._calls.tools = {**before, **after}
        try:
            data = await self.request("set_host_tools", {"tools": [tool.definition() for tool in tools]})
        except BaseException:
            self._calls.tools = before
            raise
        self._calls.tools = after
        return list(data["toolNames"])

    def on_dialog(self, handler: Optional[DialogHandler]) -> None:
        """Sets the handler for questions of extensions. It returns a text, a bool, or None to cancel. Without a handler they are cancelled.

        A coroutine is cancelled when its answer is no longer wanted: the question timed out, or was withdrawn.
        """
        self._dialogs.handler = handler
        self._dialogs.ask_missed()

    async def on_permission(self, handler: Optional[PermissionHandler]) -> None:
        """Sets the handler that decides about tool calls, and registers it with the agent; None removes it.

        The handler gets the request and returns ``{"decision": "allow" | "deny", "scope": ..., "message": ...}``. If it raises, the call is denied.
        A coroutine is cancelled when its answer is no longer wanted. Before ``start``, the handler is registered when the agent starts.
        """
        self._permissions.handler = handler
        if self.is_running:
            await self._greet()
            self._permissions.ask_missed()

    def on_gate(self, handler: Optional[GateHandler]) -> None:
        """Sets the handler for steps, which an agent with ``--gate host`` asks about one by one; None leaves them to a listener of ``"gate_request"``.

        The handler gets the request and returns ``{"allow": True}`` or ``{"allow": False, "reason": ..., "end": True}``. If it raises, the run ends.
        """
        self._gates.handler = handler

    async def _greet(self) -> None:
        await self.request("hello", {"capabilities": {"permissions": 1} if self._permissions.handler else {}})

    # ── What the agent says ─────────────────────────────────────────────────────────────────────────────

    def _receive(self, frame: Frame) -> None:
        kind = frame["type"]
        if kind == "response":
            self._respond(frame)
        elif kind == "extension_ui_request":
            self._tell(kind, frame)
            self._dialogs.receive(frame)
        elif kind == "host_tool_call":
            self._calls.receive(frame)
        elif kind == "host_tool_cancel":
            self._calls.cancel(frame.get("targetId"))
        elif kind == "permission_request":
            self._hear(frame)
            self._permissions.receive(frame)
        elif kind == "permission_resolved":
            self._permissions.close(frame.get("id"))
            self._hear(frame)
        elif kind == "gate_request":
            self._hear(frame)
            self._gates.receive(frame)
        else:
            self._hear(frame)
            if kind == "snapshot":
                self._learn(frame)

    def _learn(self, snapshot: Frame) -> None:
        """Questions that were asked before this client came. A snapshot keeps approvals without their type."""
        for question in open_questions(snapshot):
            if "type" in question:
                self._dialogs.learn(question)
            else:
                self._permissions.learn({**question, "type": "permission_request"})

    def _respond(self, frame: Frame) -> None:
        request_id = frame.get("id")
        if request_id is None and not frame.get("success"):
            request_id = self._meant(frame.get("command"))
        error = None if frame.get("success") else _refusal(frame)
        _, answer = self._pending.pop(str(request_id), ("", None))
        watch = self._watches.get(str(request_id))
        # At once: what follows in the same breath is about it.
        if watch and error:
            watch.fail(error)
        elif watch:
            watch.accepted(frame.get("data"))
        if answer is None:
            if watch is None:
                self._tell("response", frame)
        elif error:
            _reject(answer, error)
        elif not answer.done():
            answer.set_result(frame.get("data"))

    def _meant(self, command: Optional[str]) -> Optional[str]:
        """Which request a failure without an id is about: the oldest of that command, or the only one when not even that was understood."""
        if command == "parse":
            return next(iter(self._pending)) if len(self._pending) == 1 else None
        return next((key for key, (name, _) in self._pending.items() if name == command), None)

    def _hear(self, event: Frame) -> None:
        if event["type"] == "ready" and self._ready and not self._ready.done():
            self._ready.set_result(None)
        elif event["type"] == "agent_end":
            self._last_session = event.get("sessionFile")
        for watch in list(self._watches.values()):
            watch.hear(event)
        if event["type"] not in ("event", "exit"):
            self._tell(event["type"], event)
        self._tell("event", event)
        for queue in list(self._queues):
            queue.push(event)

    def _tell(self, name: str, value: Any) -> None:
        for listener in list(self._listeners.get(name, [])):
            guarded(self._call_listener(listener), value)

    def _call_listener(self, listener: Listener) -> Callable[[Any], None]:
        def call(value: Any) -> None:
            outcome = listener(value)
            if inspect.isawaitable(outcome):
                self._work(_awaited(outcome))

        return call

    def _work(self, coroutine: Any) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._worked)
        return task

    def _worked(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            asyncio.get_running_loop().call_exception_handler({"message": "a handler of the host failed", "exception": error, "task": task})

    def _end(self, code: Optional[int]) -> None:
        for command, answer in self._pending.values():
            _reject(answer, self._gone(command))
        self._pending.clear()
        for watch in self._watches.values():
            watch.fail(self._gone("prompt"))
        if self._ready and not self._ready.done():
            self._ready.set_exception(self._gone("start"))
            # Read here, for when nobody waits for it.
            self._ready.exception()
        self._calls.cancel_all()
        self._dialogs.close_all()
        self._permissions.close_all()
        self._gates.close_all()
        for queue in list(self._queues):
            queue.end()
        self._queues.clear()
        self._tell("exit", code)


class Connecting:
    """A client that is being connected: awaited, or entered."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self.client.__aenter__().__await__()

    async def __aenter__(self) -> AsyncClient:
        return await self.client.__aenter__()

    async def __aexit__(self, *_: Any) -> None:
        await self.client.close()


async def _awaited(outcome: Awaitable[None]) -> None:
    await outcome


def _reject(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _refusal(frame: Frame) -> RequestError:
    return RequestError(str(frame.get("command")), str(frame.get("error") or "failed without a reason"), frame.get("code"), frame.get("hint"))


async def _within(seconds: Optional[float], work: Awaitable[Any], what: str) -> Any:
    try:
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError as error:
        if seconds is None or isinstance(error, RequestTimeout):
            raise
        raise RequestTimeout(what, seconds) from None
