"""Searches and binds at an LDAP directory, in threads of its own (RFC 4511).

Only this file talks by python-ldap. Its calls wait, in threads of their own. Passwords are verified on connections that look
nobody up.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from importlib import import_module
from typing import Any, Literal, TypeVar, cast
from weakref import WeakSet

import msgspec

from service.config.schema.ldap import Ldap
from service.identity.sources.ldap.bind_errors import find_reason, reason_of
from service.identity.sources.ldap.streams import Addresses, DirectoryStream, open_stream
from service.model.user import LoginFailure, UsersUnavailable, ValueRefused
from service.tls import make_context

_ldap: Any = import_module("ldap")
_ppolicy: Any = import_module("ldap.controls.ppolicy")

LONGEST_VALUE = 4096
"""Bytes of a value; longer ones are left out."""

NO_ATTRIBUTES = "1.1"
"""Asks for DNs only (RFC 4511 §4.5.1.8)."""

_NOWHERE = "ldapi://%2Fdev%2Fnull"
"""Where libldap would connect to by itself, without TLS, when a stream is closed."""

_OTHER_NAMES = (62, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL."""

Purpose = Literal["lookups", "binds"]
Scope = Literal["base", "subtree"]
_SCOPES: Mapping[Scope, int] = {"base": _ldap.SCOPE_BASE, "subtree": _ldap.SCOPE_SUBTREE}
_REFUSALS = (
    _ldap.INVALID_CREDENTIALS,
    _ldap.INAPPROPRIATE_AUTH,  # the entry has no password
    _ldap.CONSTRAINT_VIOLATION,  # too many failures, in 389 Directory Server
    _ldap.UNWILLING_TO_PERFORM,  # deactivated, there
    _ldap.INSUFFICIENT_ACCESS,
    _ldap.NO_SUCH_OBJECT,
    _ldap.INVALID_DN_SYNTAX,
)
"""The answers to a bind that are about the user, not about the directory (RFC 4511 Appendix A)."""

_ABSENCES = (
    _ldap.SERVER_DOWN,
    _ldap.CONNECT_ERROR,
    _ldap.TIMEOUT,
    _ldap.TIMELIMIT_EXCEEDED,
    _ldap.BUSY,
    _ldap.UNAVAILABLE,
)
"""The errors that say that the directory is unavailable; all others are answers."""

Answer = TypeVar("Answer")


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A search for a few entries (RFC 4511 §4.5.1)."""

    base: str
    scope: Scope = "subtree"
    filter: str
    attributes: tuple[str, ...]
    most: int
    """The most entries that the directory may send."""


class Entry(msgspec.Struct, frozen=True):
    """An entry, with its attributes by their names in lower case (RFC 4512 §2.5)."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]]

    def values(self, attribute: str) -> Sequence[bytes]:
        return self.attributes.get(attribute.lower(), ())


class TooManyEntries(Exception):
    """More entries fit than a search has asked for."""


class _Connection(msgspec.Struct, frozen=True):
    stream: DirectoryStream
    libldap: Any


