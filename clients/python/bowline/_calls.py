"""Calls of the host's tools: runs them when the model asks, and says how it went."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Mapping, Tuple

from ._threads import called
from .tools import HostTool, ToolCall, as_result


class Calls:
    """Those that are under way."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], work: Callable[[Any], "asyncio.Task[None]"]) -> None:
        self.tools: Dict[str, HostTool] = {}
        self._send = send
        self._work = work
        self._open: Dict[str, Tuple[ToolCall, "asyncio.Task[None]"]] = {}

    def receive(self, frame: Dict[str, Any]) -> None:
        call_id = frame["id"]
        loop = asyncio.get_running_loop()

        def report(partial: Any) -> None:
            # Called from any thread.
            update = {"type": "host_tool_update", "id": call_id, "partialResult": partial}
            loop.call_soon_threadsafe(lambda: self._send(update))

        call = ToolCall(call_id, frame["toolName"], report)
        self._open[call_id] = (call, self._work(self._execute(call, frame.get("arguments") or {})))

    def cancel(self, call_id: Any) -> None:
        call, task = self._open.pop(call_id, (None, None))
        if call and task:
            call.cancel()
            task.cancel()

    def cancel_all(self) -> None:
        for call_id in list(self._open):
            self.cancel(call_id)

    async def _execute(self, call: ToolCall, arguments: Dict[str, Any]) -> None:
        tool = self.tools.get(call.tool_name)
        result, is_error = as_result("The program that has this tool gave the call up."), True
        try:
            if tool is None:
                raise LookupError(f"There is no tool {call.tool_name} in this program.")
            result, is_error = as_result(await called(tool.execute, arguments, call)), False
        except Exception as error:
            result = as_result(str(error) or type(error).__name__)
        finally:
            # Also when somebody cancelled the task behind our back: the agent waits.
            self._open.pop(call.id, None)
            if not call.is_cancelled:
                self._answer(call.id, result, is_error)

    def _answer(self, call_id: str, result: Any, is_error: bool) -> None:
        frame = {"type": "host_tool_result", "id": call_id, "result": result, "isError": is_error}
        try:
            self._send(frame)
        except (TypeError, ValueError) as error:
            # A result that is no JSON.
            self._send({**frame, "result": as_result(f"The tool's result cannot be sent: {error}"), "isError": True})
