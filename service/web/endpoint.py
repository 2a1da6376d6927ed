"""What an endpoint is: its routes, and what discovery says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from aiohttp import web


class Endpoint(Protocol):
    """One URL (or a few that belong together); its bound methods are the handlers."""

    def routes(self) -> Iterable[web.RouteDef]:
        """The methods and paths it answers."""
        ...

    def metadata(self) -> Mapping[str, object]:
        """What it adds to the discovery document (RFC 8414 §2); paths are made absolute there."""
        ...
