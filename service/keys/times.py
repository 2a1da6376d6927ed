"""Judges the times in JWTs of others, before anything is kept for so long (RFC 7519 §2, §4.1.4-4.1.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from service.keys.jose import JwtRefused

LAST_SECOND = 253402300799
"""The end of the year 9999: a later NumericDate is no time that anybody means, and no library of dates knows it."""


def time_in(claims: Mapping[str, object], name: str) -> float | None:
    """Return a NumericDate, None if the claim is missing; JwtRefused if it is something else (RFC 7519 §2)."""
    value = claims.get(name)
    if value is None or (type(value) in {int, float} and 0 <= cast("float", value) <= LAST_SECOND):
        return cast("float | None", value)
    raise JwtRefused(f"its claim {name} is not a time")


def check_times(claims: Mapping[str, object], *, now: int, clock_skew: int) -> None:
    """Raise JwtRefused if exp, nbf or iat says that the JWT is not valid now (RFC 7519 §4.1.4-4.1.6)."""
    expires, begins, issued = (time_in(claims, name) for name in ("exp", "nbf", "iat"))
    if expires is not None and expires <= now - clock_skew:
        raise JwtRefused("it has expired")
    if begins is not None and begins > now + clock_skew:
        raise JwtRefused("it is not valid yet")
    if issued is not None and issued > now + clock_skew:
        raise JwtRefused("it was issued in the future")
