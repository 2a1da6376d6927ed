"""A person whose browser goes to a provider and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.driving.browser import Browser, Page
from tests.driving.client_app import REDIRECT_URIS, ClientApp
from tests.driving.service import Answer, RunningService, claims_in

CALLBACK = "/account/provider/callback"
ComeBack = Callable[..., Awaitable[Page]]


def provider_entry(issuer: str, **changes: Any) -> dict[str, Any]:
    """An entry of the registry for a provider; this service is its client `downstream`."""
    return {
        "name": "upstream",
        "display_name": "Upstream",
        "issuer": issuer,
        "client_id": "downstream",
        "client_secret": "downstream-secret",
    } | changes


@dataclass
class Journey:
    """One person: a browser at the service, and the same person's browser at the provider.

    They are two, because cookies know no ports.
    """

    app: ClientApp
    there: Browser

    @classmethod
    @asynccontextmanager
    async def beginning(cls, app: ClientApp, provider: str) -> AsyncIterator[Journey]:
        """A person with a browser at this provider, too."""
        there = Browser(provider)
        yield cls(app, there)
        await there.close()

    @property
    def here(self) -> Browser:
        """The browser at the service."""
        return self.app.browser

    async def away(self, **changes: str | None) -> Page:
        """Authorize and follow the link to the provider; the request that arrives there."""
        page = await self.app.authorize(**changes)
        if page.provider_links:
            return await self.here.get(page.provider_links["upstream"])
        return page

    async def straight_away(self, **changes: str | None) -> Page:
        """Authorize with acr_values that name the provider."""
        return await self.app.authorize(acr_values="idp:upstream", **changes)

    async def signed_in_there(self, sent: Page, username: str = "alice") -> str:
        """Sign in at the provider; the URL that it sends the browser back to."""
        page = await self.there.get(sent.url)
        if page.has("login"):
            page = await self.there.log_in(page, username)
        return page.url

    async def and_back(self, username: str = "alice", **changes: str | None) -> Page:
        """The whole way, to the client's redirect URI."""
        return await self.here.get(await self.signed_in_there(await self.away(**changes), username))

    async def tokens(self, username: str = "alice", **changes: str | None) -> Answer:
        """The whole way, and the client's tokens."""
        page = await self.and_back(username, **changes)
        return await self.app.redeem(page.parameters["code"])


def arrived(page: Page) -> bool:
    """Whether the person is signed in and back at the client; the callback has a `code`, too."""
    return page.url.startswith(REDIRECT_URIS["web"]) and "code" in page.parameters


async def userinfo(service: RunningService, tokens: Answer) -> dict[str, Any]:
    """The answer of userinfo to the client."""
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    return (await service.get("/connect/userinfo", headers=headers)).json


async def subject(app: ClientApp, come_back: ComeBack) -> str:
    """The subject here of the user that comes back from the provider."""
    tokens = await app.redeem((await come_back()).parameters["code"])
    return str(claims_in(tokens["id_token"])["sub"])
