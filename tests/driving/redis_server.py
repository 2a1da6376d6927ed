"""A real Redis of the tests' own, behind a unix socket, TCP or TLS, to be started, stopped, frozen and killed."""

from __future__ import annotations

import random
import socket
import ssl
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from tests.driving.certificate import certified
from tests.driving.child import Child
from tests.driving.program import SECONDS, eventually

PORTS = range(10_000, 20_000)
"""Below those that connections get, and below the second ports of a Cluster, each 10,000 higher than the first."""

READY = ("Ready to accept connections", "Sentinel ID is")
"""What a server logs once it has all its ports."""

USER, PASSWORD = "service", "a redis password"
"""The ACL user of `tls_redis`."""

EVERYTHING = ("~*", "+@all")
"""What that user may, unless a test says less."""


def accepts_connections(path: Path) -> bool:
    """Return whether a server listens; its file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


@dataclass
class RedisServer:
    """A real Redis of a test's own behind a unix socket, to be started and stopped."""

    folder: Path
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/redis.sock"

    def start(self, *flags: str) -> None:
        path = self.folder / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(path), "--save", "", *flags]
        self._process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        while not accepts_connections(path):
            assert self._process.poll() is None
            time.sleep(0.01)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(SECONDS)
            self._process = None


class TcpRedis(Child):
    """A real Redis on a port of 127.0.0.1, started at once; the port stays its own when it starts again."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        port: int | None = None,
        certificate: Path | None = None,
        sentinel: str | None = None,
    ) -> None:
        """Start it on this port, or on any that is free; its data and `redis.log` are in the folder.

        With a certificate it speaks TLS, to other servers too; `sentinel` names the servers to watch,
        if it is to be a sentinel.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.flags = folder, flags
        self.sentinel = folder / "sentinel.conf" if sentinel else None
        if self.sentinel and sentinel:
            self.sentinel.write_text(sentinel)
        self.certificate = certificate
        self.port = port or 0
        while not self._starts():
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
        return f"rediss://{credentials}@{self.address}/0{trusting(self.certificate)}"

    def client(self) -> Redis:
        """A connection of the administrator's; to be closed."""
        tls: dict[str, Any] = {"ssl": True, "ssl_ca_certs": str(self.certificate)}
        tls["ssl_exclude_verify_flags"] = [ssl.VERIFY_X509_STRICT]  # set by Python from 3.13 on
        return Redis("127.0.0.1", self.port, protocol=2, **(tls if self.certificate else {}))

    def tell(self, *command: str | bytes | int) -> Any:
        """The answer to one command of the administrator, as Redis gives it."""
        with self.client() as client:
            client.response_callbacks.clear()
            return client.execute_command(*command)

    def start(self) -> None:
        """Start it again, and wait until it answers."""
        assert self._starts(), f"somebody else has port {self.port} now"

    def _starts(self) -> bool:
        """Start it, and wait until it answers; False where somebody else has the port."""
        self.port = self.port or random.choice(PORTS)  # noqa: S311 - no secret
        log = self.folder / "redis.log"
        said = len(log.read_text()) if log.exists() else 0
        kind = [str(self.sentinel), "--sentinel"] if self.sentinel else ["--save", ""]
        where = ["--dir", str(self.folder), "--logfile", str(log)]
        command = ["redis-server", *kind, *self._listening(), *where, *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            eventually(lambda: self.process.poll() is not None or self._answers(log, said))
        except BaseException:
            self.process.kill()  # nobody else would end one that never answers
            raise
        if self.process.poll() is None:
            return True
        last_words = log.read_text()[said:]
        assert "ddress already in use" in last_words, last_words
        return False

    def _listening(self) -> Sequence[str]:
        if self.certificate is None:
            return ["--bind", "127.0.0.1", "--port", str(self.port)]
        files = ["--tls-cert-file", str(self.certificate), "--tls-key-file"]
        files += [str(self.certificate), "--tls-ca-cert-file", str(self.certificate)]
        ports = ["--bind", "127.0.0.1", "--port", "0", "--tls-port", str(self.port)]
        among = ["--tls-replication", "yes", "--tls-cluster", "yes"]
        return [*ports, *files, *among, "--tls-auth-clients", "no"]

    def _answers(self, log: Path, said: int) -> bool:
        """Whether it is this process that answers, and not another on the same port.

        Nobody connects before it is ready: one that ends for want of a port would reset the connection, which `ssl` then
        leaves open.
        """
        if not log.exists() or not any(ready in log.read_text()[said:] for ready in READY):
            return False
        try:
            self.tell("PING")  # refused while it reads its data
            return f"process_id:{self.process.pid}\r".encode() in self.tell("INFO", "server")
        except RedisError:
            return False


def tls_redis(folder: Path, *flags: str, acl: Sequence[str] = EVERYTHING) -> TcpRedis:
    """A Redis that speaks TLS alone, and has an ACL user; its `url` names both, and the authority to trust."""
    user = ["--user", USER, "on", ">" + PASSWORD, *acl]
    return TcpRedis(folder, *user, *flags, certificate=new_certificate(folder))


def new_certificate(folder: Path) -> Path:
    """For servers in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return certified(folder)


def trusting(certificate: Path | None) -> str:
    """The part of a URL that names the authority to trust, and with TLS alone."""
    return f"?ssl_ca_certs={certificate}" if certificate else ""
