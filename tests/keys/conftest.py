"""Replicas on one store, under a clock that a test moves."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from service.keys.keyring import KeyRing
from service.keys.schedule import RotationPolicy
from service.keys.sealing import Seal
from service.keys.stored_keys import StoredKeys
from service.store.keyvalue import KeyValue
from service.store.opening import open_store
from tests.driving.redis_server import accepts_connections

DAY = 86400
ENCRYPTION_KEY = bytes(range(32))


@dataclass
class Clock:
    """The time that every replica of a test sees."""

    time: int = 1_800_000_000

    def __call__(self) -> int:
        return self.time

    def forward(self, *, days: int = 0, seconds: int = 0) -> None:
        self.time += days * DAY + seconds


@dataclass
class Fleet:
    """Starts replicas that share a store."""

    kv: KeyValue
    clock: Clock
    events: list[object] = field(default_factory=list)

    def replica(
        self,
        *algorithms: str,
        encryption_keys: Sequence[bytes] = (ENCRYPTION_KEY,),
        kv: KeyValue | None = None,
    ) -> StoredKeys:
        policy = RotationPolicy(
            algorithms=algorithms or ("ES256",),
            rotate_every=90 * DAY,
            announce_before=14 * DAY,
            retire_after=14 * DAY,
            longest_token=3600,
        )
        return StoredKeys(
            ring=KeyRing(policy.algorithms),
            kv=kv or self.kv,
            prefix="ts",
            seal=Seal(encryption_keys),
            policy=lambda: policy,
            now=self.clock,
            emit=self.events.append,
        )

    async def started(
        self, *algorithms: str, encryption_keys: Sequence[bytes] = (ENCRYPTION_KEY,)
    ) -> StoredKeys:
        replica = self.replica(*algorithms, encryption_keys=encryption_keys)
        await replica.start()
        return replica


@pytest.fixture
async def fleet() -> AsyncIterator[Fleet]:
    kv = open_store("memory://", timeout=30)
    yield Fleet(kv, Clock())
    await kv.close()


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A Redis server of the test's own; the test is marked `needs("redis-server")`."""
    socket = tmp_path / "redis.sock"
    command = [
        "redis-server",
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--save",
        "",
        "--dir",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(12000):
                if accepts_connections(socket):
                    break
                time.sleep(0.01)
            yield f"unix://{socket}"
        finally:
            server.terminate()
