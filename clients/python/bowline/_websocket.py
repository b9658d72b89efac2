"""One WebSocket to a server (RFC 6455, the client's side), made of callbacks of the event loop."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import struct
from typing import Callable, List, Optional

from ._server import ServerAddress, refusal_of
from .errors import ServerError

# The server pings every 20 seconds. A connection that is silent for so long is gone.
SILENCE_SECONDS = 75.0
# A server that accepts a connection and says nothing is given up.
HANDSHAKE_SECONDS = 30.0
MOST_MESSAGE_BYTES = 256 * 1024 * 1024
MOST_HEAD_BYTES = 64 * 1024
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10

# Code, reason, and why it was refused when it was never open.
OnClosed = Callable[[int, str, Optional[ServerError]], None]


class WebSocket(asyncio.Protocol):
    """`on_closed` is called once, after the last message."""

    def __init__(self, address: ServerAddress, path: str, on_message: Callable[[str], None], on_closed: OnClosed) -> None:
        self._address = address
        self._path = path
        self._on_message = on_message
        self._on_closed = on_closed
        self._key = base64.b64encode(os.urandom(16))
        self._transport: Optional[asyncio.Transport] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._heard_at = 0.0
        self._buffer = bytearray()
        # After the handshake.
        self._is_open = False
        self._is_over = False
        # The status of a refusal whose body is being read.
        self._refused: Optional[int] = None
        self._refusal_size: Optional[int] = None
        self._parts: List[bytes] = []
        self._parts_size = 0
        self._close_code = 1006
        self._close_reason = ""
        self._has_said_bye = False

    async def open(self) -> None:
        """Connects; what becomes of it is told by the callbacks."""
        loop, address = asyncio.get_running_loop(), self._address
        try:
            if address.socket_path is not None:
                connecting = loop.create_unix_connection(lambda: self, address.socket_path)
            else:
                connecting = loop.create_connection(lambda: self, address.host, address.port, ssl=address.ssl)  # type: ignore[assignment]
            await asyncio.wait_for(connecting, HANDSHAKE_SECONDS)
        except asyncio.TimeoutError:
            self._finish(address.unreachable(TimeoutError(f"no connection within {HANDSHAKE_SECONDS:g} s")))
        except OSError as error:
            self._finish(address.unreachable(error))

    def send(self, data: bytes) -> None:
        """One text message."""
        if self._is_open and not self._has_said_bye:
            self._write(_TEXT, data)

    def close(self) -> None:
        """Says goodbye. `on_closed` follows."""
        if self._transport is None or not self._is_open:
            self.abort()
        elif not self._has_said_bye:
            self._has_said_bye = True
            self._write(_CLOSE, struct.pack("!H", 1000))

    def abort(self) -> None:
        """Ends the connection without a word."""
        if self._transport:
            self._transport.abort()
        else:
            self._finish(None)

    # ── What the event loop tells ───────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._is_over:
            return transport.abort()
        lines = [
            f"GET {self._address.prefix}{self._path} HTTP/1.1",
            f"Host: {self._address.named}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {self._key.decode()}",
            *(f"{name}: {value}" for name, value in self._address.headers().items()),
        ]
        transport.write("".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1", "replace"))
        self._timer = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        self._buffer += data
        if self._refused is None and not self._is_open:
            self._shake_hands()
        if self._refused is not None:
            self._read_refusal()
        elif self._is_open:
            self._read_frames()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        if self._refused is not None:
            self._finish(refusal_of(self._refused, bytes(self._buffer)))
        elif self._is_open:
            self._finish(None)
        else:
            self._finish(self._address.unreachable(exc or ConnectionError("the connection was closed")))

    def _finish(self, refusal: Optional[ServerError]) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._timer:
            self._timer.cancel()
        self._on_closed(self._close_code, self._close_reason, refusal)

    def _watch_silence(self) -> None:
        """One timer for all that is heard: it is set again when it fires, not with each message."""
        loop = asyncio.get_running_loop()
        left = self._heard_at + SILENCE_SECONDS - loop.time()
        if left <= 0:
            self.abort()
        else:
            self._timer = loop.call_later(left, self._watch_silence)

    # ── The handshake ───────────────────────────────────────────────────────────────────────────────────

    def _shake_hands(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEAD_BYTES:
                self.abort()
            return
        status_line, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        words = status_line.split(" ")
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if status != 101:
            self._refuse(status, headers.get("content-length", ""))
        elif headers.get("sec-websocket-accept") != base64.b64encode(hashlib.sha1(self._key + _MAGIC).digest()).decode():
            self._refuse(502, "0")
        else:
            self._is_open = True
            if self._timer:
                self._timer.cancel()
            self._watch_silence()

    def _refuse(self, status: int, size: str) -> None:
        self._refused = status
        self._refusal_size = int(size) if size.isdigit() else None

    def _read_refusal(self) -> None:
        """The body says why. A server that leaves the connection open after it is not waited for."""
        is_whole = self._refusal_size is not None and len(self._buffer) >= self._refusal_size
        if is_whole or len(self._buffer) > MOST_HEAD_BYTES:
            self.abort()

    # ── Frames ──────────────────────────────────────────────────────────────────────────────────────────

    def _read_frames(self) -> None:
        buffer = self._buffer
        while len(buffer) >= 2 and not self._is_closing():
            size, head = buffer[1] & 0x7F, 2
            if size == 126:
                head = 4
            elif size == 127:
                head = 10
            if len(buffer) < head:
                return
            if head > 2:
                size = int.from_bytes(buffer[2:head], "big")
            # Servers do not mask.
            is_control = buffer[0] & 0x08
            if buffer[0] & 0x70 or buffer[1] & 0x80 or (is_control and (size > 125 or not buffer[0] & 0x80)):
                return self._fail(1002, "not a frame of a server")
            if size + self._parts_size > MOST_MESSAGE_BYTES:
                return self._fail(1009, "the message is too long")
            if len(buffer) < head + size:
                return
            is_last, kind, payload = bool(buffer[0] & 0x80), buffer[0] & 0x0F, bytes(buffer[head : head + size])
            del buffer[: head + size]
            self._read_frame(kind, is_last, payload)

    def _read_frame(self, kind: int, is_last: bool, payload: bytes) -> None:
        if kind == _PING:
            self._write(_PONG, payload)
        elif kind == _CLOSE:
            self._bye(payload)
        elif kind in (_CONTINUATION, _TEXT):
            if (kind == _CONTINUATION) != bool(self._parts):
                return self._fail(1002, "a frame out of turn")
            self._parts.append(payload)
            self._parts_size += len(payload)
            if is_last:
                whole, self._parts, self._parts_size = b"".join(self._parts), [], 0
                self._tell(whole)
        elif kind != _PONG:
            self._fail(1003 if kind == _BINARY else 1002, "not a text")

    def _tell(self, whole: bytes) -> None:
        try:
            text = whole.decode("utf-8")
        except UnicodeDecodeError:
            return self._fail(1007, "not UTF-8")
        self._on_message(text)

    def _bye(self, payload: bytes) -> None:
        if len(payload) >= 2:
            self._close_code = int.from_bytes(payload[:2], "big")
            self._close_reason = payload[2:].decode("utf-8", "replace")
        else:
            self._close_code = 1005
        if not self._has_said_bye:
            self._has_said_bye = True
            self._write(_CLOSE, payload[:2])
        if self._transport:
            self._transport.close()

    def _fail(self, code: int, reason: str) -> None:
        self._close_code, self._close_reason = code, reason
        self._has_said_bye = True
        self._write(_CLOSE, struct.pack("!H", code) + reason.encode())
        if self._transport:
            self._transport.close()
        self._buffer.clear()

    def _is_closing(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def _write(self, kind: int, payload: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        size, mask = len(payload), os.urandom(4)
        head = bytearray([0x80 | kind])
        if size < 126:
            head.append(0x80 | size)
        elif size < 1 << 16:
            head += struct.pack("!BH", 0x80 | 126, size)
        else:
            head += struct.pack("!BQ", 0x80 | 127, size)
        self._transport.write(bytes(head) + mask + _masked(payload, mask))


def _masked(payload: bytes, mask: bytes) -> bytes:
    """As one long number, which is far faster than byte by byte."""
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
