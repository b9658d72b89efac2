"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ._commands import UNHURRIED, AsyncCommands
from ._defaults import DEFAULT, Default, Timeout
from ._process import AgentProcess
from ._threads import in_thread
from .errors import ExitError, RequestError, RequestTimeout
from .protocol import Event, ExtensionUiRequest, ImageInput
from .run import RunResult
from .tools import HostTool, ToolCall, as_result

DEFAULT_COMMAND = ("bowline", "--mode", "rpc")
DIALOGS = frozenset(("select", "confirm", "input", "editor"))
# How often a session is asked whether it is idle while no event tells.
IDLE_POLL_SECONDS = 0.5

Frame = Dict[str, Any]
Listener = Callable[[Any], None]
DialogAnswer = Union[str, bool, None]
DialogHandler = Callable[[ExtensionUiRequest], Union[DialogAnswer, Awaitable[DialogAnswer]]]


class AsyncClient(AsyncCommands):
    """Drives one agent process.

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
        start_timeout: float = 30.0,
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
        self._process: Optional[AgentProcess] = None
        self._ready: Optional[asyncio.Future[None]] = None
        self._count = 0
        self._pending: Dict[str, Tuple[str, asyncio.Future[Any]]] = {}
        # Prompts that were accepted: a failure may still follow.
        self._accepted: Dict[str, Callable[[RequestError], None]] = {}
        self._listeners: Dict[str, List[Listener]] = {}
        self._queues: Set[asyncio.Queue[Optional[Frame]]] = set()
        self._ends: Set[asyncio.Future[Any]] = set()
        self._tools: Dict[str, HostTool] = {}
        self._calls: Dict[str, Tuple[ToolCall, asyncio.Task[None]]] = {}
        self._dialog: Optional[DialogHandler] = None
        self._tasks: Set[asyncio.Task[None]] = set()

    # ── Life ────────────────────────────────────────────────────────────────────────────────────────────

    async def __aenter__(self) -> "AsyncClient":
        await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def start(self) -> None:
        """Starts the agent and waits until it is ready. Raises ExitError when it ends instead."""
        if self.is_running:
            raise RuntimeError("the agent is already running")
        self._ready = asyncio.get_running_loop().create_future()
        self._process = process = AgentProcess(self._receive, self._end, self._on_stderr)
        try:
            await process.start(self.command, self.cwd, self.env)
        except OSError as error:
            self._process = None
            raise ExitError(f"could not start {self.command[0]} ({error})", None, []) from error
        try:
            if self.wait_for_ready:
                await _within(self.start_timeout, self._ready, "start")
            else:
                await self.request("get_state", timeout=self.start_timeout)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> Optional[int]:
        """Closes the agent's stdin and waits for its end; then asks it to end, then forces it. Gives the exit code."""
        if self._process is None:
            return None
        code = await self._process.close(self.close_patience)
        for task in list(self._tasks):
            task.cancel()
        return code

    async def restart(self) -> None:
        """Ends the agent and starts it anew. Listeners, the dialog handler and the tools stay."""
        await self.close()
        await self.start()
        if self._tools:
            await self.set_custom_tools(list(self._tools.values()))

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

    # ── Requests ────────────────────────────────────────────────────────────────────────────────────────

    async def request(self, command: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Timeout = DEFAULT) -> Any:
        """Sends any command and gives the data of its answer. Raises RequestError, RequestTimeout or ExitError."""
        return await self._ask(command, params or {}, timeout)

    async def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        return await self.request(command, params, timeout=timeout)

    async def _ask(self, command: str, params: Mapping[str, Any], timeout: Timeout, request_id: Optional[str] = None) -> Any:
        self._require(command)
        request_id = request_id or self._next_id()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = (command, answer)
        limit = (None if command in UNHURRIED else self.request_timeout) if isinstance(timeout, Default) else timeout
        try:
            return await _within(limit, self._exchange({"id": request_id, "type": command, **params}, answer), command)
        finally:
            self._pending.pop(request_id, None)

    def _next_id(self) -> str:
        self._count += 1
        return f"py-{self._count}"

    async def _exchange(self, frame: Frame, answer: asyncio.Future[Any]) -> Any:
        try:
            await self._send(frame)
        except ConnectionError:
            # Its end is about to be noticed, and fails the answer with better words.
            pass
        return await answer

    async def _send(self, frame: Mapping[str, Any]) -> None:
        if self._process is None:
            raise ConnectionError("the agent is not running")
        await self._process.send(frame)

    def _require(self, doing: str) -> None:
        if not self.is_running:
            raise ExitError(doing, self.exit_code, self.stderr)

    # ── Prompts ─────────────────────────────────────────────────────────────────────────────────────────

    async def prompt_and_wait(
        self, message: str, *, images: Optional[List[ImageInput]] = None, timeout: Optional[float] = None
    ) -> RunResult:
        """Sends a prompt and waits until nothing more will follow from it by itself. Raises RequestError when it is refused.

        A wait that is over before the run is (``timeout``, or a cancelled task) aborts the run.
        """
        result = RunResult()
        done: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        # Agents that settle say how they took a prompt; for the others the end of the run is the end.
        settles, ended = True, False

        def hear(event: Frame) -> None:
            nonlocal ended
            if event["type"] == "agent_end":
                result.messages.extend(event.get("messages") or [])
                ended = not event.get("willRetry")
                if ended and not settles:
                    _resolve(done, result)
            elif event["type"] == "agent_settled":
                result.aborted = bool(event.get("aborted"))
                _resolve(done, result)

        stop = self.on("event", hear)
        self._ends.add(done)
        request_id = self._next_id()
        # Known before it is sent: acknowledgement and failure may arrive together.
        self._accepted[request_id] = lambda error: _reject(done, error)
        params: Dict[str, Any] = {"message": message, **({"images": images} if images else {})}
        try:
            data = await self._ask("prompt", params, DEFAULT, request_id)
            disposition = data.get("disposition") if isinstance(data, dict) else None
            if disposition == "handled":
                return RunResult(handled=True)
            settles = disposition is not None
            if ended and not settles:
                _resolve(done, result)
            return await _within(timeout, done, "prompt")
        except (RequestTimeout, asyncio.CancelledError):
            # Nobody waits for it any more: the run must not go on behind our back.
            if self.is_running:
                self._work(self._send({"type": "abort"}))
            raise
        finally:
            stop()
            self._ends.discard(done)
            self._accepted.pop(request_id, None)
            if not done.cancel():
                # Read here, for when the acknowledgement itself had failed.
                if not done.cancelled():
                    done.exception()

    async def wait_for_idle(self, timeout: Optional[float] = None) -> None:
        """Waits until the agent neither works nor condenses its conversation."""
        await _within(timeout, self._idle(), "wait_for_idle")

    async def _idle(self) -> None:
        while True:
            changed = asyncio.Event()
            stop = self.on("event", lambda event: changed.set() if event["type"] in ("agent_settled", "agent_end") else None)
            try:
                state = await self.request("get_state")
                if not state.get("isStreaming") and not state.get("isCompacting"):
                    return
                try:
                    await asyncio.wait_for(changed.wait(), IDLE_POLL_SECONDS)
                except asyncio.TimeoutError:
                    pass
            finally:
                stop()

    # ── Events ──────────────────────────────────────────────────────────────────────────────────────────

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Calls the listener for every event of that type, or of all with ``"event"``. Gives a function that ends it."""
        self._listeners.setdefault(event, []).append(listener)

        def stop() -> None:
            if listener in self._listeners.get(event, []):
                self._listeners[event].remove(listener)

        return stop

    def events(self) -> AsyncIterator[Event]:
        """Every event from this call on, until the agent ends. What is not fetched is kept."""
        queue: asyncio.Queue[Optional[Frame]] = asyncio.Queue()
        self._queues.add(queue)
        return self._iterate(queue)

    async def _iterate(self, queue: "asyncio.Queue[Optional[Frame]]") -> AsyncIterator[Event]:
        try:
            while True:
                event = await queue.get() if self.is_running or not queue.empty() else None
                if event is None:
                    return
                yield event  # type: ignore[misc]
        finally:
            self._queues.discard(queue)

    # ── The host's side ─────────────────────────────────────────────────────────────────────────────────

    async def set_custom_tools(self, tools: Sequence[HostTool]) -> List[str]:
        """Replaces the tools that this program offers to the model."""
        data = await self.request("set_host_tools", {"tools": [tool.definition() for tool in tools]})
        self._tools = {tool.name: tool for tool in tools}
        return list(data["toolNames"])

    def on_dialog(self, handler: Optional[DialogHandler]) -> None:
        """Sets who answers the questions of extensions: with a text, with a bool, or with None to cancel. Without anybody they are cancelled.

        Also hears what expects no answer (``notify``, ``setStatus`` and so on).
        """
        self._dialog = handler

    # ── What the agent says ─────────────────────────────────────────────────────────────────────────────

    def _receive(self, frame: Frame) -> None:
        kind = frame["type"]
        if kind == "response":
            self._respond(frame)
        elif kind == "extension_ui_request":
            self._work(self._answer_dialog(frame))
        elif kind == "host_tool_call":
            self._call_tool(frame)
        elif kind == "host_tool_cancel":
            self._cancel_call(frame.get("targetId"))
        else:
            if kind == "ready" and self._ready and not self._ready.done():
                self._ready.set_result(None)
            self._tell(frame)

    def _respond(self, frame: Frame) -> None:
        request_id = frame.get("id")
        error = None if frame.get("success") else _refusal(frame)
        if request_id is None:
            request_id = self._meant(frame.get("command"))
        pending = self._pending.pop(str(request_id), None)
        if pending:
            _, answer = pending
            if error:
                _reject(answer, error)
            else:
                _resolve(answer, frame.get("data"))
        elif error and str(request_id) in self._accepted:
            self._accepted[str(request_id)](error)

    def _meant(self, command: Optional[str]) -> Optional[str]:
        """Which request a failure without an id is about: the oldest of that command, or the only one when not even that was understood."""
        if command == "parse":
            return next(iter(self._pending)) if len(self._pending) == 1 else None
        return next((key for key, (name, _) in self._pending.items() if name == command), None)

    def _tell(self, event: Frame) -> None:
        for listener in [*self._listeners.get(event["type"], []), *self._listeners.get("event", [])]:
            try:
                listener(event)
            except Exception as error:  # A listener's mistake is not the agent's.
                asyncio.get_running_loop().call_exception_handler({"message": f"a listener of {event['type']} failed", "exception": error})
        for queue in self._queues:
            queue.put_nowait(event)

    def _call_tool(self, frame: Frame) -> None:
        call_id, name = frame["id"], frame["toolName"]
        loop = asyncio.get_running_loop()

        def report(partial: Any) -> None:
            # Called from any thread.
            update = {"type": "host_tool_update", "id": call_id, "partialResult": partial}
            loop.call_soon_threadsafe(lambda: self._work(self._send(update)))

        call = ToolCall(call_id, name, report)
        self._calls[call_id] = (call, self._work(self._execute(call, frame.get("arguments") or {})))

    async def _execute(self, call: ToolCall, arguments: Dict[str, Any]) -> None:
        tool = self._tools.get(call.tool_name)
        is_error = False
        try:
            if tool is None:
                raise LookupError(f"There is no tool {call.tool_name} in this program.")
            result = as_result(await _called(tool.execute, arguments, call))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            is_error, result = True, as_result(str(error) or type(error).__name__)
        finally:
            self._calls.pop(call.id, None)
        if not call.is_cancelled:
            await self._send({"type": "host_tool_result", "id": call.id, "result": result, "isError": is_error})

    def _cancel_call(self, call_id: Any) -> None:
        call, task = self._calls.pop(call_id, (None, None))
        if call and task:
            call.cancel()
            task.cancel()

    async def _answer_dialog(self, request: Any) -> None:
        answer: DialogAnswer = None
        try:
            if self._dialog:
                answer = await _called(self._dialog, request)
        finally:
            if request["method"] in DIALOGS:
                await self._send({"type": "extension_ui_response", "id": request["id"], **_dialog_answer(request["method"], answer)})

    def _work(self, coroutine: Any) -> "asyncio.Task[None]":
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._worked)
        return task

    def _worked(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        # Nobody is there any more to hear the answer.
        if error and not isinstance(error, ConnectionError):
            asyncio.get_running_loop().call_exception_handler({"message": "a handler of the host failed", "exception": error, "task": task})

    def _end(self, code: int) -> None:
        for command, answer in self._pending.values():
            _reject(answer, ExitError(command, code, self.stderr))
        self._pending.clear()
        for end in list(self._ends):
            _reject(end, ExitError("prompt", code, self.stderr))
        if self._ready and not self._ready.done():
            self._ready.set_exception(ExitError("start", code, self.stderr))
            # Read here, for when nobody waits for it.
            self._ready.exception()
        for call, task in list(self._calls.values()):
            call.cancel()
            task.cancel()
        self._calls.clear()
        for queue in self._queues:
            queue.put_nowait(None)


def _resolve(future: "asyncio.Future[Any]", value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _reject(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _refusal(frame: Frame) -> RequestError:
    return RequestError(str(frame.get("command")), str(frame.get("error") or "failed without a reason"), frame.get("code"))


def _dialog_answer(method: str, answer: DialogAnswer) -> Frame:
    if method == "confirm" and isinstance(answer, bool):
        return {"confirmed": answer}
    if method != "confirm" and isinstance(answer, str):
        return {"value": answer}
    return {"cancelled": True}


async def _called(function: Callable[..., Any], *args: Any) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    value = await in_thread(function, *args)
    return await value if inspect.isawaitable(value) else value


async def _within(seconds: Optional[float], work: Awaitable[Any], what: str) -> Any:
    try:
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError as error:
        if seconds is None or isinstance(error, RequestTimeout):
            raise
        raise RequestTimeout(what, seconds) from None
