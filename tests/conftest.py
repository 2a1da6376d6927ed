"""Fixtures for every test of behaviour: a running service on either store, a browser, a client."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from socket import socket
from typing import Any

import httpcore2
import httpx2
import pytest
import redis.utils
import time_machine
from aiohttp import ClientSession, DummyCookieJar, web
from redis import Redis

from service.app import create_app
from service.identity.sources import guarded_requests
from service.keys import stored_keys
from service.web.pages import locales
from service.web.server.server import Runner
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.compiled_templates import compile_once
from tests.driving.redis_server import accepts_connections
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.driving.starting import Starting
from tests.logout.relying_party import RelyingParty, relying_party

ENCRYPTION_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"

Start = Callable[..., Awaitable[RunningService]]


REAL_ONLY = {"command", "mortal_redis", "chromium", "own_store"}
"""Fixtures of tests that need a real store."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on both stores; one that moves the time, or asks for `one_store`, on the embedded one.

    One that runs a command next to the service needs a store that both can reach, one that kills
    the store needs its own, and one with a real browser or of every kind runs on a real store only.
    """
    if "store_url" not in metafunc.fixturenames:
        return
    used = set(metafunc.fixturenames)
    real_only = REAL_ONLY & used
    stores: list[Any] = [] if real_only else ["embedded"]
    if not stores or not {"clock", "one_store"} & used:
        stores.append(pytest.param("redis", marks=pytest.mark.needs("redis-server")))
    metafunc.parametrize("store_url", stores, indirect=True)


TABLE = 4
"""Rows from which the parameters of a test are a table, of which one row is run on a real Redis."""
WHOLE_ON_REDIS = ("tests/races/", "tests/store/")
"""Where each row is about the store."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out on Redis all rows of a table but the first: the embedded store runs them all.

    Rows differ in what is sent; the store is the same for each. EVERY_ROW=1 runs them all on Redis, too.
    """
    tables: dict[str, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and _is_repeated_on_redis(item):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    surplus = {
        row
        for rows in tables.values()
        if len(rows) >= TABLE
        for row in sorted(rows, key=lambda row: list(row.callspec.indices.values()))[1:]
    }
    if surplus and os.environ.get("EVERY_ROW") != "1":
        items[:] = [item for item in items if item not in surplus]
        config.hook.pytest_deselected(items=list(surplus))


def _is_repeated_on_redis(item: pytest.Function) -> bool:
    """Return whether the embedded store has the same row."""
    if not hasattr(item, "callspec") or item.nodeid.startswith(WHOLE_ON_REDIS):
        return False
    runs_on_both = not REAL_ONLY & set(item.fixturenames)
    return runs_on_both and item.callspec.params.get("store_url") == "redis"


@pytest.fixture
def one_store() -> None:
    """For tests of what never reaches the store, or reaches it as in tests that run on both."""


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis of these tests' own."""
    with redis_running(tmp_path_factory.mktemp("redis")) as (url, _):
        yield url


@pytest.fixture(scope="session")
def redis_admin(redis_server: str) -> Iterator[Redis]:
    """The connection that empties the Redis before each test; a new one takes longer than that."""
    with Redis.from_url(redis_server) as connection:
        yield connection


