"""Real Redis servers of the tests' own, to be started, stopped, frozen and killed: one, behind Sentinel, a Cluster."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from redis import Redis
from redis.exceptions import RedisError

from tests.driving.certificate import certified
from tests.driving.program import eventually

SECONDS = 30
"""How long one may take to start or to end."""

PORTS = range(10_000, 22_000)
"""Below those that connections get, with room for a Cluster's second port, 10,000 higher."""

USER, PASSWORD = "service", "a redis password"
"""The ACL user of `tls_redis`."""

EVERYTHING = ("~*", "+@all")
"""What that user may, unless a test says less."""


@dataclass
class RedisServer:
    """A real Redis of a test's own behind a unix socket, to be started and stopped."""

    folder: Path
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/redis.sock"

    def start(self, *flags: str) -> None:
        socket = self.folder / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", *flags]
        self._process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        while not socket.exists():
            assert self._process.poll() is None
            time.sleep(0.01)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(SECONDS)
            self._process = None


class TcpRedis:
    """A real Redis on a port of 127.0.0.1, started at once; the port stays its own when it starts again."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        port: int | None = None,
        tls: bool = False,
        sentinel: str | None = None,
    ) -> None:
        """Start it on this port, or on any that is free; its data and `redis.log` are in the folder.

        `sentinel` is what it is told to watch, if it is to be a sentinel.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.flags = folder, flags
        self.sentinel = folder / "sentinel.conf" if sentinel else None
        if self.sentinel and sentinel:
            self.sentinel.write_text(sentinel)
        self.certificate = certified(folder) if tls else None
        self.process: subprocess.Popen[bytes]
        self.port = port or 0
        while not self.start():
            self.port = port or 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its URL; behind TLS that of the ACL user."""
        if self.certificate is None:
            return f"redis://{self.address}/0"
        credentials = f"{USER}:{PASSWORD.replace(' ', '%20')}"
        return f"rediss://{credentials}@{self.address}/0?ssl_ca_certs={self.certificate}"

    def client(self) -> Redis:
        """A connection of the administrator's; to be closed."""
        tls: dict[str, Any] = {"ssl": True, "ssl_ca_certs": str(self.certificate)}
        return Redis("127.0.0.1", self.port, protocol=2, **(tls if self.certificate else {}))

    def tell(self, *command: str | bytes | int) -> Any:
        """The answer to one command of the administrator, as Redis gives it."""
        with self.client() as client:
            client.response_callbacks.clear()
            return client.execute_command(*command)  # type: ignore[no-untyped-call]

    def start(self) -> bool:
        """Start it (again), and wait until it answers; False where somebody else has the port."""
        self.port = self.port or random.choice(PORTS)  # noqa: S311 - no secret
        log = self.folder / "redis.log"
        said = log.stat().st_size if log.exists() else 0
        kind = [str(self.sentinel), "--sentinel"] if self.sentinel else ["--save", ""]
        where = ["--dir", str(self.folder), "--logfile", str(log)]
        command = ["redis-server", *kind, *self._listening(), *where, *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        eventually(lambda: self.process.poll() is not None or self._answers())
        if self.process.poll() is None:
            return True
        last_words = log.read_text()[said:]
        assert "ddress already in use" in last_words, last_words
        return False

    def stop(self) -> None:
        """End it as its operator would; what it keeps on disk is written."""
        self.thaw()
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without warning."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it stand still: its connections stay open, and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _listening(self) -> Sequence[str]:
        if self.certificate is None:
            return ["--bind", "127.0.0.1", "--port", str(self.port)]
        files = ["--tls-cert-file", str(self.certificate), "--tls-key-file"]
        files += [str(self.certificate), "--tls-ca-cert-file", str(self.certificate)]
        ports = ["--bind", "127.0.0.1", "--port", "0", "--tls-port", str(self.port)]
        return [*ports, *files, "--tls-auth-clients", "no"]

    def _answers(self) -> bool:
        """Whether it is this process that answers, and not another on the same port."""
        try:
            self.tell("PING")  # refused while it reads its data
            return f"process_id:{self.process.pid}\r".encode() in self.tell("INFO", "server")
        except RedisError:
            return False

    def _end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(SECONDS)


def tls_redis(folder: Path, *flags: str, acl: Sequence[str] = EVERYTHING) -> TcpRedis:
    """A Redis that speaks TLS alone, and has an ACL user; its `url` names both, and the authority to trust."""
    user = ["--user", USER, "on", ">" + PASSWORD, *acl]
    return TcpRedis(folder, *user, *flags, tls=True)


@dataclass
class SentinelSet:
    """A master, its replicas, and three sentinels that replace the master half a second after it was lost."""

    servers: list[TcpRedis]
    sentinels: list[TcpRedis]
    name: str = "mymaster"

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(each.address for each in self.sentinels)}/{self.name}"

    @property
    def master(self) -> TcpRedis:
        """Whom the sentinels name."""
        _, port = self.sentinels[0].tell("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.name)
        return next(each for each in self.servers if each.port == int(port))

    @property
    def master_process(self) -> subprocess.Popen[bytes]:
        return self.master.process

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

    def stop(self) -> None:
        for each in [*self.sentinels, *self.servers]:
            each.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def sentinel_set(folder: Path, *flags: str, replicas: int = 1) -> SentinelSet:
    """Start one, and wait until all know one another; the flags are the data servers'."""
    master = TcpRedis(folder / "server-0", *PROMPT, *flags)
    follow = ["--replicaof", f"127.0.0.1 {master.port}"]
    others = [
        TcpRedis(folder / f"server-{number}", *PROMPT, *flags, *follow)
        for number in range(1, replicas + 1)
    ]
    eventually(lambda: len(master.tell("ROLE")[2]) == replicas)
    watching = SENTINEL.format(port=master.port)
    sentinels = [TcpRedis(folder / f"sentinel-{n}", sentinel=watching) for n in range(3)]
    for each in sentinels:
        eventually(lambda each=each: _knows(each, sentinels=2, replicas=replicas))
    return SentinelSet([master, *others], sentinels)


PROMPT = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1")
"""Replicas are served at once; by default they wait for five seconds."""

SENTINEL = """\
sentinel monitor mymaster 127.0.0.1 {port} 2
sentinel down-after-milliseconds mymaster 500
sentinel failover-timeout mymaster 2000
"""


def _knows(sentinel: TcpRedis, *, sentinels: int, replicas: int) -> bool:
    told = sentinel.tell("SENTINEL", "MASTER", "mymaster")
    known = dict(zip(told[::2], told[1::2], strict=True))
    found = (int(known[b"num-other-sentinels"]), int(known[b"num-slaves"]))
    return found == (sentinels, replicas)


@dataclass
class RedisCluster:
    """Masters that share the slots, each with as many replicas, one of which takes over a second after a loss."""

    masters: list[TcpRedis]
    """Those that were masters at the start, in the order of their slots."""
    replicas: list[TcpRedis] = field(default_factory=list[TcpRedis])
    """Those that were replicas, in the order of their masters."""

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(each.address for each in self.servers)

    @property
    def servers(self) -> list[TcpRedis]:
        return [*self.masters, *self.replicas]

    @property
    def processes(self) -> list[subprocess.Popen[bytes]]:
        return [each.process for each in self.servers]

    def stop(self) -> None:
        for each in self.servers:
            each.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


SLOTS = 16384


def cluster(folder: Path, *flags: str, masters: int = 3, replicas: int = 0) -> RedisCluster:
    """Start one, and wait until every server says that it is whole; `replicas` are for each master."""
    enabled = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"]
    enabled += ["--cluster-replica-validity-factor", "0", *PROMPT, *flags]
    servers = [
        TcpRedis(folder / f"server-{number}", *enabled)
        for number in range(masters * (1 + replicas))
    ]
    for epoch, each in enumerate(servers, start=1):
        each.tell("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        each.tell("CLUSTER", "MEET", "127.0.0.1", servers[0].port)
    for number, each in enumerate(servers[:masters]):
        first, after = number * SLOTS // masters, (number + 1) * SLOTS // masters
        each.tell("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
    for each in servers:
        eventually(lambda each=each: _is_whole(each, len(servers)))
    made = RedisCluster(servers[:masters], servers[masters:])
    for number, each in enumerate(made.replicas):
        of = made.masters[number % masters]
        each.tell("CLUSTER", "REPLICATE", of.tell("CLUSTER", "MYID").decode())
        eventually(lambda each=each: each.tell("ROLE")[3] == b"connected")
    return made


def _is_whole(server: TcpRedis, nodes: int) -> bool:
    told = server.tell("CLUSTER", "INFO").split()
    return {b"cluster_state:ok", b"cluster_known_nodes:%d" % nodes} <= set(told)
