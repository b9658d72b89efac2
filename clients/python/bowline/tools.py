"""Tools that live in the host, and what their functions are given."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Union

from .protocol import HostToolDefinition, HostToolEffect, ToolResult

# A text stands for a result of one text block; nothing for an empty one.
ToolOutput = Union[str, ToolResult, None]


class ToolCall:
    """One call, as the tool's function sees it."""

    def __init__(self, call_id: str, tool_name: str, report: Callable[[ToolResult], None]) -> None:
        self.id = call_id
        self.tool_name = tool_name
        self._report = report
        self._cancelled = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """True after the run was aborted: the result is no longer wanted."""
        return self._cancelled.is_set()

    def wait_cancelled(self, seconds: float) -> bool:
        """Sleeps, at most until the call is cancelled; returns whether it was."""
        return self._cancelled.wait(seconds)

    def update(self, partial: ToolOutput) -> None:
        """Reports the whole progress so far; it replaces the previous report."""
        if not self.is_cancelled:
            self._report(as_result(partial))

    def cancel(self) -> None:
        self._cancelled.set()


Execute = Callable[[Dict[str, Any], ToolCall], Union[ToolOutput, Awaitable[ToolOutput]]]


@dataclass(frozen=True)
class HostTool:
    """A tool that the model can call and this program runs. What `execute` raises is what the model reads."""

    name: str
    description: str
    # JSON Schema of the arguments; they are checked against it before `execute` sees them.
    parameters: Mapping[str, Any]
    execute: Execute
    label: Optional[str] = None
    hidden: bool = False
    # What it does: `{"kind": "read", "paths": ["file"]}` makes rules about paths apply to its argument `file`.
    effect: Optional[HostToolEffect] = None

    def definition(self) -> HostToolDefinition:
        definition: HostToolDefinition = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        if self.label is not None:
            definition["label"] = self.label
        if self.hidden:
            definition["hidden"] = True
        if self.effect is not None:
            definition["effect"] = self.effect
        return definition


def as_result(output: ToolOutput) -> ToolResult:
    if output is None:
        return {"content": []}
    if isinstance(output, str):
        return {"content": [{"type": "text", "text": output}]}
    return output
