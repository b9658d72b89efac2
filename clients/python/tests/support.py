"""Where the tests find an agent: the real one, or a small odd one."""

import atexit
import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import textwrap
import threading
from typing import Any, Callable, Iterator, List

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


@contextlib.contextmanager
def odd_server(talk: Callable[[bytes, socket.socket], None]) -> Iterator[str]:
    """A server of WebSockets that says what the test says. `talk` gets the answer to the handshake, and the connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                end, _ = listener.accept()
            except OSError:
                return
            with end, contextlib.suppress(OSError):
                end.settimeout(45)
                request = b""
                while b"\r\n\r\n" not in request:
                    request += end.recv(65536)
                key = re.search(rb"Sec-WebSocket-Key: (\S+)", request)
                accept = base64.b64encode(hashlib.sha1((key[1] if key else b"") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                head = [b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Accept: " + accept]
                talk(b"\r\n".join([*head, b"", b""]), end)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        # A listener that is only closed goes on accepting.
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(45)
