"""Leaves out what `check` would refuse, by the rules of `check` itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, cast

import msgspec

from service.config.convert import convert
from service.config.judge import judge
from service.config.problem import Finding, Location
from service.config.reading.values import Value
from service.model.marks import Unfit
from service.model.password_hash import UnusableHash, parse_hash
from service.model.user import Identity, User, fold_username
from service.start.checks import START_RULES
from service.start.load import builtin_catalogue
from service.start.rules import file_rules
from service.takeover.found import Entry, Found, FoundUser, SecretText, Section
from service.takeover.node import BY_HAND, place_below, quoted
from service.takeover.report import Report

MAX_DEPTH = 20
"""Levels of a value below its entry: files of configuration may have 40 in all."""
MAX_KEY = 500
"""Characters of a key; YAML knows no longer ones."""
_LISTS = frozenset(
    {
        *("redirect_uris", "post_logout_redirect_uris", "allowed_cors_origins", "allowed_scopes"),
        *("client_secrets", "secrets", "contacts", "domains", "user_claims", "added_scopes"),
    }
)
"""Lists of entries that may lose one item: nobody may do more then."""
_OPTIONAL = frozenset(
    {
        *("client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri"),
        *("frontchannel_logout_uri", "backchannel_logout_uri", "client_name", "display_name"),
        *("access_token_typ", "refresh_without_offline_access"),
    }
)
"""Keys that an entry may lose."""
_Parts = dict[tuple[str, int, str], set[int | None]]
"""By section, position and key: the positions of items, or None for the key itself."""


class IssuerRefused(ValueError):
    """The issuer is not one; the message says why."""


def keep_sound(found: Found, issuer: str) -> None:
    """Leave out entries, items and settings that are refused, until nothing is."""
    for section, entries in found.sections.items():
        found.sections[section] = [each for each in entries if _is_writable(each, found.report)]
    rules = (*file_rules(builtin_catalogue()), *START_RULES)
    while True:
        sections = cast("Mapping[str, list[Entry]]", found.sections)
        values: dict[str, Value] = {"issuer": issuer, **_plain(found.settings)}
        values |= {name: [_plain(each.values) for each in sections[name]] for name in sections}
        _, findings = judge(values, rules, replaced={}, directory=Path())
        errors = [each for each in findings if each.severity == "error"]
        if not errors:
            return
        _leave_out(found, errors)


def _plain(value: Any) -> Any:
    """Return a value as it will be read."""
    if isinstance(value, SecretText):
        return value.text
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value


def _is_writable(entry: Entry, report: Report) -> bool:
    if _is_plain(entry.values, 0):
        return True
    report.leave_out(entry.place, "it is nested too deeply, or a name in it is too long", BY_HAND)
    return False


def _is_plain(value: Mapping[str, object] | list[object], depth: int) -> bool:
    if depth > MAX_DEPTH or (
        isinstance(value, Mapping) and any(len(key) > MAX_KEY for key in value)
    ):
        return False
    items = value.values() if isinstance(value, Mapping) else value
    below = [cast("list[object]", each) for each in items if isinstance(each, dict | list)]
    return all(_is_plain(each, depth + 1) for each in below)


def _leave_out(found: Found, errors: list[Finding]) -> None:
    """Leave out what each error is about; the last ones first, so that the others keep their positions."""
    gone, parts = set[tuple[str, int]](), _Parts()
    for error in errors:
        name, remedy = str(error.location[0]), error.hint or BY_HAND
        if name == "issuer":
            raise IssuerRefused(error.message)
        if name not in found.sections:
            found.settings.pop(name, None)
            found.report.leave_out(reduce(place_below, error.location, ""), error.message, remedy)
            continue
        at = int(error.location[1])
        entry = found.sections[name][at]
        part = _part_of(entry, error.location[2:])
        if part is None and (name, at) not in gone:
            gone.add((name, at))
            what = ".".join(map(str, error.location[2:]))
            reason = f"{what}: {error.message}".lstrip(": ")
            then = f"{error.hint}; then write the entry by hand" if error.hint else BY_HAND
            found.report.leave_out(entry.place, reason, then)
        elif part is not None and part[1] not in parts.setdefault((name, at, part[0]), set()):
            parts[name, at, part[0]].add(part[1])
            found.report.leave_out(_place_of(entry, *part), error.message, remedy)
    for (name, at, key), items in parts.items():
        _take_out(found.sections[cast("Section", name)][at].values, key, items)
    for name, at in sorted(gone, reverse=True):
        del found.sections[cast("Section", name)][at]


def _part_of(entry: Entry, location: Location) -> tuple[str, int | None] | None:
    """Return the key, and the position of the item in its list, that the entry can do without."""
    key, *below = location or ("",)
    if key in _OPTIONAL:
        return str(key), None
    listed = entry.values.get(str(key))
    if key not in _LISTS or not below or not isinstance(listed, list):
        return None
    items = cast("list[object]", listed)
    if isinstance(below[0], int):
        return (str(key), below[0]) if below[0] < len(items) else None
    return (str(key), items.index(below[0])) if below[0] in items else None


def _place_of(entry: Entry, key: str, at: int | None) -> str:
    if at is None:
        return f"{entry.place}.{key}"
    item = cast("list[object]", entry.values[key])[at]
    known = entry.places.get((key, item)) if isinstance(item, str) else None
    return known or f"{entry.place}.{key}[{at}]"


def _take_out(values: dict[str, object], key: str, items: set[int | None]) -> None:
    if None in items:
        del values[key]
        return
    listed = cast("list[object]", values[key])
    values[key] = [each for at, each in enumerate(listed) if at not in items]


class UserJudge:
    """Judges users one by one; `sub`, name and identities are those of one user only."""

    def __init__(self, found: Found) -> None:
        """Begin without users; `found` has the identity providers that are sound."""
        self._report = found.report
        self._providers = {
            each.values.get("name") for each in found.sections.get("identity_providers", [])
        }
        self._identities = set[Identity]()
        self._subs = set[str]()
        self._names = set[str]()

    def sound(self, users: Iterator[FoundUser]) -> Iterator[FoundUser]:
        """Yield the users that can be taken, without a password whose hash cannot be used."""
        for user in users:
            if self._is_sound(user):
                self._report.take("users")
                yield user

    def _is_sound(self, user: FoundUser) -> bool:
        entry = user.entry
        try:
            known: User = convert(entry, User)
        except Unfit as error:
            first = error.misfits[0]
            where = ".".join(map(str, first.location))
            self._leave_out(user, f"{where}: {first.message}" if where else first.message)
            if first.location[:1] == ("identities",):  # without it there is still the user
                del entry["identities"]
                return self._is_sound(user)
            return False
        if not _is_plain(entry, 0):
            self._leave_out(user, "it is nested too deeply, or a name in it is too long")
            return False
        if "\0" in known.sub or "\0" in known.username:
            self._leave_out(user, "its identifier or name has characters that no text has")
            return False
        name = fold_username(known.username)
        if known.sub in self._subs or name in self._names or not name:
            self._leave_out(user, "another user has the same identifier or name")
            return False
        self._subs.add(known.sub)
        self._names.add(name)
        if known.identities:
            self._judge_identities(user, known)
        if known.password is not None:
            self._judge_password(user, known)
        return True

    def _judge_identities(self, user: FoundUser, known: User) -> None:
        """Leave out identities at providers that are not here, and those of an earlier user: nobody signs in as two users."""
        sound = list[Identity]()
        for identity in known.identities:
            if identity.provider not in self._providers:
                self._leave_out(user, f"its provider {quoted(identity.provider)} is not here")
            elif identity in self._identities:
                name = quoted(identity.provider)
                self._leave_out(user, f"who it is at {name} is another user, or is listed twice")
            else:
                self._identities.add(identity)
                sound.append(identity)
        user.entry["identities"] = [msgspec.to_builtins(each) for each in sound]
        if not sound:
            del user.entry["identities"]

    def _judge_password(self, user: FoundUser, known: User) -> None:
        try:
            parse_hash(known.password or "")
        except UnusableHash as error:
            del user.entry["password"]
            self._report.leave_out(
                user.place,
                f"the password hash of user {quoted(known.sub)} {error}",
                "let the user set a new password",
            )

    def _leave_out(self, user: FoundUser, reason: str) -> None:
        sub = quoted(user.entry.get("sub", ""))
        self._report.leave_out(user.place, f"{reason} (user {sub})", BY_HAND)
