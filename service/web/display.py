"""How are times and devices shown to a person?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from babel.dates import format_date, format_timedelta

# The first that is found counts: most browsers also claim to be those further down.
_BROWSERS = (
    ("Edge", r"\bEdg(e|A|iOS)?/"),
    ("Opera", r"\b(OPR|Opera)/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Vivaldi", r"\bVivaldi/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|HeadlessChrome|CriOS)/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
_MOBILE = frozenset({"iPhone", "iPad", "Android"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What a User-Agent header says to a person; a guess, for display only."""

    browser: str | None
    system: str | None

    @property
    def is_mobile(self) -> bool:
        return self.system in _MOBILE


def device(user_agent: str | None) -> Device:
    """Recognise the browser and the system that people know by name (RFC 9110 §10.1.5)."""
    text = user_agent or ""
    return Device(browser=_first(_BROWSERS, text), system=_first(_SYSTEMS, text))


def times_in(tag: str) -> dict[str, Callable[[int], str]]:
    """Give the filters that write times in one language."""
    locale = tag.replace("-", "_")

    def ago(seconds: int) -> str:
        since = timedelta(seconds=min(seconds - time.time(), -1))  # never «in 0 seconds»
        return format_timedelta(since, add_direction=True, locale=locale)

    def date(seconds: int) -> str:
        return format_date(datetime.fromtimestamp(seconds, UTC), format="long", locale=locale)

    return {"ago": ago, "date": date, "iso": _iso}


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _first(table: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for name, pattern in table if re.search(pattern, text)), None)
