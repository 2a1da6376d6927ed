"""The operator's class gives connections to Redis credentials that change; open connections take the new ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from service.config.schema.store import Store
from service.store.engine import connection
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_credentials, open_store
from tests.driving.redis_servers import TcpRedis
from tests.store.test_beginning_of_a_connection import answering

pytestmark = pytest.mark.needs("redis-server")

OWN = """
from redis.credentials import CredentialProvider, StreamingCredentialProvider

class Provider(CredentialProvider):
    present = "first", "secret-1"
    asked = 0
    registered = []

    def get_credentials(self):
        Provider.asked += 1
        if self.present is None:
            raise RuntimeError("the cloud is unavailable")
        return self.present

class Async(Provider):
    async def get_credentials_async(self):
        return self.get_credentials()

class Streaming(Async, StreamingCredentialProvider):
    def on_next(self, callback):
        Provider.registered.append(callback)

    def on_error(self, callback): ...

    def is_streaming(self):
        return True

class Password(Provider):
    def get_credentials(self):
        return self.present[1:]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type:
    """The operator's class, whose credentials a test changes."""
    name = f"rotating_{tmp_path.name.translate({45: '_'})}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    provider: type = __import__(name).Provider
    return provider


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[TcpRedis]:
    """With the users `first` and `second`."""
    with TcpRedis(tmp_path / "redis") as started:
        for at, name in enumerate(("first", "second"), 1):
            started.tell("ACL", "SETUSER", name, "on", f">secret-{at}", "~*", "+@all")
        yield started


@pytest.fixture
async def store(
    own: type, redis: TcpRedis, request: pytest.FixtureRequest
) -> AsyncIterator[KeyValue]:
    """A store with the provider that a test names, asked for new credentials every second."""
    name = getattr(request, "param", "Async")
    opened = opened_with(own, name, redis.address)
    yield opened
    await opened.close()


def opened_with(own: type, name: str, address: str, *, seconds: int = 1) -> KeyValue:
    settings = Store(
        credential_provider=f"{own.__module__}:{name}", credentials_refresh_interval=seconds
    )
    return open_store(f"redis://{address}", credentials=open_credentials(settings), timeout=30)


def clients(redis: TcpRedis) -> dict[str, str]:
    """Return the user of each connection of the service, by the connection's number."""
    listed = redis.tell("CLIENT", "LIST", "TYPE", "normal").decode().split("\n")
    fields = [dict(each.partition("=")[::2] for each in line.split()) for line in listed if line]
    return {each["id"]: each["user"] for each in fields if each["user"] != "default"}


async def until_all_are(redis: TcpRedis, user: str) -> None:
    async with asyncio.timeout(20):
        while set(clients(redis).values()) != {user}:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("store", ["Provider", "Async", "Streaming"], indirect=True)
async def test_a_connection_is_authenticated_by_the_provider(
    store: KeyValue, redis: TcpRedis
) -> None:
    await store.ping()
    assert [*clients(redis).values()] == ["first"]


async def test_a_provider_may_give_a_password_alone(own: type, redis: TcpRedis) -> None:
    redis.tell("CONFIG", "SET", "requirepass", "secret-1")
    store = opened_with(own, "Password", redis.address)
    await store.ping()
    await store.close()


@pytest.mark.parametrize("store", ["Provider", "Async"], indirect=True)
async def test_an_open_connection_takes_new_credentials_before_the_old_ones_expire(
    store: KeyValue, own: type, redis: TcpRedis
) -> None:
    await store.ping()
    before = clients(redis)
    own.present = "second", "secret-2"  # type: ignore[attr-defined]
    await until_all_are(redis, "second")
    assert clients(redis).keys() == before.keys()
    redis.tell("ACL", "DELUSER", "first")
    await store.ping()


async def test_a_streaming_provider_says_itself_when_credentials_change(
    own: type, redis: TcpRedis
) -> None:
    store = opened_with(own, "Streaming", redis.address, seconds=3600)
    await store.ping()
    own.present = "second", "secret-2"  # type: ignore[attr-defined]
    await own.registered[-1](None)  # type: ignore[attr-defined]
    await until_all_are(redis, "second")
    await store.close()


async def test_a_lost_connection_is_opened_again_with_new_credentials(
    own: type, redis: TcpRedis
) -> None:
    store = opened_with(own, "Async", redis.address, seconds=3600)
    await store.ping()
    own.present = "second", "secret-2"  # type: ignore[attr-defined]
    redis.tell("ACL", "DELUSER", "first")  # which closes the connections of this user
    await store.ping()
    assert [*clients(redis).values()] == ["second"]
    await store.close()


async def test_refused_and_missing_credentials_are_logged_and_fetched_again(
    store: KeyValue, own: type, redis: TcpRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.engine.server.RETRY", 0.1)
    await store.ping()
    with capture_logs() as logged:
        for wrong in (("first", "secret-2"), None):
            own.present, seen = wrong, own.asked  # type: ignore[attr-defined]
            async with asyncio.timeout(20):
                while own.asked < seen + 2:  # type: ignore[attr-defined]  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    causes = {each["cause"] for each in logged}
    assert any(cause.startswith("WRONGPASS") for cause in causes)
    assert any("RuntimeError: the cloud is unavailable" in cause for cause in causes)
    await store.ping()  # the connection is still that of the old user
    own.present = "second", "secret-2"  # type: ignore[attr-defined]
    await until_all_are(redis, "second")


async def test_why_a_provider_fails_at_first_is_logged(own: type, redis: TcpRedis) -> None:
    own.present = None  # type: ignore[attr-defined]
    store = opened_with(own, "Async", redis.address)
    with capture_logs() as logged, pytest.raises(StoreUnavailable):
        await store.ping()
    await store.close()
    assert "store.credential_provider failed: RuntimeError" in logged[0]["cause"]


async def test_a_connection_whose_credentials_have_expired_is_replaced(
    own: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SETTLING", -1.0)
    opened: list[int] = []

    async def expire(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(1)
        await reader.read(1000)
        writer.write(b"+OK\r\n" * 2)  # to AUTH, and to the name
        await reader.read(1000)
        writer.write(b"-NOAUTH Authentication required.\r\n" if len(opened) == 1 else b"+PONG\r\n")
        await reader.read()

    async with answering(expire) as address:
        store = opened_with(own, "Async", address, seconds=3600)
        with pytest.raises(StoreUnavailable):
            await store.ping()
        await store.ping()
        await store.close()
    assert len(opened) == 2
