"""Stricter rules, by which `check --profile` judges whether a registry meets a profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.problem import Finding
from service.config.registry import response_types
from service.config.rules.clients import MAX_CODE_LIFETIME
from service.config.rules.table import FileRule, of_each_client
from service.config.rules.uris import is_unencrypted
from service.config.schema.file import ConfigurationFile
from service.model.catalogue import Catalogue, Feature
from service.model.client_entry import ClientEntry
from service.protocol.scope import OFFLINE_ACCESS

_FAPI_AUTH_METHODS = frozenset(
    {"private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth"}
)
_FAPI_ALGORITHMS = frozenset({"PS256", "ES256", "EdDSA"})


def client_uses_protected_codes(client: ClientEntry) -> Iterator[Finding]:
    """Tokens are issued for codes with an S256 challenge, and http is for loopback only.

    OAuth 2.1 §1.5, §7.5.1, §10, §10.1, FAPI 2 §5.3.2.2.
    """
    for name in sorted(client.allowed_grant_types & {"implicit", "password"}):
        message = f"{name} is not part of the profile"
        yield Finding(("allowed_grant_types", name), message, "OAuth 2.1 §10")
    for name in sorted(response_types(client) - {"code"}):
        message = f"{name} is not part of the profile"
        yield Finding(("allowed_response_types", name), message, "use code")
    uses_codes = "code" in response_types(client)
    if uses_codes and not client.require_pkce:
        yield Finding(("require_pkce",), "the profile requires PKCE", "set true")
    if uses_codes and client.allow_plain_text_pkce:
        yield Finding(("allow_plain_text_pkce",), "the profile allows S256 only", "set false")
    for at, uri in enumerate(client.redirect_uris):
        if is_unencrypted(uri):
            yield Finding(("redirect_uris", at), "the profile requires https")


def stolen_refresh_tokens_are_noticed(client: ClientEntry) -> Iterator[Finding]:
    """A public client's refresh tokens rotate or are bound to a key (OAuth 2.1 §4.3.1)."""
    bound = client.dpop_bound_access_tokens or client.tls_client_certificate_bound_access_tokens
    if not client.require_client_secret and client.refresh_token_usage == "reuse" and not bound:
        message = "a public client's refresh tokens must be one_time or bound to a key"
        yield Finding(("refresh_token_usage",), message, "OAuth 2.1 §4.3.1")


def client_meets_fapi2(client: ClientEntry) -> Iterator[Finding]:
    """The client is confidential, has a key, short-lived codes and no rotation (FAPI 2 §5.3.2.1)."""
    if not client.require_client_secret:
        yield Finding(("require_client_secret",), "the profile is for confidential clients")
    if client.token_endpoint_auth_method not in _FAPI_AUTH_METHODS:
        message = "the profile requires private_key_jwt or mutual TLS (FAPI 2 §5.3.2.1)"
        yield Finding(("token_endpoint_auth_method",), message, "set private_key_jwt")
    if client.authorization_code_lifetime > MAX_CODE_LIFETIME:
        yield Finding(("authorization_code_lifetime",), "the profile allows 60 seconds at most")
    if client.allow_offline_access and client.refresh_token_usage != "reuse":
        yield Finding(("refresh_token_usage",), "the profile forbids rotation", "set reuse")


def file_meets_fapi2(file: ConfigurationFile) -> Iterator[Finding]:
    """The issuer is https, even on loopback, and signatures are modern (FAPI 2 §5.2, §5.4.1)."""
    if not file.issuer.startswith("https:"):
        yield Finding(("issuer",), "the profile requires https")
    for at, algorithm in enumerate(file.signing.algorithms):
        if algorithm not in _FAPI_ALGORITHMS:
            message = "the profile allows PS256, ES256 and EdDSA"
            yield Finding(("signing", "algorithms", at), message)


def file_meets_mcp(file: ConfigurationFile) -> Iterator[Finding]:
    """MCP clients send the URL of an API as `resource` (RFC 8707 §2), and look for offline_access in discovery."""
    if not any("://" in api.name for api in file.api_resources):
        message = "no API is named by its URL, which MCP clients send as resource (RFC 8707)"
        yield Finding(("api_resources",), message, "name: https://mcp.example.com/mcp")
    offline = any(client.allow_offline_access for client in file.clients)
    if not offline and OFFLINE_ACCESS not in file.registration.allowed_scopes:
        message = "no client may ask for offline_access, so discovery does not list it"
        yield Finding(("clients",), message, "set allow_offline_access: true on one")


_OAUTH21 = (of_each_client(client_uses_protected_codes, stolen_refresh_tokens_are_noticed),)
_FAPI2 = (file_meets_fapi2, of_each_client(client_uses_protected_codes, client_meets_fapi2))
_PUSHED = ("{}", (Feature.PAR,))
_BOUND = ("tokens that are bound by {} or {}", (Feature.DPOP, Feature.MUTUAL_TLS))
_ENFORCED = ("{}", (Feature.PROFILES,))
"""No client meets a profile until the service holds it to that for every request."""
_NEEDED: Mapping[str, tuple[tuple[str, tuple[Feature, ...]], ...]] = {
    "fapi2_security": (_PUSHED, _BOUND, _ENFORCED),
    "fapi2_message_signing": (_PUSHED, _BOUND, _ENFORCED, ("{}", (Feature.JARM,))),
}
"""The features that a profile needs, one of each pair, and how a message names them."""
_RULES: Mapping[str, tuple[FileRule, ...]] = {
    "oauth21": _OAUTH21,
    "fapi2_security": _FAPI2,
    "fapi2_message_signing": _FAPI2,
    "mcp": (*_OAUTH21, file_meets_mcp),
}
PROFILES = (*_RULES, "fapi2")


def profile_rules(name: str, catalogue: Catalogue) -> tuple[FileRule, ...]:
    """Return the rules of a profile; fapi2 is fapi2_security.

    No registry meets a profile until this server supports its features.
    """
    profile = "fapi2_security" if name == "fapi2" else name
    missing = [
        words.format(*features)
        for words, features in _NEEDED.get(profile, ())
        if catalogue.features.isdisjoint(features)
    ]
    if not missing:
        return _RULES[profile]
    message = f"{profile} cannot be met yet: this server does not support {'; '.join(missing)}"
    finding = Finding((), message, "no setting of a client changes that")
    return (lambda _: [finding], *_RULES[profile])
