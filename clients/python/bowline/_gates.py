"""Questions before each step: the host's handler answers them. A handler that fails ends the run."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, Mapping, Union

from ._questions import Questions
from ._threads import called
from .protocol import GateRequest

GateAnswer = Mapping[str, Any]
GateHandler = Callable[[GateRequest], Union[GateAnswer, Awaitable[GateAnswer]]]


class Gates(Questions[GateHandler]):
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
