"""How long a request may take."""

from typing import Union


class Default:
    """Stands for the client's own limit."""

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT = Default()

# Seconds; None is no limit.
Timeout = Union[float, None, Default]
