"""Opening the store by its URL: one server, TLS, a unix socket, Sentinel, Cluster, or in this process."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import ExponentialWithJitterBackoff

from service.model.events import Emit
from service.model.timings import unheard
from service.store.keyvalue import KeyValue
from service.store.multiplexed import Multiplexed
from service.store.pipelined import Pipelined

RETRIES = 2
"""How often redis-py repeats a command whose connection was lost; every write tolerates it."""


def open_store(url: str, *, timeout: float, timed: Emit = unheard) -> KeyValue:
    """The store behind a URL; `timeout` is what one command may take, in seconds."""
    scheme = urlsplit(url).scheme
    options: dict[str, Any] = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,  # what Multiplexed reads
        "retry": Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.2), RETRIES),
    }
    if scheme == "memory":
        from service.store.embedded import embedded_redis  # noqa: PLC0415 - only where it is configured

        redis = embedded_redis()
        return KeyValue(redis, Pipelined(redis), timeout=timeout, timed=timed)
    if scheme.endswith("+cluster"):
        cluster = _cluster(url, options)
        return KeyValue(cluster, Pipelined(cluster), timeout=timeout, timed=timed)
    redis = _behind_sentinel(url, options) if scheme.endswith("+sentinel") else _one(url, options)
    return KeyValue(redis, Multiplexed(redis.connection_pool), timeout=timeout, timed=timed)


def _one(url: str, options: dict[str, Any]) -> Any:
    connect: Any = Redis  # whose from_url takes untyped keywords
    return connect.from_url(url, **options)


def _behind_sentinel(url: str, options: dict[str, Any]) -> Any:
    """The master that the sentinels name, looked up anew whenever a connection is made."""
    service, _, database = urlsplit(url).path.strip("/").partition("/")
    credentials = _credentials(url)
    connect: Any = Sentinel  # which redis-py leaves untyped
    sentinels = connect(_hosts(url, 26379), sentinel_kwargs=options, **options, **credentials)
    return sentinels.master_for(service, db=int(database or 0))


def _cluster(url: str, options: dict[str, Any]) -> Any:
    nodes = [ClusterNode(host, port) for host, port in _hosts(url, 6379)]
    return RedisCluster(startup_nodes=nodes, **options, **_credentials(url))


def _hosts(url: str, default_port: int) -> list[tuple[str, int]]:
    hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
    split = [urlsplit(f"//{host}") for host in hosts]
    return [(host.hostname or "localhost", host.port or default_port) for host in split]


def _credentials(url: str) -> dict[str, Any]:
    name, _, password = urlsplit(url).netloc.rpartition("@")[0].partition(":")
    given = {"username": unquote(name), "password": unquote(password)}
    return {key: value for key, value in given.items() if value}
