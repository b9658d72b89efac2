"""The agent's process: lines in, lines out, its stderr, its end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence

CHUNK_BYTES = 256 * 1024
STDERR_LINES = 200
STDERR_LINE_CHARACTERS = 2000


class AgentProcess:
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
        self._process: Optional[asyncio.subprocess.Process] = None
        self._ended = asyncio.Event()
        self._watch: Optional[asyncio.Task[None]] = None

    async def start(self, command: Sequence[str], cwd: Optional[str], env: Optional[Mapping[str, str]]) -> None:
        # On Windows npm installs commands as .cmd files, which only a search finds.
        program = shutil.which(command[0]) or command[0]
        self._process = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._watch = asyncio.get_running_loop().create_task(self._follow(self._process))

    @property
    def is_running(self) -> bool:
        return self._process is not None and self.exit_code is None

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Writes one line. Raises ConnectionError when nobody reads any more."""
        if self._process is None or self._process.stdin is None:
            raise ConnectionError("the agent is not running")
        line = json.dumps(frame, ensure_ascii=False, separators=(",", ":")) + "\n"
        # Lone surrogates have no UTF-8 form; the agent replaces them as well.
        self._process.stdin.write(line.encode("utf-8", "replace"))
        await self._process.stdin.drain()

    async def close(self, patience: float) -> int:
        """Closes stdin, then asks, then forces. Gives the exit code."""
        process = self._process
        if process is None:
            raise ConnectionError("the agent was never started")
        if process.stdin is not None:
            process.stdin.close()
        for force in (process.terminate, process.kill):
            if await self._has_ended(patience):
                break
            try:
                force()
            except ProcessLookupError:
                break
        await self._ended.wait()
        return self.exit_code if self.exit_code is not None else 0

    async def _has_ended(self, patience: float) -> bool:
        try:
            await asyncio.wait_for(self._ended.wait(), patience)
            return True
        except asyncio.TimeoutError:
            return False

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None and process.stderr is not None
        stderr = asyncio.get_running_loop().create_task(_lines(process.stderr, self._hear))
        stdout = asyncio.get_running_loop().create_task(_lines(process.stdout, self._read))
        code = await process.wait()
        # What a grandchild still holds open is not the agent's any more.
        await asyncio.wait([stdout, stderr], timeout=1)
        for reader in (stdout, stderr):
            reader.cancel()
        self.exit_code = code
        self._ended.set()
        self._on_exit(code)

    def _hear(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")[:STDERR_LINE_CHARACTERS]
        self.stderr.append(text)
        if self._on_stderr:
            self._on_stderr(text)

    def _read(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        if isinstance(frame, dict) and isinstance(frame.get("type"), str):
            self._on_frame(frame)
        elif line.strip():
            # Not ours: an agent of another kind may print there. It is kept where a person looks for it.
            self._hear(b"stdout: " + line)


async def _lines(stream: asyncio.StreamReader, on_line: Callable[[bytes], None]) -> None:
    """Cuts at newlines only, whatever a line's length."""
    parts: List[bytes] = []
    while True:
        chunk = await stream.read(CHUNK_BYTES)
        if not chunk:
            break
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            parts.append(line)
            on_line(b"".join(parts).rstrip(b"\r"))
            parts = []
        if rest:
            parts.append(rest)
    if parts:
        on_line(b"".join(parts))
