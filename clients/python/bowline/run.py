"""How a prompt is queued while the agent works, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Literal, Optional

StreamingBehavior = Literal["steer", "followUp"]


@dataclass
class RunResult:
    """Every message that a prompt, and what followed it automatically, added to the conversation."""

    messages: List[Dict[str, Any]] = field(default_factory=list)
    # True when an extension's command took the prompt and no model was asked.
    handled: bool = False
    aborted: bool = False
    # The value that `schema` asked for. It may be None: `output_error` says whether there is one.
    output: Any = None
    # Why there is no such value.
    output_error: Optional[str] = None

    @property
    def last(self) -> Optional[Dict[str, Any]]:
        """The last reply of the model."""
        return next((message for message in reversed(self.messages) if message.get("role") == "assistant"), None)

    @property
    def text(self) -> str:
        """The text of the last reply."""
        blocks = (self.last or {}).get("content") or []
        return "".join(block.get("text", "") for block in blocks if block.get("type") == "text")

    @property
    def stop_reason(self) -> Optional[str]:
        return (self.last or {}).get("stopReason")

    @property
    def error(self) -> Optional[str]:
        """Why the last reply ended in an error or was aborted, if it did."""
        reason: Optional[str] = (self.last or {}).get("errorMessage")
        return reason or ("the reply failed" if self.stop_reason == "error" else None)
