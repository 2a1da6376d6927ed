"""The section on the store, and what its URL may say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec

from service.model import marks, types

_SINGLE = ("redis", "rediss")
_SCHEMES = (
    *("memory", *_SINGLE, "unix"),
    *("redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"),
)
_CREDENTIALS = "name and password are percent-encoded"
_CERT_REQS = ("required", "optional", "none")
_TLS_KEYS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname", "ssl_cert_reqs")


def _store_url(value: object) -> str:
    if (
        not isinstance(value, str)
        or value.partition("://")[0] not in _SCHEMES
        or "://" not in value
    ):
        raise marks.expected(f"a store URL that begins with one of {', '.join(_SCHEMES)}, and ://")
    if value.split() != [value]:
        raise marks.expected(f"a store URL without white space; {_CREDENTIALS}")
    try:
        url = urlsplit(value)
        hosts = [urlsplit(f"//{host}") for host in url.netloc.rpartition("@")[2].split(",")]
        [host.port for host in hosts]
    except ValueError:
        message = f"a store URL whose ports are numbers up to 65535; {_CREDENTIALS}"
        raise marks.expected(message) from None
    _check_hosts(url, hosts)
    if url.fragment or not _ends_in_a_database(url):
        raise marks.expected(f"a store URL that ends in the number of a database; {_CREDENTIALS}")
    if url.scheme.endswith("+sentinel") and not url.path.strip("/"):
        raise marks.expected(
            "the master's name after the sentinels: redis+sentinel://h:p,h:p/service"
        )
    _check_options(url)
    return value


def _check_hosts(url: SplitResult, hosts: Sequence[SplitResult]) -> None:
    if len(hosts) > 1 and not all(host.hostname for host in hosts):
        raise marks.expected("a host before and after each comma of this store URL")
    if url.scheme in _SINGLE and len(hosts) > 1:
        raise marks.expected("one host in this store URL; several are redis+sentinel or +cluster")
    if url.scheme == "unix" and hosts[0].netloc:
        raise marks.expected("a path with a / before it: unix:///run/redis/redis.sock")
    if url.scheme.endswith("+cluster") and url.path.strip("/").isdecimal():
        raise marks.expected("nothing after the hosts of a Cluster, which has one database only")


def _ends_in_a_database(url: SplitResult) -> bool:
    """Return whether databases are numbers; a / in a password makes the rest of the password a path."""
    path = url.path.strip("/")
    if url.scheme.endswith("+cluster"):
        return not path
    databases = [value for name, value in parse_qsl(url.query) if name == "db"]
    if url.scheme in _SINGLE:
        databases.append(path)
    elif url.scheme.endswith("+sentinel"):
        databases.append(path.partition("/")[2])
    return all(not each or each.isdecimal() for each in databases)


def _check_options(url: SplitResult) -> None:
    allowed = sorted(_allowed_options(url))
    options = parse_qsl(url.query, keep_blank_values=True)
    given = dict(options)
    if len(given) < len(options):
        raise marks.expected("each option of this store URL once")
    if not given.keys() <= set(allowed):
        raise marks.expected(
            f"no other options in this store URL than {', '.join(allowed) or 'none'}"
        )
    if given.get("ssl_cert_reqs", "required") not in _CERT_REQS:
        raise marks.expected(f"ssl_cert_reqs to be one of {', '.join(_CERT_REQS)}")
    if "ssl_keyfile" in given and not given.get("ssl_certfile"):
        raise marks.expected("ssl_certfile beside ssl_keyfile in this store URL")


def _allowed_options(url: SplitResult) -> list[str]:
    """Return the allowed options."""
    sentinel = url.scheme.endswith("+sentinel")
    return [
        *(["db"] if url.scheme in (*_SINGLE, "unix") else []),
        *(_TLS_KEYS if url.scheme.startswith("rediss") else []),
        *(["sentinel_password", "sentinel_username"] if sentinel else []),
    ]


def _duration_or_never(value: object) -> object:
    if value == "never":
        return value
    try:
        return types.read_duration(value)
    except ValueError:
        raise marks.expected("never, whole seconds, or a duration such as 90s or 15m") from None


class Store(marks.Confidential, frozen=True, kw_only=True):
    """The Redis that keeps sessions, tokens and keys."""

    url: Annotated[
        str, marks.ReadBy(_store_url), marks.written_as({"type": "string"}), marks.SECRET
    ] = "memory://"
    """memory:// (one process, for trying out), redis://, rediss://, unix://, redis+sentinel://h:p,h:p/service,
    redis+cluster://h:p,h:p."""
    password: Annotated[types.Text | None, marks.SECRET] = None
    """The password, as it is, such as ${file:/run/secrets/redis}: in the URL it would have to be percent-encoded. A name, where Redis
    has users, stays in the URL: redis://name@host."""
    credential_provider: types.PluginName | None = None
    """The import path of a class of your own in place of a password, such as my_package.cloud:MyCredentials: a CredentialProvider of
    redis-py, which gives each new connection its credentials. null: name and password are those above."""
    credentials_refresh_interval: types.Lifetime = 300
    """How often open connections are authenticated again by credential_provider: less than what its credentials last."""
    key_prefix: types.KeyPrefix = "ts"
    """The prefix of every key in the store: letters, digits and . _ : -"""
    timeout: types.Timeout = 2
    """The longest time for one command; all store work of one request ends within twice this."""
    unready_after: Annotated[
        int | Literal["never"],
        marks.ReadBy(_duration_or_never),
        marks.written_as(
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^(never|[0-9]+[smhd]?)$"},
        ),
    ] = "never"
    """If the store cannot be reached for this long, the service reports that it is not ready. All replicas lose the store at
    the same time, and a load balancer without a ready one answers nothing, not even the JWKS."""
    wait_for_replicas: Annotated[int, msgspec.Meta(ge=0, le=16)] = 0
    """How many Redis replicas must have a write before it is answered (WAIT), for codes and whatever else may be used only
    once; if too few have it in time, the answer is 503. 0 does not wait."""
    tracking: Literal["off", "on"] = "off"
    """on: each process keeps what introspection has read, and Redis tells it of every change, mostly within a millisecond. While
    Redis cannot tell, nothing that is kept counts for longer than two seconds."""
    tracking_entries: Annotated[int, msgspec.Meta(ge=1000, le=10_000_000)] = 100_000
    """How many values are kept with tracking: on; a token has two, which take about 2 KiB together in each process."""

    @property
    def tracks(self) -> bool:
        """Whether reads are tracked; the embedded store has no need of it."""
        return self.tracking == "on" and not self.url.startswith("memory")
