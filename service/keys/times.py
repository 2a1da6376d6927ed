"""When does a JWT count? Between the times that it names (RFC 7519 §4.1.4 to §4.1.6)."""

from __future__ import annotations

from collections.abc import Mapping

from service.keys.jose import JwtRefused


def time_in(claims: Mapping[str, object], name: str) -> float | None:
    """A NumericDate, None where there is none, JwtRefused where it is something else (RFC 7519 §2)."""
    value = claims.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise JwtRefused(f"its claim {name} is not a number")
    return value


def check_times(claims: Mapping[str, object], *, now: int, clock_skew: int) -> None:
    """JwtRefused where a time that is there says that the JWT does not count now."""
    expires, begins, issued = (time_in(claims, name) for name in ("exp", "nbf", "iat"))
    if expires is not None and expires <= now - clock_skew:
        raise JwtRefused("it has expired")
    if begins is not None and begins > now + clock_skew:
        raise JwtRefused("it does not count yet")
    if issued is not None and issued > now + clock_skew:
        raise JwtRefused("it is from the future")
