"""Reads and writes the cookies of the service (RFC 6265, ASVS 3.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Literal

import msgspec
from multidict import istr

from service.model.session import SentCookies
from service.web.endpoint import Answer, Message

YEAR = 365 * 86400
_COOKIE = istr("Cookie")
_WRITTEN_HERE = re.compile(r"[A-Za-z0-9_-]{1,128}")

SameSite = Literal["lax", "none"]


class Cookie(Enum):
    """The cookies, by their names; that of the session has a configured one."""

    BROWSER = "browser"
    """Marks the browser until it closes; it proves nothing else."""
    SESSION = ""
    BROWSER_STATE = "browser_state"
    """Shows scripts, also in frames of other sites, when the session changes (OIDC Session Management §3.2)."""
    PARTIAL_SIGN_IN = "partial_sign_in"
    """The id of a sign-in that lacks a step."""
    LANGUAGE = "language"
    """The one that the user chose."""
    FAILED_SIGN_INS = "failed_sign_ins"
    """How often signing in has failed in this browser, up to three."""


_SENT = (Cookie.BROWSER, Cookie.SESSION, Cookie.PARTIAL_SIGN_IN, Cookie.BROWSER_STATE)
"""The order of the fields of `SentCookies`."""


class Cookies(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Names and attributes; `__Host-` and Secure if the issuer is https."""

    secure: bool
    session_name: str
    same_site: SameSite
    """Of the session's."""
    port: int | None = None
    """Part of every name where it is given: all ports of a host share their cookies (RFC 6265 §8.5)."""

    @cached_property
    def _names(self) -> Mapping[Cookie, str]:
        return {cookie: self.name(cookie) for cookie in Cookie}

    @cached_property
    def _names_of_sent(self) -> tuple[str, ...]:
        return tuple([self.name(cookie) for cookie in _SENT])

    def name(self, cookie: Cookie) -> str:
        """Return the name that the browser knows."""
        name = self.session_name if cookie is Cookie.SESSION else cookie.value
        name = name if self.port is None else f"{name}_{self.port}"
        return f"__Host-{name}" if self.secure else name

    def get(self, request: Message, cookie: Cookie) -> str:
        """Return the value, empty unless it looks like one that was set here: any program can send a cookie.

        Of two with one name the last counts, as its path is the shortest (RFC 6265 §5.4); aiohttp's own parser is slow.
        """
        value = _parse(request).get(self._names[cookie], "")
        return value if _WRITTEN_HERE.fullmatch(value) else ""

    def read(self, request: Message) -> SentCookies:
        """Return what the browser sends of the cookies that say who it is."""
        sent = _parse(request)
        values = [sent.get(name, "") for name in self._names_of_sent]
        return SentCookies(*[one if _WRITTEN_HERE.fullmatch(one) else "" for one in values])

    def set(self, answer: Answer, cookie: Cookie, value: str, *, max_age: int | None) -> None:
        """Set the cookie until the browser closes, or for `max_age` seconds; an empty value deletes it."""
        same_site: SameSite = self.same_site if cookie is Cookie.SESSION else "lax"
        if cookie is Cookie.BROWSER_STATE and self.secure:
            same_site = "none"  # which browsers accept over TLS only
        max_age = max_age if value else 0
        name = self._names[cookie]
        attributes = (
            f"{name}={value}" if value else f'{name}=""',
            "" if cookie is Cookie.BROWSER_STATE else "HttpOnly",
            "" if max_age is None else f"Max-Age={max_age}",
            f"Path=/; SameSite={same_site.capitalize()}",
            "Secure" if self.secure else "",
        )
        answer.cookies[name] = "; ".join(filter(None, attributes))

    def clear_session(self, answer: Answer) -> None:
        """Sign out at this browser."""
        self.set(answer, Cookie.SESSION, "", max_age=0)
        self.set(answer, Cookie.BROWSER_STATE, "", max_age=0)

    def failed_sign_ins(self, request: Message) -> int:
        """Return how often signing in has failed in this browser, as far as it says."""
        counted = self.get(request, Cookie.FAILED_SIGN_INS)
        return int(counted) if counted in {"1", "2", "3"} else 0

    def set_failed_sign_ins(self, answer: Answer, count: int, *, max_age: int) -> None:
        """Count failures up to three, for `max_age` seconds; zero deletes the cookie."""
        value = str(min(count, 3)) if count else ""
        self.set(answer, Cookie.FAILED_SIGN_INS, value, max_age=max_age)


def _parse(request: Message) -> dict[str, str]:
    """Return the cookies that were sent; a proxy may leave the fields of HTTP/2 apart (RFC 9113 §8.2.3).

    Only spaces are cut off: behind one of Unicode, another site of the domain could set a name that looks like `__Host-`.
    """
    sent = "; ".join(request.headers.getall(_COOKIE, ()))
    pairs = [pair.strip(" \t").partition("=") for pair in sent.split(";")]
    return {name: value for name, _, value in pairs}
