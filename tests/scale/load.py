"""A constant mixed load: callers that go on and on, retry nothing, and look at every answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext

from aiohttp import ClientSession, DummyCookieJar, TCPConnector

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, header_of

PAUSE = 0.12
"""Seconds between two works of a caller, so that replicas that start have some of the machine too."""

Work = Callable[[RunningService], Awaitable[str | None]]
"""What a caller does; it may tell which key has signed."""


async def tokens_for_itself(service: RunningService) -> str:
    """A machine's JWT, whose key is published and which is active."""
    answer = await service.token("machine", grant_type="client_credentials", scope="api1")
    token = answer["access_token"]
    kid = str(header_of(token)["kid"])
    jwks = await service.get("/.well-known/jwks.json")
    assert kid in {key["kid"] for key in jwks["keys"]}, "unpublished key"
    assert await service.is_active(token), "inactive"
    return kid


async def a_reference_token(service: RunningService) -> None:
    """A reference token is active until it is revoked."""
    answer = await service.token("robot", grant_type="client_credentials", scope="api1")
    token = answer["access_token"]
    assert await service.is_active(token), "inactive"
    assert (await service.post("/connect/revocation", auth="robot", token=token)).status == 200
    assert not await service.is_active(token), "active after its revocation"


async def refreshing(service: RunningService) -> None:
    """A refresh token is rotated five times."""
    tokens = await service.user_token(scope="api1 offline_access")
    for _ in range(5):
        form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        tokens = await service.token("frontend", **form)
        assert await service.is_active(tokens["access_token"]), "inactive"


async def signing_in(service: RunningService) -> None:
    """A person signs in, and the client gets tokens."""
    browser = Browser(service.issuer, connector=service.http.connector, connector_owner=False)
    try:
        tokens = await ClientApp(service, browser).tokens()
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        assert (await service.get("/connect/userinfo", headers=headers))["sub"] == "818727"
    finally:
        await browser.close()


async def discovering(service: RunningService) -> None:
    """Check that every replica publishes the same documents."""
    described = await service.get("/.well-known/openid-configuration")
    assert described["issuer"] == service.issuer, "another issuer"


WORKS: tuple[Work, ...] = (
    tokens_for_itself,
    a_reference_token,
    refreshing,
    signing_in,
    discovering,
    tokens_for_itself,
    a_reference_token,
    refreshing,
)


@dataclass
class Load:
    """The requests that were sent, and those that failed."""

    url: str
    trust: SSLContext | None = None
    """What verifies the certificate of an https URL; None for that of the machine."""
    done: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    kids: set[str | None] = field(default_factory=set)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def caller(self, work: Work) -> None:
        """Repeat one kind of work on a connection that stays open as long as the server allows."""
        connector = TCPConnector(limit=1, keepalive_timeout=60, ssl=self.trust or True)
        async with ClientSession(cookie_jar=DummyCookieJar(), connector=connector) as http:
            http._retry_connection = False  # noqa: SLF001 - or aiohttp hides a GET that met a closed connection
            service = RunningService(issuer=self.url, http=http, features=None)  # type: ignore[arg-type]
            while not self._stopping.is_set():
                await self._once(work, service)
                await asyncio.sleep(PAUSE)

    async def _once(self, work: Work, service: RunningService) -> None:
        try:
            kid = await work(service)
        except Exception as error:  # noqa: BLE001 - whatever it is, a caller has seen it
            self.failures.append(f"{work.__name__}: {error!r}")
            await asyncio.sleep(0.1)
        else:
            self.done[work.__name__] += 1
            self.kids |= {kid} - {None}

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping.set()


@asynccontextmanager
async def load_on(url: str, trust: SSLContext | None = None) -> AsyncIterator[Load]:
    """The load while the block runs; at its end everything begun is finished and nothing has failed."""
    load = Load(url, trust)
    async with asyncio.TaskGroup() as callers:
        for work in WORKS:
            callers.create_task(load.caller(work))
        yield load
        load.stop()
    assert not load.failures, load.failures
    assert set(load.done) == {work.__name__ for work in WORKS}
