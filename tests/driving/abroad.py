"""A person who signs in to a service, a process of its own, at a provider that somebody else has made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from aiohttp import ClientSession

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

SECONDS = 30


@dataclass
class Abroad:
    """The person's browser is two, as in `Journey`: one at the service, and one at the provider."""

    app: ClientApp
    there: Browser

    @property
    def here(self) -> Browser:
        """The browser at the service."""
        return self.app.browser

    async def sign_in(self, address: str, **credentials: Any) -> Page:
        """Give the address here, and fill in the provider's own form; the page that the client has in the end."""
        first = await self.app.authorize(scope="openid email api1")
        sent = await self.here.submit(first, username=address, action="login")
        form = await self.there.get(sent.url)
        back = await self.there.submit(form, **credentials)
        assert back.url.startswith(self.here.issuer), back.text
        return await self.here.get(back.url)

    async def claims(self, code: str) -> dict[str, Any]:
        """The introspection response for the token of this code."""
        tokens = await self.app.redeem(code)
        return (await self.app.service.introspect(tokens["access_token"])).json

    async def is_signed_out(self) -> bool:
        """Whether the session here ends within some seconds."""
        async with asyncio.timeout(SECONDS):
            # The service is another process, which sets no event here.
            while (await self.app.authorize(prompt="none")).error != "login_required":  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        return True


@asynccontextmanager
async def abroad(issuer: str, provider: str) -> AsyncIterator[Abroad]:
    """Somebody with new browser windows, and the client `web` of the service."""
    here, there = Browser(issuer), Browser(provider)
    async with ClientSession() as http:
        service = RunningService(issuer=issuer, http=http, features=cast("Any", None))
        yield Abroad(ClientApp(service, here), there)
    await here.close()
    await there.close()
