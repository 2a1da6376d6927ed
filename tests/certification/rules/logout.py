"""Sending a person to the end session endpoint, and what must be true after that."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.certification.flow import Flow
from tests.certification.provider import ALIAS, Provider
from tests.certification.relying_party import RelyingParty
from tests.driving.browser import Page


@dataclass
class SignedIn:
    """A person with a session at the provider, and a client that may ask to end it."""

    party: RelyingParty
    flow: Flow

    @property
    def goodbye(self) -> str:
        """The client's registered post-logout URI."""
        return f"{self.party.provider.suite.base}{ALIAS}/post_logout_redirect"

    @property
    def claims(self) -> dict[str, Any]:
        """Those of the identity token that the client got."""
        return self.flow.claims or {}

    def request(self, **changes: str | None) -> dict[str, str]:
        """A logout as the suite asks for it, with some parameters changed or (None) left out."""
        usual: dict[str, str | None] = {
            "id_token_hint": self.flow.id_token,
            "post_logout_redirect_uri": self.goodbye,
            "state": secrets.token_urlsafe(64),
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    async def end(self, request: dict[str, str]) -> Page:
        """Send the browser there; the person confirms where asked."""
        path = self.party.provider.path("end_session_endpoint")
        page = await self.party.browser.get(f"{path}?{urlencode(request)}" if request else path)
        if page.has("logout-confirm"):
            page = await self.party.browser.submit(page, action="logout")
        return page

    async def check_signed_out(self) -> None:
        """Nobody is signed in any more, so prompt=none is refused."""
        (await self.party.respond(prompt="none")).check_error("login_required")

    def check_goodbye(self, page: Page, request: dict[str, str]) -> None:
        """The browser is at the post-logout URI, with the state if there was one and nothing else."""
        destination = urlsplit(going_to(page))
        assert destination._replace(query="").geturl() == self.goodbye
        state = {"state": request["state"]} if "state" in request else {}
        assert dict(parse_qsl(destination.query)) == state


def going_to(page: Page) -> str:
    """The URL of the browser, also after a delayed redirect of the page."""
    return (
        page.element("logout-continue")["href"] or "" if page.has("logout-continue") else page.url
    )


def check_stays(page: Page) -> None:
    """The person stays at the provider, signed out."""
    assert page.status == 200
    assert page.has("logout-success")
    assert not page.has("logout-continue")


def check_published(provider: Provider, *flags: str) -> None:
    """The end session endpoint is https, as every other; what the profile needs is announced."""
    metadata = provider.metadata
    endpoints = {name: url for name, url in metadata.items() if name.endswith("_endpoint")}
    assert "end_session_endpoint" in endpoints
    assert all(url.startswith("https://") for url in endpoints.values())
    assert [flag for flag in flags if metadata.get(flag) is not True] == []
