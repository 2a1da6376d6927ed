"""Users of an LDAP directory (RFC 4511): found by searches, and verified by a bind with their password."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import structlog

from service.config.schema.ldap import NAME, USER_DN, Ldap, LdapGroups
from service.config.schema.users import Users
from service.identity.dex_subjects import find_dex_subject
from service.identity.sources.ldap import entries, names
from service.identity.sources.ldap.connections import (
    NO_ATTRIBUTES,
    Connections,
    Entry,
    Search,
    TooManyEntries,
)
from service.identity.sources.ldap.problems import find_problems
from service.identity.sources.ldap.ranges import complete
from service.identity.sources.several import find_only, warn_of_several
from service.model.user import PasswordRefused, Several, User, fold_username

__all__ = ["find_problems", "open_source"]

if TYPE_CHECKING:
    from service.identity.sources import Tools

log = structlog.stdlib.get_logger(__name__)

MAX_GROUPS = 1000
"""Groups of one user; who is in more is shown in none, and not in some of them."""

GROUPS_OF_A_TURN = 100
"""DNs that are parsed without a turn for others: some milliseconds."""

_ONE_ENTRY = (
    "let only one entry below users.ldap.base have it, or leave the others out by users.ldap.filter"
)
"""The remedy where several entries fit."""


def open_source(settings: Users, _: Tools) -> LdapUsers:
    """Return the users of the directory, which is asked when the first one is."""
    if settings.ldap is None:
        raise ValueError("users.ldap is missing")  # find_problems has said so
    connections = Connections(
        settings.ldap, timeout=settings.timeout, at_once=settings.max_concurrent
    )
    return LdapUsers(settings.ldap, connections)


class LdapUsers:
    """The users of a directory."""

    def __init__(self, settings: Ldap, connections: Connections) -> None:
        self._settings = settings
        self._connections = connections
        self._attributes = tuple(sorted(_attributes(settings)))

    async def by_subject(self, sub: str) -> User | None:
        """Return the user whose attribute is exactly this."""
        entry = await self._find_subject(sub)
        return await self._read(entry) if entry is not None else None

    async def by_username(self, username: str) -> User | None:
        """Return the only user with this name."""
        entry = await self._find_name(username)
        return await self._read(entry) if entry is not None else None

    async def by_email(self, email: str) -> User | Several | None:
        """Return the only user with this address, where the settings say that addresses are verified."""
        settings = self._settings
        attribute = settings.claims.get("email")
        if attribute is None or settings.fixed_claims.get("email_verified") is not True:
            return None
        try:
            found = await self._search(settings.base, f"({attribute}={_escape(email)})")
        except TooManyEntries:
            return "several"
        same = [each for each in found if entries.has_name(each, email, (attribute,))]
        if len(same) > 1:
            return "several"
        return await self._read(same[0]) if same else None

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the only user of whose attribute for this provider one value is exactly this."""
        attribute = self._settings.identities.get(provider)
        if attribute is None:
            return None
        entry = await self._find_only(
            "identity",
            f"({attribute}={_escape(subject)})",
            lambda each: subject in entries.texts(each, attribute),
        )
        return await self._read(entry) if entry is not None else None

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Bind as the user; without a user or a password, bind with a DN that does not exist, for the same work."""
        entry = await self._find_subject(self._new_subject() if user is None else user.sub)
        if entry is None or not password:
            nobody = f"cn={uuid4()},{self._settings.base}"
            await self._connections.find_refusal(nobody, password or str(uuid4()))
            return False
        refusal = await self._connections.find_refusal(entry.dn, password)
        if refusal is not None and refusal != "wrong_password":
            raise PasswordRefused(refusal)
        return refusal is None

    async def close(self) -> None:
        await self._connections.close()

    async def _find_subject(self, sub: str) -> Entry | None:
        settings = self._settings
        value = entries.subject_value(sub, settings)
        if value is None:
            return None

        def is_same(entry: Entry) -> bool:  # a directory may compare without upper and lower case
            return entries.subject_of(entry, settings) == sub

        if settings.sub.lower() != names.WHOLE:
            fits = f"({settings.sub}={names.filter_value(value)})"
            return await self._find_only("sub", fits, is_same)
        dn = value.decode()
        if not names.is_dn(dn) or not names.is_below(dn, settings.base):
            return None
        return await self._find_only("sub", "", is_same, dn=dn)

    def _new_subject(self) -> str:
        """Return a subject identifier that nobody has, for the same work."""
        settings, user_id = self._settings, str(uuid4())
        if settings.sub.lower() == names.WHOLE:
            user_id = f"cn={user_id},{settings.base}"
        if settings.subject_format == "dex":
            return find_dex_subject(user_id, settings.connector_id)
        return user_id

    async def _find_name(self, username: str) -> Entry | None:
        settings, attributes = self._settings, self._settings.username

        def is_same(entry: Entry) -> bool:
            return entries.has_name(entry, username, attributes)

        if settings.user_dn is None:
            value = _escape(username)
            fits = "".join(f"({attribute}={value})" for attribute in attributes)
            return await self._find_only("user name", f"(|{fits})", is_same)
        if not username:
            return None
        dn = settings.user_dn.replace(NAME, names.dn_value(fold_username(username)))
        return await self._find_only("user name", "", is_same, dn=dn)

    async def _find_only(
        self, what: str, fits: str, is_same: Callable[[Entry], bool], *, dn: str | None = None
    ) -> Entry | None:
        """Return the only user that fits, below the base or with exactly this DN; None if there are several."""
        base = self._settings.base if dn is None else dn
        try:
            found = await self._search(base, fits, exactly=dn is not None)
        except TooManyEntries:
            warn_of_several(what, _ONE_ENTRY)
            return None
        return find_only([each for each in found if is_same(each)], what, _ONE_ENTRY)

    async def _search(self, base: str, fits: str, *, exactly: bool = False) -> Sequence[Entry]:
        """Return the users that fit; raise TooManyEntries if there are more than two."""
        search = Search(
            base=base,
            scope="base" if exactly else "subtree",
            filter=f"(&{self._settings.filter}{fits})",
            attributes=self._attributes,
            most=2,
        )
        return await self._connections.search(search)

    async def _read(self, entry: Entry) -> User | None:
        settings, entry = self._settings, await complete(entry, self._connections.search)
        sub = entries.subject_of(entry, settings)
        username = entries.username_of(entry, settings.username)
        if sub is None or username is None:
            log.warning("an entry is no user: it has no readable sub or user name", dn=entry.dn)
            return None
        claims = {**dict(entries.claims_of(entry, settings)), **await self._groups(entry, username)}
        return User(
            sub=sub,
            username=username,
            enabled=entries.is_enabled(entry),
            claims=cast("dict[str, Any]", claims),
        )

    async def _groups(self, entry: Entry, username: str) -> Mapping[str, object]:
        groups = self._settings.groups
        if groups is None:
            return {}
        if groups.attribute is not None:
            dns = entries.texts(entry, groups.attribute)
            return {groups.claim: await _name_groups(groups, dns)}
        return {groups.claim: await self._find_groups(groups, entry, username)}

    async def _find_groups(
        self, groups: LdapGroups, entry: Entry, username: str
    ) -> Sequence[object]:
        fits = groups.filter.replace(USER_DN, _escape(entry.dn)).replace(NAME, _escape(username))
        is_named = groups.name != names.WHOLE
        search = Search(
            base=groups.base or self._settings.base,
            filter=fits,
            attributes=(groups.name if is_named else NO_ATTRIBUTES,),
            most=MAX_GROUPS,
        )
        try:
            found = await self._connections.search(search)
        except TooManyEntries:
            log.warning("a user is in too many groups, and is shown in none", dn=entry.dn)
            return []
        named = (entries.first(group, groups.name) if is_named else group.dn for group in found)
        return sorted({name for name in named if name is not None})


async def _name_groups(groups: LdapGroups, dns: Sequence[str]) -> Sequence[object]:
    """Return the names of those groups that are below the base; others have their turn after every few of them."""
    named = set[str | None]()
    for some in range(0, len(dns), GROUPS_OF_A_TURN):
        await asyncio.sleep(0)
        named.update(
            names.first_value(dn, groups.name)
            for dn in dns[some : some + GROUPS_OF_A_TURN]
            if groups.base is None or names.is_below(dn, groups.base)
        )
    return sorted(name for name in named if name is not None)


def _attributes(settings: Ldap) -> set[str]:
    """Return the attributes that users are made of."""
    claims = {*settings.claims.values(), *settings.list_claims.values()}
    identifier = () if settings.sub.lower() == names.WHOLE else (settings.sub,)
    attributes = {*identifier, *settings.username, *claims, *entries.STATE}
    attributes.update(settings.identities.values())
    if settings.groups is not None and settings.groups.attribute is not None:
        attributes.add(settings.groups.attribute)
    return attributes


def _escape(value: str) -> str:
    return names.filter_value(value.encode(errors="replace"))
