"""The three cookies: which browser this is, who is signed in there, and whether that has changed (RFC 6265, ASVS 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

BROWSER = "browser"
BROWSER_STATE = "browser_state"
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
        """The handle of the session, for whoever can find it."""
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
        """What scripts of ours can read in this browser; it is no secret and proves nothing."""
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

    def _get(self, request: web.Request, name: str) -> str | None:
        """The value, if it looks like one that was set here: any program can send a cookie."""
        value = request.cookies.get(self._name(name), "")
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
