"""Opens the store by its URL: one Redis, Sentinel, a Cluster, or the embedded store.

redis-py reads URLs and makes TLS contexts; fakeredis answers through it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from redis import exceptions
from redis.asyncio.connection import RedisSSLContext, parse_url

from service.model.events import Emit
from service.model.timings import ignore_timing
from service.store.engine.channels import GroupCommit, Multiplexed
from service.store.engine.cluster import Clustered
from service.store.engine.connection import TrackingConnection
from service.store.engine.engine import Channel, ConnectionLost, Engine, ResponseError
from service.store.engine.server import Address, Connect, Sentinels, Server
from service.store.keyvalue import KeyValue
from service.store.tracking import Tracking
from service.store.verbs import Command
from service.tls import refuse_passphrase

SENTINEL_SECONDS = 0.5
"""Time for one sentinel to answer; then the next one is asked."""

REDIS_PORT, SENTINEL_PORT = 6379, 26379

MAX_CONNECTIONS = 100_000
"""Requests that may use the embedded store at once, each by a connection; more than this process can hold."""

ChannelKind = Callable[[Connect], Channel]
"""Makes a channel to one server from what connects to it."""


def open_store(
    url: str,
    *,
    password: str | None = None,
    timeout: float,
    wait_for_replicas: int = 0,
    tracking: Tracking | None = None,
    timed: Emit = ignore_timing,
) -> KeyValue:
    """Return the store behind a URL, with the password that it does not have itself; it connects when it is first used.

    One command may take `timeout` seconds; durable writes wait for so many replicas; `tracking`
    keeps what is read to be tracked; `timed` receives the duration of each round trip.
    """
    if url.startswith("memory:"):
        embedded = Embedded()
        engine = Engine(channel=embedded, durable=embedded, tracked=embedded)
    else:
        engine = _open_engine(
            _channels_to(urlsplit(url), password, timeout), timeout, wait_for_replicas, tracking
        )
    return KeyValue(engine, timeout=timeout, tracking=tracking, timed=timed)


def _open_engine(
    open_channel: Callable[[ChannelKind, Tracking | None], Channel],
    timeout: float,
    wait_for_replicas: int,
    tracking: Tracking | None,
) -> Engine:
    shared = partial(Multiplexed, patience=timeout)
    channel = durable = tracked = open_channel(shared, None)
    if wait_for_replicas:
        durable = open_channel(
            lambda connect: GroupCommit(shared(connect), replicas=wait_for_replicas), None
        )
    if tracking is not None:
        make_connection = partial(TrackingConnection, tracking)
        tracked = open_channel(partial(shared, make_connection=make_connection), tracking)
    masters = channel.find_masters if isinstance(channel, Clustered) else None
    return Engine(channel=channel, durable=durable, tracked=tracked, find_masters=masters)


def _channels_to(
    url: SplitResult, password: str | None, timeout: float
) -> Callable[[ChannelKind, Tracking | None], Channel]:
    """Return the function that makes a channel of any kind to the servers of a URL."""
    scheme, _, topology = url.scheme.partition("+")
    userinfo, _, hosts = url.netloc.rpartition("@")
    master, _, database = url.path.strip("/").partition("/")
    path = f"/{database}" if topology == "sentinel" else url.path
    each = [
        url._replace(scheme=scheme, netloc=f"{userinfo}@{host}", path=path).geturl()
        for host in hosts.split(",")
    ]
    options: Mapping[str, Any] = dict(parse_url(each[0]))
    server = _server(options, password, timeout)
    if topology == "cluster":
        seeds = [_address(parse_url(one), REDIS_PORT) for one in each]
        return lambda kind, tracking: Clustered(
            seeds, server.with_address, lambda at: kind(server.with_address(at).connect), tracking
        )
    connect: Connect = server.connect
    if topology == "sentinel":
        login = _introduction(options.get("sentinel_username"), options.get("sentinel_password"))
        sentinel = replace(server, introduction=login, timeout=SENTINEL_SECONDS)
        sentinels = [sentinel.with_address(_address(parse_url(one), SENTINEL_PORT)) for one in each]
        connect = Sentinels(sentinels, master, server.with_address).connect
    return lambda kind, _: kind(connect)


def _server(options: Mapping[str, Any], password: str | None, timeout: float) -> Server:
    """Return the server that redis-py's arguments of a connection describe."""
    is_tls = "connection_class" in options and "path" not in options
    return Server(
        address=options.get("path") or _address(options, REDIS_PORT),
        introduction=_introduction(
            options.get("username"), options.get("password") or password, options.get("db", 0)
        ),
        make_tls_context=partial(_make_tls_context, options) if is_tls else None,
        timeout=timeout,
    )


def _address(options: Mapping[str, Any], default_port: int) -> Address:
    return options.get("host", "localhost"), options.get("port", default_port)


def _introduction(
    username: str | None, password: str | None, database: int = 0
) -> tuple[Command, ...]:
    """Return AUTH and SELECT, where they are needed."""
    commands: list[Command] = []
    if username:
        commands.append(("AUTH", username, password or ""))
    elif password:
        commands.append(("AUTH", password))
    if database:
        commands.append(("SELECT", database))
    return tuple(commands)


def _make_tls_context(options: Mapping[str, Any]) -> ssl.SSLContext:
    """Return the context for the `ssl_` options of a URL, from the files as they are now."""
    files = {key: options.get(f"ssl_{key}") for key in ("ca_certs", "certfile", "keyfile")}
    context = RedisSSLContext(
        cert_reqs=options.get("ssl_cert_reqs", "required"),
        check_hostname=options.get("ssl_check_hostname", True),
        exclude_verify_flags=[ssl.VERIFY_X509_STRICT],  # see service.tls
        password=cast("str", refuse_passphrase),
        **files,
    )
    try:
        return context.get()
    except OSError as error:
        used = ", ".join(filter(None, files.values()))
        raise ConnectionLost(f"{used} of the ssl_ options cannot be used: {error}") from error


class Embedded:
    """The store in this process: sends commands as one pipeline of redis-py, which fakeredis answers."""

    circuit_open = False

    @cached_property
    def _client(self) -> Any:
        """The client, made with the first command: others need not import fakeredis."""
        from fakeredis import FakeAsyncRedis  # noqa: PLC0415

        client: Any = FakeAsyncRedis(max_connections=MAX_CONNECTIONS)
        for command in ("SET", "SCAN"):
            client.response_callbacks.pop(command, None)  # replies stay as Redis gives them
        return client

    async def ask(self, commands: Sequence[Command], *, seconds: float) -> list[Any]:
        async with asyncio.timeout(seconds):
            pipeline = self._client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            try:
                replies: list[Any] = await pipeline.execute(raise_on_error=False)
            except exceptions.RedisError as error:
                raise ConnectionLost(str(error)) from error
        return [
            ResponseError(str(reply)) if isinstance(reply, exceptions.RedisError) else reply
            for reply in replies
        ]

    def close(self) -> None:
        """Return at once: the embedded store has no connection."""
