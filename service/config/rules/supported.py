"""Rules on names that the schema accepts and that the catalogue says this version does not support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from service.config.problem import Finding, Location, warning
from service.config.schema.findings import nearest
from service.model.catalogue import Catalogue, Credential
from service.model.client_entry import ClientEntry

GRANT_TYPES: Mapping[str, str] = {
    "authorization_code": "the authorization code grant (RFC 6749 §4.1)",
    "client_credentials": "the client credentials grant (RFC 6749 §4.4)",
    "implicit": "the implicit grant (RFC 6749 §4.2)",
    "password": "the password grant (RFC 6749 §4.3)",
    "refresh_token": "refresh tokens (RFC 6749 §6)",
    "urn:ietf:params:oauth:grant-type:device_code": "the device grant (RFC 8628)",
    "urn:ietf:params:oauth:grant-type:jwt-bearer": "the JWT bearer grant (RFC 7523)",
    "urn:ietf:params:oauth:grant-type:token-exchange": "token exchange (RFC 8693)",
    "urn:openid:params:grant-type:ciba": "CIBA",
}
"""The grant types of specifications, which no extension may serve."""
AUTH_METHODS: Mapping[str, Credential] = {
    "client_secret_basic": Credential.SECRET,
    "client_secret_post": Credential.SECRET,
    "client_secret_jwt": Credential.SECRET_VALUE,
    "private_key_jwt": Credential.KEYS,
    "tls_client_auth": Credential.CERTIFICATE_SUBJECT,
    "self_signed_tls_client_auth": Credential.CERTIFICATE,
    "none": Credential.NOTHING,
}
"""The client authentication methods of specifications."""


def client_uses_supported_names(client: ClientEntry, catalogue: Catalogue) -> Iterator[Finding]:
    """Warn of grant types and methods that this version does not support; refuse unknown names."""
    for grant_type in sorted(client.allowed_grant_types - catalogue.grant_types):
        if grant_type in GRANT_TYPES:
            yield _not_supported(("allowed_grant_types", grant_type), GRANT_TYPES[grant_type])
    method, mode = client.token_endpoint_auth_method, client.default_response_mode
    if method is not None and method not in catalogue.client_auth_methods:
        location = ("token_endpoint_auth_method",)
        if method in AUTH_METHODS:
            yield _not_supported(location, f"authentication by {method}")
        else:
            yield _report_unknown(location, method, {*catalogue.client_auth_methods, *AUTH_METHODS})
    if mode is not None and mode not in catalogue.response_modes:
        yield _report_unknown(("default_response_mode",), mode, catalogue.response_modes)


def _not_supported(location: Location, feature: str) -> Finding:
    hint = "requests that need it are refused; remove it"
    return warning(location, f"not supported yet: {feature}", hint)


def _report_unknown(location: Location, name: str, known: Iterable[str]) -> Finding:
    hint = nearest(name, known) or f"known: {', '.join(sorted(known))}"
    return Finding(location, "this value is not supported", hint)
