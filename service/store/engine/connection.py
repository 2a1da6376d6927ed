"""Opening the store by its URL: one server, TLS, a unix socket, Sentinel, Cluster, or in this process."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff

from service.model.events import Emit
from service.model.timings import unheard
from service.store.engine.clustered import Clustered
from service.store.engine.group_commit import GroupCommit
from service.store.engine.multiplexed import Multiplexed
from service.store.engine.pipelined import Pipelined
from service.store.engine.slots import Address, Slots
from service.store.keyvalue import KeyValue

RETRIES = 2
"""How often a connection is tried again, with jitter, before Redis counts as away."""

SENTINEL_SECONDS = 0.5
"""How long a sentinel may take; then the next one is asked."""


def open_store(
    url: str, *, timeout: float, wait_for_replicas: int = 0, timed: Emit = unheard
) -> KeyValue:
    """The store behind a URL; `timeout` is what one command may take, in seconds.

    Durable writes wait for so many replicas; `timed` hears how long each round trip took.
    """
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        from service.store.engine.embedded import embedded_redis  # noqa: PLC0415 - only where it is configured

        redis = embedded_redis()
        return KeyValue(redis, Pipelined(redis), timeout=timeout, timed=timed)
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,  # what Link reads
        "retry": Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.2), RETRIES),
    }
    line = partial(Multiplexed, patience=timeout)
    committing = partial(GroupCommit, replicas=wait_for_replicas)
    opened = partial(KeyValue, timeout=timeout, timed=timed)
    if scheme.endswith("+cluster"):
        redis, connect = _cluster(url, options)
        slots = Slots(_hosts(url, 6379), connect)
        shared = Clustered(slots, lambda address: line(partial(connect, address)))
        if not wait_for_replicas:
            return opened(redis, shared)
        durable = Clustered(slots, lambda address: committing(line(partial(connect, address))))
        return opened(redis, shared, durable=durable)
    if scheme.endswith("+sentinel"):
        redis, sentinels = _behind_sentinel(url, options)
        opened = partial(opened, sentinels=sentinels)
    else:
        redis = _one(url, options)
    make_connection = redis.connection_pool.make_connection
    if not wait_for_replicas:
        return opened(redis, line(make_connection))
    return opened(redis, line(make_connection), durable=committing(line(make_connection)))


def _one(url: str, options: dict[str, Any]) -> Any:
    connect: Any = Redis  # whose from_url takes untyped keywords
    return connect.from_url(url, **options)


def _behind_sentinel(url: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """The master that the sentinels name, looked up anew whenever a connection is made; and they."""
    service, _, database = urlsplit(url).path.strip("/").partition("/")
    own = options | _from(url)
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
    """What does the rare things, and what connects to one server."""
    own = options | _from(url)
    nodes = [ClusterNode(host, port) for host, port in _hosts(url, 6379)]
    cluster = RedisCluster(startup_nodes=nodes, **own)
    kind: Any = SSLConnection if own.pop("ssl", False) else Connection

    def connect(address: Address) -> Any:
        return kind(host=address[0], port=address[1], **own)

    return cluster, connect


def _from(url: str) -> dict[str, Any]:
    """Credentials and options that a URL with several hosts names, as redis-py reads them from one with one."""
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
