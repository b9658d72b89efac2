"""A real server with scripted models, and a way to it that can be cut."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, List, Optional, Tuple

from .support import PROGRAM


def until(what: str, look: Callable[[], Any], seconds: float = 45) -> Any:
    """Waits for a condition, never for a time."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"timed out: {what}")
        time.sleep(0.02)


class Server:
    """One for many tests: each session has a script of its own."""

    def __init__(self, *args: str) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="bowline-python-serve-"))
        self.cwd = os.path.join(self.folder, "work")
        os.mkdir(self.cwd)
        self._args = args
        self._scripts = 0
        self.process: Any = None
        self.start()

    def start(self, port: int = 0) -> None:
        user = os.path.join(self.folder, "user")
        self._log = open(os.path.join(self.folder, "stderr"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [*PROGRAM[:2], "serve", *([] if "--socket" in self._args else ["--port", str(port)]), "--provider", "scripted", "--model", "echo", *self._args],
            cwd=self.cwd,
            env={**os.environ, "HOME": user, "BOWLINE_DIR": user},
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        said = json.loads(self.process.stdout.readline())
        self.url: str = said["url"]
        self.port = int(self.url.rpartition(":")[2]) if self.url.startswith("http") else 0
        with open(said["tokenFile"], encoding="utf-8") as file:
            self.token = file.read().strip()

    def kill(self) -> None:
        self.process.kill()
        self._reap()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                # The second one skips the wait for what runs.
                self.process.terminate()
        self._reap()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _reap(self) -> None:
        self.process.wait(60)
        self.process.stdout.close()
        self._log.close()

    def session(self, *replies: Any, **more: Any) -> Any:
        """What a new session needs whose model gives these replies."""
        self._scripts += 1
        path = os.path.join(self.cwd, f"script-{self._scripts}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"replies": list(replies)}, file)
        return {"cwd": self.cwd, "provider": "scripted", "model": path, **more}


class CuttingProxy:
    """Bytes go through until the connections are dropped without a word, as by a lost network."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pairs: List[Tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self.cuts = 0
        self.is_down = False
        # What the server says is lost, as before a cut that neither end has noticed.
        self.is_deaf = False
        # Called with each piece that comes from the server, before it goes on.
        self.on_bytes: Optional[Callable[[bytes], None]] = None
        # The same for pieces of the client.
        self.on_sent: Optional[Callable[[bytes], None]] = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self.is_down:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._server.port))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._pairs.append((near, far))
            threading.Thread(target=self._pump, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, False), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                if is_request:
                    # The server answers under its own port only.
                    data = re.sub(rb"(\r\nHost: 127\.0\.0\.1:)\d+", rb"\g<1>%d" % self._server.port, data)
                    if self.on_sent:
                        self.on_sent(data)
                elif self.on_bytes:
                    self.on_bytes(data)
                if is_request or not self.is_deaf:
                    target.sendall(data)
        except OSError:
            pass  # Cut, here or by the other side.
        _drop(source)
        _drop(target)

    def cut(self) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, []
        self.cuts += 1
        for near, far in pairs:
            _drop(near)
            _drop(far)

    def cut_once(self, *, before: bool) -> None:
        """Cuts when the server says the next thing: `before` it gets through, or after the client has sent the next thing."""

        def hook(_: bytes) -> None:
            self.on_bytes = self.on_sent = None
            self.cut()

        if before:
            self.on_bytes = hook
        else:
            self.on_sent = hook

    def close(self) -> None:
        self._listener.close()
        self.cut()


def _drop(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It was gone.
    end.close()
