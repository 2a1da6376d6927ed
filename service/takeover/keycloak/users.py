"""The users of the realm, with their claims, passwords, second factors and identities at providers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from service.takeover.found import Found, FoundUser
from service.takeover.keycloak.claims import Person, UserClaim, put
from service.takeover.keycloak.credentials import Credentials
from service.takeover.keycloak.export import Export, read_users
from service.takeover.keycloak.known_entries import REVOKED, USER_KEYS
from service.takeover.keycloak.roles import Roles, assigned_roles
from service.takeover.node import Node, quoted
from service.takeover.report import Report

_MAX_NAMES = 1000
"""Names of attributes and members that are counted one by one."""
_PROPERTIES = ("id", "username", "email", "emailVerified", "firstName", "lastName")


class RealmUsers:
    """Reads users one by one."""

    def __init__(
        self,
        roles: Roles,
        claims: Mapping[tuple[str, ...], UserClaim],
        providers: frozenset[str],
        found: Found,
    ) -> None:
        """Take what users refer to."""
        self._roles, self._claims, self._providers = roles, [*claims.values()], providers
        self._found = found
        self._leftovers = _Leftovers(self._claims)

    def read(self, export: Export) -> Iterator[FoundUser]:
        """Yield the people; users that stand for clients are left out."""
        for node in read_users(export):
            with self._found.taking(node.place):
                if not node.text("serviceAccountClientId"):
                    yield self._read_one(node)
        self._leftovers.report(self._found.report)

    def _read_one(self, node: Node) -> FoundUser:
        sub = node.required_text("id")
        person = read_person(node, self._roles)
        for place, reason in self._roles.find_unknown(node):
            remedy = "export roles and groups, too, or mend the claims of this user"
            self._found.report.leave_out(place, f"{reason} (user {quoted(sub)})", remedy)
        claims: dict[str, object] = {}
        for claim in self._claims:
            for path, value in claim.compute(person):
                put(claims, path, value)
        self._report_what_is_left(node, sub)
        credentials = Credentials(
            self._found.report, sub, has_one_domain=self._found.has_one_domain
        )
        password, factors = credentials.read(node)
        entry: dict[str, object] = {
            "sub": sub,
            "username": node.required_text("username").lower(),
            "password": password,
            "enabled": None if node.flag("enabled", True) else False,
            "claims": claims or None,
            "identities": [*self._identities(node)] or None,
        }
        present = {key: value for key, value in entry.items() if value is not None}
        return FoundUser(place=node.place, entry=present, factors=factors)

    def _identities(self, node: Node) -> Iterator[Mapping[str, object]]:
        for item in node.items("federatedIdentities"):
            with self._found.taking(item.place):
                provider = item.required_text("identityProvider")
                subject = item.required_text("userId")
                if provider in self._providers:
                    yield {"provider": provider, "subject": subject}
                else:
                    message = "an identity at a provider that was not taken"
                    remedy = "add the provider and the identity"
                    self._found.report.leave_out(item.place, message, remedy)

    def _report_what_is_left(self, node: Node, sub: str) -> None:
        self._leftovers.count(node)
        actions = node.texts("requiredActions")
        if actions:
            named = ", ".join(map(quoted, actions))
            message = f"user {quoted(sub)} has to do something at the next sign-in: {named}"
            remedy = "tell the user; a password that has to be changed: set enabled: false or another password"
            self._found.report.leave_out(f"{node.place}.requiredActions", message, remedy)
        if node.has("federationLink"):
            message = f"the password of user {quoted(sub)} is in another system"
            remedy = "see users.source: ldap (docs/users.md)"
            self._found.report.leave_out(f"{node.place}.federationLink", message, remedy)


class _Leftovers:
    """Counts the things that many users have and the importer does not take."""

    def __init__(self, claims: Iterable[UserClaim]) -> None:
        self._read = frozenset(_PROPERTIES).union(*(claim.attributes for claim in claims))
        self._attributes, self._members = Counter[str](), Counter[str]()
        self._revoked = self._consents = 0

    def count(self, node: Node) -> None:
        """Count what a user has of it."""
        _count(self._attributes, _names_in(node.peek("attributes")) - self._read)
        _count(self._members, _names_in(node.value) - USER_KEYS)
        self._revoked += (node.number("notBefore") or 0) > 0
        self._consents += node.peek("clientConsents") not in (None, [])

    def report(self, report: Report) -> None:
        """Report it, after the last user."""
        for name, users in sorted(self._attributes.items()):
            reason = f"no mapper that was taken reads the attribute {quoted(name)} of {users} users"
            report.leave_out(
                "users", reason, "write it into claims of users, if applications need it"
            )
        for name, users in sorted(self._members.items()):
            reason = f"{users} users have a member {quoted(name)}, which is not known here"
            report.leave_out(
                "users", reason, "nothing to do, unless an extension of Keycloak reads it"
            )
        if self._revoked:
            reason = f"of {self._revoked} users: {REVOKED.reason}"
            report.leave_out("users", reason, REVOKED.what_to_do)
        if self._consents:
            reason = f"{self._consents} users have given consent, and are asked once more"
            report.change("users", reason)


def _names_in(value: object) -> frozenset[str]:
    """Return the names of an object's members; what is not an object has none, and its reader reports it."""
    return frozenset(cast("dict[str, object]", value) if isinstance(value, dict) else ())


def _count(counter: Counter[str], names: Iterable[str]) -> None:
    for name in names:
        known = name in counter or len(counter) < _MAX_NAMES
        counter[name if known else "…"] += 1


def read_person(node: Node, roles: Roles) -> Person:
    """Return a user as mappers see one."""
    groups = node.texts("groups")
    properties = {key: value for key in _PROPERTIES if (value := _property(node, key)) is not None}
    attributes = node.below("attributes")
    return Person(
        properties=properties,
        attributes={key: attributes.texts(key) for key, _ in attributes.members()},
        roles=roles.expand(assigned_roles(node), groups),
        groups=groups,
        group_attributes=roles.find_attributes(groups),
    )


def _property(node: Node, key: str) -> object:
    if key == "emailVerified":
        return node.flag(key) if node.has("email") else None
    text = node.text(key)
    return text.lower() if text and key in {"username", "email"} else text
