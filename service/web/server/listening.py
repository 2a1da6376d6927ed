"""Opens the sockets of a service: at every address that is configured, for every port, for every worker."""

from __future__ import annotations

from collections.abc import Sequence
from socket import AF_INET, AF_INET6, SOCK_STREAM, create_server, socket

import msgspec
import structlog

from service.web.server.accepting import BACKLOG

EVERYWHERE, EVERYWHERE_IPV4 = "::", "0.0.0.0"  # noqa: S104 - an operator writes them

log = structlog.stdlib.get_logger(__name__)


class CannotListen(Exception):
    """An address that cannot be listened on; the cause is an OSError."""

    def __init__(self, host: str, error: OSError) -> None:
        super().__init__(f"cannot listen on {host}: {error.strerror}")
        self.number = error.errno


class Place(msgspec.Struct, frozen=True):
    """An address to listen on."""

    host: str
    is_for_both: bool = False
    """Whether IPv4 comes there, too; `::` is every address of the machine."""

    def open(self, port: int, *, shared: bool = False) -> socket:
        """Return a socket that listens; `shared` with those of other workers."""
        family = AF_INET6 if ":" in self.host else AF_INET
        return create_server(
            (self.host, port),
            family=family,
            backlog=BACKLOG,
            reuse_port=shared,
            dualstack_ipv6=self.is_for_both,
        )


def listen(ports: Sequence[tuple[Sequence[str], int]], *, workers: int) -> list[tuple[socket, ...]]:
    """Open the sockets of every worker, to which the system distributes connections evenly.

    Those of a worker are in the order of the ports, each of which is served at hosts of its own: as many for each as
    `find_places` finds for these; raise CannotListen.
    """
    at_ports = [
        opened for hosts, port in ports for opened in _listen_at(find_places(hosts), port, workers)
    ]
    return list(zip(*at_ports, strict=True))


def find_places(hosts: Sequence[str]) -> list[Place]:
    """Return where to listen: on a machine without IPv6, all its addresses are those of IPv4."""
    if EVERYWHERE not in hosts:
        return [Place(host) for host in hosts]
    if not _has_ipv6():
        log.info("this machine has no IPv6: listening on IPv4 only", host=EVERYWHERE)
        named = [EVERYWHERE_IPV4 if host == EVERYWHERE else host for host in hosts]
        return [Place(host) for host in dict.fromkeys(named)]
    alone = EVERYWHERE_IPV4 not in hosts
    return [Place(host, is_for_both=alone and host == EVERYWHERE) for host in hosts]


def _has_ipv6() -> bool:
    try:
        with socket(AF_INET6, SOCK_STREAM) as trial:
            trial.bind((EVERYWHERE, 0))
    except OSError:  # no such family of addresses, or it is turned off
        return False
    return True


def _listen_at(places: Sequence[Place], port: int, workers: int) -> list[list[socket]]:
    """Return the sockets of each place, one for each worker, all with the same number where any port will do."""
    opened: list[list[socket]] = []
    for place in places:
        try:
            sockets = _listen_in(place, port, workers)
        except OSError as error:
            raise CannotListen(place.host, error) from error
        port = sockets[0].getsockname()[1]
        opened.append(sockets)
    return opened


def _listen_in(place: Place, port: int, workers: int) -> list[socket]:
    alone = place.open(port)
    if workers == 1:
        return [alone]
    with alone:  # it fails where another service listens; those that share a port would not
        port = alone.getsockname()[1]
    return [place.open(port, shared=True) for _ in range(workers)]
