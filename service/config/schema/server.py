"""How the service listens, stores and reaches out."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from service.config.schema.section import Section
from service.config.schema.store_url import StoreUrl
from service.config.schema.types import (
    Duration,
    FilePath,
    Lifetime,
    Many,
    NetworkRange,
    Port,
    Text,
    Timeout,
    expected,
)

ForwardedHeader = Literal["X-Forwarded-For", "Forwarded", "auto"]


def _workers(value: object) -> int:
    if value == "auto":
        return os.cpu_count() or 1
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise expected("a number of processes, or auto")


class Tls(Section):
    """The certificate that the service itself shows, where no proxy does."""

    certificate: FilePath
    """The certificate chain, PEM."""
    private_key: FilePath
    """Its private key, PEM."""
    client_ca: FilePath | None = None
    """Who issues the certificates that clients show (RFC 8705)."""


class Server(Section):
    """How the service listens."""

    host: Text = "127.0.0.1"
    """The address to listen on; 0.0.0.0 for all."""
    port: Port = 8080
    """The port to listen on."""
    workers: Annotated[
        int,
        BeforeValidator(_workers),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}]}),
    ] = 1
    """Processes; `auto` is one per core."""
    trusted_proxies: Many[NetworkRange] = ()
    """Networks (CIDR) whose X-Forwarded-*, Forwarded and Client-Cert headers are believed."""
    forwarded_header: ForwardedHeader = "auto"
    """Which header the trusted proxies set, with the client's address. `auto` reads both and believes neither where
    they name two clients, because a proxy that sets one passes on the other as the client sent it."""
    client_certificate_header: Literal["Client-Cert", "X-SSL-Cert"] | None = None
    """Where a trusted proxy puts the client's certificate: Client-Cert (RFC 9440), or X-SSL-Cert (URL-encoded PEM)."""
    tls: Tls | None = None
    """TLS without a proxy."""
    management_port: Port | None = None
    """/health/* and /metrics move to this port when set."""
    shutdown_grace: Duration = 20
    """How long requests may take to finish after SIGTERM."""
    shutdown_linger: Duration | None = None
    """How much of the grace a process serves on as before, unready, while balancers notice: longer than theirs takes.
    null: a quarter, at most 5 s."""
    clock_skew: Duration = 30
    """Leeway for times in tokens that others made."""
    max_body_bytes: Annotated[int, Field(ge=1024)] = 65536
    """The largest request body."""


class Store(Section):
    """Where everything lives that must outlast a request."""

    url: StoreUrl = "memory://"
    """memory:// (one process, for trying out), redis://, rediss://, unix://, redis+sentinel://h:p,h:p/service,
    redis+cluster://h:p,h:p."""
    key_prefix: Text = "ts"
    """What every key in the store begins with."""
    timeout: Timeout = 2
    """The time that one command may take; all store work of one request ends within twice this."""
    unready_after: Duration = 15
    """Readiness turns red when the store has been away that long; the JWKS is still answered."""
    wait_for_replicas: Annotated[int, Field(ge=0, le=16)] = 0
    """How many replicas of Redis must have the use of a code, and each other write that must happen once, before it is
    answered (WAIT); with too few in time, 503. 0 does not wait."""


class Outgoing(Section):
    """Requests that the service makes: jwks_uri, request_uri, sector documents, back-channel logout, providers."""

    timeout: Timeout = 5
    """The time that one request may take."""
    ca_file: FilePath | None = None
    """Further certificate authorities to trust, PEM."""
    allowed_networks: Many[NetworkRange] = ()
    """Private, loopback and link-local targets that URLs of clients registered by RFC 7591 may reach; URLs written in
    this file may go anywhere."""


class Limits(Section):
    """What slows down guessing and flooding."""

    login_failures: Annotated[int, Field(ge=1)] = 5
    """Failed logins per pair of account and address within the window; ten times as many per account from anywhere
    and per address over all accounts. Success clears the pair."""
    login_window: Lifetime = 900
    """How long a failed login counts."""
    lockout: Lifetime = 900
    """How long the pair, account or address then has to wait."""
    token_requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    """Token requests per client; null is unlimited."""
    parked_requests_per_minute: Annotated[int, Field(ge=1)] | None = 600
    """Sign-ins and logouts per network that have to be kept while a person is asked; one of several KiB counts as
    several. null is unlimited."""
