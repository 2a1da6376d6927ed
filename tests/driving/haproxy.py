"""HAProxy before replicas: it asks each whether it is ready, and gives every request to any that is."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import AF_UNIX, create_server, socket
from typing import Literal

from tests.driving.program import SECONDS, eventually

CHOSEN = "X-Replica"
"""A request may name its replica, so that a test's dice decide and not the balancer's."""
SERVED = "X-Served-By"
"""Which replica has answered."""

CONFIG = """\
global
    log stdout format raw local0
    stats socket {folder}/haproxy.sock mode 600 level admin
defaults
    mode http
    log global
    option httplog
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout http-keep-alive 30s
    timeout check 2s
    option forwardfor
    retries {retries}
    {options}
frontend public
    bind fd@{socket}
    http-request set-header X-Forwarded-Proto http
    default_backend replicas
backend replicas
    balance {balance}
    option httpchk
    http-check send meth GET uri {check_path}
    http-check expect status 200
    default-server check inter {check_every} fall {fall} rise 1
    http-response set-header {served} %s
{servers}
"""


@dataclass(frozen=True)
class HaProxy:
    """A running HAProxy."""

    url: str
    folder: Path
    process: subprocess.Popen[bytes]

    def states(self) -> dict[str, str]:
        """Each replica's state as the balancer sees it: `UP`, `DOWN`, or on its way."""
        return {row["svname"]: row["status"] for row in self._rows()}

    def served(self) -> dict[str, int]:
        """The number of requests at each replica."""
        return {row["svname"]: int(row["stot"]) for row in self._rows()}

    def wait_until_up(self, count: int) -> None:
        """Wait until so many replicas are up."""
        eventually(lambda: list(self.states().values()).count("UP") >= count)

    def command(self, command: str) -> str:
        """Its answer to a command of its own, such as `show stat` or `disable server replicas/r1`."""
        with closing(socket(AF_UNIX)) as connection:
            connection.settimeout(SECONDS)
            connection.connect(str(self.folder / "haproxy.sock"))
            connection.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def _rows(self) -> list[dict[str, str]]:
        table = self.command("show stat").removeprefix("# ").splitlines()
        servers = (row for row in csv.DictReader(table) if row["pxname"] == "replicas")
        return [row for row in servers if row["svname"] not in {"FRONTEND", "BACKEND"}]


@contextmanager
def haproxy_running(
    folder: Path,
    backends: Sequence[str],
    *,
    balance: Literal["random", "roundrobin", "leastconn"] = "random",
    check_path: str = "/health/ready",
    check_every: str = "200ms",
    fall: int = 1,
    keep_alive_to_replicas: bool = True,
    retries: int = 0,
    redispatch: bool = False,
    further: Sequence[str] = (),
) -> Iterator[HaProxy]:
    """HAProxy on a free port before these `host:port`s, named r1, r2, …

    It hides no failure unless `retries` (3 is its own default) and `redispatch` say so; without
    `keep_alive_to_replicas` each request has a connection of its own. `further` are lines for its defaults.
    """
    options = [] if keep_alive_to_replicas else ["option http-server-close"]
    if redispatch:
        options.append("option redispatch")
    listening = create_server(("127.0.0.1", 0))
    listening.set_inheritable(True)
    file, said = folder / "haproxy.cfg", folder / "haproxy.log"
    file.write_text(
        CONFIG.format(
            folder=folder,
            retries=retries,
            options="\n    ".join([*options, *further]),
            socket=listening.fileno(),
            balance=balance,
            check_path=check_path,
            check_every=check_every,
            fall=fall,
            served=SERVED,
            servers="\n".join(_servers(backends)),
        )
    )
    with listening, said.open("wb") as log:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            ["haproxy", "-db", "-f", str(file)],
            pass_fds=[listening.fileno()],
            stdout=log,
            stderr=log,
        )
    try:
        eventually(lambda: process.poll() is not None or (folder / "haproxy.sock").exists())
        assert process.poll() is None, said.read_text()
        yield HaProxy(f"http://localhost:{port}", folder, process)
    finally:
        process.kill()
        process.wait(SECONDS)


def _servers(backends: Sequence[str]) -> Iterator[str]:
    for number, address in enumerate(backends, 1):
        yield f"    use-server r{number} if {{ req.hdr({CHOSEN}) r{number} }}"
        yield f"    server r{number} {address}"
