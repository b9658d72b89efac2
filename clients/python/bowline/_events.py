"""Events that somebody is going to fetch."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import Any, Deque, Dict, Optional

from .protocol import Event


class AsyncEvents:
    """An async iterator. One that nobody holds any more is forgotten, with what it kept."""

    def __init__(self) -> None:
        self._waiting: Deque[Dict[str, Any]] = deque()
        self._is_over = False
        self._reader: Optional["asyncio.Future[None]"] = None

    def push(self, event: Dict[str, Any]) -> None:
        self._waiting.append(event)
        self._wake()

    def end(self) -> None:
        self._is_over = True
        self._wake()

    def __aiter__(self) -> "AsyncEvents":
        return self

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._is_over:
                raise StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._waiting.popleft()  # type: ignore[return-value]

    def _wake(self) -> None:
        if self._reader and not self._reader.done():
            self._reader.set_result(None)


class Events:
    """The same for threads."""

    def __init__(self) -> None:
        self._waiting: Deque[Dict[str, Any]] = deque()
        self._is_over = False
        self._changed = threading.Condition()

    def push(self, event: Dict[str, Any]) -> None:
        with self._changed:
            self._waiting.append(event)
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def __iter__(self) -> "Events":
        return self

    def __next__(self) -> Event:
        with self._changed:
            while not self._waiting:
                if self._is_over:
                    raise StopIteration
                # Not for ever: elsewhere than on POSIX a wait without end cannot be interrupted.
                self._changed.wait(1)
            return self._waiting.popleft()  # type: ignore[return-value]
