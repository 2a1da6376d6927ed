"""Two stores, the people of a registry, and a list of what happened."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import time_machine
from redis.asyncio import Redis

from service.config.schema.server import Limits
from service.identity.password_sign_in import PasswordSignIn
from service.identity.passwords import FairTurns, Passwords
from service.identity.refusal_costs import RefusalCosts
from service.identity.throttle import Throttle
from service.identity.users import FileUsers
from service.store.keyvalue import KeyValue
from service.store.opening import open_store
from service.store.stores import Stores
from tests.driving.redis_server import accepts_connections
from tests.identity.people import Live


@pytest.fixture(params=["embedded", pytest.param("redis", marks=pytest.mark.needs("redis-server"))])
async def kv(request: pytest.FixtureRequest) -> AsyncIterator[KeyValue]:
    """Both stores; a test that moves time asks for the embedded one with `on_embedded`."""
    if request.param == "embedded":
        store = open_store("memory://", timeout=30)
    else:
        socket = request.getfixturevalue("redis_socket")
        async with Redis(unix_socket_path=str(socket)) as redis:
            await redis.flushdb()
        store = open_store(f"unix://{socket}", timeout=30)
    yield store
    await store.close()


@pytest.fixture(scope="session")
def redis_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a Redis server that only these tests use."""
    folder = tmp_path_factory.mktemp("redis")
    socket = folder / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as server:
        while not accepts_connections(socket):
            assert server.poll() is None
            time.sleep(0.01)
        yield socket
        server.terminate()


@pytest.fixture
def stopped_clock() -> Iterator[time_machine.Traveller]:
    """The time, which a test moves."""
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def stores(kv: KeyValue) -> Stores:
    return Stores(kv, prefix="ts")


@pytest.fixture
def events() -> list[object]:
    """Everything that was emitted, in order."""
    return []


@pytest.fixture
def registry() -> Live:
    return Live()


@pytest.fixture
def sign_in(kv: KeyValue, stores: Stores, registry: Live, events: list[object]) -> PasswordSignIn:
    users, passwords = FileUsers(registry), Passwords(registry)
    return PasswordSignIn(
        users=users,
        passwords=passwords,
        costs=RefusalCosts(users=users, passwords=passwords, stores=stores),
        turns=FairTurns(),
        throttle=Throttle(kv=kv, prefix="ts", limits=Limits(login_failures=2, lockout=60)),
        emit=events.append,
    )
