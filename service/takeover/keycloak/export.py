"""Finds and reads the files of an export: one file, a folder of several, or a partial export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from service.takeover.found import Found
from service.takeover.node import BY_HAND, Node, place_below
from service.takeover.reading import read_members, unreadable

_REALM = "-realm.json"
_USERS = re.compile(r"(.+)-users-(\d{1,9})\.json", re.DOTALL)
_LISTS = (
    *("clients", "clientScopes", "groups", "identityProviders", "identityProviderMappers"),
    *("authenticationFlows", "scopeMappings", "defaultDefaultClientScopes", "organizations"),
    *("federatedUsers", "defaultOptionalClientScopes", "requiredActions"),
)
"""The lists whose items are kept while the realm is read."""
_OBJECTS = ("attributes", "browserSecurityHeaders", "components")
_MAX_SHORT = 20
"""Items of any other list that are kept."""


class Export(msgspec.Struct, frozen=True):
    """The files of a realm."""

    realm: Path
    users: tuple[tuple[int, Path], ...]
    """Files with users only, in the order of their numbers."""


class RealmMembers(msgspec.Struct, frozen=True):
    """The members of a realm but its users; of them only those that clients are."""

    settings: Node
    """The other members; of further lists the first items."""
    lists: dict[str, list[Node]]
    service_accounts: list[Node]
    has_users: bool


def find_export(path: Path) -> Export:
    """Return the files at a path; raise Unreadable unless there is exactly one realm."""
    if not path.is_dir():
        return Export(path, ())
    files = sorted(each.name for each in path.iterdir())
    realms = [name for name in files if name.endswith(_REALM)]
    if len(realms) != 1:
        reason = (
            "there are several realms: name the file of one"
            if realms
            else "there is no file …-realm.json"
        )
        raise unreadable(path, "", reason)
    name = realms[0].removesuffix(_REALM)
    found = [match for each in files if (match := _USERS.fullmatch(each)) and match[1] == name]
    return Export(path / realms[0], tuple(sorted((int(each[2]), path / each[0]) for each in found)))


def read_realm(export: Export, found: Found) -> RealmMembers:
    """Read everything once; of the users only those that stand for clients are kept."""
    settings: dict[str, object] = {}
    lists: dict[str, list[Node]] = {name: [] for name in _LISTS}
    accounts: list[Node] = []
    people = 0
    seen = set[str]()
    for node in read_members(export.realm, seen=seen):
        if not node.key:
            raise unreadable(export.realm, node.place, "this is a list: export one realm")
        if node.key == "users":
            people += not _is_service_account(node)
            accounts += [node] if _is_service_account(node) else []
        else:
            _keep(node, settings, lists)
    if not isinstance(settings.get("realm"), str):
        raise unreadable(export.realm, "realm", "this is no export of a realm of Keycloak")
    _leave_out_misplaced(settings, found)
    for node in read_users(export, only_files=True):
        people += not _is_service_account(node)
        accounts += [node] if _is_service_account(node) else []
    # Of the users, partial exports have those that stand for clients only.
    has_users = people > 0 or ("users" in seen and not accounts)
    return RealmMembers(Node("", settings), lists, accounts, has_users)


def _leave_out_misplaced(settings: dict[str, object], found: Found) -> None:
    """Leave out those settings that all entries need, and that are no objects."""
    for key in _OBJECTS:
        if not isinstance(settings.get(key, {}), dict | None):
            found.report.leave_out(key, "is no object", BY_HAND)
            del settings[key]


def _keep(node: Node, settings: dict[str, object], lists: Mapping[str, list[Node]]) -> None:
    """Keep a member of the realm, or an item of one that is a list."""
    if node.place == place_below("", node.key):
        settings[node.key] = node.value
    elif node.key in lists:
        lists[node.key].append(node)
    else:
        items = cast("list[object]", settings.setdefault(node.key, []))
        if len(items) < _MAX_SHORT:
            items.append(node.value)


def read_users(export: Export, *, only_files: bool = False) -> Iterator[Node]:
    """Yield the users of the realm's file, and then those of the files of users."""
    if not only_files:
        for node in read_members(export.realm, skip=_LISTS):
            if node.key == "users" and "[" in node.place:
                yield node
    for number, file in export.users:
        for node in read_members(file):
            if node.key == "users" and "[" in node.place:
                yield Node(f"users-{number}/{node.place}", node.value, node.key)


def _is_service_account(node: Node) -> bool:
    return bool(node.peek("serviceAccountClientId"))
