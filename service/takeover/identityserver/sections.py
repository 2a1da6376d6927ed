"""Gathers the sections of IdentityServer's configuration, and rows of its tables, which are joined to the same shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from service.takeover.found import Found
from service.takeover.node import Node, place_below
from service.takeover.reading import read_members, unreadable
from service.takeover.record import Record, each_record

USERS = "aspnetusers"
CLAIMS, ROLES = "aspnetuserclaims", "aspnetuserroles"
TOKENS, LOGINS = "aspnetusertokens", "aspnetuserlogins"
PARTS_OF_USERS = frozenset({CLAIMS, ROLES, TOKENS, LOGINS})
GRANTS = "persistedgrants"
"""Refresh tokens, which `token-service grants load` reads once the old server has stopped."""
_LONG = PARTS_OF_USERS | {USERS, GRANTS}
"""Tables of as many rows as there are users, which are never in memory as a whole."""
_PARTS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "clientsecrets": ("clients", ("clientid",), "clientsecrets"),
    "clientgranttypes": ("clients", ("clientid",), "allowedgranttypes"),
    "clientscopes": ("clients", ("clientid",), "allowedscopes"),
    "clientredirecturis": ("clients", ("clientid",), "redirecturis"),
    "clientpostlogoutredirecturis": ("clients", ("clientid",), "postlogoutredirecturis"),
    "clientcorsorigins": ("clients", ("clientid",), "allowedcorsorigins"),
    "clientclaims": ("clients", ("clientid",), "claims"),
    "clientproperties": ("clients", ("clientid",), "properties"),
    "clientidprestrictions": ("clients", ("clientid",), "identityproviderrestrictions"),
    "apiresourcesecrets": ("apiresources", ("apiresourceid",), "apisecrets"),
    "apisecrets": ("apiresources", ("apiresourceid",), "apisecrets"),
    "apiresourcescopes": ("apiresources", ("apiresourceid",), "scopes"),
    "apiresourceclaims": ("apiresources", ("apiresourceid",), "userclaims"),
    "apiclaims": ("apiresources", ("apiresourceid",), "userclaims"),
    "apiresourceproperties": ("apiresources", ("apiresourceid",), "properties"),
    "apiproperties": ("apiresources", ("apiresourceid",), "properties"),
    "apiscopeproperties": ("apiscopes", ("scopeid", "apiscopeid"), "properties"),
    "identityresourceproperties": ("identityresources", ("identityresourceid",), "properties"),
    "identityproperties": ("identityresources", ("identityresourceid",), "properties"),
    "apiscopeclaims": ("apiscopes", ("scopeid", "apiscopeid"), "userclaims"),
    "identityresourceclaims": ("identityresources", ("identityresourceid",), "userclaims"),
    "identityclaims": ("identityresources", ("identityresourceid",), "userclaims"),
}
"""Tables of parts, also as version 3 calls them: whose parts they are, in which columns that Id may be, and the list they become."""
_LISTS = frozenset(
    {
        *("clients", "apiresources", "apiscopes", "identityresources", "identityproviders"),
        *("scopes", "keys", "aspnetroles", "aspnetroleclaims"),
    }
)
_KNOWN = _LISTS | _PARTS.keys() | _LONG
_WRAPPER = "identityserver"
"""The section of appsettings.json that usually holds all others."""
_SIGNS: Mapping[str, frozenset[str]] = {
    "clients": frozenset({"allowedgranttypes", "allowedscopes", "clientsecrets", "flow"}),
    USERS: frozenset({"passwordhash", "normalizedusername"}),
    "keys": frozenset({"dataprotected"}),
}
"""Members by which a list without a name is recognised."""


class _Keys(frozenset[str]):
    """Names of sections in any case."""

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and super().__contains__(key.lower())


_KEY_MEMBERS = frozenset({"kty", "keyid", "dataprotected"})
"""One of them has a file that holds one signing key."""
_UNCLEAR = "it is not clear what this list holds"
_NAME_FILE = "name the file after its section or table, such as Clients.json"
_NOT_TAKEN: Mapping[str, tuple[str, str]] = {
    "aspnetuserpasskeys": (
        "passkeys of users",
        "let the users enrol them anew, by mfa.enrolment: at_login",
    ),
    "samlserviceproviders": (
        "applications that use SAML",
        "there is no SAML here: use OpenID Connect",
    ),
}
"""Lists of which nothing is taken: why, and what to do."""
_READ = "clients, resources, providers, keys or users"
_ENDINGS = ("*.json", "*.jwk", "*.rsa")


class Sections:
    """Everything but the long tables, in memory; these are read again, row by row."""

    def __init__(self, path: Path, found: Found) -> None:
        self._found = found
        self._files = (
            sorted(each for end in _ENDINGS for each in path.glob(end)) if path.is_dir() else [path]
        )
        self._rows: dict[str, list[tuple[str, object]]] = {}
        self._long: dict[str, list[Path]] = {}
        """The files that have a long table, by its name."""
        self.values: dict[str, object] = {}
        """Settings that are no list, such as IssuerUri, by their keys in lower case."""
        for file in self._files:
            self._read(file)
        if not self._rows and next(self.rows(_LONG), None) is None:
            raise unreadable(path, "", "there is nothing of IdentityServer here")
        for table, part in _PARTS.items():
            self._join(table, *part)

    def __contains__(self, name: str) -> bool:
        return name in self._rows or name in self._long

    def records(self, name: str) -> Iterator[Record]:
        """Yield each entry of a section, and report anything else."""
        yield from each_record(self._rows.get(name, ()), self._found)

    def rows(self, tables: frozenset[str]) -> Iterator[tuple[str, str, object]]:
        """Yield the table, the place and the value of each row of long tables, read one by one."""
        for name in sorted(tables):
            for place, value in self._rows.get(name, ()):
                yield name, place, value
        files = [
            file for file in self._files if any(file in self._long.get(one, ()) for one in tables)
        ]
        for file in files:
            unnamed = ""
            for node in read_members(file, comments=True, skip=_Keys(_KNOWN - tables)):
                unnamed = unnamed or ("" if node.key else _recognise(file, node.value))
                name = (node.key or unnamed).lower()
                if name in tables:
                    yield name, self._place(file, node.place), node.value

    def _read(self, file: Path) -> None:
        single: dict[str, Node] = {}
        unnamed, seen = "", set[str]()
        for node in read_members(file, comments=True, skip=_Keys(_LONG), seen=seen):
            unnamed = unnamed or ("" if node.key else _recognise(file, node.value))
            key = node.key or unnamed
            if not key:
                self._leave_out_file(file)
                return
            if key.lower() in _LONG:  # a list of its rows alone
                seen.add(key)
                break
            if key.lower() in _KNOWN or key.lower() == _WRAPPER:
                self._keep(key, self._place(file, node.place), node.value)
            else:
                single.setdefault(key, node)
        for name in _LONG & {*map(str.lower, seen)}:
            self._long.setdefault(name, []).append(file)
        self._keep_single(file, single)

    def _keep_single(self, file: Path, single: Mapping[str, Node]) -> None:
        """Keep the members of a file that belong to no section: of a signing key, or settings."""
        if not _KEY_MEMBERS.isdisjoint(map(str.lower, single)):
            key = {name: node.value for name, node in single.items()}
            self._rows.setdefault("keys", []).append((self._place(file, ""), key))
            return
        for name, node in single.items():
            self.values.setdefault(name.lower(), node.value)
            if node.place.endswith("[0]"):
                place = self._place(file, node.place.removesuffix("[0]"))
                self._leave_out_list(name.lower(), place)

    def _leave_out_file(self, file: Path) -> None:
        if len(self._files) == 1:
            raise unreadable(file, "", f"{_UNCLEAR}: {_NAME_FILE}")
        if (known := _NOT_TAKEN.get(file.stem.lower())) is not None:
            self._found.report.leave_out(file.name, *known)
            return
        remedy = f"nothing, unless its rows are of {_READ}: then {_NAME_FILE}"
        self._found.report.leave_out(file.name, _UNCLEAR, remedy)

    def _leave_out_list(self, name: str, place: str) -> None:
        unknown = (
            "IdentityServer has no list of this name",
            "compare the name with IdentityServer's, unless it is a setting of your application",
        )
        self._found.report.leave_out(place, *_NOT_TAKEN.get(name, unknown))

    def _place(self, file: Path, place: str) -> str:
        return f"{file.name}: {place}".rstrip(": ") if len(self._files) > 1 else place

    def _keep(self, key: str, place: str, value: object) -> None:
        """Keep a section, or an item of one; a list may be an object with any keys, as configuration binding reads it."""
        name = key.lower()
        if name == _WRAPPER and isinstance(value, dict):
            for inner, member in cast("dict[str, object]", value).items():
                self._keep(inner, place_below(place, inner), member)
        elif name not in _KNOWN:
            self.values.setdefault(name, value)
            if isinstance(value, list):
                self._leave_out_list(name, place)
        elif (items := _items_of(value)) is not None:
            listed = [(f"{place}[{at}]", item) for at, item in enumerate(items)]
            self._rows.setdefault(name, []).extend(listed)
        else:
            self._rows.setdefault(name, []).append((place, value))

    def _join(self, table: str, parents: str, columns: tuple[str, ...], member: str) -> None:
        """Put rows of parts into the rows that they belong to."""
        rows = self._rows.pop(table, [])
        by_id = self._by_id(parents) if rows else {}
        for place, value in rows:
            with self._found.taking(place):
                row = Record(place, value)
                column = next((name for name in columns if name in row), columns[0])
                parent = by_id.get(row.text(column) or "")
                if parent is None:
                    reason, remedy = f"its row of {parents} is missing", f"export {parents}, too"
                    self._found.report.leave_out(place, reason, remedy)
                    continue
                cast("list[object]", parent.setdefault(member, [])).append(value)

    def _by_id(self, parents: str) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for place, value in self._rows.get(parents, ()):
            with self._found.taking(place):
                number = Record(place, value).text("id")
                if number is not None:
                    found[number] = cast("dict[str, object]", value)
        return found


def _items_of(value: object) -> list[object] | None:
    """Return the items of a list, which may have any keys; None for one object."""
    if isinstance(value, dict) and value:
        value = [*cast("dict[str, object]", value).values()]
        return value if all(isinstance(each, dict) for each in value) else None
    return cast("list[object]", value) if isinstance(value, list) else None


def _recognise(file: Path, value: object) -> str:
    """Return the section of a list without a name: that of its file, else by what its items have, else nothing."""
    if file.stem.lower() in _KNOWN:
        return file.stem
    members = (
        {key.lower() for key in cast("dict[str, object]", value)}
        if isinstance(value, dict)
        else set[str]()
    )
    return next((name for name, signs in _SIGNS.items() if signs & members), "")
