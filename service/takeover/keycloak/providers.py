"""The identity providers of the realm."""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.takeover.found import PROMPTS, Found, SecretText
from service.takeover.keycloak.export import RealmMembers
from service.takeover.keycloak.known_entries import PROVIDER, PROVIDER_CONFIG
from service.takeover.node import Node, quoted

_MASKED = "**********"
_GITHUB: Mapping[str, object] = {
    "kind": "oauth2",
    "authorization_endpoint": "https://github.com/login/oauth/authorize",
    "token_endpoint": "https://github.com/login/oauth/access_token",
    "userinfo_endpoint": "https://api.github.com/user",
    "subject_claim": "id",
    "scopes": ["read:user", "user:email"],
}
_METHODS = {
    "client_secret_post": "client_secret_post",
    "client_secret_basic": "client_secret_basic",
    "client_secret_basic_unencoded": "client_secret_basic",
    "private_key_jwt": "private_key_jwt",
    "": None,
}
_LITERAL = re.compile(r"[\w@:/ -]+")
"""A pattern that is matched by itself alone."""
_CLAIM_MAPPERS = (
    "oidc-user-attribute-idp-mapper",
    "github-user-attribute-mapper",
    "google-user-attribute-mapper",
)
_NAMES_HERE = {
    "firstName": "given_name",
    "lastName": "family_name",
    "username": "preferred_username",
}


def add_providers(members: RealmMembers, found: Found) -> frozenset[str]:
    """Add the providers that can be taken, and return their names."""
    claims = _claims_by_provider(members, found)
    taken = set[str]()
    for node in members.lists["identityProviders"]:
        with found.taking(node.place):
            alias = node.required_text("alias")
            found.report.name(node.place, alias)
            entry = _entry(node, found)
            if entry is not None:
                PROVIDER.report(node, found.report)
                PROVIDER_CONFIG.report(node.below("config"), found.report)
                entry["claims"] = claims.get(alias) or None
                found.add("identity_providers", node.place, entry)
                taken.add(alias)
    return frozenset(taken)


def _entry(node: Node, found: Found) -> dict[str, object] | None:
    kind, config = node.required_text("providerId"), node.below("config")
    refusal = _refuse(node, kind, config)
    if refusal is not None:
        found.report.leave_out(*refusal)
        return None
    specific = _specific(kind, config)
    if specific is None:
        message = f"a provider of the kind {quoted(kind)}"
        remedy = "write it into identity_providers, if it is an OpenID provider"
        found.report.leave_out(node.place, message, remedy)
        return None
    condition = {**_claim_filter(config), **_domain_condition(kind, config)}
    secret = config.text("clientSecret") or ""
    method = _METHODS.get(config.text("clientAuthMethod") or "")
    if method != "private_key_jwt" and (secret in {"", _MASKED} or secret.startswith("${vault.")):
        remedy = "export the realm on the command line (kc.sh export), which masks nothing, or write the provider"
        found.report.leave_out(
            f"{node.place}.config.clientSecret", "the secret is not in the export", remedy
        )
        return None
    scopes = (config.text("defaultScope") or "").split()
    prompts = [each for each in (config.text("prompt") or "").split() if each in PROMPTS]
    hidden = node.flag("hideOnLogin") or config.flag("hideOnLoginPage")
    name = node.text("displayName")
    return {
        "name": node.text("alias"),
        "display_name": name if name and "${" not in name else None,
        "show_link": False if hidden else None,
        **specific,
        "client_id": config.required_text("clientId"),
        "client_secret": None if method == "private_key_jwt" else SecretText(secret),
        "token_endpoint_auth_method": method,
        **(_assertion(config) if method == "private_key_jwt" else {}),
        "prompt": prompts or None,
        "own_callback": True if specific.get("kind") != "oauth2" else None,
        **({"scopes": scopes} if scopes else {}),
        "allowed_claims": [condition] if condition else None,
        "trust_email": True if node.flag("trustEmail") else None,
    }


