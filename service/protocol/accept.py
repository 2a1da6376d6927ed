"""Decides by the `Accept` header whether a caller prefers another media type (RFC 9110 §12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_LENGTH = 1000
"""Characters; a longer header is not read."""

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')  # an open quote ends with the header, so this is linear
_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def prefers(accept: str, media_type: str, *, to: str) -> bool:
    """Return whether the header names `media_type`, with no less quality than it gives to `to`.

    A range such as */* names no type: a caller that does not know `media_type` never gets it.
    """
    if len(accept) > MAX_LENGTH or media_type not in accept.lower():
        return False
    qualities = _read_qualities(accept)
    preferred = qualities.get(media_type, 0)
    ranges = (to, f"{to.partition('/')[0]}/*", "*/*")
    usual = next((qualities[each] for each in ranges if each in qualities), 0)
    return preferred > 0 and preferred >= usual


def _read_qualities(accept: str) -> Mapping[str, float]:
    """Return the quality of each media range; a range with a malformed quality is left out."""
    qualities: dict[str, float] = {}
    for entry in _QUOTED.sub("", accept).lower().split(","):
        media_range, *parameters = [part.strip() for part in entry.split(";")]
        weight = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        if _QUALITY.fullmatch(weight):
            qualities[media_range] = float(weight)
    return qualities
