"""Makes clients of dex's staticClients (storage.Client of dex, and what its server does with one)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from service.model.secret import hash_by_sha256
from service.protocol.uris import crosses_public_network
from service.takeover.dex.document import Environment
from service.takeover.dex.known_settings import (
    AUTHENTICATOR,
    CLIENT,
    EXPIRY,
    MFA,
    OAUTH2,
    REFRESH_TOKENS,
    WEB,
)
from service.takeover.found import YEAR, Found
from service.takeover.node import ADD_PROVIDER, Misplaced, quoted
from service.takeover.record import Record

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
DEVICE_CALLBACK = "/device/callback"
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
AUDIENCE = "audience:server:client_id:"
"""The prefix of the scope values by which a client asks for tokens that another one accepts, too."""
SCOPES = ("openid", "profile", "email", "groups", "federated:id")
LOOPBACK_URIS = tuple(
    f"http://{host}{path}"
    for host in ("127.0.0.1", "[::1]", "localhost")
    for path in ("", "/", "/callback")
)
"""Without a port each counts with any; dex allows its public clients any path, too."""
_COMBINATIONS = (
    *("code", "code id_token", "code token", "code id_token token"),
    *("id_token", "id_token token"),
)
_DEFAULT_LIFETIME = 86400
_DEFAULT_DEVICE_LIFETIME = 300


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The part of dex's configuration that is for all clients."""

    shared: Mapping[str, object]
    """The keys that all clients have."""
    grant_types: frozenset[str]
    response_types: tuple[str, ...]
    providers: Mapping[str, str]
    """The names of identity providers, by the ids of the connectors that they were."""
    local: frozenset[str]
    """The connectors whose users sign in by password here."""
    requires_mfa: bool
    """Whether clients that say nothing of it ask for a second factor."""


def read_rules(
    root: Record, found: Found, *, providers: Mapping[str, str], local: frozenset[str]
) -> Rules:
    """Return what `oauth2`, `expiry` and `web` say."""
    oauth2 = root.record("oauth2")
    pkce = oauth2.record("pkce")
    methods = pkce.texts("codeChallengeMethodsSupported") or ("S256", "plain")
    shared: dict[str, object] = {
        "require_consent": not oauth2.flag("skipApprovalScreen", default=False),
        "require_pkce": pkce.flag("enforce", default=False),
        "allow_plain_text_pkce": "plain" in methods,
        "always_include_user_claims_in_id_token": True,
        **_lifetimes(root, found),
        "allowed_cors_origins": list(root.record("web").texts("allowedOrigins")) or None,
    }
    responses = oauth2.texts("responseTypes") or ("code",)
    OAUTH2.report(oauth2, found.report)
    WEB.report(root.record("web"), found.report)
    return Rules(
        shared=shared,
        requires_mfa=bool(_read_mfa(root.record("mfa"), found)),
        grant_types=_grant_types(oauth2, responses, local, found),
        response_types=responses,
        providers=providers,
        local=local,
    )


def _read_mfa(mfa: Record, found: Found) -> tuple[str, ...]:
    """Return the second factors of clients that name none of their own."""
    MFA.report(mfa, found.report)
    for each in mfa.records("authenticators"):
        AUTHENTICATOR.report(each, found.report)
    return mfa.texts("defaultMFAChain")


def _lifetimes(root: Record, found: Found) -> dict[str, object]:
    """Return how long tokens last; dex's access tokens end with its ID tokens."""
    expiry = root.record("expiry")
    tokens = expiry.duration("idTokens") or _DEFAULT_LIFETIME
    refresh = expiry.record("refreshTokens")
    EXPIRY.report(expiry, found.report)
    REFRESH_TOKENS.report(refresh, found.report)
    idle, longest = (
        refresh.duration("validIfNotUsedFor"),
        refresh.duration("absoluteLifetime"),
    )
    if longest is None:
        found.report.change(
            refresh.below("absoluteLifetime"),
            "dex's refresh tokens have no absolute end; here they end a year after the sign-in",
        )
    return {
        "access_token_lifetime": tokens,
        "identity_token_lifetime": tokens,
        "device_code_lifetime": expiry.duration("deviceRequests") or _DEFAULT_DEVICE_LIFETIME,
        "refresh_token_usage": "reuse" if refresh.flag("disableRotation", default=False) else None,
        "refresh_token_reuse_interval": refresh.duration("reuseInterval"),
        "refresh_token_expiration": "absolute" if idle is None else "sliding",
        "sliding_refresh_token_lifetime": idle,
        "absolute_refresh_token_lifetime": longest or YEAR,
    }


