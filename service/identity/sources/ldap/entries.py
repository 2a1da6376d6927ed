"""Reads an entry of a directory: the user's identifier, names and claims, and whether the account is enabled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from time import time
from uuid import UUID

from service.config.schema.ldap import Ldap
from service.identity.dex_subjects import find_dex_subject, read_dex_subject
from service.identity.sources.ldap import names
from service.identity.sources.ldap.connections import Entry
from service.model.user import MAX_USERNAME, fold_username

OBJECT_GUID, ENTRY_UUID = "objectguid", "entryuuid"

_ACCOUNT_DISABLED = 0x2
"""A flag of Active Directory's userAccountControl (MS-ADTS §2.2.16)."""

_NEVER = (0, 0x7FFFFFFFFFFFFFFF)
"""Values of accountExpires (MS-ADA1 §2.3)."""

_SECONDS_FROM_1601_TO_1970 = 11_644_473_600

_LOCKED_FOR_GOOD = "000001010000Z"
"""A pwdAccountLockedTime that only an administrator ends (draft-behera-ldap-password-policy §5.3.3)."""

STATE = ("userAccountControl", "accountExpires", "nsAccountLock", "pwdAccountLockedTime")
"""The attributes by which directories say that an account is disabled.

A lock that ends by itself is not among them: the directory refuses the bind, and attackers that
guess passwords must not end the tokens of users.
"""


def text(value: bytes) -> str | None:
    """Return a value as text; None if it is not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def texts(entry: Entry, attribute: str) -> list[str]:
    return [said for value in entry.values(attribute) if (said := text(value)) is not None]


def first(entry: Entry, attribute: str) -> str | None:
    return next(iter(texts(entry, attribute)), None)


def subject_of(entry: Entry, settings: Ldap) -> str | None:
    """Return the subject identifier; None of an entry that has none."""
    user_id = _id_of(entry, settings.sub)
    if settings.subject_format == "dex" and user_id is not None:
        user_id = find_dex_subject(user_id, settings.connector_id)
    return user_id or None


def _id_of(entry: Entry, attribute: str) -> str | None:
    """Return the attribute's value: an objectGUID, which is binary, as UUIDs are written."""
    if attribute.lower() == names.WHOLE:
        return entry.dn
    if attribute.lower() != OBJECT_GUID:
        return first(entry, attribute)
    for value in entry.values(attribute)[:1]:
        with suppress(ValueError):
            return str(UUID(bytes_le=value))
    return None


def subject_value(sub: str, settings: Ldap) -> bytes | None:
    """Return the value that a subject identifier is made of; None if there can be none."""
    if settings.subject_format == "dex":
        user_id = read_dex_subject(sub, settings.connector_id)
        return None if user_id is None else _value_of(user_id, settings.sub)
    return _value_of(sub, settings.sub)


def _value_of(sub: str, attribute: str) -> bytes | None:
    if attribute.lower() not in {OBJECT_GUID, ENTRY_UUID}:
        return sub.encode()
    try:
        uuid = UUID(sub)
    except ValueError:
        return None
    if str(uuid) != sub:
        return None
    return uuid.bytes_le if attribute.lower() == OBJECT_GUID else sub.encode()


def has_name(entry: Entry, name: str, attributes: Sequence[str]) -> bool:
    """Return whether a name is one of the user's as this service compares names.

    Directories ignore spaces and more; each spelling would have its own count of failures.
    """
    folded = fold_username(name)
    return any(folded == fold_username(known) for at in attributes for known in texts(entry, at))


def username_of(entry: Entry, attributes: Sequence[str]) -> str | None:
    """Return the name of the first of these attributes that has one."""
    names = (known for at in attributes for known in texts(entry, at))
    return next((name for name in names if 0 < len(name) <= MAX_USERNAME), None)


def is_enabled(entry: Entry) -> bool:
    """Return whether the account is neither disabled nor expired."""
    flags, expires = (_number(entry, name) for name in ("userAccountControl", "accountExpires"))
    if flags is not None and flags & _ACCOUNT_DISABLED:
        return False
    if expires is not None and expires not in _NEVER:
        return expires / 10_000_000 - _SECONDS_FROM_1601_TO_1970 > time()
    if (first(entry, "nsAccountLock") or "").lower() == "true":
        return False
    return first(entry, "pwdAccountLockedTime") != _LOCKED_FOR_GOOD


def _number(entry: Entry, attribute: str) -> int | None:
    said = first(entry, attribute)
    return int(said) if said and said.lstrip("-").isdecimal() else None


def claims_of(entry: Entry, settings: Ldap) -> Iterator[tuple[str, object]]:
    """Yield the claims of the settings, apart from groups; none that has no value."""
    for claim, attribute in settings.claims.items():
        said = first(entry, attribute)
        value = _TYPED[claim](said) if said and claim in _TYPED else said
        if value is not None:
            yield claim, value
    for claim, attribute in settings.list_claims.items():
        yield claim, [*texts(entry, attribute)]
    yield from settings.fixed_claims.items()


def _boolean(said: str) -> object:
    return {"TRUE": True, "FALSE": False}.get(said.upper())


def _seconds(said: str) -> object:
    """Return a generalized time such as 20261124120000Z as seconds (RFC 4517 §3.3.13)."""
    with suppress(ValueError):
        return int(datetime.strptime(said[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
    return None


_TYPED: Mapping[str, Callable[[str], object]] = {
    "email_verified": _boolean,
    "phone_number_verified": _boolean,
    "updated_at": _seconds,
    "address": lambda said: {"formatted": said.replace("$", "\n")},
}
"""The claims that are no text (OIDC Core §5.1); a postal address has $ between its lines (RFC 4517 §3.3.28)."""
