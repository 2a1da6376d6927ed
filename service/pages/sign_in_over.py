"""The errors of sign-ins that cannot continue, with a link to start again (OIDC Core §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.model.client import Client
from service.protocol.errors import OAuthError
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOn:
    """A link for a user whose sign-in is over; without a client it leads to the user's account."""

    href: str
    client: Client | None = None
    starts_again: bool = False
    """Whether the link begins a new login at the client."""


class SignInOver(OAuthError):
    """The authorization request is unknown, expired, answered, or another browser's."""

    code = "invalid_request"

    def __init__(self, description: str, *, way_on: WayOn) -> None:
        super().__init__(description)
        self.way_on = way_on


class FormExpired(SignInOver):
    """The form is not from a page that this browser was shown, or the browser was closed meanwhile."""

    status: ClassVar[int] = 403


def start_uri(client: Client, *, issuer: str) -> str | None:
    """Return the URL that begins a login at the client; None if it has none (OIDC Core §4)."""
    return with_query(client.login_uri, {"iss": issuer}) if client.login_uri else None
