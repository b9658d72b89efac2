"""What can go wrong between a host and its agent."""

from __future__ import annotations

from typing import Optional, Sequence


class AgentError(Exception):
    """The base of every error that this package raises."""


class RequestError(AgentError):
    """The agent refused a command, or a prompt failed after it had been accepted."""

    def __init__(self, command: str, message: str, code: Optional[str] = None, hint: Optional[str] = None) -> None:
        super().__init__(f"{command}: {message}")
        self.command = command
        self.message = message
        self.code = code
        # A guess for a person, such as the name that was probably meant.
        self.hint = hint


class RequestTimeout(AgentError, TimeoutError):
    """No answer came in time. The agent may still carry the command out."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what}: no answer within {seconds:g} s")


class ExitError(AgentError):
    """The agent ended, or was not there to begin with."""

    def __init__(self, doing: str, exit_code: Optional[int], stderr: Sequence[str]) -> None:
        how = "is not running" if exit_code is None else f"ended {_how(exit_code)}"
        words = "".join(f"\n  {line}" for line in stderr[-10:])
        super().__init__(f"{doing}: the agent {how}" + (f"; its last words:{words}" if words else ""))
        self.exit_code = exit_code
        self.stderr = list(stderr)


def _how(exit_code: int) -> str:
    # A negative code is how Python tells of a signal.
    return f"by signal {-exit_code}" if exit_code < 0 else f"with exit code {exit_code}"
