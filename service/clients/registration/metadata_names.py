"""Lists the client metadata by their registered names, with their defaults (RFC 7591 §2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.config.rules.registered_client import ENCRYPTED, SIGNED, SYMMETRIC

KEYS: Mapping[str, str] = {
    "grant_types": "allowed_grant_types",
    "response_types": "allowed_response_types",
}
"""Metadata that have another name in config.yaml."""

REGISTRABLE = frozenset(
    {
        # RFC 7591 §2
        *("redirect_uris", "grant_types", "response_types", "token_endpoint_auth_method"),
        *("client_name", "client_uri", "logo_uri", "policy_uri", "tos_uri", "contacts"),
        *("jwks", "jwks_uri", "software_id", "software_version"),
        # OpenID Connect Registration §2
        *("application_type", "subject_type", "sector_identifier_uri", "default_max_age"),
        *("require_auth_time", "default_acr_values", "initiate_login_uri", "request_uris"),
        *("id_token_signed_response_alg", "userinfo_signed_response_alg"),
        *("id_token_encrypted_response_alg", "id_token_encrypted_response_enc"),
        *("userinfo_encrypted_response_alg", "userinfo_encrypted_response_enc"),
        *("request_object_signing_alg", "token_endpoint_auth_signing_alg"),
        *("request_object_encryption_alg", "request_object_encryption_enc"),
        # The logout specifications
        *("post_logout_redirect_uris", "frontchannel_logout_uri", "backchannel_logout_uri"),
        *("frontchannel_logout_session_required", "backchannel_logout_session_required"),
        # RFC 8705, 9101, 9126, 9449, 9701, JARM
        *("tls_client_certificate_bound_access_tokens", "require_signed_request_object"),
        *("require_pushed_authorization_requests", "dpop_bound_access_tokens"),
        *("introspection_signed_response_alg", "authorization_signed_response_alg"),
    }
)
"""All others are ignored (RFC 7591 §2), except `scope` and `software_statement`."""

TAGGED = re.compile(
    r"(client_name|client_uri|logo_uri|policy_uri|tos_uri)#[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}"
)
"""Texts for users may have a language tag (OpenID Connect Registration §2.1)."""

_LOGOUT_URIS = ("frontchannel_logout_uri", "backchannel_logout_uri")


def with_defaults(sent: Mapping[str, object], *, algorithms: tuple[str, ...]) -> dict[str, object]:
    """Add the defaults for what the client has not sent (OpenID Connect Registration §2)."""
    signing = "RS256" if "RS256" in algorithms else algorithms[0]
    metadata: dict[str, object] = {
        "application_type": "web",
        "grant_types": ["authorization_code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "subject_type": "public",
        "id_token_signed_response_alg": signing,
        "require_auth_time": False,
        **sent,
    }
    grant_types = metadata["grant_types"]
    has_code = isinstance(grant_types, list) and "authorization_code" in grant_types
    metadata.setdefault("response_types", ["code"] if has_code else [])
    for alg in ENCRYPTED:
        if alg in metadata:
            metadata.setdefault(alg.removesuffix("_alg") + "_enc", "A128CBC-HS256")
    for uri in _LOGOUT_URIS:
        if uri in metadata:
            metadata.setdefault(uri.removesuffix("_uri") + "_session_required", False)
    return metadata


def computes_with_secret(metadata: Mapping[str, object]) -> bool:
    """Return whether an algorithm of the client computes with its secret (OIDC Core §10)."""
    if any(str(metadata.get(name)).startswith("HS") for name in SIGNED):
        return True
    return any(metadata.get(name) in SYMMETRIC for name in ENCRYPTED)
