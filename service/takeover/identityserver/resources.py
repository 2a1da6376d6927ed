"""Makes APIs, scopes and providers of IdentityServer's resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from service.takeover.found import Found, SecretText
from service.takeover.identityserver.known_settings import API, PROVIDER, SCOPE
from service.takeover.identityserver.secrets import Credentials
from service.takeover.identityserver.sections import Sections
from service.takeover.node import Misplaced
from service.takeover.record import Record

_ScopeSection = Literal["api_scopes", "identity_resources"]
IDENTITY = "Identity"
_OFFLINE_ACCESS = "offline_access"


def add_resources(sections: Sections, found: Found) -> list[str]:
    """Add all resources; return the names of their scopes."""
    scopes = list[str]()
    for record in sections.records("identityresources"):
        scopes += _add_scope("identity_resources", record, found)
    names: dict[str, list[str]] = {}
    for record in sections.records("apiscopes"):
        with found.taking(record.place):
            owner = record.text("ApiResourceId")
            added = _add_scope("api_scopes", record, found)
            scopes += added
            if owner is not None:
                names.setdefault(owner, []).extend(added)
    for record in sections.records("apiresources"):
        with found.taking(record.place):
            own = names.get(record.text("Id") or "", [])
            scopes += _add_api(record, own, found)
    for record in sections.records("scopes"):
        with found.taking(record.place):
            scopes += _add_scope_of_version_3(record, found)
    return scopes


def _add_api(record: Record, own_scopes: list[str], found: Found) -> list[str]:
    """Add an API; up to version 3 of IdentityServer4 its scopes are objects of its own."""
    if not _is_enabled(record, found):
        return []
    scopes, added = [*own_scopes], list[str]()
    for place, item in record.items("Scopes"):
        inner = Record(place, cast("object", item)) if isinstance(item, dict) else None
        if inner is not None and "Name" in inner:
            added += _add_scope("api_scopes", inner, found)
            scopes.append(_name(inner))
        elif inner is not None:
            scopes.append(inner.text("Scope") or "")
        elif isinstance(item, str):
            scopes.append(item)
        else:
            raise Misplaced(place, "is no text")
    API.report(record, found.report)
    secrets = "ApiSecrets" if "ApiSecrets" in record else "Secrets"  # as the entity calls them
    credentials = Credentials(record, secrets, found)
    entry: dict[str, object] = {
        "name": _name(record),
        "display_name": record.text("DisplayName"),
        "secrets": credentials.secrets or None,
        "scopes": scopes,
        "user_claims": list(record.texts("UserClaims", "Type")) or None,
        "require_resource_indicator": record.flag("RequireResourceIndicator", default=False)
        or None,
        "access_token_signing_algorithm": _algorithm(record),
    }
    found.add("api_resources", record.place, entry)
    return added


def _algorithm(record: Record) -> str | None:
    value = record.get("AllowedAccessTokenSigningAlgorithms")
    listed = (
        value.split(",")
        if isinstance(value, str)
        else record.texts("AllowedAccessTokenSigningAlgorithms")
    )
    return next((name for name in listed if name), None)


def _add_scope(section: _ScopeSection, record: Record, found: Found) -> list[str]:
    added = list[str]()
    with found.taking(record.place):
        name = _name(record)
        if name != _OFFLINE_ACCESS and _is_enabled(record, found):
            SCOPE.report(record, found.report)
            claims = list(record.texts("UserClaims", "Type"))
            found.add(section, record.place, {**_describe(record), "user_claims": claims})
            added.append(name)
    return added


def _describe(record: Record) -> dict[str, object]:
    return {
        "name": _name(record),
        "display_name": record.text("DisplayName"),
        "description": record.text("Description"),
        "required": record.flag("Required", default=False) or None,
        "emphasize": record.flag("Emphasize", default=False) or None,
        "show_in_discovery": record.flag("ShowInDiscoveryDocument", default=True),
    }


def _add_scope_of_version_3(record: Record, found: Found) -> list[str]:
    """Add a scope of IdentityServer3, which is of users or of an API by its type."""
    name = _name(record)
    if name == _OFFLINE_ACCESS or not _is_enabled(record, found):
        return []
    SCOPE.report(record, found.report)
    claims = [_claim_of_version_3(each, found) for each in record.records("Claims")]
    entry = {**_describe(record), "user_claims": claims}
    if record.flag("IncludeAllClaimsForUser", default=False):
        reason = "all claims of the user are not given by one scope: list them in user_claims"
        found.report.leave_out(record.below("IncludeAllClaimsForUser"), reason, "name the claims")
    if record.word("Type", (IDENTITY, "Resource"), "Resource") == IDENTITY:
        found.add("identity_resources", record.place, entry)
    else:
        secrets = Credentials(record, "ScopeSecrets", found).secrets
        found.add("api_scopes", record.place, {**entry, "secrets": secrets or None})
    return [name]


def _claim_of_version_3(claim: Record, found: Found) -> str:
    if claim.flag("AlwaysIncludeInIdToken", default=False):
        reason = "this claim was in each ID token, and is in the UserInfo response here"
        remedy = "set always_include_user_claims_in_id_token for clients that need it there"
        found.report.leave_out(claim.below("AlwaysIncludeInIdToken"), reason, remedy)
    return claim.text("Name") or ""


def _name(record: Record) -> str:
    name = record.text("Name")
    if name is None:
        raise Misplaced(record.below("Name"), "is missing")
    return name


def _is_enabled(record: Record, found: Found) -> bool:
    if record.flag("Enabled", default=True):
        return True
    found.report.leave_out(record.place, "it is disabled there", "add it if it is needed again")
    return False


def add_providers(sections: Sections, found: Found) -> frozenset[str]:
    """Add the providers that Duende keeps as data; those in code are in no export. Return their names."""
    return frozenset(_provider_names(sections, found))


def _provider_names(sections: Sections, found: Found) -> Iterator[str]:
    for record in sections.records("identityproviders"):
        with found.taking(record.place):
            if record.text("Type") not in (None, "oidc"):
                raise Misplaced(record.below("Type"), "only OpenID providers are taken")
            if not _is_enabled(record, found):
                continue
            inner = record.record("Properties") if "Properties" in record else record
            scheme = record.text("Scheme")
            if scheme is None:
                raise Misplaced(record.below("Scheme"), "is missing")
            secret = inner.text("ClientSecret")
            entry: dict[str, object] = {
                "name": scheme,
                "display_name": record.text("DisplayName"),
                "issuer": inner.text("Authority"),
                "client_id": inner.text("ClientId") or "",
                "client_secret": SecretText(secret) if secret else None,
                "scopes": (inner.text("Scope") or "openid").split(),
            }
            found.add("identity_providers", record.place, entry)
            for each in (record, *([inner] if inner is not record else [])):
                PROVIDER.report(each, found.report)
            if "ResponseType" not in inner:
                place = inner.below("ResponseType")
                found.report.change(place, "a provider is asked for a code, not for an ID token")
            reason = "register the redirect URI of this service at the provider, too"
            found.report.change(record.place, reason)
            yield scheme
