"""A session of a server, over sockets that may be lost.

Whoever uses the link sees one connection: every frame that is kept comes once and in order, and every command is answered once, because what had
no answer is sent again with the same key.
"""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections import OrderedDict, deque
from typing import Any, Callable, Deque, Dict, List, Mapping, NamedTuple, Optional, Union
from urllib.parse import quote, urlencode

from ._commands import READING
from ._process import guarded
from ._server import ServerAddress
from ._threads import in_thread
from ._websocket import WebSocket
from .errors import ServerError

FIRST_DELAY_SECONDS = 0.25
LONGEST_DELAY_SECONDS = 10.0
# Failures after an acceptance come under the same id.
KEPT_ANSWERED = 1000
KEPT_RESULTS = 200
# A goodbye that is not answered is not waited for.
GOODBYE_SECONDS = 1.0
# What a server takes as one message.
MOST_MESSAGE_BYTES = 32 * 1024 * 1024

_ANSWERS = frozenset(("extension_ui_response", "permission_response"))
_CONTROLS = _ANSWERS | {"host_tool_result", "host_tool_update", "gate_response"}
# What a connection said about itself holds for that connection: the next one says it again.
_OF_CONNECTION = ("hello", "set_event_filter", "set_host_tools")

Frame = Dict[str, Any]


class Target(NamedTuple):
    """The session to connect to."""

    address: ServerAddress
    # The id of a session, or what a new one needs.
    session: Union[str, Mapping[str, Any]]
    mode: str
    name: Optional[str]
    takeover: bool
    # How long a lost connection is tried again; None is for ever.
    reconnect_seconds: Optional[float]


class _Command(NamedTuple):
    name: str
    # Of the caller.
    id: Any
    frame: Frame
    data: bytes


def open_questions(snapshot: Frame) -> List[Frame]:
    """Dialogs and approvals that wait for an answer."""
    live = snapshot.get("live")
    dialogs = live.get("dialogs") if isinstance(live, dict) else None
    return [dialog for dialog in dialogs if isinstance(dialog, dict)] if isinstance(dialogs, list) else []


