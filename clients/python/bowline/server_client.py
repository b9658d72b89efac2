"""The HTTP endpoints of ``bowline serve`` as methods, for programs that need no connection: every call is a request."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Mapping, Optional
from urllib.parse import quote, urlencode

from ._server import ServerAddress
from ._threads import in_thread

Json = Dict[str, Any]


class ServerClient:
    """A server. The shapes of answers are in ``schema/serve.json``. Methods raise ServerError.

    ``url`` is ``http://127.0.0.1:7717``, ``https://...`` or ``unix:/path``.
    """

    def __init__(self, url: str, *, token: Optional[str] = None, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        self._address = ServerAddress(url, token, ssl_context)

    def info(self) -> Json:
        """The version, the limits and the features of the server."""
        return self._ask("GET", "/info")

    def sessions(
        self,
        *,
        state: Optional[str] = None,
        cwd: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Json:
        """A page of sessions. ``q`` is a part of a name, a directory or an id; ``nextCursor`` of the answer is the ``cursor`` of the next page."""
        return self._ask("GET", "/sessions" + _query(state=state, cwd=cwd, q=q, limit=limit, cursor=cursor))

    def create(self, session: Mapping[str, Any], *, key: Optional[str] = None) -> Json:
        """A new session; it needs at least ``{"cwd": ...}``. With the same ``key`` a second call gives the first one's session."""
        return self._ask("POST", "/sessions", session, None if key is None else {"Idempotency-Key": key})

    def session(self, session_id: str) -> Json:
        """The session as it is now."""
        return self._ask("GET", _at(session_id))

    def start(self, session_id: str) -> Json:
        """Starts its agent, also after it failed to start."""
        return self._ask("POST", _at(session_id, "/start"), {})

    def stop(self, session_id: str, *, abort: bool = False) -> Json:
        """Ends its agent. While the session is busy only with ``abort``."""
        return self._ask("POST", _at(session_id, "/stop"), {"abort": True} if abort else {})

    def remove(self, session_id: str) -> None:
        """Moves its files to the trash."""
        self._address.read("DELETE", "/v1" + _at(session_id))

    def prompt(self, session_id: str, message: str, *, wait_seconds: Optional[float] = None, **more: Any) -> Json:
        """Prompts; ``more`` are further members of the body, as ``key`` or ``images``.

        With ``wait_seconds`` the answer waits for the end of the run, at most so long, and has its result and text.
        """
        headers = None if wait_seconds is None else {"Prefer": f"wait={wait_seconds:g}"}
        return self._ask("POST", _at(session_id, "/prompts"), {"message": message, **more}, headers, wait_seconds or 0)

    def command(self, session_id: str, command: str, params: Optional[Mapping[str, Any]] = None) -> Json:
        """One command. Gives its response, also when that is a failure."""
        return self._ask("POST", _at(session_id, "/commands"), {**(params or {}), "type": command})

    def events(self, session_id: str, *, after: Optional[int] = None, follow: bool = False) -> "Frames":
        """The frames that are kept, after a number; with ``follow`` also those to come, until the loop is left and ``close`` is called."""
        path = "/v1" + _at(session_id, "/events") + _query(after=after, follow=1 if follow else None)
        return Frames(self._address, path)

    def entries(
        self,
        session_id: str,
        *,
        since: Optional[str] = None,
        tail: Optional[int] = None,
        before: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Json:
        """A page of the session's entries."""
        return self._ask("GET", _at(session_id, "/entries") + _query(since=since, tail=tail, before=before, limit=limit))

    def export_html(self, session_id: str) -> str:
        """The session as one HTML page."""
        return self._address.read("GET", "/v1" + _at(session_id, "/export")).decode()

    def artifacts(self, session_id: str) -> Json:
        """The long outputs that the session has stored."""
        return self._ask("GET", _at(session_id, "/artifacts"))

    def artifact(self, session_id: str, name: str) -> bytes:
        """One of them."""
        return self._address.read("GET", "/v1" + _at(session_id, "/artifacts/" + quote(name, safe="")))

    def metrics(self) -> str:
        """The metrics in the text format of Prometheus."""
        return self._address.read("GET", "/metrics").decode()

    def drain(self) -> Json:
        """Lets runs end, then stops the server."""
        return self._ask("POST", "/drain", {})

    def _ask(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, headers: Optional[Mapping[str, str]] = None, patience: float = 0
    ) -> Json:
        answer: Json = self._address.ask(method, "/v1" + path, body, headers, patience)
        return answer


class Frames:
    """Frames as they come. ``close`` ends the request, also while another thread waits for a frame."""

    def __init__(self, address: ServerAddress, path: str) -> None:
        self._address = address
        self._connection, self._response = address.open("GET", path, None, {"Accept": "application/jsonl"})
        self._is_closed = False
        # A session may say nothing for hours.
        self._socket = self._connection.sock or _socket_of(self._response)
        if self._socket is not None:
            self._socket.settimeout(None)

    def __iter__(self) -> Iterator[Json]:
        return self

    def __next__(self) -> Json:
        frame = self.next()
        if frame is None:
            raise StopIteration
        return frame

    def __enter__(self) -> "Frames":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def next(self) -> Optional[Json]:
        """None after the last one. Raises ServerError when the connection is lost."""
        try:
            while not self._is_closed:
                line = self._response.readline()
                if not line:
                    break
                if line.strip():
                    frame: Json = json.loads(line)
                    return frame
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            # Closed in the middle of reading.
            if not self._is_closed:
                raise self._address.unreachable(error) from error
        self.close()
        return None

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._socket is not None:
            # It may be gone already.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class AsyncServerClient:
    """The same for asyncio: each method of ServerClient as a coroutine, ``events`` as an asynchronous iterator. Requests run in threads."""

    def __init__(self, url: str, *, token: Optional[str] = None, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        self._client = ServerClient(url, token=token, ssl_context=ssl_context)

    async def info(self) -> Json:
        return await self._do(self._client.info)

    async def sessions(self, **query: Any) -> Json:
        return await self._do(self._client.sessions, **query)

    async def create(self, session: Mapping[str, Any], *, key: Optional[str] = None) -> Json:
        return await self._do(self._client.create, session, key=key)

    async def session(self, session_id: str) -> Json:
        return await self._do(self._client.session, session_id)

    async def start(self, session_id: str) -> Json:
        return await self._do(self._client.start, session_id)

    async def stop(self, session_id: str, *, abort: bool = False) -> Json:
        return await self._do(self._client.stop, session_id, abort=abort)

    async def remove(self, session_id: str) -> None:
        await self._do(self._client.remove, session_id)

    async def prompt(self, session_id: str, message: str, *, wait_seconds: Optional[float] = None, **more: Any) -> Json:
        return await self._do(self._client.prompt, session_id, message, wait_seconds=wait_seconds, **more)

    async def command(self, session_id: str, command: str, params: Optional[Mapping[str, Any]] = None) -> Json:
        return await self._do(self._client.command, session_id, command, params)

    async def events(self, session_id: str, *, after: Optional[int] = None, follow: bool = False) -> AsyncIterator[Json]:
        frames: Frames = await self._do(self._client.events, session_id, after=after, follow=follow)
        try:
            while True:
                frame = await in_thread(frames.next)
                if frame is None:
                    return
                yield frame
        finally:
            frames.close()

    async def entries(self, session_id: str, **page: Any) -> Json:
        return await self._do(self._client.entries, session_id, **page)

    async def export_html(self, session_id: str) -> str:
        return str(await self._do(self._client.export_html, session_id))

    async def artifacts(self, session_id: str) -> Json:
        return await self._do(self._client.artifacts, session_id)

    async def artifact(self, session_id: str, name: str) -> bytes:
        return bytes(await self._do(self._client.artifact, session_id, name))

    async def metrics(self) -> str:
        return str(await self._do(self._client.metrics))

    async def drain(self) -> Json:
        return await self._do(self._client.drain)

    async def _do(self, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return await in_thread(lambda: method(*args, **options))


def _at(session_id: str, rest: str = "") -> str:
    return f"/sessions/{quote(session_id, safe='')}{rest}"


def _query(**given: Any) -> str:
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return f"?{query}" if query else ""


def _socket_of(response: http.client.HTTPResponse) -> Optional[socket.socket]:
    """An answer that ends with its connection has taken the socket over."""
    raw = getattr(response.fp, "raw", None)
    return getattr(raw, "_sock", None)
