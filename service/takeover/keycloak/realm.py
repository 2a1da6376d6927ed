"""Reads a realm of Keycloak, from its files to the entries of config.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from service.takeover.found import Found, FoundUser
from service.takeover.keycloak.access import Access
from service.takeover.keycloak.claims import usual_claims
from service.takeover.keycloak.clients import Clients
from service.takeover.keycloak.export import RealmMembers, find_export, read_realm
from service.takeover.keycloak.key_ids import add_signing_keys
from service.takeover.keycloak.lifetimes import session_lifetimes
from service.takeover.keycloak.mappers import Mappers
from service.takeover.keycloak.providers import add_providers
from service.takeover.keycloak.roles import Roles
from service.takeover.keycloak.scopes import Scopes
from service.takeover.keycloak.users import RealmUsers
from service.takeover.node import Node

KNOWN_VERSIONS = ("24", "25", "26")
DEFAULT_ALGORITHM = "RS256"


def read(path: Path, found: Found) -> Iterator[FoundUser]:
    """Read the realm of an export; its users are returned."""
    export = find_export(path)
    members = read_realm(export)
    realm, organizations = members.settings, bool(members.lists["organizations"])
    mappers = Mappers(found.report, has_organizations=organizations)
    roles = Roles(members, found.report)
    scopes = Scopes(members, mappers, found)
    clients = Clients(realm, scopes, mappers, found)
    taken = [*clients.read(members.lists["clients"])]
    Access(scopes, roles, clients.receivers, members, found).add(taken)
    providers = add_providers(members, found)
    add_signing_keys(members, found)
    with found.taking("realm"):
        _add_settings(realm, found, [client.entry for client in taken])
    _report_what_is_left(members, found)
    if not mappers.user_claims:
        mappers.user_claims |= {claim.signature: claim for claim in usual_claims()}
    if not members.has_users:
        remedy = "export them, too (kc.sh export --users …), and give the folder or the whole file"
        found.report.leave_out("users", "the export has no users", remedy)
        return iter(())
    return RealmUsers(roles, mappers.user_claims, providers, found).read(export)


def _add_settings(realm: Node, found: Found, clients: list[dict[str, object]]) -> None:
    name = realm.required_text("realm")
    front = realm.below("attributes").text("frontendUrl")
    if front:
        found.issuer = f"{front.rstrip('/')}/realms/{name}"
    else:
        found.default_issuer = f"http://localhost:8080/realms/{name}"
    session = session_lifetimes(realm)
    if session:
        found.set("session", session)
    first = realm.text("defaultSignatureAlgorithm") or DEFAULT_ALGORITHM
    used = [str(each.get("id_token_signed_response_alg") or first) for each in clients]
    algorithms = [each for each in dict.fromkeys([first, *sorted(used)]) if each[:2] != "HS"]
    found.set("signing", {"algorithms": algorithms})
    if realm.flag("loginWithEmailAllowed", True):
        found.set("users", {"sign_in_by_email": True})
    found.rp_id = realm.text("webAuthnPolicyRpId") or None


def _report_what_is_left(members: RealmMembers, found: Found) -> None:
    realm, report = members.settings, found.report
    version = str(realm.below("keycloakVersion").value or "")
    if version and version.partition(".")[0] not in KNOWN_VERSIONS:
        report.change(
            "keycloakVersion", f"this is known for Keycloak 24 to 26 only, not {version[:20]}"
        )
    for node in members.lists["authenticationFlows"]:
        with found.taking(node.place):
            if node.flag("topLevel") and not node.flag("builtIn"):
                remedy = "see mfa, required_acr and allowed_users"
                report.leave_out(node.place, "an authentication flow of your own", remedy)
    for key, what, remedy in (
        ("federatedUsers", "what is kept for users of another system", "see users.source"),
        ("organizations", "an organisation", "write a tenant"),
    ):
        for node in members.lists[key]:
            report.leave_out(node.place, what, remedy)
    storage = "org.keycloak.storage.UserStorageProvider"
    with found.taking("components"):
        for node in realm.below("components").items(storage):
            remedy = "see users.source: ldap (docs/users.md)"
            report.leave_out(node.place, "users of another system", remedy)
    with found.taking("registrationAllowed"):
        if realm.flag("registrationAllowed"):
            remedy = "link a page of yours by ui.links.register"
            report.leave_out("registrationAllowed", "self-registration of users", remedy)
