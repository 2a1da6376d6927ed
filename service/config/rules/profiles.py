"""Stricter rules, by which `check --profile` judges whether a registry meets a profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from service.config.problem import Finding
from service.config.registry import response_types
from service.config.rules.rule import FileRule, of_each_client
from service.config.rules.uris import is_loopback, split_uri
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile
from service.model.catalogue import Catalogue, Feature
from service.protocol.scope import OFFLINE_ACCESS

_FAPI_AUTH_METHODS = frozenset(
    {"private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth"}
)
_FAPI_ALGORITHMS = frozenset({"PS256", "ES256", "EdDSA"})


def no_tokens_through_the_browser(client: ClientEntry) -> Iterator[Finding]:
    """The implicit grant is gone (OAuth 2.1 §10.1)."""
    if "implicit" in client.allowed_grant_types:
        yield Finding(
            ("allowed_grant_types", "implicit"),
            "implicit is not part of the profile",
            "OAuth 2.1 §10.1",
        )
    for name in sorted(response_types(client) - {"code"}):
        yield Finding(
            ("allowed_response_types", name), f"{name} is not part of the profile", "use code"
        )


def no_passwords_at_clients(client: ClientEntry) -> Iterator[Finding]:
    """The password grant is gone (OAuth 2.1 §10)."""
    if "password" in client.allowed_grant_types:
        yield Finding(
            ("allowed_grant_types", "password"),
            "password is not part of the profile",
            "OAuth 2.1 §10",
        )


def codes_are_bound_by_s256(client: ClientEntry) -> Iterator[Finding]:
    """Every code has an S256 challenge (OAuth 2.1 §7.5.1, FAPI 2 §5.3.2.2)."""
    if "code" not in response_types(client):
        return
    if not client.require_pkce:
        yield Finding(("require_pkce",), "the profile requires PKCE", "set true")
    if client.allow_plain_text_pkce:
        yield Finding(("allow_plain_text_pkce",), "the profile allows S256 only", "set false")


def redirects_are_encrypted(client: ClientEntry) -> Iterator[Finding]:
    """http is for loopback only (OAuth 2.1 §1.5)."""
    for at, uri in enumerate(client.redirect_uris):
        parts = split_uri(uri)
        if parts and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            yield Finding(("redirect_uris", at), "the profile requires https")


def stolen_refresh_tokens_are_noticed(client: ClientEntry) -> Iterator[Finding]:
    """A public client's refresh tokens rotate or are bound to a key (OAuth 2.1 §4.3.1)."""
    bound = client.dpop_bound_access_tokens or client.tls_client_certificate_bound_access_tokens
    if not client.require_client_secret and client.refresh_token_usage == "reuse" and not bound:
        message = "a public client's refresh tokens must be one_time or bound to a key"
        yield Finding(("refresh_token_usage",), message, "OAuth 2.1 §4.3.1")


def client_is_confidential(client: ClientEntry) -> Iterator[Finding]:
    """Only confidential clients take part (FAPI 2 §5.3.2.1)."""
    if not client.require_client_secret:
        yield Finding(("require_client_secret",), "the profile is for confidential clients")


def client_authenticates_by_key(client: ClientEntry) -> Iterator[Finding]:
    """Shared secrets do not take part (FAPI 2 §5.3.2.1)."""
    if client.token_endpoint_auth_method not in _FAPI_AUTH_METHODS:
        message = "the profile requires private_key_jwt or mutual TLS (FAPI 2 §5.3.2.1)"
        yield Finding(("token_endpoint_auth_method",), message, "set private_key_jwt")


def codes_are_short_lived(client: ClientEntry) -> Iterator[Finding]:
    """A code lives 60 seconds at most (FAPI 2 §5.3.2.1)."""
    if client.authorization_code_lifetime > 60:  # noqa: PLR2004 - the number of the profile
        yield Finding(("authorization_code_lifetime",), "the profile allows 60 seconds at most")


def refresh_tokens_stay(client: ClientEntry) -> Iterator[Finding]:
    """Refresh tokens do not rotate, being bound to the client already (FAPI 2 §5.3.2.1)."""
    if client.allow_offline_access and client.refresh_token_usage != "reuse":
        yield Finding(("refresh_token_usage",), "the profile forbids rotation", "set reuse")


