"""Finds the endpoint's own path in a request's, on which a proxy may have left the path of the issuer."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

OPERATIONS = frozenset({"/health/live", "/health/ready", "/metrics"})
"""The paths for load balancers and Prometheus, which are not below the issuer."""


class Mount:
    """The paths below which the public finds this service; none where its URLs have no path."""

    def __init__(self, urls: Iterable[str], own: Iterable[str]) -> None:
        """Take the URLs of this service, and the paths of its endpoints."""
        self._prefixes = sorted({path for url in urls if (path := urlsplit(url).path.rstrip("/"))})
        self._own = {_first_segment(path) for path in own if path not in OPERATIONS}

    def find_own_path(self, path: str) -> str:
        """Return the path without the issuer's, if an endpoint may have what remains."""
        for prefix in self._prefixes:
            rest = path.removeprefix(prefix) or "/"
            if rest != path and rest.startswith("/") and _first_segment(rest) in self._own:
                return rest
        return path


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1]
