"""Searches and binds at an LDAP directory, in threads of its own (RFC 4511).

Only this file talks by python-ldap. Its calls wait, so that each thread has connections of its own: one for look-ups,
and one on which users' passwords are verified.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeVar, cast

from service.config.schema.ldap import Ldap
from service.model.user import UsersUnavailable

_ldap: Any = import_module("ldap")
_ppolicy: Any = import_module("ldap.controls.ppolicy")

LONGEST_VALUE = 4096
"""Bytes of a value; longer ones are left out."""

NO_ATTRIBUTES = "1.1"
"""Asks for DNs only (RFC 4511 §4.5.1.8)."""

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

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search for a few entries (RFC 4511 §4.5.1)."""

    base: str
    scope: Scope = "subtree"
    filter: str
    attributes: tuple[str, ...]
    most: int
    """The most entries that the directory may send."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry, with its attributes by their names in lower case (RFC 4512 §2.5)."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]]

    def values(self, attribute: str) -> Sequence[bytes]:
        return self.attributes.get(attribute.lower(), ())


class TooManyEntries(Exception):
    """More entries fit than a search has asked for."""


class Connections:
    """Connections to one of the servers, none of which is made before it is needed."""

    def __init__(self, settings: Ldap, *, timeout: float, at_once: int) -> None:
        self._settings = settings
        # A server that cannot be reached leaves time for the next one.
        self._patience = timeout / len(settings.urls)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="ldap")
        self._kept = threading.local()

    async def search(self, search: Search) -> Sequence[Entry]:
        """Return the entries; TooManyEntries, or UsersUnavailable."""
        return await self._run(self._search, search)

    async def accepts(self, dn: str, password: str) -> bool:
        """Return whether a bind succeeds; an empty password would be no proof (RFC 4513 §5.1.2)."""
        if not dn or not password:
            raise ValueError("a bind without name or password is anonymous")
        return await self._run(self._bind, dn, password)

    async def close(self) -> None:
        """End the threads, and with them their connections, once their calls return."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, call: Callable[..., Answer], *arguments: object) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    def _search(self, search: Search) -> Sequence[Entry]:
        def ask(connection: Any) -> Any:
            scope, seconds = _SCOPES[search.scope], max(1, int(self._patience))
            names, most = list(search.attributes), search.most
            try:
                sent = connection.search_ext(
                    search.base, scope, search.filter, names, timeout=seconds, sizelimit=most
                )
                return connection.result3(sent, timeout=self._patience)[1]
            except _ldap.NO_SUCH_OBJECT:
                return []
            except _ldap.SIZELIMIT_EXCEEDED as error:
                raise TooManyEntries from error

        # A reference to another server has no DN and is not followed.
        found: list[tuple[str | None, Mapping[str, Sequence[bytes]]]] = self._ask("lookups", ask)
        return [Entry(dn, _fitting(attributes)) for dn, attributes in found if dn is not None]

    def _bind(self, dn: str, password: str) -> bool:
        def ask(connection: Any) -> bool:
            asked = [_ppolicy.PasswordPolicyControl()]
            try:
                sent = connection.simple_bind(dn, password, serverctrls=asked)
                controls = connection.result3(sent, timeout=self._patience)[3]
            except _REFUSALS:
                return False
            # Right, but expired or to be changed first (draft-behera-ldap-password-policy §6.2).
            return all(getattr(control, "error", None) is None for control in controls)

        return self._ask("binds", ask)

    def _ask(self, purpose: Literal["lookups", "binds"], ask: Callable[[Any], Answer]) -> Answer:
        """Ask over this thread's connection, and over a new one if the server has closed that meanwhile."""
        kept = getattr(self._kept, purpose, None)
        setattr(self._kept, purpose, None)
        try:
            try:
                connection = kept or self._connect(purpose)
                answer = ask(connection)
            except _ldap.SERVER_DOWN:
                if kept is None:
                    raise
                connection = self._connect(purpose)
                answer = ask(connection)
        except _ldap.LDAPError as error:
            raise UsersUnavailable(_describe(error)) from None
        setattr(self._kept, purpose, connection)
        return answer

    def _connect(self, purpose: Literal["lookups", "binds"]) -> Any:
        settings = self._settings
        connection = _ldap.initialize(" ".join(settings.urls))
        for option, value in self._options():
            connection.set_option(option, value)
        if settings.starttls and not settings.urls[0].startswith("ldaps:"):
            connection.start_tls_s()
        if purpose == "lookups" and settings.bind_dn is not None:
            connection.simple_bind_s(settings.bind_dn, settings.bind_password)
        return connection

    def _options(self) -> Sequence[tuple[int, object]]:
        """Return what no file or variable of the system's OpenLDAP library may weaken."""
        ca_file = self._settings.ca_file
        authorities = [] if ca_file is None else [(_ldap.OPT_X_TLS_CACERTFILE, str(ca_file))]
        return (
            (_ldap.OPT_PROTOCOL_VERSION, _ldap.VERSION3),
            (_ldap.OPT_NETWORK_TIMEOUT, self._patience),
            (_ldap.OPT_TIMEOUT, self._patience),
            (_ldap.OPT_REFERRALS, _ldap.OPT_OFF),
            (_ldap.OPT_DEREF, _ldap.DEREF_NEVER),
            (_ldap.OPT_X_TLS_REQUIRE_CERT, _ldap.OPT_X_TLS_DEMAND),
            (_ldap.OPT_X_TLS_PROTOCOL_MIN, _ldap.OPT_X_TLS_PROTOCOL_TLS1_2),
            *authorities,
            (_ldap.OPT_X_TLS_NEWCTX, 0),  # the last one: the others on TLS count from here on
        )


def _fitting(found: Mapping[str, Sequence[bytes]]) -> Mapping[str, Sequence[bytes]]:
    return {
        name.lower(): [value for value in values if len(value) <= LONGEST_VALUE]
        for name, values in found.items()
    }


def _describe(error: Any) -> str:
    """Return the kind of an LDAPError and what the library says of it; neither has a name or a password."""
    said: object = error.args[0] if error.args else None
    told: Mapping[str, object] = (
        cast("Mapping[str, object]", said) if isinstance(said, dict) else {}
    )
    words = [str(told[key]) for key in ("desc", "info") if key in told]
    return ": ".join([type(error).__name__, *words])
