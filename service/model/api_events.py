"""Events of APIs, and of proxies before them, that ask about tokens; like those in `events.py`."""

from __future__ import annotations

import msgspec


class TokenIntrospected(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    caller: str
    active: bool


class TokenChecked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A proxy has asked about a request (`/connect/check`)."""

    api: str
    result: str
    """`passed`, or the code of the refusal."""
