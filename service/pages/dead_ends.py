"""Sign-ins that cannot continue: the person is told why, and where to start again (OIDC Core §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.client import Client
from service.protocol.errors import OAuthError
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOn:
    """A link for a person whose sign-in is over."""

    href: str
    client: Client | None
    """None where the link leads to the person's account."""
    starts_again: bool = False
    """Whether the link begins a new login at the client."""


class SignInOver(OAuthError):
    """The authorization request is unknown, expired, answered, or another browser's."""

    code = "invalid_request"

    def __init__(self, description: str, *, way_on: WayOn) -> None:
        """Take where the person can go on."""
        super().__init__(description)
        self.way_on = way_on


class FormExpired(SignInOver):
    """The form is not from a page that this browser was shown, or the browser was closed meanwhile."""

    status: ClassVar[int] = 403


def start_uri(client: Client, *, issuer: str) -> str | None:
    """Return the URL that begins a login at the client; None where it has none (OIDC Core §4)."""
    return with_query(client.login_uri, {"iss": issuer}) if client.login_uri else None


def way_on(client: Client | None, *, issuer: str, account: str) -> WayOn:
    """Return the best link: a new login at the client, its home page, or the person's account."""
    start = start_uri(client, issuer=issuer) if client else None
    if start:
        return WayOn(href=start, client=client, starts_again=True)
    if client and client.client_uri:
        return WayOn(href=client.client_uri, client=client)
    return WayOn(href=account, client=None)
