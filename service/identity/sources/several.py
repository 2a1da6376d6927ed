"""Chooses nobody where the question about one user finds several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import structlog

log = structlog.stdlib.get_logger(__name__)

Found = TypeVar("Found")


def find_only(found: Sequence[Found], what: str, remedy: str) -> Found | None:
    """Return the only one; None, with a warning, if there are several with the same of `what`."""
    if len(found) > 1:
        warn_of_several(what, remedy)
        return None
    return found[0] if found else None


def warn_of_several(what: str, remedy: str) -> None:
    """Log that nobody is chosen, without the value that they share."""
    log.warning("several users are found for one, and nobody is chosen", same=what, remedy=remedy)
