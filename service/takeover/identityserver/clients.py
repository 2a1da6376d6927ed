"""Makes clients of those of IdentityServer, from which most of our keys have their names and meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import msgspec

from service.model.polling import DEVICE_CODE
from service.protocol.uris import crosses_public_network
from service.takeover.found import LONGEST_CODE, SHORTER_CODES, YEAR, Found
from service.takeover.identityserver.known_settings import CLIENT
from service.takeover.identityserver.secrets import Credentials
from service.takeover.node import ADD_PROVIDER, Misplaced, quoted
from service.takeover.record import Record

OFFLINE_ACCESS = "offline_access"
GRANT_TYPES = frozenset(
    {
        *("authorization_code", "implicit", "client_credentials", "password"),
        *(DEVICE_CODE, "urn:openid:params:grant-type:ciba"),
    }
)
_HYBRID = "hybrid"
_RESPONSES: Mapping[str, tuple[str, ...]] = {
    "authorization_code": ("code",),
    "implicit": ("id_token", "token", "id_token token"),
    _HYBRID: ("code id_token", "code token", "code id_token token"),
}
FLOWS = (
    *("AuthorizationCode", "Implicit", "Hybrid", "ClientCredentials", "ResourceOwner", "Custom"),
    *("AuthorizationCodeWithProofKey", "HybridWithProofKey"),
)
DEFAULT_FLOW = "Implicit"
_GRANTS_OF_FLOWS: Mapping[str, tuple[str, ...]] = {
    "AuthorizationCode": ("authorization_code",),
    "Implicit": ("implicit",),
    "Hybrid": (_HYBRID,),
    "ClientCredentials": ("client_credentials",),
    "ResourceOwner": ("password",),
    "Custom": (),
    "AuthorizationCodeWithProofKey": ("authorization_code",),
    "HybridWithProofKey": (_HYBRID,),
}
_TEXTS: Mapping[str, str] = {
    "client_name": "ClientName",
    "client_uri": "ClientUri",
    "logo_uri": "LogoUri",
    "frontchannel_logout_uri": "FrontChannelLogoutUri",
    "backchannel_logout_uri": "BackChannelLogoutUri",
    "initiate_login_uri": "InitiateLoginUri",
}
_FLAGS: Mapping[str, str] = {
    "enabled": "Enabled",
    "allow_remember_consent": "AllowRememberConsent",
    "allow_plain_text_pkce": "AllowPlainTextPkce",
    "require_signed_request_object": "RequireRequestObject",
    "require_pushed_authorization_requests": "RequirePushedAuthorization",
    "dpop_bound_access_tokens": "RequireDPoP",
    "frontchannel_logout_session_required": "FrontChannelLogoutSessionRequired",
    "backchannel_logout_session_required": "BackChannelLogoutSessionRequired",
    "always_include_user_claims_in_id_token": "AlwaysIncludeUserClaimsInIdToken",
    "update_access_token_claims_on_refresh": "UpdateAccessTokenClaimsOnRefresh",
    "enable_local_login": "EnableLocalLogin",
    "always_send_client_claims": "AlwaysSendClientClaims",
}
"""Their defaults are the same there and here."""
_LIFETIMES: Mapping[str, str] = {
    "access_token_lifetime": "AccessTokenLifetime",
    "identity_token_lifetime": "IdentityTokenLifetime",
    "sliding_refresh_token_lifetime": "SlidingRefreshTokenLifetime",
    "consent_lifetime": "ConsentLifetime",
    "user_sso_lifetime": "UserSsoLifetime",
    "pushed_authorization_lifetime": "PushedAuthorizationLifetime",
}
_DEVICE_CODE_LIFETIME = 300
_LISTS: Mapping[str, tuple[str, str]] = {
    "redirect_uris": ("RedirectUris", "RedirectUri"),
    "post_logout_redirect_uris": ("PostLogoutRedirectUris", "PostLogoutRedirectUri"),
    "allowed_cors_origins": ("AllowedCorsOrigins", "Origin"),
}
"""Our key, theirs, and the column of its table."""
_XML_INTEGERS = ("#integer", "#integer32", "#integer64", "#int", "#long")


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """The version, which decides the meaning of keys that are left out."""

    name: Literal[
        "IdentityServer3", "IdentityServer4 before version 4", "IdentityServer4 and Duende"
    ]

    @property
    def has_flows(self) -> bool:
        """Whether its clients have a flow in place of grants."""
        return self.name == "IdentityServer3"

    @property
    def requires_consent(self) -> bool:
        return self.name != "IdentityServer4 and Duende"

    @property
    def requires_pkce(self) -> bool:
        return self.name == "IdentityServer4 and Duende"


def read_client(
    record: Record,
    found: Found,
    *,
    generation: Generation,
    providers: frozenset[str],
    scopes: Sequence[str],
) -> None:
    """Add a client; `scopes` are all values that exist, for one that may have them all."""
    if record.text("ProtocolType") not in (None, "oidc"):
        reason = "only OpenID Connect and OAuth are supported"
        raise Misplaced(record.below("ProtocolType"), reason)
    entry: dict[str, object] = {
        "client_id": _client_id(record),
        **{ours: record.text(theirs) for ours, theirs in _TEXTS.items()},
        **_logout_of_version_3(record),
        **_flags(record),
        **{ours: _lifetime(record, theirs) for ours, theirs in _LIFETIMES.items()},
        "authorization_code_lifetime": _code_lifetime(record, found),
        **{ours: list(record.texts(*theirs)) or None for ours, theirs in _LISTS.items()},
        **_credentials(record, found),
        **_grants_and_scopes(record, scopes, found),
        "allow_insecure_redirect_uris": _has_insecure_uri(record) or None,
        "require_consent": record.flag("RequireConsent", default=generation.requires_consent),
        "require_pkce": _requires_pkce(record, generation),
        "id_token_signed_response_alg": _algorithm(record),
        "access_token_type": record.word("AccessTokenType", ("Jwt", "Reference"), "Jwt").lower(),
        **_refresh_lifetimes(record, found),
        "identity_provider_restrictions": _restrictions(record, providers, found),
        **_claims(record),
        "properties": properties(record, "Properties") or None,
    }
    CLIENT.report(record, found.report)
    found.add("clients", record.place, entry)


def _client_id(record: Record) -> str:
    client_id = record.text("ClientId")
    if client_id is None:
        remedy = "write out clients by Profile, which are made by ASP.NET Core's API authorization"
        raise Misplaced(record.place, "ClientId is missing", remedy)
    return client_id


def _flags(record: Record) -> dict[str, object]:
    flags: dict[str, object] = {
        ours: record.flag(theirs, default=True)
        for ours, theirs in _FLAGS.items()
        if record.get(theirs) not in (None, "")
    }
    modes = ("Custom", "Iat", "Nonce", "IatAndNonce")
    mode = record.word("DPoPValidationMode", modes, "Iat")
    return flags | {"dpop_nonce_required": mode.endswith("Nonce") or None}


def _logout_of_version_3(record: Record) -> dict[str, object]:
    """Return the keys of front-channel logout, whose names have been longer since IdentityServer4 2."""
    if "LogoutUri" not in record or "FrontChannelLogoutUri" in record:
        return {}
    required = record.flag("LogoutSessionRequired", default=True)
    return {
        "frontchannel_logout_uri": record.text("LogoutUri"),
        "frontchannel_logout_session_required": required,
    }


def _credentials(record: Record, found: Found) -> dict[str, object]:
    credentials = Credentials(record, "ClientSecrets", found)
    return {
        "require_client_secret": _requires_secret(record, _grants(record)),
        "client_secrets": credentials.secrets or None,
        "jwks": {"keys": credentials.keys} if credentials.keys else None,
    }


def _grants_and_scopes(record: Record, scopes: Sequence[str], found: Found) -> dict[str, object]:
    grants, allowed = _grants(record), _scopes(record, scopes)
    may_refresh = record.flag("AllowOfflineAccess", default=False) or OFFLINE_ACCESS in allowed
    known = _known_grants(record, grants, found, may_refresh=may_refresh)
    return {
        "allowed_grant_types": sorted(known),
        "allowed_response_types": _response_types(record, grants),
        "allow_access_tokens_via_browser": _sends_tokens_by_browser(record),
        "allowed_scopes": [name for name in allowed if name != OFFLINE_ACCESS],
        "allow_offline_access": may_refresh,
        "device_code_lifetime": _device_code_lifetime(record, known),
    }


def _grants(record: Record) -> frozenset[str]:
    """Return the grants by the words of IdentityServer; version 3 has a flow in their place."""
    if "Flow" not in record:
        return frozenset(record.texts("AllowedGrantTypes", "GrantType"))
    flow = record.word("Flow", FLOWS, DEFAULT_FLOW)
    grants = {*_GRANTS_OF_FLOWS[flow]}
    if flow == "Custom":
        grants |= {*record.texts("AllowedCustomGrantTypes", "GrantType")}
    if record.flag("AllowClientCredentialsOnly", default=False):
        grants.add("client_credentials")
    return frozenset(grants)


def _known_grants(
    record: Record, grants: frozenset[str], found: Found, *, may_refresh: bool
) -> frozenset[str]:
    for name in sorted(grants - GRANT_TYPES - {_HYBRID}):
        found.report.leave_out(
            record.below("AllowedGrantTypes"),
            f"the grant {quoted(name)} is code of the old server",
            "write a handler in extension_grants and add the name to allowed_grant_types; delegation is built in",
        )
    known = grants & GRANT_TYPES
    if _HYBRID in grants:
        known |= {"authorization_code", "implicit"}
    return known | {"refresh_token"} if may_refresh else known


def _sends_tokens_by_browser(record: Record) -> bool:
    """Return whether access tokens may come from the authorize endpoint; version 3 has no such key."""
    return record.flag("AllowAccessTokensViaBrowser", default="Flow" in record)


def _response_types(record: Record, grants: frozenset[str]) -> list[str] | None:
    names = [name for grant, each in _RESPONSES.items() if grant in grants for name in each]
    if not _sends_tokens_by_browser(record):
        names = [name for name in names if "token" not in name.split()]
    return names or None


def _scopes(record: Record, every: Sequence[str]) -> Sequence[str]:
    if record.flag("AllowAccessToAllScopes", default=False):
        return [*every, OFFLINE_ACCESS]
    return record.texts("AllowedScopes", "Scope")


def _requires_secret(record: Record, grants: frozenset[str]) -> bool:
    """Return whether the client authenticates; in version 3 it does for all flows but implicit, and where it is given a secret."""
    if "Flow" not in record:
        return record.flag("RequireClientSecret", default=True)
    return grants != frozenset({"implicit"}) or any(True for _ in record.items("ClientSecrets"))


def _requires_pkce(record: Record, generation: Generation) -> bool:
    with_proof_key = record.word("Flow", FLOWS, DEFAULT_FLOW).endswith("WithProofKey")
    return record.flag("RequirePkce", default=generation.requires_pkce or with_proof_key)


def _algorithm(record: Record) -> str | None:
    """Return the first algorithm of ID tokens; the table has them in one text, with commas."""
    value = record.get("AllowedIdentityTokenSigningAlgorithms")
    if isinstance(value, str):
        return next((name for name in value.split(",") if name), None)
    return next(iter(record.texts("AllowedIdentityTokenSigningAlgorithms")), None)


def _refresh_lifetimes(record: Record, found: Found) -> dict[str, object]:
    """Return how refresh tokens end; with sliding expiration, 0 means an end only by idleness."""
    expiration = record.word("RefreshTokenExpiration", ("Sliding", "Absolute"), "Absolute").lower()
    usage = record.word("RefreshTokenUsage", ("ReUse", "OneTimeOnly"), "OneTimeOnly")
    if "RefreshTokenUsage" not in record and record.flag("AllowOfflineAccess", default=False):
        reason = "a refresh token counts once, as in IdentityServer4; where Duende's default was ReUse, write refresh_token_usage: reuse"
        found.report.change(record.below("RefreshTokenUsage"), reason)
    absolute = _lifetime(record, "AbsoluteRefreshTokenLifetime")
    if record.number("AbsoluteRefreshTokenLifetime") == 0 and expiration == "sliding":
        reason = "its refresh tokens have no absolute end; here they end a year after the sign-in"
        found.report.change(record.below("AbsoluteRefreshTokenLifetime"), reason)
        absolute = YEAR
    return {
        "refresh_token_expiration": expiration,
        "refresh_token_usage": "reuse" if usage == "ReUse" else "one_time",
        "absolute_refresh_token_lifetime": absolute,
    }


def _lifetime(record: Record, key: str) -> int | None:
    """Return the seconds, at least one: what lives for 0 seconds ends at once there."""
    seconds = record.number(key)
    return 1 if seconds == 0 else seconds


def _code_lifetime(record: Record, found: Found) -> int | None:
    key = "AuthorizationCodeLifetime"
    seconds = _lifetime(record, key)
    if seconds is None or seconds <= LONGEST_CODE:
        return seconds
    found.report.change(record.below(key), SHORTER_CODES)
    return LONGEST_CODE


def _device_code_lifetime(record: Record, grants: frozenset[str]) -> int | None:
    if DEVICE_CODE not in grants:
        return None
    return record.number("DeviceCodeLifetime") or _DEVICE_CODE_LIFETIME


def _restrictions(record: Record, providers: frozenset[str], found: Found) -> list[str] | None:
    """Return the providers whose users may use the client; an empty list would mean all of them."""
    listed = record.texts("IdentityProviderRestrictions", "Provider")
    known = [name for name in listed if name in providers]
    if listed and not known and providers:
        reason = "none of these providers is here, and no list would mean all that are"
        raise Misplaced(record.below("IdentityProviderRestrictions"), reason)
    for name in listed:
        if name not in providers:
            message = f"the provider {quoted(name)} is not here"
            found.report.leave_out(
                record.below("IdentityProviderRestrictions"), message, ADD_PROVIDER
            )
    return known or None


def _claims(record: Record) -> dict[str, object]:
    claims: dict[str, object] = {}
    for claim in record.records("Claims"):
        name, value = claim.text("Type"), _read_claim_value(claim)
        if name is None:
            raise Misplaced(claim.below("Type"), "is missing")
        add_claim(claims, name, value)
    prefix = record.text("ClientClaimsPrefix")
    if prefix is None and _has_no_prefix(record):
        prefix = ""
    return {"claims": claims, "client_claims_prefix": prefix} if claims else {}


def add_claim(claims: dict[str, object], name: str, value: object) -> None:
    """Add a claim, which becomes a list with the second value."""
    before = claims.get(name)
    several = [*cast("list[object]", before)] if isinstance(before, list) else [before]
    claims[name] = value if before is None else [*several, value]


def _has_no_prefix(record: Record) -> bool:
    """Return whether claims have no prefix: by null or an empty text, or in version 3 by false."""
    is_null = "clientclaimsprefix" in record.own_keys
    return is_null or not record.flag("PrefixClientClaims", default=True)


def _read_claim_value(claim: Record) -> object:
    kind, value = claim.text("ValueType") or "", claim.get("Value")
    if isinstance(value, str):
        if kind.endswith(_XML_INTEGERS) and value.removeprefix("-").isdecimal():
            return int(value)
        if kind.endswith("#boolean") and value.lower() in {"true", "false"}:
            return value.lower() == "true"
    if value is None:
        raise Misplaced(claim.below("Value"), "is missing")
    return value


def properties(record: Record, key: str) -> dict[str, object]:
    """Return the properties, which rows have as Key and Value."""
    value = record.get(key)
    if isinstance(value, dict):
        return dict(record.record(key).members())
    return {each.text("Key") or "": each.text("Value") or "" for each in record.records(key)}


def _has_insecure_uri(record: Record) -> bool:
    return any(map(crosses_public_network, record.texts(*_LISTS["redirect_uris"])))
