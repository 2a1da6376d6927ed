"""The users of the realm, with their claims, passwords, second factors and identities at providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.takeover.found import Found, FoundUser
from service.takeover.keycloak.claims import Person, UserClaim, put
from service.takeover.keycloak.credentials import Credentials
from service.takeover.keycloak.export import Export, read_users
from service.takeover.keycloak.roles import Roles, assigned_roles
from service.takeover.node import Node, quoted

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

    def read(self, export: Export) -> Iterator[FoundUser]:
        """Yield the people; users that stand for clients are left out."""
        for node in read_users(export):
            with self._found.taking(node.place):
                if not node.text("serviceAccountClientId"):
                    yield self._read_one(node)

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
    )


def _property(node: Node, key: str) -> object:
    if key == "emailVerified":
        return node.flag(key) if node.has("email") else None
    text = node.text(key)
    return text.lower() if text and key in {"username", "email"} else text
