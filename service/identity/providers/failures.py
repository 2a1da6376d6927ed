"""Why nobody came back signed in: the message is for the audit log, never for a page."""

from __future__ import annotations

import re

_ORDINARY = re.compile(r"[A-Za-z_]{1,64}")


class ProviderFailed(Exception):
    """The provider did not vouch for anybody; there may be other ways in."""


class ProviderUnavailable(ProviderFailed):
    """It is away, or does not work as a provider should."""


class ProviderRefused(ProviderFailed):
    """It said no, or what it said does not hold."""


def printable(error: str) -> str:
    """An error code, if it looks like one: somebody else chose it (RFC 6749 §5.2)."""
    return error if _ORDINARY.fullmatch(error) else "an error without an ordinary code"
