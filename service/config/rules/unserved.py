"""Warnings for what the schema accepts and this version does not serve; it fails closed at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.problem import Finding, Location, warning
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile

GRANT_TYPES: Mapping[str, str] = {
    "urn:ietf:params:oauth:grant-type:device_code": "the device grant (RFC 8628)",
    "urn:ietf:params:oauth:grant-type:jwt-bearer": "the JWT bearer grant (RFC 7523)",
    "urn:ietf:params:oauth:grant-type:token-exchange": "token exchange (RFC 8693)",
    "urn:openid:params:grant-type:ciba": "CIBA",
}
AUTH_METHODS = frozenset({"tls_client_auth", "self_signed_tls_client_auth"})
CLIENT_KEYS: Mapping[str, str] = {
    "require_pushed_authorization_requests": "pushed authorization requests (RFC 9126) are",
    "dpop_bound_access_tokens": "DPoP (RFC 9449) is",
    "tls_client_certificate_bound_access_tokens": "mutual TLS (RFC 8705) is",
    "tls_client_auth_subject_dn": "mutual TLS (RFC 8705) is",
    "tls_client_auth_san_dns": "mutual TLS (RFC 8705) is",
    "self_signed_certificates": "mutual TLS (RFC 8705) is",
    "authorization_signed_response_alg": "JARM is",
    "authorization_details_types": "rich authorization requests (RFC 9396) are",
}


def client_asks_for_what_is_not_served(client: ClientEntry) -> Iterator[Finding]:
    """What a client's registration relies on and does not get yet."""
    for grant_type in sorted(client.allowed_grant_types & GRANT_TYPES.keys()):
        yield _not_served(("allowed_grant_types", grant_type), f"{GRANT_TYPES[grant_type]} is")
    if client.token_endpoint_auth_method in AUTH_METHODS:
        location = ("token_endpoint_auth_method",)
        yield _not_served(location, f"authentication by {client.token_endpoint_auth_method} is")
    for name, what in CLIENT_KEYS.items():
        if getattr(client, name):
            yield _not_served((name,), what)


def file_asks_for_what_is_not_served(file: ConfigurationFile) -> Iterator[Finding]:
    """What the rest of the file relies on and does not get yet."""
    if file.server.tls is not None and file.server.tls.client_ca is not None:
        yield _not_served(("server", "tls", "client_ca"), "mutual TLS (RFC 8705) is")
    if file.server.client_certificate_header is not None:
        yield _not_served(("server", "client_certificate_header"), "mutual TLS (RFC 8705) is")


def _not_served(location: Location, what: str) -> Finding:
    return warning(location, f"{what} not served yet", "it fails closed")
