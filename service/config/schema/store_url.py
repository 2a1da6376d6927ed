"""The URL of the store, by which Redis is found."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import BeforeValidator

from service.model.types import expected, written_as

_SINGLE = ("redis", "rediss")
_SCHEMES = (
    *("memory", *_SINGLE, "unix"),
    *("redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"),
)
_CREDENTIALS = "name and password are percent-encoded"
_TLS_OPTIONS = (
    "ssl_ca_certs",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_check_hostname",
    "ssl_cert_reqs",
)


def _store_url(value: object) -> str:
    if (
        not isinstance(value, str)
        or value.partition("://")[0] not in _SCHEMES
        or "://" not in value
    ):
        raise expected(f"a store URL that begins with one of {', '.join(_SCHEMES)}, and ://")
    try:
        url = urlsplit(value)
        hosts = url.netloc.rpartition("@")[2].split(",")
        [urlsplit(f"//{host}").port for host in hosts]
    except ValueError:
        raise expected(f"a store URL whose ports are numbers; {_CREDENTIALS}") from None
    if url.fragment or not _ends_in_a_database(url):
        raise expected(f"a store URL that ends in the number of a database; {_CREDENTIALS}")
    if url.scheme.endswith("+sentinel") and not url.path.strip("/"):
        raise expected("the master's name after the sentinels: redis+sentinel://h:p,h:p/service")
    allowed = sorted(_options(url))
    if not {name for name, _ in parse_qsl(url.query, keep_blank_values=True)} <= set(allowed):
        raise expected(f"no other options in this store URL than {', '.join(allowed) or 'none'}")
    return value


def _ends_in_a_database(url: SplitResult) -> bool:
    """Return whether the path is a database; a / in a password makes the rest of the password a path."""
    path = url.path.strip("/")
    if url.scheme in _SINGLE:
        return not path or path.isdecimal()
    return not url.scheme.endswith("+cluster") or not path


def _options(url: SplitResult) -> list[str]:
    """Return the allowed options; redis-py knows more, and fails at the first request for unknown ones."""
    sentinel = url.scheme.endswith("+sentinel")
    return [
        *(["db"] if url.scheme in (*_SINGLE, "unix") else []),
        *(_TLS_OPTIONS if url.scheme.startswith("rediss") else []),
        *(["sentinel_password", "sentinel_username"] if sentinel else []),
    ]


StoreUrl = Annotated[str, BeforeValidator(_store_url), written_as({"type": "string"})]
