"""Where the tests find an agent: the real one, or a small odd one."""

import atexit
import json
import os
import shutil
import sys
import tempfile
import textwrap
from typing import Any, List

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
PROGRAM = ["node", os.environ.get("BOWLINE", os.path.join(ROOT, "dist", "bowline.js")), "--mode", "rpc", "--no-session", "--hermetic"]
FOLDER = tempfile.mkdtemp(prefix="bowline-python-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
ECHO = [*PROGRAM, "--provider", "scripted", "--model", "echo"]


def scripted(*replies: Any) -> List[str]:
    """The real agent with a model that gives these replies."""
    path = os.path.join(FOLDER, f"{len(os.listdir(FOLDER))}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"replies": list(replies)}, file)
    return [*PROGRAM, "--provider", "scripted", "--model", path]


def odd_agent(body: str) -> List[str]:
    """A program that speaks the protocol in its own way. `say` writes a frame, `frames` are those that arrive."""
    program = textwrap.dedent(
        """
        import json, sys, time, signal
        def say(**frame): print(json.dumps(frame), flush=True)
        frames = (json.loads(line) for line in sys.stdin)
        """
    ) + textwrap.dedent(body)
    return [sys.executable, "-c", program]
