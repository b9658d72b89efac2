"""Questions before each step: the host's handler answers them. A handler that fails ends the run."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Union

from ._threads import called
from .protocol import GateRequest

GateAnswer = Mapping[str, Any]
GateHandler = Callable[[GateRequest], Union[GateAnswer, Awaitable[GateAnswer]]]


class Gates:
    """Those that are open. Without a handler nothing is sent: a listener may answer by other means."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], work: Callable[[Any], "asyncio.Task[None]"]) -> None:
        self.handler: Optional[GateHandler] = None
        self._send = send
        self._work = work
        self._open: Dict[str, "asyncio.Task[None]"] = {}

    def receive(self, request: Any) -> None:
        if self.handler:
            self._open[request["id"]] = self._work(self._answer(request, self.handler))

    def close_all(self) -> None:
        while self._open:
            self._open.popitem()[1].cancel()

    async def _answer(self, request: Any, handler: GateHandler) -> None:
        answer: Any = None
        try:
            answer = await called(handler, request)
        finally:
            # Not when the agent has ended meanwhile.
            if self._open.pop(request["id"], None):
                self._send({"type": "gate_response", "id": request["id"], **_members(answer)})


def _members(answer: Any) -> Dict[str, Any]:
    if not isinstance(answer, Mapping) or not isinstance(answer.get("allow"), bool):
        return {"allow": False, "reason": "The host could not decide about this step.", "end": True}
    return {name: value for name, value in answer.items() if value is not None}
