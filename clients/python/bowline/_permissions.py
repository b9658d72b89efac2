"""Questions about tool calls: the host's handler answers them. A handler that fails denies."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Union

from ._threads import called
from .protocol import PermissionRequest

PermissionAnswer = Mapping[str, Any]
PermissionHandler = Callable[[PermissionRequest], Union[PermissionAnswer, Awaitable[PermissionAnswer]]]

_MEMBERS = ("decision", "scope", "rule", "message")


class Permissions:
    """Those that are open. One that is closed elsewhere is cancelled, and what a handler still says is dropped."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], work: Callable[[Any], "asyncio.Task[None]"]) -> None:
        self.handler: Optional[PermissionHandler] = None
        self._send = send
        self._work = work
        self._open: Dict[str, "asyncio.Task[None]"] = {}

    def receive(self, request: Any) -> None:
        if self.handler:
            self._open[request["id"]] = self._work(self._answer(request, self.handler))

    def close(self, request_id: Any) -> None:
        task = self._open.pop(request_id, None)
        if task:
            task.cancel()

    def close_all(self) -> None:
        for request_id in list(self._open):
            self.close(request_id)

    async def _answer(self, request: Any, handler: PermissionHandler) -> None:
        answer: Any = None
        try:
            answer = await called(handler, request)
        finally:
            # Not when it was closed meanwhile.
            if self._open.pop(request["id"], None):
                frame = {"type": "permission_response", "id": request["id"], "digest": request["digest"]}
                self._send({**frame, **_members(answer)})


def _members(answer: Any) -> Dict[str, Any]:
    if not isinstance(answer, Mapping) or answer.get("decision") not in ("allow", "deny"):
        return {"decision": "deny"}
    return {name: answer[name] for name in _MEMBERS if answer.get(name) is not None}
