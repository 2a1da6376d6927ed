"""Real Redis servers of the tests' own, that belong together: behind Sentinel, or in a Cluster."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

from tests.driving.program import eventually
from tests.driving.redis_server import (
    RedisServer,
    TcpRedis,
    new_certificate,
    tls_redis,
    trusting,
)

__all__ = [
    "RedisCluster",
    "RedisServer",
    "SentinelSet",
    "TcpRedis",
    "cluster",
    "sentinel_set",
    "tls_redis",
]


@dataclass
class SentinelSet:
    """A master, its replicas, and three sentinels that replace the master once it is lost."""

    servers: list[TcpRedis]
    sentinels: list[TcpRedis]
    name: str = "mymaster"
    certificate: Path | None = None

    @property
    def url(self) -> str:
        hosts, certificate = ",".join(each.address for each in self.sentinels), self.certificate
        scheme = "rediss+sentinel" if certificate else "redis+sentinel"
        return f"{scheme}://{hosts}/{self.name}{trusting(certificate)}"

    @property
    def master(self) -> TcpRedis:
        """The master that the sentinels name."""
        _, port = self.sentinels[0].tell("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.name)
        return next(each for each in self.servers if each.port == int(port))

    @property
    def replicas(self) -> list[TcpRedis]:
        """The others, alive or not."""
        master = self.master
        return [each for each in self.servers if each is not master]

    def fail_over(self) -> None:
        """Let a replica take over from a master that is well, and wait until it has."""
        before = self.master
        self.sentinels[0].tell("SENTINEL", "FAILOVER", self.name)
        eventually(lambda: self.master is not before)

    def be_patient(self, milliseconds: int) -> None:
        """Let the sentinels replace a master once it has been silent for so long."""
        for each in self.sentinels:
            each.tell("SENTINEL", "SET", self.name, "down-after-milliseconds", milliseconds)

    def stop(self) -> None:
        for each in [*self.sentinels, *self.servers]:
            each.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


PATIENCE = 60_000
"""Milliseconds for which a server may be silent before another takes over; on a busy machine one often is, and nothing is wrong."""
IMPATIENCE = 1_000
"""The same where a test is about a failover."""


def sentinel_set(
    folder: Path,
    *flags: str,
    replicas: int = 1,
    tls: bool = False,
) -> SentinelSet:
    """Start one, and wait until all know one another; the flags are the data servers'."""
    certificate = new_certificate(folder) if tls else None
    master = TcpRedis(folder / "server-0", *PROMPT, *flags, certificate=certificate)
    follow = ["--replicaof", f"127.0.0.1 {master.port}"]
    others = [
        TcpRedis(folder / f"server-{number}", *PROMPT, *flags, *follow, certificate=certificate)
        for number in range(1, replicas + 1)
    ]
    eventually(lambda: len(master.tell("ROLE")[2]) == replicas)
    watching = SENTINEL.format(port=master.port, patience=PATIENCE)
    sentinels = [
        TcpRedis(folder / f"sentinel-{n}", sentinel=watching, certificate=certificate)
        for n in range(3)
    ]
    for each in sentinels:
        eventually(partial(_knows, each, sentinels=2, replicas=replicas))
    return SentinelSet([master, *others], sentinels, certificate=certificate)


PROMPT = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1")
"""Replicas are served at once; by default they wait for five seconds."""

SENTINEL = """\
sentinel monitor mymaster 127.0.0.1 {port} 2
sentinel down-after-milliseconds mymaster {patience}
sentinel failover-timeout mymaster 2000
"""


def _knows(sentinel: TcpRedis, *, sentinels: int, replicas: int) -> bool:
    told = sentinel.tell("SENTINEL", "MASTER", "mymaster")
    known = dict(zip(told[::2], told[1::2], strict=True))
    found = (int(known[b"num-other-sentinels"]), int(known[b"num-slaves"]))
    return found == (sentinels, replicas)


@dataclass
class RedisCluster:
    """Masters that share the slots, each with as many replicas, one of which takes over after a loss."""

    masters: list[TcpRedis]
    """Those that were masters at the start, in the order of their slots."""
    replicas: list[TcpRedis] = field(default_factory=list[TcpRedis])
    """Those that were replicas, in the order of their masters."""
    certificate: Path | None = None

    @property
    def url(self) -> str:
        hosts, certificate = ",".join(each.address for each in self.servers), self.certificate
        scheme = "rediss+cluster" if certificate else "redis+cluster"
        return f"{scheme}://{hosts}{trusting(certificate)}"

    @property
    def servers(self) -> list[TcpRedis]:
        return [*self.masters, *self.replicas]

    @property
    def processes(self) -> list[subprocess.Popen[bytes]]:
        return [each.process for each in self.servers]

    def be_patient(self, milliseconds: int) -> None:
        """Let the servers replace one once it has been silent for so long."""
        for each in self.servers:
            each.tell("CONFIG", "SET", "cluster-node-timeout", milliseconds)

    def stop(self) -> None:
        for each in self.servers:
            each.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


SLOTS = 16384


def cluster(
    folder: Path,
    *flags: str,
    masters: int = 3,
    replicas: int = 0,
    tls: bool = False,
) -> RedisCluster:
    """Start one, and wait until every server says that it is whole; `replicas` are for each master."""
    # Impatient servers are whole sooner, and nobody takes over while there are only masters.
    enabled = ["--cluster-enabled", "yes", "--cluster-node-timeout", str(IMPATIENCE)]
    enabled += ["--cluster-replica-validity-factor", "0", *PROMPT, *flags]
    certificate = new_certificate(folder) if tls else None
    servers = [
        TcpRedis(folder / f"server-{number}", *enabled, certificate=certificate)
        for number in range(masters * (1 + replicas))
    ]
    for epoch, each in enumerate(servers, start=1):
        each.tell("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        each.tell("CLUSTER", "MEET", "127.0.0.1", servers[0].port)
    for number, each in enumerate(servers[:masters]):
        first, after = number * SLOTS // masters, (number + 1) * SLOTS // masters
        each.tell("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
    made = RedisCluster(servers[:masters], servers[masters:], certificate)
    whole = False
    while not whole:  # an impatient server may call another one lost, when it is only slow
        made.be_patient(IMPATIENCE)
        for each in servers:
            eventually(partial(_is_whole, each, len(servers)))
        made.be_patient(PATIENCE)
        whole = all(_is_whole(each, len(servers)) for each in servers)
    for number, each in enumerate(made.replicas):
        of = made.masters[number % masters]
        each.tell("CLUSTER", "REPLICATE", of.tell("CLUSTER", "MYID").decode())
        eventually(partial(is_connected, each))
    return made


def is_connected(replica: TcpRedis) -> bool:
    return bool(replica.tell("ROLE")[3] == b"connected")


def _is_whole(server: TcpRedis, nodes: int) -> bool:
    """Whether it knows all servers and who has each slot; its state may be "ok" before it knows the slots."""
    told = server.tell("CLUSTER", "INFO").split()
    wanted = [("state", "ok"), ("known_nodes", nodes), ("slots_ok", SLOTS)]
    return {f"cluster_{name}:{value}".encode() for name, value in wanted} <= set(told)
