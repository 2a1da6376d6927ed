"""The cookies of the service (RFC 6265, ASVS 3.4).

They mark the browser, hold the session's handle, show scripts whether the session has changed, remember the language
that the person has chosen, and count failed sign-ins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

BROWSER = "browser"
BROWSER_STATE = "browser_state"
LANGUAGE = "language"
FAILED_SIGN_INS = "failed_sign_ins"
PARTIAL_SIGN_IN = "partial_sign_in"
_YEAR = 365 * 86400
SameSite = Literal["lax", "none"]
_OURS = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookies:
    """Names and attributes; `__Host-` and Secure where the issuer is https."""

    secure: bool
    session_name: str
    same_site: SameSite
    """Of the session's."""

    def browser(self, request: web.Request) -> str | None:
        """The value that marks this browser; it holds nothing and proves nothing else."""
        return self._get(request, BROWSER)

    def session(self, request: web.Request) -> str | None:
        """Return the handle of the session."""
        return self._get(request, self.session_name)

    def set_browser(self, response: web.StreamResponse, value: str) -> None:
        """Mark the browser until it closes; frames of other sites need no such mark."""
        self._set(response, BROWSER, value, max_age=None, same_site="lax")

    def set_session(self, response: web.StreamResponse, value: str, *, max_age: int | None) -> None:
        """Sign in at this browser: until it closes, or for `max_age` seconds."""
        self._set(response, self.session_name, value, max_age=max_age, same_site=self.same_site)

    def clear_session(self, response: web.StreamResponse) -> None:
        """Sign out at this browser."""
        self._set(response, self.session_name, "", max_age=0, same_site=self.same_site)
        self.set_browser_state(response, "", max_age=0)

    def browser_state(self, request: web.Request) -> str | None:
        """Return the value that scripts of this service can read; it is not a secret."""
        return self._get(request, BROWSER_STATE)

    @property
    def browser_state_name(self) -> str:
        """For the script that reads it."""
        return self._name(BROWSER_STATE)

    def set_browser_state(
        self, response: web.StreamResponse, value: str, *, max_age: int | None
    ) -> None:
        """Tell frames of clients that who is signed in has changed (OIDC Session Management §3.2).

        They belong to other sites; without TLS a browser sends such a cookie within this site only.
        """
        same_site: SameSite = "none" if self.secure else "lax"
        self._set(
            response, BROWSER_STATE, value, max_age=max_age, same_site=same_site, httponly=False
        )

    def language(self, request: web.Request) -> str | None:
        """Return the language that the person has chosen in this browser."""
        return self._get(request, LANGUAGE)

    def set_language(self, response: web.StreamResponse, tag: str) -> None:
        """Remember the language that the person has chosen."""
        self._set(response, LANGUAGE, tag, max_age=_YEAR, same_site="lax")

    def partial_sign_in(self, request: web.Request) -> str | None:
        """Return the id of a sign-in that lacks a step."""
        return self._get(request, PARTIAL_SIGN_IN)

    def set_partial_sign_in(
        self, response: web.StreamResponse, value: str, *, max_age: int
    ) -> None:
        """Remember the id until the sign-in is complete; an empty one deletes the cookie."""
        max_age = max_age if value else 0
        self._set(response, PARTIAL_SIGN_IN, value, max_age=max_age, same_site="lax")

    def failed_sign_ins(self, request: web.Request) -> int:
        """Return how often signing in has failed in this browser, as far as it says."""
        counted = self._get(request, FAILED_SIGN_INS) or ""
        return int(counted) if counted in {"1", "2", "3"} else 0

    def set_failed_sign_ins(
        self, response: web.StreamResponse, count: int, *, max_age: int
    ) -> None:
        """Count failures up to three, for `max_age` seconds; none deletes the cookie."""
        value = str(min(count, 3)) if count else ""
        self._set(
            response, FAILED_SIGN_INS, value, max_age=max_age if count else 0, same_site="lax"
        )

    def _get(self, request: web.Request, name: str) -> str | None:
        """Return the value, if it looks like one that was set here: any program can send a cookie.

        Of two with one name the last counts, whose path is the shortest, as ours is (RFC 6265 §5.4). aiohttp's own
        parser takes a second for a header full of names.
        """
        sent = ";" + request.headers.get("Cookie", "").replace(" ", "")
        value = sent.rpartition(f";{self._name(name)}=")[2].partition(";")[0]
        return value if _OURS.fullmatch(value) else None

    def _set(
        self,
        response: web.StreamResponse,
        name: str,
        value: str,
        *,
        max_age: int | None,
        same_site: SameSite,
        httponly: bool = True,
    ) -> None:
        response.set_cookie(
            self._name(name),
            value,
            max_age=max_age,
            path="/",
            httponly=httponly,
            secure=self.secure,
            samesite=same_site.capitalize(),
        )

    def _name(self, name: str) -> str:
        return f"__Host-{name}" if self.secure else name
