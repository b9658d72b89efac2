"""Where a server is, and one request to it."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from .errors import ServerError

# A request that creates a session waits for nothing but the server.
REQUEST_SECONDS = 30.0


class ServerAddress:
    """``http://127.0.0.1:7717``, ``https://…``, or ``unix:/path/to/the.socket``."""

    def __init__(self, url: str, token: Optional[str], ssl_context: Optional[ssl.SSLContext]) -> None:
        self.text = url
        self.socket_path: Optional[str] = None
        self.host = "localhost"
        self.port = 80
        self.ssl: Optional[ssl.SSLContext] = None
        # A proxy may have the server under a path of its own.
        self.prefix = ""
        self._token = token
        if url.startswith("unix:"):
            self.socket_path = url[len("unix:") :]
            return
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be like http://127.0.0.1:7717, https://… or unix:/path, not {url!r}")
        if parts.username is not None or parts.password is not None or parts.query:
            raise ValueError("A token is not part of the url, where logs would show it: pass it as token=…")
        self.host = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.prefix = parts.path.rstrip("/")
        if parts.scheme == "https":
            self.ssl = ssl_context or ssl.create_default_context()

    @property
    def named(self) -> str:
        """For the header Host."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.ssl else 80) else f"{name}:{self.port}"

    def headers(self) -> Dict[str, str]:
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    def ask(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, headers: Optional[Mapping[str, str]] = None, patience: float = 0
    ) -> Any:
        """Waits for the answer, which is JSON. Raises ServerError."""
        answer = self.read(method, path, body, headers, patience)
        return json.loads(answer) if answer else None

    def read(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, headers: Optional[Mapping[str, str]] = None, patience: float = 0
    ) -> bytes:
        """Waits for the whole answer, `patience` seconds longer than usual. Raises ServerError."""
        connection, response = self.open(method, path, body, headers, patience)
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self.unreachable(error) from error
        finally:
            connection.close()

    def open(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, headers: Optional[Mapping[str, str]] = None, patience: float = 0
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Waits for the head of the answer. The caller closes the connection. Raises ServerError."""
        connection = self._connection(REQUEST_SECONDS + patience)
        sent = None if body is None else json.dumps(body).encode()
        told = {**self.headers(), **({} if sent is None else {"Content-Type": "application/json"}), **(headers or {})}
        try:
            connection.request(method, self.prefix + path, sent, told)
            response = connection.getresponse()
            if response.status < 400:
                return connection, response
            refusal = refusal_of(response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self.unreachable(error) from error
        connection.close()
        raise refusal

    def unreachable(self, error: BaseException) -> ServerError:
        why = str(error) or type(error).__name__
        return ServerError(0, "unreachable", f"There is no server at {self.text} ({why}). Start one with bowline serve.")

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        if self.socket_path is not None:
            return _UnixConnection(self.socket_path, seconds)
        if self.ssl is not None:
            return http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=self.ssl)
        return http.client.HTTPConnection(self.host, self.port, timeout=seconds)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def refusal_of(status: int, body: bytes) -> ServerError:
    """The refusal that an answer is."""
    try:
        code, message, details = _members(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        # A proxy in between has words of its own.
        words = body[:200].decode("utf-8", "replace")
        return ServerError(status, "http", f"The server answered {status}: {words}")
    return ServerError(status, code, message, details)


def _members(error: Any) -> Tuple[Any, str, Optional[Dict[str, Any]]]:
    return str(error["code"]), str(error["message"]), error.get("details")
