"""Whatever an operator does to replicas, registry and keys, a caller behind the balancer sees no failure."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

from tests.conftest import ENCRYPTION_KEY
from tests.driving.program import SECONDS, Program
from tests.driving.redis_servers import RedisServer
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.replicas import Fleet, fleet_running
from tests.scale.load import Load, load_on

pytestmark = pytest.mark.needs("redis-server", "haproxy")

ALONE, SEVERAL = (), ("--workers", "2")

LATE = {"check_every": "2s", "fall": 3, "retries": 3, "redispatch": True}
"""HAProxy's own defaults, and that it asks another replica in the end: it never notices in time."""


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(
    params=[(ALONE, {}), (SEVERAL, LATE)],
    ids=["one process, balancer notices", "two workers, balancer is late"],
)
def fleet(request: pytest.FixtureRequest, tmp_path: Path, redis: RedisServer) -> Iterator[Fleet]:
    """Three replicas that started at once on an empty Redis; each serves on for a second when it is to stop."""
    whole = fresh_configuration()
    whole["store"] = {"url": redis.url}
    whole["signing"]["encryption_key"] = ENCRYPTION_KEY
    whole["server"] = {"shutdown_grace": "10s", "shutdown_linger": "1s"}
    flags, balancer = request.param
    with fleet_running(tmp_path, whole, flags=("--watch", *flags), balancer=balancer) as fleet:
        jwks = httpx2.get(f"{fleet.url}/.well-known/jwks.json").json()
        assert len(jwks["keys"]) == 1  # and not one of each process
        yield fleet


@pytest.fixture
async def load(fleet: Fleet) -> AsyncIterator[Load]:
    """Nothing of it may fail."""
    async with load_on(fleet.url) as load:
        await asyncio.sleep(0.5)
        yield load
        await asyncio.sleep(0.5)


async def test_replicas_are_replaced_one_by_one(fleet: Fleet, load: Load) -> None:
    for replica in fleet.replicas:
        assert await asyncio.to_thread(fleet.replace, replica) == 0
    assert len(load.kids) == 1


@pytest.mark.parametrize("fleet", [(SEVERAL, {})], ids=["two workers"], indirect=True)
async def test_a_key_rotates_while_the_registry_is_reloaded(fleet: Fleet, load: Load) -> None:
    command = ("-m", "service", "keys", "rotate", "--now", "--config", str(fleet.config_file))
    rotating = await asyncio.create_subprocess_exec(sys.executable, *command)
    assert await rotating.wait() == 0
    for lifetime in ("50m", "40m"):
        _set_lifetime(fleet, lifetime)
        await asyncio.gather(*(_reloaded(each) for each in fleet.replicas))  # by watching
    for replica in fleet.replicas:
        _set_lifetime(fleet, "30m")
        replica.send(signal.SIGHUP)
    async with asyncio.timeout(SECONDS):
        while len(load.kids) < 2:  # noqa: ASYNC110 - nobody tells when the new key signs
            await asyncio.sleep(0.1)
    await asyncio.sleep(4)  # the other replicas follow, and no caller may notice
    assert len(load.kids) == 2


async def _reloaded(replica: Program) -> None:
    await asyncio.to_thread(replica.event, "registry_reloaded")


def _set_lifetime(fleet: Fleet, lifetime: str) -> None:
    """Edit the file as an operator does: another one in its place."""
    whole = yaml.safe_load(fleet.config_file.read_text())
    client_in(whole, "machine")["access_token_lifetime"] = lifetime
    edited = fleet.config_file.with_suffix(".new")
    edited.write_text(yaml.safe_dump(whole, sort_keys=False))
    edited.replace(fleet.config_file)
