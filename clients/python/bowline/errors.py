"""What can go wrong between a host and its agent."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from .protocol import ErrorCode


class AgentError(Exception):
    """The base of every error that this package raises."""


class RequestError(AgentError):
    """The agent refused a command, or a prompt failed after it had been accepted."""

    def __init__(self, command: str, message: str, code: Optional[ErrorCode] = None, hint: Optional[str] = None) -> None:
        # Many messages begin with the command.
        super().__init__(message if message.startswith(f"{command}: ") else f"{command}: {message}")
        self.command = command
        self.message = message
        # docs/errors.md says what to do about each. Absent where an agent of another kind gives none.
        self.code = code
        # A guess for a person, such as the name that was probably meant.
        self.hint = hint


class RequestTimeout(AgentError, TimeoutError):
    """No answer came in time. The agent may still carry the command out."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what}: no answer within {seconds:g} s")


class ExitError(AgentError):
    """The agent ended, or was not there to begin with. Of a server: the connection is over; ``__cause__`` says why."""

    def __init__(self, doing: str, exit_code: Optional[int], stderr: Sequence[str], cause: Optional[Exception] = None) -> None:
        how = "is not running" if exit_code is None else f"ended {_how(exit_code)}"
        words = "".join(f"\n  {line}" for line in stderr[-10:])
        super().__init__(f"{doing}: {cause}" if cause else f"{doing}: the agent {how}" + (f"; its last words:{words}" if words else ""))
        self.__cause__ = cause
        self.exit_code = exit_code
        self.stderr = list(stderr)


class ServerError(AgentError):
    """The server refused, or cannot be reached."""

    def __init__(self, status: int, code: ErrorCode, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        # The HTTP status; 0 when there was no answer.
        self.status = status
        # docs/errors.md says what to do about each.
        self.code = code
        self.message = message
        self.details = details


def _how(exit_code: int) -> str:
    # A negative code is how Python tells of a signal.
    return f"by signal {-exit_code}" if exit_code < 0 else f"with exit code {exit_code}"
