"""The client scopes of the realm: APIs with their scope values, and scope values that give claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from service.takeover.found import Found
from service.takeover.keycloak.export import RealmMembers
from service.takeover.keycloak.known_entries import HIDDEN_SCOPE, SCOPE, SCOPE_ATTRIBUTES
from service.takeover.keycloak.mappers import Mapped, Mappers
from service.takeover.node import Node, quoted

OFFLINE = "offline_access"
QUIET = frozenset(
    {"web-origins", "acr", "basic", "service_account", "roles", "microprofile-jwt", "organization"}
)
"""Scopes that Keycloak gives every client and that no user is asked about."""
_BUILT_IN = QUIET | {
    *("openid", "profile", "email", "address", "phone", OFFLINE),
    *("role_list", "saml_organization"),
}


class ClientScope(msgspec.Struct, frozen=True, kw_only=True):
    """A client scope."""

    name: str
    place: str
    text: str | None
    """The text of the consent page."""
    mapped: Mapped


class Scopes:
    """All client scopes by name."""

    def __init__(self, members: RealmMembers, mappers: Mappers, found: Found) -> None:
        """Read them, and report those of other protocols."""
        self.by_name: dict[str, ClientScope] = {}
        self.of_roles = _scopes_of_roles(members) - {OFFLINE}
        """Scopes that only users with certain roles get, and so nobody here."""
        used = _used_by_clients(members)
        # First those of the operator: where two make one claim of different things, theirs counts.
        for node in sorted(members.lists["clientScopes"], key=_is_built_in):
            with found.taking(node.place):
                name = node.required_text("name")
                found.report.name(node.place, name)
                if name in used:
                    self._read(node, mappers, found)
                elif not _is_built_in(node):
                    message = "no client has this scope, and so it is not here"
                    found.report.change(node.place, message)

    def _read(self, node: Node, mappers: Mappers, found: Found) -> None:
        name, attributes = node.required_text("name"), node.below("attributes")
        if (node.text("protocol") or "openid-connect") != "openid-connect":
            found.report.leave_out(node.place, "a scope of SAML", "there is no SAML here")
            return
        shown = attributes.text("consent.screen.text") or ""
        if name in self.of_roles:
            message = f"only users with certain roles get the scope {quoted(name)}"
            remedy = "if all users of its clients may have it, write it into api_scopes or identity_resources"
            found.report.leave_out(node.place, message, remedy)
            return
        SCOPE.report(node, found.report)
        SCOPE_ATTRIBUTES.report(attributes, found.report)
        for key, notice in HIDDEN_SCOPE.items():
            if not attributes.flag(key, True) and not _is_built_in(node):
                found.report.change(attributes.below(key).place, notice)
        self.by_name[name] = ClientScope(
            name=name,
            place=node.place,
            text=shown if shown and "${" not in shown else None,
            mapped=mappers.read(node.items("protocolMappers")),
        )

    def find_mapped(self, names: Iterable[str]) -> list[Mapped]:
        """Return what comes with the scopes of these names."""
        return [self.by_name[name].mapped for name in names if name in self.by_name]


def _is_built_in(node: Node) -> bool:
    return str(node.peek("name")) in _BUILT_IN


def _used_by_clients(members: RealmMembers) -> frozenset[str]:
    """Return the names of the scopes that clients of OpenID Connect have."""
    used = set[str]()
    for node in members.lists["clients"]:
        if node.peek("protocol") != "saml":
            for key in ("defaultClientScopes", "optionalClientScopes"):
                names = node.peek(key)
                used.update(
                    map(str, cast("list[object]", names) if isinstance(names, list) else ())
                )
    return frozenset(used)


def _scopes_of_roles(members: RealmMembers) -> frozenset[str]:
    """Return the names of the scopes that are mapped to roles."""
    by_client = members.settings.below("clientScopeMappings")
    mappings = [*members.lists["scopeMappings"]]
    mappings += [item for name, _ in by_client.members() for item in by_client.items(name)]
    return frozenset(str(each.peek("clientScope")) for each in mappings if each.has("clientScope"))


class Api(msgspec.Struct, kw_only=True):
    """An API in the making."""

    place: str
    scopes: set[str] = msgspec.field(default_factory=set)
    """Empty: one that is named like the API."""
    claims: set[str] = msgspec.field(default_factory=set)
    secrets: object = None


class Apis:
    """The APIs of the realm: audiences of mappers, and clients that only receive tokens or have roles."""

    def __init__(self, scopes: Scopes) -> None:
        """Begin with those that scopes lead to."""
        self.by_name: dict[str, Api] = {}
        for scope in scopes.by_name.values():
            for audience, place in scope.mapped.audiences.items():
                api = self.add(audience, place)
                api.scopes.add(scope.name)
                api.claims.update(scope.mapped.in_access_token)

    def add(self, name: str, place: str) -> Api:
        """Return the API of this name, a new one if it is missing."""
        return self.by_name.setdefault(name, Api(place=place))

    @property
    def scope_values(self) -> set[str]:
        """The scope values of all of them."""
        return {value for name, api in self.by_name.items() for value in api.scopes or (name,)}

    def default_scopes(self, name: str) -> set[str]:
        """Return the scope values of an API."""
        return self.by_name[name].scopes or {name}


def add_scopes(scopes: Scopes, apis: Apis, found: Found, *, used: Iterable[str]) -> None:
    """Add the APIs, and the scope values that clients may ask for."""
    values = apis.scope_values
    for name, api in sorted(apis.by_name.items()):
        entry: Mapping[str, object] = {
            "name": name,
            "scopes": sorted(api.scopes) or None,
            "secrets": api.secrets,
            "user_claims": sorted(api.claims) or None,
        }
        found.add("api_resources", api.place, entry)
    for name in sorted({*used} & scopes.by_name.keys()):
        scope = scopes.by_name[name]
        if name in values:
            _add_api_scope(scope, found)
        elif name not in {"openid", OFFLINE}:
            mapped = scope.mapped
            entry = {
                "name": name,
                "display_name": scope.text,
                "show_in_discovery": False if name in QUIET else None,
                "user_claims": [*dict.fromkeys([*mapped.in_id_token, *mapped.in_userinfo])],
                "access_token_claims": [*dict.fromkeys(mapped.in_access_token)] or None,
            }
            found.add("identity_resources", scope.place, entry)


def _add_api_scope(scope: ClientScope, found: Found) -> None:
    if scope.text:
        found.add("api_scopes", scope.place, {"name": scope.name, "display_name": scope.text})
    only = {*scope.mapped.in_id_token, *scope.mapped.in_userinfo}
    if only:
        names = ", ".join(quoted(each) for each in sorted(only))
        message = f"it is a scope of an API here, and so gives no claims to ID tokens: {names}"
        found.report.change(scope.place, message)
