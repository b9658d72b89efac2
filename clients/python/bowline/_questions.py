"""Questions of one kind that wait for the host's handler."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Callable, Dict, Generic, Mapping, Optional, TypeVar

KEPT_QUESTIONS = 1000

Handler = TypeVar("Handler")


class Questions(Generic[Handler]):
    """Those that are open. One that is closed elsewhere is cancelled, and what a handler still says is dropped.

    Without a handler nothing is sent: a listener may answer by other means.
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], None], work: Callable[[Any], "asyncio.Task[None]"]) -> None:
        self.handler: Optional[Handler] = None
        self._send = send
        self._work = work
        self._open: Dict[str, "asyncio.Task[None]"] = {}
        # Those that were asked of this client, or are over.
        self._known: "OrderedDict[str, None]" = OrderedDict()
        # Those that were open before this client came and have no handler yet.
        self._missed: Dict[str, Any] = {}

    def receive(self, request: Any) -> None:
        self._note(request["id"])
        if self.handler:
            self._open[request["id"]] = self._work(self._answer(request, self.handler))

    def learn(self, request: Any) -> None:
        """It is open. Asked when it was not yet, and there is a handler; without one it stays open, and others may answer."""
        if request.get("id") not in self._known:
            self._missed[request["id"]] = request
            self.ask_missed()

    def ask_missed(self) -> None:
        if self.handler:
            for request in list(self._missed.values()):
                self.receive(request)

    def close(self, request_id: Any) -> None:
        self._note(request_id)
        task = self._open.pop(request_id, None)
        if task:
            task.cancel()

    def close_all(self) -> None:
        self._missed.clear()
        for request_id in list(self._open):
            self.close(request_id)

    def _note(self, request_id: Any) -> None:
        self._missed.pop(request_id, None)
        self._known[request_id] = None
        if len(self._known) > KEPT_QUESTIONS:
            self._known.popitem(last=False)

    async def _answer(self, request: Any, handler: Handler) -> None:
        raise NotImplementedError