def issuer_is_encrypted(file: ConfigurationFile) -> Iterator[Finding]:
    """The profile knows no exception for loopback (FAPI 2 §5.2)."""
    if not file.issuer.startswith("https:"):
        yield Finding(("issuer",), "the profile requires https")


def algorithms_are_modern(file: ConfigurationFile) -> Iterator[Finding]:
    """Signatures are PS256, ES256 or EdDSA (FAPI 2 §5.4.1)."""
    for at, algorithm in enumerate(file.signing.algorithms):
        if algorithm not in _FAPI_ALGORITHMS:
            yield Finding(
                ("signing", "algorithms", at), "the profile allows PS256, ES256 and EdDSA"
            )


def features_are_supported(
    _: ConfigurationFile, profile: str, catalogue: Catalogue
) -> Iterator[Finding]:
    """No registry meets a profile until this server supports its features."""
    missing = [
        words.format(*features)
        for words, features in _NEEDED[profile]
        if catalogue.features.isdisjoint(features)
    ]
    if missing:
        message = f"{profile} cannot be met yet: this server does not support {'; '.join(missing)}"
        yield Finding((), message, "no setting of a client changes that")


def an_api_is_named_by_its_url(file: ConfigurationFile) -> Iterator[Finding]:
    """MCP clients name the API by its URL in `resource` (RFC 8707 §2)."""
    if not any("://" in api.name for api in file.api_resources):
        message = "no API is named by its URL, which MCP clients send as resource (RFC 8707)"
        yield Finding(("api_resources",), message, "name: https://mcp.example.com/mcp")


def offline_access_is_listed(file: ConfigurationFile) -> Iterator[Finding]:
    """MCP clients ask for refresh tokens where scopes_supported lists offline_access."""
    offline = any(client.allow_offline_access for client in file.clients)
    if not offline and OFFLINE_ACCESS not in file.registration.allowed_scopes:
        message = "no client may ask for offline_access, so discovery does not list it"
        yield Finding(("clients",), message, "set allow_offline_access: true on one")


_EVERY_PROFILE = (
    no_tokens_through_the_browser,
    no_passwords_at_clients,
    codes_are_bound_by_s256,
    redirects_are_encrypted,
)
_OAUTH21 = tuple(
    of_each_client(rule) for rule in (*_EVERY_PROFILE, stolen_refresh_tokens_are_noticed)
)
_FAPI2 = (
    issuer_is_encrypted,
    algorithms_are_modern,
    *(
        of_each_client(rule)
        for rule in (
            *_EVERY_PROFILE,
            client_is_confidential,
            client_authenticates_by_key,
            codes_are_short_lived,
            refresh_tokens_stay,
        )
    ),
)
_PUSHED = ("{}", (Feature.PAR,))
_BOUND = ("tokens that are bound by {} or {}", (Feature.DPOP, Feature.MUTUAL_TLS))
_NEEDED: Mapping[str, tuple[tuple[str, tuple[Feature, ...]], ...]] = {
    "fapi2_security": (_PUSHED, _BOUND),
    "fapi2_message_signing": (_PUSHED, _BOUND, ("{}", (Feature.JARM,))),
}
"""The features that a profile needs, one of each pair, and how a message names them."""
_RULES: Mapping[str, tuple[FileRule, ...]] = {
    "oauth21": _OAUTH21,
    "fapi2_security": _FAPI2,
    "fapi2_message_signing": _FAPI2,
    "mcp": (*_OAUTH21, an_api_is_named_by_its_url, offline_access_is_listed),
}
PROFILES = (*_RULES, "fapi2")


def profile_rules(name: str, catalogue: Catalogue) -> tuple[FileRule, ...]:
    """Return the rules of a profile; fapi2 is fapi2_security."""
    profile = "fapi2_security" if name == "fapi2" else name
    if profile not in _NEEDED:
        return _RULES[profile]
    needed = partial(features_are_supported, profile=profile, catalogue=catalogue)
    return (needed, *_RULES[profile])