class SessionLink:
    """Has the members of an agent's process: `on_frame` gets every frame, `on_exit` the end, once."""

    def __init__(self, target: Target, on_frame: Callable[[Frame], None], on_exit: Callable[[Optional[int]], None]) -> None:
        self.stderr: Deque[str] = deque()
        self.exit_code: Optional[int] = None
        # Why it is over, when it was not closed here.
        self.cause: Optional[ServerError] = None
        self._target = target
        self._on_frame = on_frame
        self._on_exit = on_exit
        self._session = ""
        # Under this name the server keeps the seat, and keys are this client's own.
        self._client = str(uuid.uuid4())
        self._mode = target.mode
        self._socket: Optional[WebSocket] = None
        self._task: Optional["asyncio.Task[None]"] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._ended = asyncio.Event()
        # After `ready`, until the socket is lost.
        self._is_up = False
        self._was_up = False
        self._is_closing = False
        # The number of the last frame.
        self._cursor: Optional[int] = None
        self._attempts = 0
        self._lost_at: Optional[float] = None
        self._count = 0
        self._open: Dict[str, _Command] = {}
        self._answered: "OrderedDict[str, _Command]" = OrderedDict()
        # The prompts that began runs, by run, until they are known to have gone on.
        self._begun: "OrderedDict[str, _Command]" = OrderedDict()
        # Frames without an answer that wait for a connection.
        self._waiting: List[bytes] = []
        # The last successful one of each.
        self._said: Dict[str, _Command] = {}
        # Calls of host tools: the answer, or nothing while the tool runs.
        self._calls: "OrderedDict[str, Optional[bytes]]" = OrderedDict()
        # Answers to questions, until it is known that they arrived.
        self._answers: "OrderedDict[str, bytes]" = OrderedDict()

    # ── Life ────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Creates the session where that is asked for, and begins to connect. Raises ServerError."""
        session = self._target.session
        if not isinstance(session, str):
            created = await in_thread(self._target.address.ask, "POST", "/v1/sessions", dict(session))
            session = str(created["id"])
        self._session = session
        self._connect_soon()

    @property
    def session_id(self) -> str:
        return self._session

    @property
    def is_running(self) -> bool:
        return self._session != "" and not self._ended.is_set()

    def send(self, frame: Mapping[str, Any]) -> None:
        """Sends a frame now, or with the next connection."""
        kind = frame.get("type")
        if kind in _CONTROLS:
            data = _encoded(frame)
            frame_id = str(frame.get("id"))
            if kind == "host_tool_result":
                self._calls[frame_id] = data
            elif kind in _ANSWERS:
                _keep(self._answers, frame_id, data, KEPT_RESULTS)
            return self._deliver(data)
        self._count += 1
        wire = str(self._count)
        sent: Frame = {**frame, "id": wire}
        # To read twice does no harm, and what was read need not be kept for a second time.
        if kind not in READING and sent.get("key") is None:
            sent["key"] = f"{self._client}:{wire}"
        command = _Command(str(kind), frame.get("id"), sent, _encoded(sent))
        if len(command.data) > MOST_MESSAGE_BYTES:
            return self._refuse_long(command)
        self._open[wire] = command
        if self._is_up and self._socket:
            self._socket.send(command.data)

    async def close(self, _patience: float) -> Optional[int]:
        """Leaves the session, which lives on."""
        if self._ended.is_set() or self._session == "":
            return self.exit_code
        self._is_closing = True
        self._is_up = False
        if self._socket is None:
            self._end(None)
        else:
            self._socket.close()
            try:
                await asyncio.wait_for(self._ended.wait(), GOODBYE_SECONDS)
            except asyncio.TimeoutError:
                self._end(None)
            except asyncio.CancelledError:
                self._end(None)
                raise
        return self.exit_code

    def _end(self, cause: Optional[ServerError]) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        self.cause = cause
        self.exit_code = None if cause else 0
        if self._timer:
            self._timer.cancel()
        if self._task:
            self._task.cancel()
        if self._socket:
            self._socket.abort()
            self._socket = None
        self._on_exit(self.exit_code)

    # ── Connections ─────────────────────────────────────────────────────────────────────────────────────

    def _connect_soon(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        query: Dict[str, Any] = {"mode": self._mode, "client": self._client}
        if self._target.name is not None:
            query["name"] = self._target.name
        if self._target.takeover and not self._was_up:
            query["takeover"] = 1
        if self._cursor is not None:
            query["after"] = self._cursor
        path = f"/v1/sessions/{quote(self._session, safe='')}/socket?{urlencode(query)}"
        self._socket = WebSocket(self._target.address, path, self._receive, self._closed)
        await self._socket.open()

    def _closed(self, code: int, reason: str, refusal: Optional[ServerError]) -> None:
        self._socket = None
        self._is_up = False
        if self._ended.is_set():
            return
        if self._is_closing:
            self._end(None)
        elif refusal:
            self._refused(refusal)
        elif code == 1001:
            self._end(ServerError(410, "session_deleted", f"The session {self._session} was deleted"))
        elif code == 4403:
            self._end(ServerError(401, "token", f"The server closed the connection: {reason or 'the token is not valid'}"))
        else:
            self._again(None)

    def _refused(self, refusal: ServerError) -> None:
        if refusal.code == "cursor_ahead" and self._cursor is not None:
            gap = {"type": "gap", "from": self._cursor, "to": self._cursor, "reason": "log_missing", "durableLost": True}
            self._cursor = None
            guarded(self._on_frame, gap)
            self._connect_soon()
        elif refusal.code == "seat_taken" and self._was_up:
            # Another client took the seat while this one was away.
            self._mode = "read"
            guarded(self._on_frame, {"type": "seat", "sessionId": self._session, "held": False, **(refusal.details or {})})
            self._connect_soon()
        elif self._was_up and _is_passing(refusal.status):
            self._again(refusal)
        else:
            self._end(refusal)

    def _again(self, refusal: Optional[ServerError]) -> None:
        loop = asyncio.get_running_loop()
        now, limit = loop.time(), self._target.reconnect_seconds
        self._lost_at = now if self._lost_at is None else self._lost_at
        if limit is not None and now - self._lost_at >= limit:
            why = refusal.message if refusal else "the connection is lost as soon as it is open"
            return self._end(ServerError(0, "unreachable", f"The connection did not come back within {limit:g} s: {why}"))
        delay = min(FIRST_DELAY_SECONDS * 2**self._attempts, LONGEST_DELAY_SECONDS) * (0.5 + random.random() / 2)
        self._attempts = min(self._attempts + 1, 30)
        self._timer = loop.call_later(delay, self._connect_soon)

    # ── From the server ─────────────────────────────────────────────────────────────────────────────────

    def _receive(self, text: str) -> None:
        try:
            frame = json.loads(text)
        except (ValueError, RecursionError):
            return
        if self._ended.is_set() or self._is_closing or not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
            return
        kind, seq = frame["type"], frame.get("seq")
        if isinstance(seq, int) and kind != "snapshot":
            if self._cursor is not None and seq <= self._cursor:
                return
            self._cursor = seq
        if kind == "ready":
            return self._on_ready(frame)
        if kind == "response":
            return self._on_response(frame)
        if kind == "snapshot":
            self._cursor = max(self._cursor or 0, seq if isinstance(seq, int) else 0)
            self._answer_again(frame)
        elif kind == "session_moved" and frame.get("from") == self._session and self._mode == "write":
            # Readers stay with the old one. The new one has numbers of its own.
            self._session = str(frame.get("to"))
            self._cursor = None
        elif kind == "session_state":
            # A new process does not know the tools of this client.
            if frame.get("state") == "starting" and self._is_up:
                self._repeat("set_host_tools")
        elif kind == "seat":
            if frame.get("held") is False and frame.get("by") is not None:
                self._mode = "read"
        elif kind == "run_result":
            self._fail_late(frame)
        elif kind == "host_tool_call":
            if self._is_known_call(str(frame.get("id"))):
                return
        elif kind == "host_tool_cancel":
            self._calls.pop(str(frame.get("targetId")), None)
        guarded(self._on_frame, frame)

    def _on_ready(self, frame: Frame) -> None:
        self._is_up = True
        self._attempts = 0
        self._lost_at = None
        if not self._was_up or self._cursor is None:
            self._cursor = int(frame.get("asOf") or 0)
        # What the previous connection did not hear, or knew.
        if self._was_up:
            for name in _OF_CONNECTION:
                self._repeat(name)
        else:
            # The first connection has no cursor: a snapshot tells what is open.
            self._deliver(_encoded({"id": "again-subscribe", "type": "subscribe"}))
        for command in self._open.values():
            self._deliver(command.data)
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self._deliver(data)
        if not self._was_up:
            self._was_up = True
            guarded(self._on_frame, frame)

    def _on_response(self, frame: Frame) -> None:
        wire, as_of = frame.pop("id", None), frame.get("asOf")
        if self._cursor is None and isinstance(as_of, int):
            self._cursor = as_of
        if isinstance(wire, str) and wire.startswith("again-"):
            return
        command = self._open.pop(str(wire), None)
        if command:
            _keep(self._answered, str(wire), command, KEPT_ANSWERED)
            if frame.get("success") is True and command.name in _OF_CONNECTION:
                self._said[command.name] = command
        else:
            command = self._answered.get(str(wire))
        if command:
            self._note_run(command, frame)
        if command and command.id is not None:
            frame["id"] = command.id
        guarded(self._on_frame, frame)

    def _note_run(self, command: _Command, response: Frame) -> None:
        data = response.get("data")
        run_id = data.get("runId") if isinstance(data, dict) else None
        if response.get("success") is True and isinstance(run_id, str):
            _keep(self._begun, run_id, command, KEPT_ANSWERED)
        elif response.get("success") is not True:
            for known in [run for run, begun in self._begun.items() if begun is command]:
                del self._begun[known]

    def _fail_late(self, result: Frame) -> None:
        """A prompt was refused after its acceptance, and that answer was lost with a connection: the result of its run tells it."""
        command, error = self._begun.pop(str(result.get("runId")), None), result.get("error")
        if command is None or not isinstance(error, dict) or error.get("kind") != "refused":
            return
        frame: Frame = {"type": "response", "command": command.name, "success": False, "error": error.get("message")}
        if error.get("code") is not None:
            frame["code"] = error["code"]
        if command.id is not None:
            frame["id"] = command.id
        guarded(self._on_frame, frame)

    def _answer_again(self, snapshot: Frame) -> None:
        """A question that is still open although it was answered: the answer was lost with a connection."""
        for dialog in open_questions(snapshot):
            answer = self._answers.get(str(dialog.get("id")))
            if answer is not None:
                self._deliver(answer)

    def _is_known_call(self, call_id: str) -> bool:
        """The server sends open calls again: a tool runs once."""
        if call_id in self._calls:
            result = self._calls[call_id]
            if result is not None:
                self._deliver(result)
            return True
        _keep(self._calls, call_id, None, KEPT_RESULTS)
        return False

    # ── To the server ───────────────────────────────────────────────────────────────────────────────────

    def _deliver(self, data: bytes) -> None:
        if self._is_up and self._socket:
            self._socket.send(data)
        else:
            self._waiting.append(data)

    def _repeat(self, name: str) -> None:
        """The answer is for no caller."""
        said = self._said.get(name)
        if said is None or (name == "set_host_tools" and self._mode == "read"):
            return
        frame = {**said.frame, "id": f"again-{name}"}
        frame.pop("key", None)
        self._deliver(_encoded(frame))

    def _refuse_long(self, command: _Command) -> None:
        size = len(command.data)
        words = f"The command has {size} bytes, and a server takes at most {MOST_MESSAGE_BYTES} as one message. Send images in several prompts, or smaller."
        response = {"id": command.id, "type": "response", "command": command.name, "success": False, "error": words, "code": "too_long"}
        asyncio.get_running_loop().call_soon(guarded, self._on_frame, response)


def _encoded(frame: Mapping[str, Any]) -> bytes:
    # Lone surrogates have no UTF-8 form; the agent replaces them as well.
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _keep(kept: "OrderedDict[str, Any]", key: str, value: Any, most: int) -> None:
    kept[key] = value
    if len(kept) > most:
        kept.popitem(last=False)


def _is_passing(status: int) -> bool:
    """Whether another attempt may change the answer."""
    return status == 0 or status == 429 or status >= 500
