"""How both clients are connected to a session of a server: one signature, one text."""

from __future__ import annotations

import ssl
from typing import Any, Generic, Literal, Mapping, Optional, TypeVar, Union

from ._link import Target
from ._server import ServerAddress

Mode = Literal["write", "read"]
# What `connect` gives.
Connected = TypeVar("Connected")


class Connects(Generic[Connected]):
    @classmethod
    def connect(
        cls,
        url: str,
        *,
        session: Union[str, Mapping[str, Any]],
        token: Optional[str] = None,
        mode: Mode = "write",
        name: Optional[str] = None,
        takeover: bool = False,
        reconnect_timeout: Optional[float] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        start_timeout: Optional[float] = 30.0,
        request_timeout: Optional[float] = 30.0,
    ) -> Connected:
        """Connects to a session of ``bowline serve``: ``with Client.connect(...) as client``, or ``close`` it yourself.

        With asyncio: ``async with AsyncClient.connect(...) as client``, or ``client = await AsyncClient.connect(...)``.

        ``url`` is ``http://127.0.0.1:7717``, ``https://...`` or ``unix:/path``. ``session`` is the id of a session, or what a new one needs: at
        least ``{"cwd": ...}``. ``mode`` ``"write"`` takes the seat, with which one client at a time drives a session, with ``takeover`` also from
        its holder; ``"read"`` watches. ``name`` is what other clients see.

        A connection that is lost comes back automatically: what was missed follows, and what had no answer is sent again, but not done again.
        It is tried for ever, or for ``reconnect_timeout`` seconds. ``close`` leaves the session, which lives on. Raises ServerError.
        """
        if mode not in ("write", "read"):
            raise ValueError(f'mode must be "write" or "read", not {mode!r}')
        target = Target(ServerAddress(url, token, ssl_context), session, mode, name, takeover, reconnect_timeout)
        return cls._connected(target, start_timeout, request_timeout)

    @classmethod
    def _connected(cls, target: Target, start_timeout: Optional[float], request_timeout: Optional[float]) -> Connected:
        raise NotImplementedError
