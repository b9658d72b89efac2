"""For tests of programs that embed an agent: play a record instead of asking a model."""

from __future__ import annotations

from typing import List

__all__ = ["record_args", "replay_args"]


def record_args(record: str) -> List[str]:
    """The flags that record what a real model says, with nothing of this machine but the key."""
    return ["--hermetic", "--no-session", "--record", record]


def replay_args(record: str, *, real_tools: bool = False, loose: bool = False, paced: bool = False) -> List[str]:
    """The flags that play a record offline, without keys, settings or session files of this machine.

    Tools answer from the record unless ``real_tools``. A request that differs from the record fails the run, or is only reported if ``loose``.
    With ``paced`` the replies have the pauses of the original.
    """
    args = ["--hermetic", "--no-session", "--provider", "scripted", "--model", record]
    args += ["--replay", "loose" if loose else "strict"]
    if not real_tools:
        args.append("--replay-tools")
    if paced:
        args += ["--replay-speed", "recorded"]
    return args
