"""Three replicas on one Redis behind HAProxy, started once, and a dice that sends each request to another of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from socket import create_server

import pytest
from aiohttp import ClientSession, DummyCookieJar

from tests.clients.signing import key_of
from tests.driving.browser import Browser
from tests.driving.listening import listening
from tests.driving.ports import lasting_ports
from tests.driving.redis_servers import RedisServer
from tests.driving.replicas import Fleet, fleet_running
from tests.driving.service import RunningService
from tests.identity_providers.fake_provider import FakeProvider
from tests.logout.relying_party import RelyingParty, relying_party
from tests.request_objects.site import Site
from tests.scale.any_replica.dice import Dice
from tests.scale.any_replica.registry import SEEDS, configuration


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this needs what it runs on."""
    for item in items:
        if "fleet" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs("redis-server", "haproxy"))


@dataclass(frozen=True)
class Ports:
    """Addresses of the other servers that the configuration names."""

    party: int
    provider: int
    site: int


@pytest.fixture(scope="session")
def ports() -> Ports:
    return Ports(*lasting_ports(3))


@pytest.fixture(scope="session")
def fleet(ports: Ports, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The replicas; HAProxy gives each request a connection of its own."""
    folder = tmp_path_factory.mktemp("any-replica")
    redis = RedisServer(folder)
    whole = configuration(redis.url, party=ports.party, provider=ports.provider, site=ports.site)
    with ExitStack() as running:
        running.callback(redis.stop)
        redis.start()
        behind = fleet_running(folder, whole, balancer={"keep_alive_to_replicas": False})
        yield running.enter_context(behind)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed {seed}")
def dice(request: pytest.FixtureRequest) -> Dice:
    """Other ways through the replicas for each seed."""
    return Dice(request.param)


@pytest.fixture
async def service(fleet: Fleet, dice: Dice) -> AsyncIterator[RunningService]:
    """The service, whichever replica answers."""
    async with ClientSession(cookie_jar=DummyCookieJar(), **dice.session) as http:
        yield RunningService(issuer=fleet.url, http=http, features=None)  # type: ignore[arg-type] # in other processes


@pytest.fixture
async def browser(service: RunningService, dice: Dice) -> AsyncIterator[Browser]:
    """A person's browser, whose requests go anywhere too."""
    browser = Browser(service.issuer, **dice.session)
    yield browser
    await browser.close()


@pytest.fixture
async def party(ports: Ports) -> AsyncIterator[RelyingParty]:
    """Serve the back-channel logout URI of the client `web`."""
    async with relying_party(create_server(("127.0.0.1", ports.party))) as party:
        yield party


@pytest.fixture
async def provider(ports: Ports) -> AsyncIterator[FakeProvider]:
    """An identity provider with the same key each time."""
    provider = FakeProvider(f"http://127.0.0.1:{ports.provider}", signer=key_of("ES256", 1))
    async with listening(provider.handle, port=ports.provider):
        yield provider


@pytest.fixture
async def site(ports: Ports) -> AsyncIterator[Site]:
    """Serve the request objects of the client `web`."""
    site = Site(f"http://127.0.0.1:{ports.site}")
    async with listening(site.serve, port=ports.site):
        yield site