class Connections:
    """Connections to the first server that can be reached; none is made before it is needed."""

    def __init__(self, settings: Ldap, *, timeout: float, at_once: int) -> None:
        self._settings = settings
        self._timeout = timeout
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="ldap")
        self._kept: dict[Purpose, list[_Connection]] = {"lookups": [], "binds": []}
        self._streams = WeakSet[DirectoryStream]()

    async def search(self, search: Search) -> Sequence[Entry]:
        """Return the entries; TooManyEntries, or UsersUnavailable."""
        found = await self._ask("lookups", partial(_search, search, self._timeout))
        if found is None:
            raise TooManyEntries
        return found

    async def find_refusal(self, dn: str, password: str) -> LoginFailure | None:
        """Return why a bind fails, None if it succeeds; an empty password would be no proof (RFC 4513 §5.1.2)."""
        if not dn or not password:
            raise ValueError("a bind without name or password is anonymous")
        return await self._ask("binds", partial(_bind, dn, password, self._timeout))

    async def close(self) -> None:
        """Close all connections, which ends the calls on them."""
        streams = list(self._streams)
        for stream in streams:
            stream.close()
        for stream in streams:
            await stream.wait_closed()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask(self, purpose: Purpose, request: Callable[[Any], Answer]) -> Answer:
        """Ask over a kept connection, or over a new one if the server has closed those meanwhile."""
        kept = self._kept[purpose]
        try:
            while kept:
                connection = kept.pop()
                if connection.stream.is_open:
                    with suppress(_ldap.SERVER_DOWN):
                        return await self._use(connection, purpose, request)
            return await self._use(await self._connect(purpose), purpose, request)
        except _ABSENCES as error:
            raise UsersUnavailable(_describe(error)) from None
        except _ldap.LDAPError as error:
            raise ValueRefused(_describe(error)) from None
        except ssl.SSLCertVerificationError as error:
            raise UsersUnavailable(_describe_certificate(error)) from None
        except OSError as error:
            raise UsersUnavailable(f"{type(error).__name__}: {error}") from None

    async def _use(
        self, connection: _Connection, purpose: Purpose, request: Callable[[Any], Answer]
    ) -> Answer:
        """Ask, and keep the connection if that went well; a cancellation ends the call of libldap by closing it."""
        connection.stream.received = 0
        try:
            answer = await self._in_thread(request, connection.libldap)
        except BaseException:
            connection.stream.close()
            raise
        self._kept[purpose].append(connection)
        return answer

    async def _connect(self, purpose: Purpose) -> _Connection:
        settings, stream = self._settings, await self._open_stream()
        self._streams.add(stream)
        libldap = _ldap.initialize(_NOWHERE, fileno=stream.local.detach())
        for option, value in (
            (_ldap.OPT_TIMEOUT, self._timeout),
            (_ldap.OPT_REFERRALS, _ldap.OPT_OFF),
            (_ldap.OPT_DEREF, _ldap.DEREF_NEVER),
        ):
            libldap.set_option(option, value)
        if purpose == "lookups" and settings.bind_dn is not None:
            log_in = partial(_log_in, settings.bind_dn, settings.bind_password, self._timeout)
            try:
                await self._in_thread(log_in, libldap)
            except BaseException:
                stream.close()
                raise
        return _Connection(stream, libldap)

    async def _open_stream(self) -> DirectoryStream:
        """Return a stream to the first server that gives one; each gets its share of the time."""
        urls, failure = self._settings.urls, OSError("there is no server")
        for url in urls:
            try:
                async with asyncio.timeout(self._timeout / len(urls)):
                    return await open_stream(
                        url, starttls=self._settings.starttls, tls=self._tls, resolve=self._resolve
                    )
            except OSError as error:  # asyncio's TimeoutError is one
                failure = error
        raise failure

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        tls = make_context(ca_file=self._settings.ca_file)
        tls.minimum_version = (
            ssl.TLSVersion.TLSv1_2
        )  # whatever Python was built with (RFC 9325 §3.1.1)
        return tls

    async def _resolve(self, host: str, port: int) -> Addresses:
        return await self._in_thread(
            partial(socket.getaddrinfo, port=port, type=socket.SOCK_STREAM), host
        )

    async def _in_thread(self, call: Callable[[Any], Answer], given: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, given)


def _search(search: Search, timeout: float, libldap: Any) -> Sequence[Entry] | None:
    """Return the entries; None if there are more than were asked for."""
    scope, seconds = _SCOPES[search.scope], max(1, int(timeout))
    names, most = list(search.attributes), search.most
    try:
        sent = libldap.search_ext(
            search.base, scope, search.filter, names, timeout=seconds, sizelimit=most
        )
        found: list[tuple[str | None, Mapping[str, Sequence[bytes]]]]
        found = libldap.result3(sent, timeout=timeout)[1]
    except _ldap.NO_SUCH_OBJECT:
        return []
    except _ldap.SIZELIMIT_EXCEEDED:
        return None
    # A reference to another server has no DN and is not followed.
    return [
        Entry(dn, _select_short_values(attributes)) for dn, attributes in found if dn is not None
    ]


def _bind(dn: str, password: str, timeout: float, libldap: Any) -> LoginFailure | None:
    asked = [_ppolicy.PasswordPolicyControl()]
    try:
        sent = libldap.simple_bind(dn, password, serverctrls=asked)
        controls = libldap.result3(sent, timeout=timeout)[3]
    except _REFUSALS as refused:
        return find_reason(refused) or "wrong_password"
    return reason_of(controls)


def _log_in(dn: str, password: str, timeout: float, libldap: Any) -> None:
    reason = _bind(dn, password, timeout, libldap)
    if reason is not None:
        raise UsersUnavailable(f"the directory refuses bind_dn or bind_password: {reason}")


def _select_short_values(found: Mapping[str, Sequence[bytes]]) -> Mapping[str, Sequence[bytes]]:
    return {
        name.lower(): [value for value in values if len(value) <= LONGEST_VALUE]
        for name, values in found.items()
    }


def _describe_certificate(error: ssl.SSLCertVerificationError) -> str:
    said = f"the directory's certificate is refused: {error.verify_message}"
    if error.verify_code not in _OTHER_NAMES:
        return said
    return (
        f"{said}; it needs that as subjectAltName, a common name (CN) is not enough (RFC 9525 §6.3)"
    )


def _describe(error: Any) -> str:
    """Return the kind of an LDAPError and what the library says of it; neither has a name or a password."""
    said: object = error.args[0] if error.args else None
    told: Mapping[str, object] = (
        cast("Mapping[str, object]", said) if isinstance(said, dict) else {}
    )
    words = [str(told[key]) for key in ("desc", "info") if key in told]
    return ": ".join([type(error).__name__, *words])
