"""Opens the store by its URL: one Redis, Sentinel, a Cluster, or the embedded store.

redis-py reads URLs, makes TLS contexts and provides credentials; fakeredis answers through it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from os import R_OK, access
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from msgspec.structs import replace
from redis import exceptions
from redis.asyncio.connection import RedisSSLContext, parse_url
from redis.credentials import (
    CredentialProvider,
    StreamingCredentialProvider,
    UsernamePasswordCredentialProvider,
)

from service.config import plugins
from service.config.schema.store import Store
from service.events.timings import EmitTiming, ignore_timing
from service.store.engine.channels import GroupCommit, Multiplexed
from service.store.engine.cluster import Clustered
from service.store.engine.connection import TrackingConnection
from service.store.engine.engine import Channel, ConnectionLost, Engine, ResponseError
from service.store.engine.server import Address, Connect, Credentials, Sentinels, Server
from service.store.keyvalue import KeyValue
from service.store.tracking import Tracking
from service.store.verbs import Command
from service.tls import refuse_passphrase, show_certificate

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
    credentials: Credentials | None = None,
    timeout: float,
    wait_for_replicas: int = 0,
    tracking: Tracking | None = None,
    timed: EmitTiming = ignore_timing,
) -> KeyValue:
    """Return the store behind a URL, with the password or credentials that it does not have itself; it connects when it is first used.

    One command may take `timeout` seconds; durable writes wait for so many replicas; `tracking`
    keeps what is read to be tracked; `timed` receives the duration of each round trip.
    """
    if url.startswith("memory:"):
        embedded = Embedded()
        engine = Engine(channel=embedded, durable=embedded, tracked=embedded)
    else:
        engine = _open_engine(
            _channels_to(urlsplit(url), password, credentials, timeout),
            timeout,
            wait_for_replicas,
            tracking,
        )
    return KeyValue(engine, timeout=timeout, tracking=tracking, timed=timed)


def open_credentials(store: Store) -> Credentials | None:
    """Return the credentials of the operator's provider, made once without arguments; None without a name. CannotServe if that fails."""
    if store.credential_provider is None:
        return None
    location = ("store", "credential_provider")
    kind = plugins.CREDENTIAL_PROVIDER
    provider: Any = plugins.make_plugin(store.credential_provider, location, kind)
    credentials = Credentials(
        provider if _is_async(provider) else _InThread(provider),
        resend_after=store.credentials_refresh_interval,
    )
    if isinstance(provider, StreamingCredentialProvider):

        async def resend(_: object) -> None:
            credentials.resend()

        provider.on_next(
            cast("Callable[[Any], None]", resend)
        )  # as redis.asyncio registers its own
    return credentials


class _InThread(CredentialProvider):
    """Asks a provider that has the blocking method alone."""

    def __init__(self, provider: CredentialProvider) -> None:
        self._provider = provider

    async def get_credentials_async(self) -> tuple[str] | tuple[str, str]:
        return await asyncio.to_thread(self._provider.get_credentials)


def _is_async(provider: object) -> bool:
    """Return whether a provider has its own async method; the one of redis-py would block the event loop."""
    method = getattr(type(provider), "get_credentials_async", None)
    return method not in (None, CredentialProvider.get_credentials_async)


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
    url: SplitResult, password: str | None, credentials: Credentials | None, timeout: float
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
    server = _server(options, password, credentials, timeout)
    if topology == "cluster":
        seeds = [_address(parse_url(one), REDIS_PORT) for one in each]
        return lambda kind, tracking: Clustered(
            seeds, server.with_address, lambda at: kind(server.with_address(at).connect), tracking
        )
    connect: Connect = server.connect
    if topology == "sentinel":
        login = _credentials(options.get("sentinel_username"), options.get("sentinel_password"))
        sentinel = replace(server, credentials=login, database=0, timeout=SENTINEL_SECONDS)
        sentinels = [sentinel.with_address(_address(parse_url(one), SENTINEL_PORT)) for one in each]
        connect = Sentinels(sentinels, master, server.with_address).connect
    return lambda kind, _: kind(connect)


def _server(
    options: Mapping[str, Any],
    password: str | None,
    credentials: Credentials | None,
    timeout: float,
) -> Server:
    """Return the server that redis-py's arguments of a connection describe."""
    is_tls = "connection_class" in options and "path" not in options
    return Server(
        address=options.get("path") or _address(options, REDIS_PORT),
        credentials=credentials
        or _credentials(options.get("username"), options.get("password") or password),
        database=options.get("db", 0),
        make_tls_context=partial(_make_tls_context, options) if is_tls else None,
        timeout=timeout,
    )


def _address(options: Mapping[str, Any], default_port: int) -> Address:
    return options.get("host", "localhost"), options.get("port", default_port)


def _credentials(username: str | None, password: str | None) -> Credentials | None:
    if not username and not password:
        return None
    return Credentials(UsernamePasswordCredentialProvider(username, password))


def _make_tls_context(options: Mapping[str, Any]) -> ssl.SSLContext:
    """Return the context for the `ssl_` options of a URL, from the files as they are now."""
    files = {key: options.get(f"ssl_{key}") for key in ("ca_certs", "certfile", "keyfile")}
    context: Any = RedisSSLContext(
        cert_reqs=options.get("ssl_cert_reqs", "required"),
        check_hostname=options.get("ssl_check_hostname", True),
        exclude_verify_flags=[ssl.VERIFY_X509_STRICT],  # see service.tls
        password=cast("str", refuse_passphrase),
        **files,
    )
    try:
        made: ssl.SSLContext = context.get()
    except OSError as error:
        unusable = _find_unusable(**files)
        raise ConnectionLost(f"{unusable} of the ssl_ options cannot be used: {error}") from error
    return made


def _find_unusable(
    *, ca_certs: str | None, certfile: str | None, keyfile: str | None
) -> str | None:
    """Return the file that cannot be used, after one of them could not; a certificate with its key."""
    unreadable = [each for each in (certfile, keyfile, ca_certs) if each and not access(each, R_OK)]
    if unreadable:
        return unreadable[0]
    try:
        if certfile:
            show_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certfile, keyfile)
    except OSError:
        return f"{certfile} with {keyfile}" if keyfile else certfile
    return ca_certs


class Embedded:
    """The store in this process: sends commands as one pipeline of redis-py, which fakeredis answers."""

    circuit_open = False

    @cached_property
    def _client(self) -> Any:
        """The client, made with the first command: others need not import fakeredis."""
        from fakeredis import FakeAsyncRedis, FakeServer  # noqa: PLC0415

        # A server that fakeredis makes by itself stays with all records as long as the process.
        server = FakeServer(version=(7,))
        # RESP2 as the engine speaks it; by default each connection begins with commands of RESP3 that nothing here needs.
        client: Any = FakeAsyncRedis(server=server, protocol=2, max_connections=MAX_CONNECTIONS)
        client.connection_pool.connection_kwargs["driver_info"] = None
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