@pytest.fixture
def mortal_redis(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Redis of the test's own, to be killed; for the `store` of its `config`."""
    with redis_running(tmp_path) as started:
        yield started


@contextmanager
def redis_running(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a Redis behind a unix socket, so that no port can be taken."""
    path = folder / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    for _ in range(2400):
        if accepts_connections(path):
            break
        time.sleep(0.05)
    yield f"unix://{path}", process
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture
def store_url(request: pytest.FixtureRequest) -> str:
    """The embedded store, or an empty real Redis."""
    if request.param == "embedded":
        return "memory://"
    admin: Redis = request.getfixturevalue("redis_admin")
    admin.flushall()
    url: str = request.getfixturevalue("redis_server")
    return url


@pytest.fixture(scope="session", autouse=True)
def _templates_are_compiled_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        compile_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _catalogues_are_compiled_once() -> Iterator[None]:
    """For all the services of a run, as the templates are."""
    compiled = cache(locales._compile)  # noqa: SLF001
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locales, "_compile", lambda source: copy(compiled(source)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _libraries_read_once_what_does_not_change() -> Iterator[None]:
    """Each connection of redis-py, as to memory://, reads its package's version, each client of httpx all authorities."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis.utils, "get_lib_version", cache(redis.utils.get_lib_version))
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _requests_wait_for_a_busy_machine() -> Iterator[None]:
    """By default httpx waits for five seconds, in which a process that has just started may get no processor."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "read", "write", "pool"):
            patch.setattr(httpx2._config.DEFAULT_TIMEOUT_CONFIG, name, 60.0)  # noqa: SLF001
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_leave_the_log_of_tests_as_it_is() -> Iterator[None]:
    """A command that runs in this process would have all later tests log to its own standard error, which is closed then."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("serve", "shared_store"):
            patch.setattr(f"service.cli.{module}.configure_logs", lambda *_: None)
        yield


@pytest.fixture
def config() -> dict[str, Any]:
    """The configuration; a test module changes it by a fixture of the same name."""
    return fresh_configuration()


@pytest.fixture
def spans() -> Any:
    """The tracer of requests; only tests of traces have one."""
    return None


@pytest.fixture(scope="session")
def starting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starting]:
    """The common parts of the services of a run."""
    starting = Starting(tmp_path_factory.mktemp("configurations"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_keys, "Key", starting.rsa_keys)
        yield starting
    starting.close()


@pytest.fixture
async def start(starting: Starting, store_url: str, spans: Any) -> AsyncIterator[Start]:
    """Start services; several on one real Redis are replicas."""
    runners: list[Runner] = []
    sessions: list[ClientSession] = []
    sockets: list[socket] = []
    starting.rsa_keys.start_over()

    async def started(configuration: dict[str, Any]) -> RunningService:
        listening, for_admin = starting.listen(len(runners)), starting.listen(len(runners) + 1)
        sockets.extend((listening, for_admin))
        issuer = f"http://localhost:{listening.getsockname()[1]}"
        origin, slash, path = configuration["issuer"].partition("localhost:0")
        if slash and origin == "http://":
            issuer += path
            configuration["issuer"] = issuer
        # A loaded machine answers late; tests of time limits have their own. Tracked reads must never show in what a test sees.
        usual = {
            "store": {"url": store_url, "timeout": "30s", "tracking": "on"},
            "outgoing": {"timeout": "30s"},
        }
        configuration.update({each: usual[each] | configuration.get(each, {}) for each in usual})
        configuration["signing"].setdefault("encryption_key", ENCRYPTION_KEY)
        admin_url = _place_admin(configuration, for_admin)
        # JSON is YAML, and is written faster.
        loaded = starting.configuration(json.dumps(configuration))
        events: list[object] = []
        service = create_app(loaded, events.append, environ={}, spans=spans)
        runners.append(await _run(service.app, listening))
        if service.admin is not None:
            runners.append(await _run(service.admin, for_admin))
        session = ClientSession(cookie_jar=DummyCookieJar())
        sessions.append(session)
        features = service.features
        return RunningService(issuer, session, features, events=events, admin_url=admin_url)

    yield started
    for session in sessions:
        await session.close()
    for runner in runners:
        await runner.cleanup()
    for listening in sockets:
        listening.close()  # of a service that did not start


def _place_admin(configuration: dict[str, Any], listening: socket) -> str | None:
    """Put the port of the socket into the section `admin`, if there is one, and return its URL."""
    admin = configuration.get("admin")
    if admin is None:
        return None
    port = listening.getsockname()[1]
    admin.update(url=f"http://127.0.0.1:{port}", port=port)
    return str(admin["url"])


async def _run(app: web.Application, listening: socket) -> Runner:
    runner = Runner(app, shutdown_timeout=1)
    await runner.setup()
    await runner.listen(listening, None)
    return runner


@pytest.fixture
async def service(start: Start, config: dict[str, Any]) -> RunningService:
    """The service with the test's configuration."""
    return await start(config)


@pytest.fixture
def strict_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python as it is from 3.13 on, with a flag that demands every extension of RFC 5280 from certificates."""
    usual = ssl.create_default_context

    def create(*args: Any, **options: Any) -> ssl.SSLContext:
        context = usual(*args, **options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", create)


@pytest.fixture
async def browser(service: RunningService) -> AsyncIterator[Browser]:
    """A person's browser."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


@pytest.fixture
def app(service: RunningService, browser: Browser) -> ClientApp:
    """The client `web` in that browser."""
    return ClientApp(service, browser)


@pytest.fixture
def app_of(service: RunningService, browser: Browser) -> Callable[[str], ClientApp]:
    """Another client in the same browser."""
    return lambda client_id: ClientApp(service, browser, client_id)


@pytest.fixture
def events(service: RunningService) -> list[object]:
    """The events of the service."""
    return service.events


@dataclass
class Clock:
    """The time of the service and of the embedded store."""

    traveller: time_machine.Traveller

    def forward(self, **span: float) -> None:
        """Let time pass: `clock.forward(minutes=5)`."""
        self.traveller.shift(timedelta(**span))


@pytest.fixture
def clock() -> Iterator[Clock]:
    """A clock that a test moves."""
    with time_machine.travel(time.time(), tick=True) as traveller:
        yield Clock(traveller)


@pytest.fixture
def fresh_minute(clock: Clock) -> None:
    """A test that counts requests of a minute begins with one, and does not see its end."""
    clock.forward(seconds=60 - time.time() % 60)


@pytest.fixture
def always_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of users that is unavailable gets every request, so that no test waits for the circuit breaker."""
    monkeypatch.setattr(guarded_requests, "PAUSE", 0.0)


@pytest.fixture
def never_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of users that is unavailable gets no further request."""
    monkeypatch.setattr(guarded_requests, "PAUSE", 3600.0)


Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def reload(service: RunningService, config: dict[str, Any]) -> Callable[[Change], None]:
    """Change the configuration of the running service."""

    def reload(change: Change) -> None:
        change(config)
        service.reload(config)

    return reload


@pytest.fixture
async def party() -> AsyncIterator[RelyingParty]:
    """The site of a client, which receives logout tokens."""
    async with relying_party() as party:
        yield party