def _grant_types(
    oauth2: Record, responses: Sequence[str], local: frozenset[str], found: Found
) -> frozenset[str]:
    """Return the grants of all clients; that for clients themselves has to be listed at dex."""
    known = {"authorization_code", "refresh_token", DEVICE}
    connector = oauth2.text("passwordConnector")
    if connector in local:
        known.add("password")
        reason = "the password grant returns no ID token here: ask the userinfo endpoint"
        found.report.change(oauth2.below("passwordConnector"), reason)
    elif connector is not None:
        found.report.leave_out(
            oauth2.below("passwordConnector"),
            f"the connector {quoted(connector)} does not verify passwords here",
            "use another grant in place of password",
        )
    listed = frozenset(oauth2.texts("grantTypes"))
    if TOKEN_EXCHANGE in listed:
        found.report.leave_out(
            oauth2.below("grantTypes"),
            "dex exchanges tokens of its connectors; here each exchange needs a rule",
            "write rules in token_exchange, and name the provider in trusted_issuers",
        )
    granted = (known | {"client_credentials"}) & listed if listed else known
    if "client_credentials" in granted:
        reason = "sub of tokens for clients themselves is the client_id, and not dex's form of it"
        found.report.change(oauth2.below("grantTypes"), reason)
    by_browser = any("token" in each.split() or "id_token" in each.split() for each in responses)
    return frozenset(granted | {"implicit"} if by_browser else granted)


def identify(record: Record, environment: Environment) -> str:
    """Return the id of a client."""
    client_id = _from_environment(record, "id", "idEnv", environment)
    if client_id is None:
        raise Misplaced(record.below("id"), "is missing")
    return client_id


def read_client(
    record: Record,
    rules: Rules,
    found: Found,
    environment: Environment,
    *,
    audiences: Sequence[str],
) -> None:
    """Add a client; `audiences` are the scope values for tokens that its peers accept."""
    secret = _from_environment(record, "secret", "secretEnv", environment)
    if secret is None and not record.flag("public", default=False):
        raise Misplaced(record.below("secret"), "is missing, and the client is not public")
    uris = _redirect_uris(record, found)
    grant_types = _own_grant_types(record, rules, uris, has_secret=secret is not None)
    entry: dict[str, object] = {
        "client_id": identify(record, environment),
        "client_name": record.text("name"),
        "logo_uri": record.text("logoURL"),
        "require_client_secret": secret is not None,
        "client_secrets": [{"sha256": hash_by_sha256(secret)}] if secret is not None else None,
        "allowed_grant_types": sorted(grant_types),
        "allowed_response_types": _response_types(rules, grant_types),
        "redirect_uris": uris,
        "allow_insecure_redirect_uris": True if any(map(crosses_public_network, uris)) else None,
        "post_logout_redirect_uris": list(record.texts("postLogoutRedirectURIs")) or None,
        "backchannel_logout_uri": record.text("backchannelLogoutURI"),
        "allowed_scopes": [*SCOPES, *audiences],
        "allow_offline_access": "refresh_token" in grant_types,
        **rules.shared,
        **_own_claims(record),
        **_restrictions(record, rules, found),
    }
    _report_rest(record, found)
    found.add("clients", record.place, entry)


