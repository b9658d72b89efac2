"""Client for Bowline, a headless coding agent that other programs embed."""

from ._defaults import DEFAULT
from .aio import AsyncClient
from .client import Client
from .errors import AgentError, ExitError, RequestError, RequestTimeout, ServerError
from .run import RunResult
from .server_client import AsyncServerClient, ServerClient
from .tools import HostTool, ToolCall

__all__ = [
    "DEFAULT",
    "AgentError",
    "AsyncClient",
    "AsyncServerClient",
    "Client",
    "ExitError",
    "HostTool",
    "RequestError",
    "RequestTimeout",
    "RunResult",
    "ServerClient",
    "ServerError",
    "ToolCall",
]
__version__ = "0.1.0"
