"""The agent's process: lines in, lines out, its stderr, its end.

Made of callbacks, not of tasks: a program that cancels every task it finds, as `asyncio.run` does at its end, still hears how its agent ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence

STDERR_LINES = 200
STDERR_LINE_CHARACTERS = 2000
# Descendants of the agent may keep its pipes open; what it said itself is read by then.
DRAIN_SECONDS = 1.0


class AgentProcess(asyncio.SubprocessProtocol):
    """Started once. `on_frame` gets every JSON object, `on_exit` the exit code behind the last of them."""

    def __init__(
        self,
        on_frame: Callable[[Dict[str, Any]], None],
        on_exit: Callable[[int], None],
        on_stderr: Optional[Callable[[str], None]],
    ) -> None:
        self.stderr: Deque[str] = deque(maxlen=STDERR_LINES)
        self.exit_code: Optional[int] = None
        self._on_frame = on_frame
        self._on_exit = on_exit
        self._on_stderr = on_stderr
        self._lines = {1: Lines(self._read), 2: Lines(self._hear)}
        self._transport: Optional[asyncio.SubprocessTransport] = None
        self._ended = asyncio.Event()

    async def start(self, command: Sequence[str], cwd: Optional[str], env: Optional[Mapping[str, str]]) -> None:
        # On Windows npm installs commands as .cmd files, which only a search finds.
        program = shutil.which(command[0]) or command[0]
        whole = None if env is None else {**os.environ, **env}
        await asyncio.get_running_loop().subprocess_exec(lambda: self, program, *command[1:], cwd=cwd, env=whole)

    @property
    def is_running(self) -> bool:
        return self._transport is not None and self.exit_code is None

    def send(self, frame: Mapping[str, Any]) -> None:
        """Writes one line. What nobody reads any more is followed by the exit."""
        line = json.dumps(frame, ensure_ascii=False, separators=(",", ":")) + "\n"
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            # Lone surrogates have no UTF-8 form; the agent replaces them as well.
            stdin.write(line.encode("utf-8", "replace"))

    async def close(self, patience: float) -> Optional[int]:
        """Closes stdin, then asks, then forces. Gives the exit code. Who is cancelled meanwhile leaves no agent behind."""
        transport = self._transport
        if transport is None:
            return None
        stdin = self._stdin()
        if stdin is not None:
            stdin.close()
        try:
            for force in (transport.terminate, transport.kill):
                if await self._has_ended(patience):
                    break
                _send_signal(force)
            await self._ended.wait()
        except asyncio.CancelledError:
            _send_signal(transport.kill)
            raise
        return self.exit_code

    async def _has_ended(self, patience: float) -> bool:
        try:
            await asyncio.wait_for(self._ended.wait(), patience)
            return True
        except asyncio.TimeoutError:
            return False

    def _stdin(self) -> Optional[asyncio.WriteTransport]:
        stdin = self._transport.get_pipe_transport(0) if self._transport else None
        return stdin if isinstance(stdin, asyncio.WriteTransport) else None

    # ── What the event loop tells ───────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._lines[fd].push(data)

    def process_exited(self) -> None:
        asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._finish)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._finish()

    def _finish(self) -> None:
        """It has ended, and its pipes are read, or given up."""
        if self.exit_code is not None or self._transport is None:
            return
        for lines in self._lines.values():
            lines.end()
        code = self._transport.get_returncode()
        self.exit_code = code if code is not None else 0
        self._transport.close()
        self._ended.set()
        self._on_exit(self.exit_code)

    def _hear(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")[:STDERR_LINE_CHARACTERS]
        self.stderr.append(text)
        if self._on_stderr:
            guarded(self._on_stderr, text)

    def _read(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            frame = None
        if isinstance(frame, dict) and isinstance(frame.get("type"), str):
            guarded(self._on_frame, frame)
        elif line.strip():
            # Not ours: an agent of another kind may print there. It is kept where a person looks for it.
            self._hear(b"stdout: " + line[:STDERR_LINE_CHARACTERS])


class Lines:
    """Cuts at newlines only, whatever a line's length."""

    def __init__(self, on_line: Callable[[bytes], None]) -> None:
        self._on_line = on_line
        self._parts: List[bytes] = []

    def push(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._parts.append(line)
            self._tell()
        if rest:
            self._parts.append(rest)

    def end(self) -> None:
        if self._parts:
            self._tell()

    def _tell(self) -> None:
        line = b"".join(self._parts).rstrip(b"\r")
        self._parts = []
        self._on_line(line)


def guarded(function: Callable[[Any], None], value: Any) -> None:
    """Calls the host's code, or code that a frame may surprise: one that fails must not keep us from reading on."""
    try:
        function(value)
    except Exception as error:
        asyncio.get_running_loop().call_exception_handler({"message": "a handler of the host failed", "exception": error})


def _send_signal(force: Callable[[], None]) -> None:
    try:
        force()
    except ProcessLookupError:
        pass
