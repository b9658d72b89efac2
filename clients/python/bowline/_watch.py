"""When is a prompt done?

Agents that say `agent_settled` say so. Others only say `agent_end`, and a retry or a compaction may follow: they are asked for their state.
The same question finds out that a prompt led to no run at all.
"""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional

from .errors import AgentError, RequestError
from .run import RunResult

# When the state is asked for while no event tells: at first, and at most.
FIRST_LOOK_SECONDS = 0.3
LONGEST_LOOK_SECONDS = 3.0
# An agent that does not tell what became of a prompt may need a moment before it shows that it is busy.
QUIET_SECONDS = 2.0

State = Mapping[str, Any]

_OF_RUNS = frozenset(
    ("agent_start", "agent_end", "agent_settled", "auto_retry_start", "auto_retry_end", "auto_compaction_start", "auto_compaction_end")
)


class Watch:
    """Hears every event from the answer to the prompt on; without a prompt from the start. `over` is settled when the agent is idle."""

    def __init__(self, ask_state: Callable[[], Awaitable[Any]], is_prompt: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._ask_state = ask_state
        self._is_prompt = is_prompt
        self._is_on = not is_prompt
        # Its state can be believed at once.
        self._is_frank = not is_prompt
        self._had_run = False
        self._is_running = False
        # It said that it will go on by itself.
        self._will_go_on = False
        self._heard_at = self._loop.time()
        self._look_seconds = FIRST_LOOK_SECONDS
        self._timer: Optional[asyncio.TimerHandle] = None
        self._looking: Optional["asyncio.Task[None]"] = None
        # Before the answer: after a lost connection, events of the run may come before the answer that was lost.
        self._early: List[Dict[str, Any]] = []
        self.result = RunResult()
        # The agent reported a value, or why there is none.
        self.has_output = False
        self.over: "asyncio.Future[RunResult]" = self._loop.create_future()

    def accepted(self, data: Any) -> None:
        """The prompt was taken: from here on events are about it."""
        disposition = data.get("disposition") if isinstance(data, dict) else None
        if disposition == "handled":
            self.result.handled = True
            return self._done()
        self._is_frank = disposition is not None
        self._is_on = True
        self._heard_at = self._loop.time()
        self._look_later()
        early, self._early = self._early, []
        run_id = data.get("runId") if isinstance(data, dict) else None
        first = next((at for at, event in enumerate(early) if event["type"] == "agent_start" and event.get("runId") == run_id), None)
        if run_id is not None and first is not None:
            for event in early[first:]:
                self.hear(event)

    def fail(self, error: Exception) -> None:
        if not self.over.done():
            self.over.set_exception(error)

    def end(self) -> None:
        """Nobody waits any more."""
        self._is_on = False
        if self._timer:
            self._timer.cancel()
        if self._looking:
            self._looking.cancel()
        if not self.over.cancel() and not self.over.cancelled():
            # Read here, for when nobody did.
            self.over.exception()

    def look(self) -> None:
        """Asks for the state now."""
        if self._timer:
            self._timer.cancel()
        if self._is_on and self._looking is None:
            self._looking = self._loop.create_task(self._look())

    def hear(self, event: Dict[str, Any]) -> None:
        if not self._is_on:
            if self._is_prompt and not self.over.done() and event["type"] in _OF_RUNS:
                self._early.append(event)
            return
        self._heard_at = self._loop.time()
        self._look_seconds = FIRST_LOOK_SECONDS
        kind = event["type"]
        if kind == "agent_start":
            self._had_run = self._is_running = True
            self._will_go_on = False
            if self._timer:
                self._timer.cancel()
        elif kind == "agent_end":
            self._is_running = False
            messages = event.get("messages")
            run = RunResult(messages if isinstance(messages, list) else [])
            self.result.messages.extend(run.messages)
            self.result.aborted = run.stop_reason == "aborted"
            if "output" in event or "outputError" in event:
                self.has_output = True
                self.result.output = event.get("output")
                self.result.output_error = event.get("outputError")
            # Who says that it has settled does so next, and a failed reply may be followed by a retry.
            if self._is_frank or run.stop_reason == "error":
                self._look_later()
            else:
                self.look()
        elif kind == "agent_settled":
            self.result.aborted = bool(event.get("aborted"))
            # Whoever waits for idle also waits for a compaction that aborted the run.
            if self._is_prompt:
                self._done()
            else:
                self.look()
        elif kind in ("auto_retry_start", "auto_compaction_start"):
            self._will_go_on = True
        elif kind == "auto_retry_end":
            self._will_go_on = False
        elif kind == "auto_compaction_end":
            self._will_go_on = bool(event.get("willRetry"))

    def _done(self) -> None:
        self._is_on = False
        if not self.over.done():
            self.over.set_result(self.result)

    async def _look(self) -> None:
        asked = self._loop.time()
        state: Any = None
        is_known = True
        try:
            state = await self._ask_state()
        except RequestError:
            # One that has no such command has told all it can.
            pass
        except AgentError:
            is_known = False
        self._looking = None
        if not self._is_on:
            return
        told: State = state if isinstance(state, dict) else {}
        is_busy = bool(told.get("isStreaming") or told.get("isCompacting") or self._is_running or self._will_go_on)
        is_sure = self._had_run or self._is_frank or asked - self._heard_at >= QUIET_SECONDS
        if is_known and is_sure and not is_busy:
            self._done()
        else:
            self._look_later()

    def _look_later(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._look_seconds, self.look)
        self._look_seconds = min(self._look_seconds * 2, LONGEST_LOOK_SECONDS)