def _redirect_uris(record: Record, found: Found) -> list[str]:
    listed, place = record.texts("redirectURIs"), record.below("redirectURIs")
    uris = [uri for uri in listed if not _is_device_callback(uri) and uri != OUT_OF_BAND]
    if OUT_OF_BAND in listed:
        reason = f"{OUT_OF_BAND} is not supported: a code that is copied by hand can be stolen"
        remedy = "use the device grant, or a loopback redirect URI (RFC 8252)"
        found.report.leave_out(place, reason, remedy)
    if any(map(crosses_public_network, uris)):
        reason = "http to a public host stays possible, by allow_insecure_redirect_uris; use https"
        found.report.change(place, reason)
    if not listed and record.flag("public", default=False):
        reason = (
            "dex allows this public client any loopback redirect URI; here those with the paths "
            f"/ and /callback, or none, and with any port. Add others; {OUT_OF_BAND} is not supported"
        )
        found.report.change(place, reason)
        return list(LOOPBACK_URIS)
    return uris


def _own_grant_types(
    record: Record, rules: Rules, uris: Sequence[str], *, has_secret: bool
) -> frozenset[str]:
    """Return what the client may use: the device grant where its callback is listed, or where dex lists nothing for a public client."""
    unusable = set[str]()
    listed = record.texts("redirectURIs")
    if not any(map(_is_device_callback, listed)) and (
        listed or not record.flag("public", default=False)
    ):
        unusable.add(DEVICE)
    if not uris:
        unusable |= {"authorization_code", "implicit"}
    if not has_secret or record.flag("public", default=False):
        unusable.add("client_credentials")
    return rules.grant_types - unusable


def _from_environment(
    record: Record, key: str, variable: str, environment: Environment
) -> str | None:
    name = record.text(variable)
    if name is None:
        return record.text(key)
    if key in record and record.text(key) is not None:
        raise Misplaced(record.place, f"has both {key} and {variable}")
    return environment.read(name, record.below(variable))


def _is_device_callback(uri: str) -> bool:
    try:
        return urlsplit(uri).path.endswith(DEVICE_CALLBACK)
    except ValueError:
        return False


def _response_types(rules: Rules, grant_types: frozenset[str]) -> list[str]:
    """Return the combinations of dex's response types that the grants allow; `token` alone is not among them."""
    supported = {word for each in rules.response_types for word in each.split()}
    if "implicit" not in grant_types:
        supported &= {"code"}
    if "authorization_code" not in grant_types:
        supported -= {"code"}
    return [each for each in _COMBINATIONS if set(each.split()) <= supported]


def _own_claims(record: Record) -> dict[str, object]:
    groups = record.record("clientCredentialsClaims").texts("groups")
    return {"claims": {"groups": list(groups)}, "client_claims_prefix": ""} if groups else {}


def _restrictions(record: Record, rules: Rules, found: Found) -> dict[str, object]:
    """Return by which connectors users of the client may sign in, and whether with a second factor."""
    entry: dict[str, object] = {"enable_local_login": None if rules.local else False}
    allowed = record.texts("allowedConnectors")
    if allowed:
        names = [rules.providers[each] for each in allowed if each in rules.providers]
        if not names and rules.providers:
            reason = "none of these is an identity provider here, and an empty list would mean all that are"
            raise Misplaced(record.below("allowedConnectors"), reason)
        for each in allowed:
            if each not in rules.providers and each not in rules.local:
                message = f"the connector {quoted(each)} is not here"
                found.report.leave_out(record.below("allowedConnectors"), message, ADD_PROVIDER)
        entry["enable_local_login"] = None if rules.local & {*allowed} else False
        entry["identity_provider_restrictions"] = names
    if record.texts("mfaChain") if "mfaChain" in record else rules.requires_mfa:
        entry["mfa_required"] = "always"
        reason = "its users enrol their second factors anew, because dex keeps them in its storage"
        found.report.change(record.below("mfaChain"), reason)
    return entry


def _report_rest(record: Record, found: Found) -> None:
    CLIENT.report(record, found.report)
    if "ssoSharedWith" in record:
        found.report.change(
            record.below("ssoSharedWith"), "one sign-in counts for all clients of this service"
        )
    if record.text("refreshTokenLifetime") == "session":
        found.report.change(
            record.below("refreshTokenLifetime"),
            "its refresh tokens do not end with the session of the browser",
        )
