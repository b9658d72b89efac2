"""Functions of the host. Plain ones run in threads that never keep the program from ending."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Callable


async def called(function: Callable[..., Any], *args: Any) -> Any:
    """What the function gives, be it a coroutine or a plain one that blocks."""
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    value = await in_thread(function, *args)
    return await value if inspect.isawaitable(value) else value


def in_thread(function: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
    """Runs the function in a thread of its own and gives its outcome."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: Any) -> None:
        if outcome.done():
            return
        if error is None:
            outcome.set_result(value)
        else:
            outcome.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = function(*args)
        except Exception as raised:
            # A future cannot hold a StopIteration.
            error = RuntimeError("the function raised StopIteration") if isinstance(raised, StopIteration) else raised
        except BaseException as raised:
            # sys.exit() in a thread ends that thread alone; what waits for it must learn that it is over.
            error = RuntimeError(f"the function raised {type(raised).__name__}: {raised}")
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            pass

    threading.Thread(target=run, name="bowline-host", daemon=True).start()
    return outcome
