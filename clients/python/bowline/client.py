"""The client for programs without an event loop. The work is done by the asyncio client in a thread."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any, Callable, Coroutine, Dict, Iterator, List, Mapping, Optional, Sequence

from ._commands import Commands
from ._connect import Connects
from ._defaults import DEFAULT, Timeout
from ._dialogs import DialogHandler
from ._events import Events
from ._gates import GateHandler
from ._link import Target
from ._permissions import PermissionHandler
from .aio import DEFAULT_COMMAND, AsyncClient, Listener
from .protocol import Event, ImageInput
from .run import RunResult, StreamingBehavior
from .tools import HostTool

_END = object()


class Client(Commands, Connects["Client"]):
    """Drives one agent, a process of its own or with ``connect`` a session of a server; takes what AsyncClient takes.

    Use it as ``with Client([...]) as client``, or call ``start`` and ``close``. Listeners are called in one thread, in the order of the
    events, and may use the client themselves. Tools and dialog handlers run in threads of their own.
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
        self._loop = asyncio.new_event_loop()
        self._events: "queue.Queue[Any]" = queue.Queue()
        hear = None if on_stderr is None else lambda line: self._events.put((on_stderr, line))
        self._client = AsyncClient(
            command,
            args=args,
            cwd=cwd,
            env=env,
            wait_for_ready=wait_for_ready,
            start_timeout=start_timeout,
            request_timeout=request_timeout,
            close_patience=close_patience,
            on_stderr=hear,
        )
        self._threads: List[threading.Thread] = []

    @classmethod
    def _connected(cls, target: Target, start_timeout: Optional[float], request_timeout: Optional[float]) -> "Client":
        client = cls(start_timeout=start_timeout, request_timeout=request_timeout)
        client._client._target = target
        client.start()
        return client

    def __enter__(self) -> "Client":
        # One that `connect` gave is connected.
        if not (self._threads and self.is_running):
            self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self) -> None:
        """Starts the agent and waits until it is ready. Raises ExitError when it ends instead."""
        if self._loop.is_closed():
            raise RuntimeError("this client was closed; make another one")
        if not self._threads:
            for target in (self._run_loop, self._run_listeners):
                thread = threading.Thread(target=target, name="bowline-client", daemon=True)
                thread.start()
                self._threads.append(thread)
        try:
            self._wait(self._client.start())
        except BaseException:
            self._stop_threads()
            raise

    def close(self) -> Optional[int]:
        """Closes the agent's stdin and waits for its end; then sends SIGTERM, then SIGKILL. Returns the exit code.

        Of a server: leaves the session, which lives on.
        """
        if self._loop.is_closed() or not self._threads:
            return self._client.exit_code
        try:
            code: Optional[int] = self._wait(self._client.close())
            self._flush()
        finally:
            self._stop_threads()
        return code

    def restart(self, *, resume: bool = False) -> None:
        """Ends the agent and starts it again. Listeners, handlers and the tools stay. Of a server: connects again.

        The session is a new one. With ``resume`` the agent goes on with the session it had, also after it died in the middle of it.
        """
        self._wait(self._client.restart(resume=resume))

    @property
    def is_running(self) -> bool:
        return self._client.is_running

    @property
    def exit_code(self) -> Optional[int]:
        return self._client.exit_code

    @property
    def stderr(self) -> List[str]:
        """The last lines the agent wrote to stderr."""
        return self._client.stderr

    def request(self, command: str, params: Optional[Mapping[str, Any]] = None, *, timeout: Timeout = DEFAULT) -> Any:
        """Sends any command and gives the data of its answer. Raises RequestError, RequestTimeout or ExitError."""
        return self._wait(self._client.request(command, params, timeout=timeout))

    def _call(self, command: str, params: Dict[str, Any], timeout: Timeout) -> Any:
        return self.request(command, params, timeout=timeout)

    def prompt_and_wait(
        self,
        message: str,
        *,
        images: Optional[List[ImageInput]] = None,
        streaming_behavior: Optional[StreamingBehavior] = None,
        schema: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> RunResult:
        """Sends a prompt and waits until the agent is idle again. By then the listeners have received every event.

        A prompt with the ``key`` of an earlier one is not run again.
        """
        options: Dict[str, Any] = {"images": images, "streaming_behavior": streaming_behavior, "schema": schema, "key": key}
        result: RunResult = self._wait(self._client.prompt_and_wait(message, **options, timeout=timeout))
        self._flush()
        return result

    def wait_for_idle(self, timeout: Optional[float] = None) -> None:
        """Waits until the agent is idle and nothing will follow automatically."""
        self._wait(self._client.wait_for_idle(timeout))

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Calls the listener for every event of that type. Returns a function that removes it.

        Beside the types of events there are ``"event"`` (all of them), ``"extension_ui_request"`` (questions and notices of extensions),
        ``"response"`` (answers that no request waits for) and ``"exit"`` (the exit code).
        """
        return self._client.on(event, lambda heard: self._events.put((listener, heard)))

    def events(self) -> Iterator[Event]:
        """Every event from this call on, until the agent ends. What is not fetched is kept."""
        events = Events()
        self._wait(self._fill(events))
        return events

    async def _fill(self, events: Events) -> None:
        self._client._fill(events)

    def set_custom_tools(self, tools: Sequence[HostTool]) -> List[str]:
        """Replaces the tools that this program offers to the model. On failure the old ones stay."""
        names: List[str] = self._wait(self._client.set_custom_tools(tools))
        return names

    def on_dialog(self, handler: Optional[DialogHandler]) -> None:
        """Sets the handler for questions of extensions. It returns a text, a bool, or None to cancel."""
        self._client._dialogs.handler = handler
        if self._threads:
            self._loop.call_soon_threadsafe(self._client._dialogs.ask_missed)

    def on_permission(self, handler: Optional[PermissionHandler]) -> None:
        """Sets the handler for tool calls. It returns ``{"decision": "allow" | "deny", "scope": ..., "message": ...}``; if it raises, the call is denied.

        Before ``start``, the handler is registered when the agent starts.
        """
        if self._threads:
            self._wait(self._client.on_permission(handler))
        else:
            self._client._permissions.handler = handler

    def on_gate(self, handler: Optional[GateHandler]) -> None:
        """Sets the handler for steps, which an agent with ``--gate host`` asks about one by one; None leaves them to a listener of ``"gate_request"``.

        The handler gets the request and returns ``{"allow": True}`` or ``{"allow": False, "reason": ..., "end": True}``. If it raises, the run ends.
        """
        self._client.on_gate(handler)

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        problem: Optional[Exception] = None
        if self._loop.is_closed():
            problem = self._client._gone("this client was closed")
        elif not self._threads:
            problem = RuntimeError("start the client first")
        elif threading.current_thread() is self._threads[0]:
            problem = RuntimeError("a coroutine cannot wait for the client it works for; use a plain function, or AsyncClient")
        if problem:
            work.close()
            raise problem
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl+C, say: the request is given up too.
            future.cancel()
            raise

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _run_listeners(self) -> None:
        for item in iter(self._events.get, _END):
            listener, event = item
            try:
                listener(event)
            except Exception as error:  # A listener's mistake is not the agent's.
                context = {"message": "a listener failed", "exception": error}
                self._loop.call_soon_threadsafe(self._loop.call_exception_handler, context)

    def _flush(self) -> None:
        """Returns when the listeners have heard what was said so far. Not from a listener, which would wait for itself."""
        if threading.current_thread() in self._threads:
            return
        told = threading.Event()
        self._events.put((lambda _: told.set(), None))
        told.wait(10)

    def _stop_threads(self) -> None:
        self._events.put(_END)
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(5)
