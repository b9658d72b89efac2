"""Questions of extensions: the host's handler is asked, and the agent always gets an answer."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Optional, Union

from ._questions import Questions
from ._threads import called
from .protocol import ExtensionUiRequest

METHODS = frozenset(("select", "confirm", "input", "editor"))

DialogAnswer = Union[str, bool, None]
DialogHandler = Callable[[ExtensionUiRequest], Union[DialogAnswer, Awaitable[DialogAnswer]]]


class Dialogs(Questions[DialogHandler]):
    """Without a handler they are cancelled, so that the agent does not wait for a user who is not asked."""

    def receive(self, request: Any) -> None:
        if request.get("method") == "cancel":
            self.close(request.get("targetId"))
        elif request.get("method") in METHODS:
            self._note(request["id"])
            self._open[request["id"]] = self._work(self._answer(request, self.handler))

    async def _answer(self, request: Any, handler: Optional[DialogHandler]) -> None:
        dialog_id, milliseconds = request["id"], request.get("timeout")
        # The agent goes on without us then, and says nothing.
        timer = asyncio.get_running_loop().call_later(milliseconds / 1000, self.close, dialog_id) if milliseconds else None
        answer: DialogAnswer = None
        try:
            if handler:
                answer = await called(handler, request)
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