def _assertion(config: Node) -> Mapping[str, object]:
    """Return how this service signs at the provider; the audience of Keycloak's assertions is the token endpoint."""
    audience = config.text("clientAssertionAudience") or config.text("tokenUrl")
    return {
        "token_endpoint_auth_signing_alg": config.text("clientAssertionSigningAlg") or None,
        "client_assertion_audience": audience or None,
    }


def _refuse(node: Node, kind: str, config: Node) -> tuple[str, str, str] | None:
    """Return why no user here may sign in as there, and what to do; None for others."""
    if not node.flag("enabled", True):
        return node.place, "a provider that is disabled", "nothing to do"
    if node.flag("linkOnly") or config.flag("linkOnly"):
        message = "a provider by which no user may sign in"
        remedy = "add it only if its users may sign in: accounts are not linked by users here"
        return f"{node.place}.linkOnly", message, remedy
    if kind == "google" and _google_domains(config) in ([], ["*"]):
        message = "users of every domain of Google, which no condition names"
        remedy = "add the provider with allowed_claims: [{hd: […]}] of your domains; without it, every Google account may sign in"
        return f"{node.place}.config.hostedDomain", message, remedy
    if config.flag("filteredByClaim") and not _claim_filter(config):
        message = "a condition on a claim of its users, which is a pattern"
        remedy = "add the provider with allowed_claims; without it, every user of the provider may sign in"
        return f"{node.place}.config.claimFilterValue", message, remedy
    if (config.text("clientAuthMethod") or "") not in _METHODS:
        message = "a way of authentication at a provider that is not known here"
        remedy = "write it into identity_providers with another token_endpoint_auth_method"
        return f"{node.place}.config.clientAuthMethod", message, remedy
    return None


def _claim_filter(config: Node) -> Mapping[str, list[str]]:
    """Return the claim that users have to have with its value; nothing where the value is a pattern, or the claim within another one."""
    name, value = config.text("claimFilterName") or "", config.text("claimFilterValue") or ""
    is_kept = config.flag("filteredByClaim") and _LITERAL.fullmatch(value)
    return {name: [value]} if is_kept and name and "." not in name else {}


def _google_domains(config: Node) -> list[str] | None:
    """Return the domains that Keycloak compares `hd` with, which it splits at each comma; None where it does not."""
    written = config.text("hostedDomain")
    return [each for each in written.split(",") if each] if written else None


def _domain_condition(kind: str, config: Node) -> Mapping[str, list[str]]:
    domains = _google_domains(config) if kind == "google" else None
    return {"hd": domains} if domains else {}


def _specific(kind: str, config: Node) -> Mapping[str, object] | None:
    if kind in {"oidc", "keycloak-oidc"}:
        return {"issuer": config.required_text("issuer")}
    if kind == "google":
        return {"issuer": "https://accounts.google.com"}
    return _GITHUB if kind == "github" and not config.text("baseUrl") else None


def _claims_by_provider(members: RealmMembers, found: Found) -> Mapping[str, dict[str, str]]:
    claims: dict[str, dict[str, str]] = {}
    for node in members.lists["identityProviderMappers"]:
        with found.taking(node.place):
            kind, config = node.text("identityProviderMapper") or "", node.below("config")
            theirs = config.text("claim") or config.text("jsonField")
            ours = config.text("user.attribute") or config.text("userAttribute")
            if kind in _CLAIM_MAPPERS and theirs and ours and "." not in theirs:
                alias = node.required_text("identityProviderAlias")
                claims.setdefault(alias, {})[theirs] = _NAMES_HERE.get(ours, ours)
            else:
                message = f"a mapper {quoted(kind)} of a provider"
                remedy = "see identity_providers[].claims and allowed_claims"
                found.report.leave_out(node.place, message, remedy)
    return claims
