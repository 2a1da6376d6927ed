"""Durations as Go writes them (time.ParseDuration), such as 1h30m or 720h0m0s."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})(ns|us|µs|μs|ms|s|m|h)")
YEAR = 365 * 86400
"""The absolute end of refresh tokens here where the other server had none."""


def parse_go_duration(text: str) -> int | None:
    """Return the whole seconds of a positive duration; None for anything else."""
    at, seconds = 0, Fraction(0)
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        seconds += Fraction(part[1]) * _UNITS[part[2]]
        at = part.end()
    return int(seconds) if seconds >= 1 else None
