"""Replicas of two neighbouring releases on one Redis: what one began, the other goes on with, in both directions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest
import yaml
from aiohttp import ClientSession, DummyCookieJar
from redis import Redis

from tests.conftest import ENCRYPTION_KEY
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.haproxy import HaProxy, haproxy_running
from tests.driving.ports import lasting_ports
from tests.driving.program import program_running
from tests.driving.redis_servers import RedisServer
from tests.driving.registry import fresh_configuration
from tests.driving.service import Answer, RunningService
from tests.store.next_release import next_release
from tests.store.records.example import encodings

pytestmark = pytest.mark.needs("redis-server", "haproxy")

SCOPE = "openid api1 offline_access"
PEOPLE = {"alice": "818727", "bob": "88421113"}


@pytest.fixture(params=["the next release is first", "this release is first"], scope="module")
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[HaProxy, Redis]]:
    """One replica of each, which take requests in turns, and their Redis; the first makes the keys."""
    folder = tmp_path_factory.mktemp("releases")
    later, ports = next_release(folder / "next"), lasting_ports(2)
    environs = [later, {}] if request.param.startswith("the next") else [{}, later]
    redis = RedisServer(folder)
    with ExitStack() as running:
        redis.start()
        running.callback(redis.stop)
        backends = [f"127.0.0.1:{port}" for port in ports]
        proxy = running.enter_context(haproxy_running(folder, backends, balance="roundrobin"))
        file = folder / "config.yaml"
        file.write_text(
            yaml.safe_dump(
                fresh_configuration()
                | {
                    "issuer": proxy.url,
                    "store": {"url": redis.url},
                    "signing": {"encryption_key": ENCRYPTION_KEY},
                }
            )
        )
        for port, environ in zip(ports, environs, strict=True):
            program = running.enter_context(
                program_running(file, ("--port", str(port)), dict(environ))
            )
            program.url()
        proxy.wait_until_up(2)
        yield proxy, running.enter_context(Redis.from_url(redis.url))


@pytest.fixture
async def service(both: tuple[HaProxy, Redis]) -> AsyncIterator[RunningService]:
    """The service as its clients see it, through the proxy."""
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:
        yield RunningService(issuer=both[0].url, http=http, features=None)  # type: ignore[arg-type]


@pytest.fixture
async def browser(service: RunningService) -> AsyncIterator[Browser]:
    """A person's browser."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


async def sign_in(app: ClientApp, username: str) -> Answer:
    """The tokens of a person who signs in and allows what is asked for."""
    page = await app.browser.log_in(await app.authorize(scope=SCOPE), username)
    page = await app.browser.submit(page, action="allow")
    return await app.redeem(page.parameters["code"])


async def use_tokens(service: RunningService, app: ClientApp, tokens: Answer, sub: str) -> Answer:
    """The tokens after two rotations, with which everything works."""
    assert await service.is_active(tokens["access_token"])
    second = await app.refresh(tokens["refresh_token"])
    third = await app.refresh(second["refresh_token"])
    bearer = {"Authorization": f"Bearer {third['access_token']}"}
    assert (await service.get("/connect/userinfo", headers=bearer))["sub"] == sub
    delegated = await service.token(
        "api1", grant_type="delegation", token=third["access_token"], scope="api2"
    )
    assert await service.is_active(delegated["access_token"], caller="api2")
    return third


async def sign_out(service: RunningService, app: ClientApp, tokens: Answer) -> None:
    """The session ends with its tokens, the offline ones live on until a used one comes again."""
    again = await app.authorize(scope="openid api1", prompt="none")
    online = await app.redeem(again.parameters["code"])
    assert await service.is_active(online["access_token"])
    await app.browser.submit(await app.browser.get("/connect/endsession"))
    assert not await service.is_active(online["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")


async def test_any_request_of_a_flow_may_reach_either_release(
    service: RunningService, browser: Browser, both: tuple[HaProxy, Redis]
) -> None:
    app = ClientApp(service, browser, "consenting")
    for username, sub in PEOPLE.items():
        tokens = await sign_in(app, username)
        later = await use_tokens(service, app, tokens, sub)
        assert releases_in(both[1]) == {"this", "next"}
        await sign_out(service, app, tokens)
        assert not await service.is_active(later["access_token"])
        await service.get("/")  # so that the next person's requests go the other way round


def releases_in(redis: Redis) -> set[str]:
    """Return the releases that wrote the records in the store, by the versions of the records."""
    versions = {kind: encoding.version for kind, encoding in encodings().items()}
    found: set[str] = set()
    for kind in ("ac", "rt", "az", "ss"):
        for key in redis.scan_iter(f"ts:*:{kind}*"):
            stored = redis.get(key)
            if isinstance(stored, bytes):
                version = versions["spent" if stored.startswith(b"-") else kind]
                is_newer = stored.lstrip(b"+-").startswith(b"v%d " % (version + 1))
                found.add("next" if is_newer else "this")
    return found
