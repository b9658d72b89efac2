"""Questions of extensions: the host's handler is asked, and the agent always gets an answer."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Union

from ._threads import called
from .protocol import ExtensionUiRequest

METHODS = frozenset(("select", "confirm", "input", "editor"))

DialogAnswer = Union[str, bool, None]
DialogHandler = Callable[[ExtensionUiRequest], Union[DialogAnswer, Awaitable[DialogAnswer]]]


class Dialogs:
    """Those that are open. One whose answer is not wanted any more is cancelled, and what a handler still says is dropped."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], work: Callable[[Any], "asyncio.Task[None]"]) -> None:
        self.handler: Optional[DialogHandler] = None
        self._send = send
        self._work = work
        self._open: Dict[str, "asyncio.Task[None]"] = {}

    def receive(self, request: Any) -> None:
        if request.get("method") == "cancel":
            self._close(request.get("targetId"))
        elif request.get("method") in METHODS:
            self._open[request["id"]] = self._work(self._answer(request))

    def close_all(self) -> None:
        for dialog_id in list(self._open):
            self._close(dialog_id)

    def _close(self, dialog_id: Any) -> None:
        task = self._open.pop(dialog_id, None)
        if task:
            task.cancel()

    async def _answer(self, request: Any) -> None:
        dialog_id, milliseconds = request["id"], request.get("timeout")
        # The agent goes on without us then, and says nothing.
        timer = asyncio.get_running_loop().call_later(milliseconds / 1000, self._close, dialog_id) if milliseconds else None
        answer: DialogAnswer = None
        try:
            if self.handler:
                answer = await called(self.handler, request)
        finally:
            if timer:
                timer.cancel()
            # Not when it was withdrawn.
            if self._open.pop(dialog_id, None):
                self._send({"type": "extension_ui_response", "id": dialog_id, **_members(request["method"], answer)})


def _members(method: str, answer: DialogAnswer) -> Dict[str, Any]:
    if method == "confirm" and isinstance(answer, bool):
        return {"confirmed": answer}
    if method != "confirm" and isinstance(answer, str):
        return {"value": answer}
    return {"cancelled": True}
