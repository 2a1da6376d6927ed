"""The stores that scenarios run on, as an operator would set them up to keep what they acknowledge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.slow_link import SlowLink, slow_link
from tests.driving.redis_servers import (
    IMPATIENCE,
    RedisCluster,
    SentinelSet,
    TcpRedis,
    cluster,
    sentinel_set,
)


@dataclass(frozen=True)
class DistantRedis:
    """A Redis, and the way to it."""

    link: SlowLink

    @property
    def url(self) -> str:
        """The first address of the way."""
        return f"redis://127.0.0.1:{self.link.port}/0"


def one_redis(folder: Path) -> TcpRedis:
    """One that has handed all that it has acknowledged to the system, which keeps it when the process dies.

    Nothing waits for the disk, which others use, too: only a machine that dies would lose something.
    """
    return TcpRedis(folder, "--appendonly", "yes", "--appendfsync", "no")


def sentinels(folder: Path) -> SentinelSet:
    """A master with two replicas: when one has taken over, there is another that acknowledges."""
    made = sentinel_set(folder, replicas=2)
    made.be_patient(IMPATIENCE)
    return made


def three_masters(folder: Path) -> RedisCluster:
    """A Cluster in which each master has a replica."""
    made = cluster(folder, masters=3, replicas=1)
    made.be_patient(IMPATIENCE)
    return made


@contextmanager
def distant_redis(folder: Path) -> Iterator[DistantRedis]:
    """One behind a link that can be slow."""
    with TcpRedis(folder) as redis, slow_link(redis.port) as link:
        yield DistantRedis(link)
