"""Lists what the schema accepts and this version does not support, and warns of it; such requests are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.problem import Finding, Location, warning
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile

_CIBA = "CIBA"
_JARM = "JARM"
_MUTUAL_TLS = "mutual TLS (RFC 8705)"
_ENCRYPTED_INTROSPECTION = "encrypted introspection responses (RFC 9701 §6)"
GRANT_TYPES: Mapping[str, str] = {
    "urn:ietf:params:oauth:grant-type:device_code": "the device grant (RFC 8628)",
    "urn:ietf:params:oauth:grant-type:jwt-bearer": "the JWT bearer grant (RFC 7523)",
    "urn:ietf:params:oauth:grant-type:token-exchange": "token exchange (RFC 8693)",
    "urn:openid:params:grant-type:ciba": _CIBA,
}
AUTH_METHODS = frozenset({"tls_client_auth", "self_signed_tls_client_auth"})
CLIENT_KEYS: Mapping[str, str] = {
    "require_pushed_authorization_requests": "pushed authorization requests (RFC 9126)",
    "dpop_bound_access_tokens": "DPoP (RFC 9449)",
    "tls_client_certificate_bound_access_tokens": _MUTUAL_TLS,
    "tls_client_auth_subject_dn": _MUTUAL_TLS,
    "tls_client_auth_san_dns": _MUTUAL_TLS,
    "tls_client_auth_san_uri": _MUTUAL_TLS,
    "tls_client_auth_san_ip": _MUTUAL_TLS,
    "tls_client_auth_san_email": _MUTUAL_TLS,
    "self_signed_certificates": _MUTUAL_TLS,
    "authorization_signed_response_alg": _JARM,
    "authorization_encrypted_response_alg": _JARM,
    "authorization_encrypted_response_enc": _JARM,
    "introspection_encrypted_response_alg": _ENCRYPTED_INTROSPECTION,
    "introspection_encrypted_response_enc": _ENCRYPTED_INTROSPECTION,
    "authorization_details_types": "rich authorization requests (RFC 9396)",
    "backchannel_token_delivery_mode": _CIBA,
    "backchannel_client_notification_endpoint": _CIBA,
    "backchannel_authentication_request_signing_alg": _CIBA,
    "backchannel_user_code_parameter": _CIBA,
}
SERVER_KEYS: Mapping[str, str] = {"client_certificate_header": _MUTUAL_TLS}
TLS_KEYS: Mapping[str, str] = {"client_ca": _MUTUAL_TLS}


def client_uses_supported_features(client: ClientEntry) -> Iterator[Finding]:
    """Warn of what a client's registration relies on and does not get yet."""
    for grant_type in sorted(client.allowed_grant_types & GRANT_TYPES.keys()):
        yield _not_supported(("allowed_grant_types", grant_type), GRANT_TYPES[grant_type])
    method = client.token_endpoint_auth_method
    if method in AUTH_METHODS:
        yield _not_supported(("token_endpoint_auth_method",), f"authentication by {method}")
    yield from _keys_in_use(client, CLIENT_KEYS)


def file_uses_supported_features(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of what the rest of the file relies on and does not get yet."""
    for finding in _keys_in_use(file.server, SERVER_KEYS):
        yield finding.below("server")
    for finding in _keys_in_use(file.server.tls, TLS_KEYS):
        yield finding.below("server", "tls")


def _keys_in_use(section: object, features: Mapping[str, str]) -> Iterator[Finding]:
    for name, feature in features.items():
        if getattr(section, name, None):
            yield _not_supported((name,), feature)


def _not_supported(location: Location, feature: str) -> Finding:
    hint = "what needs it is refused at run time; remove it"
    return warning(location, f"not supported yet: {feature}", hint)
