"""Opens Redis by its URL: one server, TLS, a unix socket, Sentinel, Cluster, or embedded in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from service.store.engine.clustered import Clustered
from service.store.engine.engine import Engine, Line
from service.store.engine.group_commit import GroupCommit
from service.store.engine.multiplexed import Multiplexed
from service.store.engine.sentinels import Sentinels
from service.store.engine.server import Address, Connect, Server
from service.store.engine.tracking_link import TrackingLink
from service.store.tracking import Tracking
from service.store.verbs import Command

SENTINEL_SECONDS = 0.5
"""Time for one sentinel to answer; then the next one is asked."""

REDIS_PORT, SENTINEL_PORT = 6379, 26379

LineKind = Callable[[Connect], Line]
"""Makes a line to one server from what connects to it."""


def open_engine(
    url: str,
    *,
    password: str | None = None,
    timeout: float,
    wait_for_replicas: int = 0,
    tracking: Tracking | None = None,
) -> Engine:
    """Return the engine for a URL, with a password that is not in it; it connects when it is first used.

    One command may take `timeout` seconds; durable writes wait for so many replicas; `tracking`
    keeps what is read to be tracked.
    """
    if url.startswith("memory:"):
        embedded = EmbeddedLine()
        return Engine(line=embedded, durable=embedded, tracked=embedded)
    open_line = _lines_to(urlsplit(url), password, timeout)
    shared = partial(Multiplexed, patience=timeout)
    line = durable = tracked = open_line(shared, None)
    if wait_for_replicas:
        durable = open_line(
            lambda connect: GroupCommit(shared(connect), replicas=wait_for_replicas), None
        )
    if tracking is not None:
        tracked = open_line(partial(shared, make_link=partial(TrackingLink, tracking)), tracking)
    masters = line.find_masters if isinstance(line, Clustered) else None
    return Engine(line=line, durable=durable, tracked=tracked, find_masters=masters)


class EmbeddedLine:
    """Makes the embedded store when it is first asked: a command that does not ask it need not import fakeredis."""

    circuit_open = False

    @cached_property
    def _line(self) -> Line:
        from service.store.engine.embedded import open_line  # noqa: PLC0415

        return open_line()

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        return await self._line.ask(commands, seconds=seconds)

    def close(self) -> None:
        """Return at once: the embedded store has no connection."""


def _lines_to(
    url: SplitResult, password: str | None, timeout: float
) -> Callable[[LineKind, Tracking | None], Line]:
    """Return what makes a line of any kind to what a URL names, for what is kept or for none."""
    options = dict(parse_qsl(url.query))
    server = Server(
        address=unquote(url.path),
        introduction=_introduction(
            unquote(url.username or ""),
            unquote(url.password or "") or password or "",
            options.get("db") or _database(url),
        ),
        tls=options if url.scheme.startswith("rediss") else None,
        timeout=timeout,
    )
    if url.scheme.endswith("+cluster"):
        seeds = _hosts(url, REDIS_PORT)
        return lambda kind, tracking: Clustered(
            seeds, server.with_address, lambda one: kind(server.with_address(one).connect), tracking
        )
    if url.scheme.endswith("+sentinel"):
        connect = _sentinels(url, server, options).connect
    elif url.scheme == "unix":
        connect = server.connect
    else:
        (address,) = _hosts(url, REDIS_PORT)
        connect = server.with_address(address).connect
    return lambda kind, _: kind(connect)


def _sentinels(url: SplitResult, master: Server, options: Mapping[str, str]) -> Sentinels:
    introduction = _introduction(
        options.get("sentinel_username", ""), options.get("sentinel_password", ""), "0"
    )
    sentinel = replace(master, introduction=introduction, timeout=SENTINEL_SECONDS)
    return Sentinels(
        [sentinel.with_address(address) for address in _hosts(url, SENTINEL_PORT)],
        url.path.strip("/").partition("/")[0],
        master.with_address,
    )


def _introduction(username: str, password: str, database: str) -> tuple[Command, ...]:
    commands: list[Command] = []
    if username:
        commands.append(("AUTH", username, password))
    elif password:
        commands.append(("AUTH", password))
    if int(database):
        commands.append(("SELECT", int(database)))
    return tuple(commands)


def _database(url: SplitResult) -> str:
    """Return the number that the path ends in: of a server, or after the name of a master."""
    path = url.path.strip("/")
    if url.scheme.endswith("+sentinel"):
        path = path.partition("/")[2]
    return "0" if url.scheme == "unix" else path or "0"


def _hosts(url: SplitResult, default_port: int) -> list[Address]:
    hosts = url.netloc.rpartition("@")[2].split(",")
    split = [urlsplit(f"//{host}") for host in hosts]
    return [(unquote(host.hostname or "localhost"), host.port or default_port) for host in split]
