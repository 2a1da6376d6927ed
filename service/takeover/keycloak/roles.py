"""Expands roles: composites, and those of groups and the groups above them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

import msgspec

from service.takeover.keycloak.export import RealmMembers
from service.takeover.keycloak.known_entries import GROUP
from service.takeover.node import Misplaced, Node
from service.takeover.report import Report

Role = tuple[str, str]
"""The client, empty for a role of the realm, and the name."""
MAX_NAME = 255
"""Characters of the name of a role or client."""
MAX_DEPTH = 60
"""Levels of groups."""


class _Group(msgspec.Struct, frozen=True):
    """A group with what it has from the groups above it, which the groups below it inherit."""

    path: str = ""
    roles: frozenset[Role] = frozenset()
    attributes: Mapping[str, Sequence[str]] = {}
    depth: int = 0


class Roles:
    """The roles and groups of a realm."""

    def __init__(self, members: RealmMembers, report: Report) -> None:
        """Read them; what has not the shape of a role or group is left out."""
        self._parts: dict[Role, list[Role]] = {}
        self._groups: dict[str, _Group] = {}
        """By path."""
        self._expanded: dict[Role, frozenset[Role]] = {}
        self._report = report
        with self._taking():
            for client, node in _role_nodes(members.settings.below("roles")):
                with self._taking():
                    self._add(node, client)
        for node in members.lists["groups"]:
            with self._taking():
                self._add_group(node, _Group())

    @contextmanager
    def _taking(self) -> Generator[None]:
        try:
            yield
        except Misplaced as error:
            remedy = "mend it in the export: the roles of users are incomplete"
            self._report.leave_out(error.place, error.reason, remedy)

    @property
    def clients(self) -> frozenset[str]:
        """The clients that have roles of their own."""
        return frozenset(client for client, _ in self._parts if client)

    def _add(self, node: Node, client: str) -> None:
        parts = node.below("composites")
        below = [("", name) for name in parts.texts("realm")]
        below += _roles_of_clients(parts.below("client"))
        name = node.required_text("name")
        if len(client) > MAX_NAME or len(name) > MAX_NAME:
            raise Misplaced(node.place, "the name is too long")
        self._parts[client, name] = below

    def _add_group(self, node: Node, above: _Group) -> None:
        if above.depth > MAX_DEPTH:
            raise Misplaced(node.place, "groups are nested too deeply")
        path = node.text("path") or f"{above.path}/{node.required_text('name')}"
        roles = above.roles | frozenset(assigned_roles(node))
        GROUP.report(node, self._report)
        attributes = _merge(above.attributes, node.below("attributes"))
        group = self._groups[path] = _Group(path, roles, attributes, above.depth + 1)
        for child in node.items("subGroups"):
            self._add_group(child, group)

    def find_attributes(self, groups: Iterable[str]) -> list[Mapping[str, Sequence[str]]]:
        """Return the attributes that a user has from these groups, in their order."""
        return [group.attributes for group in self._find_groups(groups) if group.attributes]

    def expand(self, assigned: Iterable[Role], groups: Iterable[str]) -> frozenset[Role]:
        """Return all roles of a user with these roles and groups."""
        direct = frozenset(assigned).union(*(group.roles for group in self._find_groups(groups)))
        roles = direct.union(*map(self._expand_one, direct))
        return frozenset(role for role in roles if max(map(len, role)) <= MAX_NAME)

    def _find_groups(self, paths: Iterable[str]) -> Iterator[_Group]:
        return (self._groups[path] for path in paths if path in self._groups)

    def _expand_one(self, role: Role) -> frozenset[Role]:
        known = self._expanded.get(role)
        if known is None:
            seen, waiting = {role}, [role]
            while waiting:
                new = [each for each in self._parts.get(waiting.pop(), ()) if each not in seen]
                seen.update(new)
                waiting += new
            known = self._expanded[role] = frozenset(seen)
        return known

    def find_unknown(self, node: Node) -> Iterator[tuple[str, str]]:
        """Yield what a user has, and the export does not define, each with its place."""
        for item in node.items("realmRoles"):
            if ("", item.as_text()) not in self._parts:
                yield (
                    item.place,
                    "the role is not in the export, so that what it consists of is unknown",
                )
        for item in node.items("groups"):
            if item.as_text() not in self._groups:
                yield item.place, "the group is not in the export, so that its roles are unknown"
        for client, roles in node.below("clientRoles").members():
            for item in node.below("clientRoles").items(client):
                if (client, item.as_text()) not in self._parts:
                    yield (
                        roles.place,
                        "a role is not in the export, so that what it consists of is unknown",
                    )


def _merge(above: Mapping[str, Sequence[str]], own: Node) -> Mapping[str, Sequence[str]]:
    """Return the attributes of a group, which count before those of the groups above it."""
    written = {key: values for key, _ in own.members() if (values := own.texts(key))}
    return {**above, **written} if written else above


def _role_nodes(roles: Node) -> Iterator[tuple[str, Node]]:
    """Yield the roles of the realm, and then those of clients, each with its client."""
    yield from (("", node) for node in roles.items("realm"))
    clients = roles.below("client")
    yield from ((client, node) for client, _ in clients.members() for node in clients.items(client))


def assigned_roles(node: Node) -> Iterator[Role]:
    """Yield the roles that a user or group has been given."""
    yield from (("", name) for name in node.texts("realmRoles"))
    yield from _roles_of_clients(node.below("clientRoles"))


def _roles_of_clients(node: Node) -> list[Role]:
    return [(client, name) for client, _ in node.members() for name in node.texts(client)]


@lru_cache(maxsize=1000)  # many users have the same, and several mappers ask
def names_by_client(roles: frozenset[Role]) -> Mapping[str, list[str]]:
    """Return the names of roles, sorted, by client; those of the realm have none."""
    found: dict[str, list[str]] = {}
    for client, name in sorted(roles):
        found.setdefault(client, []).append(name)
    return found
