"""Reads a realm of Keycloak, from its files to the entries of config.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from service.takeover.found import LONGEST_CODE, SHORTER_CODES, Found, FoundUser
from service.takeover.keycloak.access import Access
from service.takeover.keycloak.claims import usual_claims
from service.takeover.keycloak.clients import Clients, report_levels
from service.takeover.keycloak.export import RealmMembers, find_export, read_realm
from service.takeover.keycloak.key_ids import add_signing_keys
from service.takeover.keycloak.known_settings import REALM, REALM_ATTRIBUTES, SECURITY_HEADERS
from service.takeover.keycloak.lifetimes import session_lifetimes
from service.takeover.keycloak.mappers import Mappers
from service.takeover.keycloak.providers import add_providers
from service.takeover.keycloak.roles import Roles
from service.takeover.keycloak.scopes import Scopes
from service.takeover.keycloak.users import RealmUsers
from service.takeover.node import Node, quoted

KNOWN_VERSIONS = ("24", "25", "26")
DEFAULT_ALGORITHM = "RS256"
_SWITCHES = {
    "registrationAllowed": (
        "self-registration of users",
        "link a page of yours by ui.links.register",
    ),
    "resetPasswordAllowed": (
        "new passwords by e-mail",
        "link a page of yours by ui.links.forgot_password",
    ),
    "verifyEmail": (
        "users whose address is not verified may sign in",
        "set enabled: false for these users, or let applications read email_verified",
    ),
}
_SIGN_IN_CLAIMS = ("email", "email_verified")
"""Claims by which users are found here, also where no application reads them."""
_LONGEST_CIBA = 600
_USUAL_CIBA = {"expires_in": 120, "interval": 5}
_CONDITION = "conditional-user-configured"
_SECOND_FACTORS = re.compile(r"(?!Reset).*Conditional (OTP|2FA)")
"""Built-in flows that ask users for a second factor who have one."""


def read(path: Path, found: Found) -> Iterator[FoundUser]:
    """Read the realm of an export; its users are returned."""
    export = find_export(path)
    members = read_realm(export, found)
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
    made = {claim.name for claim in mappers.user_claims.values()}
    for claim in usual_claims():
        if not made or (claim.name in _SIGN_IN_CLAIMS and claim.name not in made):
            mappers.user_claims[claim.signature] = claim
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
    _add_ciba(realm.below("attributes"), found, clients)
    first = realm.text("defaultSignatureAlgorithm") or DEFAULT_ALGORITHM
    used = [str(each.get("id_token_signed_response_alg") or first) for each in clients]
    algorithms = [each for each in dict.fromkeys([first, *sorted(used)]) if each[:2] != "HS"]
    found.set("signing", {"algorithms": algorithms})
    if realm.flag("loginWithEmailAllowed", True):
        found.set("users", {"sign_in_by_email": True})
    found.rp_id = realm.text("webAuthnPolicyRpId") or None
    without_password = realm.text("webAuthnPolicyPasswordlessRpId") or None
    found.has_one_domain = found.rp_id == without_password


def _add_ciba(attributes: Node, found: Found, clients: list[dict[str, object]]) -> None:
    """Set the lifetime and the interval of CIBA requests, if a client sends any."""
    if any("backchannel_token_delivery_mode" in each for each in clients):
        names = {"expires_in": "cibaExpiresIn", "interval": "cibaInterval"}
        numbers = {ours: attributes.number(theirs) for ours, theirs in names.items()}
        section = {ours: number for ours, number in numbers.items() if number}
        longest = {"max_expiry": max(_LONGEST_CIBA, section.get("expires_in", 0))}
        if section != _USUAL_CIBA:
            found.set("ciba", section | longest)


def _report_what_is_left(members: RealmMembers, found: Found) -> None:
    realm, report = members.settings, found.report
    version = str(realm.below("keycloakVersion").value or "")
    if version and version.partition(".")[0] not in KNOWN_VERSIONS:
        report.change(
            "keycloakVersion", f"this is known for Keycloak 24 to 26 only, not {version[:20]}"
        )
    for node in members.lists["requiredActions"]:
        with found.taking(node.place):
            if node.flag("enabled") and node.flag("defaultAction"):
                message = f"what new users have to do: {quoted(node.text('alias'))}"
                found.report.leave_out(
                    node.place, message, "see mfa.enrolment, or ask users yourself"
                )
    for node in members.lists["authenticationFlows"]:
        with found.taking(node.place):
            _report_flow(node, found)
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
    _report_safeguards(realm, found)
    REALM.report(realm, report)
    REALM_ATTRIBUTES.report(realm.below("attributes"), report)
    SECURITY_HEADERS.report(realm.below("browserSecurityHeaders"), report)


def _report_safeguards(realm: Node, found: Found) -> None:
    """Report what the realm demands of all users or clients."""
    report = found.report
    with found.taking("enabled"):
        if not realm.flag("enabled", True):
            remedy = "switch to this service only when users may sign in again"
            report.leave_out("enabled", "the realm is disabled there", remedy)
    with found.taking("attributes"):
        report_levels(realm.below("attributes"), report)
    for key, (what, remedy) in _SWITCHES.items():
        with found.taking(key):
            if realm.flag(key):
                report.leave_out(key, what, remedy)
    if (realm.number("accessCodeLifespan") or 0) > LONGEST_CODE:
        report.change("accessCodeLifespan", SHORTER_CODES)
    reuses = realm.number("refreshTokenMaxReuse")
    if realm.flag("revokeRefreshToken") and reuses:
        message = f"a refresh token counted {reuses + 1} times there, and counts once here, and within refresh_token_reuse_interval"
        report.change("refreshTokenMaxReuse", message)
    with found.taking("clientPolicies"):
        for node in realm.below("clientPolicies").items("policies"):
            if node.flag("enabled", True):
                message = f"the client policy {quoted(node.text('name'))}"
                remedy = "write what its profiles demand into the clients, such as profile or require_pkce"
                report.leave_out(node.place, message, remedy)


def _report_flow(flow: Node, found: Found) -> None:
    """Report a flow of one's own, and what a built-in one demands of all users."""
    if not flow.flag("builtIn"):
        if flow.flag("topLevel"):
            remedy = "see mfa, required_acr and allowed_users"
            found.report.leave_out(flow.place, "an authentication flow of your own", remedy)
        return
    asks_for_two = _SECOND_FACTORS.match(flow.text("alias") or "")
    for step in flow.items("authenticationExecutions"):
        below, requirement = step.text("flowAlias") or "", step.text("requirement")
        is_always = _SECOND_FACTORS.match(below) and requirement == "REQUIRED"
        is_open = step.text("authenticator") == _CONDITION and requirement == "DISABLED"
        if is_always or (asks_for_two and is_open):
            message = "second factors of all users, also of those who have none yet"
            found.report.leave_out(step.place, message, "see mfa.required: always")
