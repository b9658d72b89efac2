"""Questions about tool calls: the host's handler answers them. A handler that fails denies."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, Mapping, Union

from ._questions import Questions
from ._threads import called
from .protocol import PermissionRequest

PermissionAnswer = Mapping[str, Any]
PermissionHandler = Callable[[PermissionRequest], Union[PermissionAnswer, Awaitable[PermissionAnswer]]]

_MEMBERS = ("decision", "scope", "rule", "message")
_SCOPES = ("once", "session", "always")


class Permissions(Questions[PermissionHandler]):
    async def _answer(self, request: Any, handler: PermissionHandler) -> None:
        members: Dict[str, Any] = {"decision": "deny"}
        try:
            members = _members(await called(handler, request))
        except Exception as error:
            members = {"decision": "deny", "message": f"The host's handler failed: {error or type(error).__name__}"}
            raise
        finally:
            # Not when it was closed meanwhile.
            if self._open.pop(request["id"], None):
                self._send({"type": "permission_response", "id": request["id"], "digest": request["digest"], **members})


def _members(answer: Any) -> Dict[str, Any]:
    """Only what belongs into an answer. Raises where it is not one: the agent would refuse it, and the question would stay open."""
    if not isinstance(answer, Mapping) or answer.get("decision") not in ("allow", "deny"):
        raise TypeError('on_permission: the handler must return {"decision": "allow" | "deny"}')
    if answer.get("scope") not in (None, *_SCOPES):
        raise TypeError('on_permission: scope must be "once", "session" or "always"')
    if not isinstance(answer.get("message"), (str, type(None))):
        raise TypeError("on_permission: message must be a string")
    if not isinstance(answer.get("rule"), (Mapping, type(None))):
        raise TypeError("on_permission: rule must be a mapping")
    return {name: answer[name] for name in _MEMBERS if answer.get(name) is not None}
