"""Opens Redis by its URL: one server, TLS, a unix socket, Sentinel, Cluster, or embedded in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff

from service.store.engine.clustered import Address, Clustered
from service.store.engine.engine import Engine, Line, PipelinedLine
from service.store.engine.group_commit import GroupCommit
from service.store.engine.multiplexed import Multiplexed
from service.store.engine.tracking_link import TrackingLink
from service.store.tracking import Tracking

RETRIES = 2
"""Further attempts to connect, with jitter, before Redis counts as away."""

MAX_EMBEDDED = 100_000
"""Requests that may ask the embedded store at once, each by a connection; more than this process can hold."""

SENTINEL_SECONDS = 0.5
"""Time for one sentinel to answer; then the next one is asked."""

LineKind = Callable[[Callable[[], Any]], Line]
"""Makes a line to one server from what makes a connection of redis-py to it."""


def open_engine(
    url: str, *, timeout: float, wait_for_replicas: int = 0, tracking: Tracking | None = None
) -> Engine:
    """Return the engine for a URL; it connects when it is first used.

    One command may take `timeout` seconds; durable writes wait for so many replicas; `tracking`
    keeps what is read to be tracked.
    """
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        return _embedded()
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,  # what Link reads
        "retry": Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.2), RETRIES),
    }

    sentinels = None
    if scheme.endswith("+cluster"):
        client, connect_to = _cluster(url, options)
        seeds = _hosts(url, 6379)

        def open_line(kind: LineKind) -> Line:
            return Clustered(seeds, connect_to, lambda one: kind(partial(connect_to, one)))
    else:
        if scheme.endswith("+sentinel"):
            client, sentinels = _behind_sentinel(url, options)
        else:
            client = cast("Any", Redis).from_url(url, **options)  # it takes untyped keywords

        def open_line(kind: LineKind) -> Line:
            return kind(client.connection_pool.make_connection)

    shared = partial(Multiplexed, patience=timeout)
    line = durable = tracked = open_line(shared)
    if wait_for_replicas:
        durable = open_line(
            lambda connect: GroupCommit(shared(connect), replicas=wait_for_replicas)
        )
    if tracking is not None:
        tracked = open_line(partial(shared, make_link=partial(TrackingLink, tracking=tracking)))
    return Engine(client=client, line=line, durable=durable, tracked=tracked, sentinels=sentinels)


def _embedded() -> Engine:
    from fakeredis import FakeAsyncRedis  # noqa: PLC0415 - only where it is configured

    client: Any = FakeAsyncRedis(max_connections=MAX_EMBEDDED)
    line = PipelinedLine(client)
    return Engine(client=client, line=line, durable=line, tracked=line)


def _behind_sentinel(url: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return a client of the master, which is looked up for each connection, and one of the sentinels."""
    service, _, database = urlsplit(url).path.strip("/").partition("/")
    own = options | _options_in(url)
    theirs = own | {
        "username": own.pop("sentinel_username", None),
        "password": own.pop("sentinel_password", None),
        "socket_timeout": SENTINEL_SECONDS,
        "socket_connect_timeout": SENTINEL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    connect: Any = Sentinel  # which redis-py leaves untyped
    sentinels = connect(_hosts(url, 26379), sentinel_kwargs=theirs, **own)
    return sentinels.master_for(service, db=int(database or 0)), sentinels


def _cluster(url: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return a client of the whole Cluster, and a function that connects to one of its servers."""
    own = options | _options_in(url)
    nodes = [ClusterNode(host, port) for host, port in _hosts(url, 6379)]
    cluster = RedisCluster(startup_nodes=nodes, **own)
    kind: Any = SSLConnection if own.pop("ssl", False) else Connection

    def connect(address: Address) -> Any:
        return kind(host=address[0], port=address[1], **own)

    return cluster, connect


def _options_in(url: str) -> dict[str, Any]:
    """Read credentials and options from a URL of several hosts, as redis-py does from one with one host."""
    parts = urlsplit(url)
    credentials = parts.netloc.rpartition("@")[0]
    scheme = parts.scheme.partition("+")[0]
    read: dict[str, Any] = dict(parse_url(f"{scheme}://{credentials}@localhost?{parts.query}"))
    read.pop("host")
    return read | ({"ssl": True} if read.pop("connection_class", None) else {})


def _hosts(url: str, default_port: int) -> list[Address]:
    hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
    split = [urlsplit(f"//{host}") for host in hosts]
    return [(host.hostname or "localhost", host.port or default_port) for host in split]
