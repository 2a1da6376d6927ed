"""Rules on letting clients register themselves (RFC 7591 §5)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, warning
from service.config.rules.names import api_scope_names
from service.config.rules.uris import is_loopback, split_uri
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile


def registered_secrets_are_encrypted(file: ConfigurationFile) -> Iterator[Finding]:
    """Some registered clients' secrets have to be kept themselves, and every replica reads them."""
    shared = not file.store.url.startswith("memory:")
    missing = not file.signing.encryption_key and file.signing.source != "store"
    if file.registration.enabled and shared and missing:
        message = "is required for registration, whose clients' secrets it encrypts in the store"
        hint = "`python -m service new-key` makes one"
        yield Finding(("signing", "encryption_key"), message, hint)


def registered_clients_may_ask_for_something(file: ConfigurationFile) -> Iterator[Finding]:
    """A client without any scope gets no token."""
    if file.registration.enabled and not file.registration.allowed_scopes:
        message = "is empty, so a registered client can ask for nothing"
        yield warning(("registration", "allowed_scopes"), message, "list openid, for a start")


def open_registration_is_bounded(file: ConfigurationFile) -> Iterator[Finding]:
    """What anybody may write ends by itself, and opens nothing without a person (RFC 7591 §5)."""
    registration = file.registration
    if not registration.enabled or registration.initial_access_token_sha256:
        return
    if registration.client_lifetime is None:
        message = "registration is open to all, and nothing that they register ends by itself"
        yield warning(("registration", "client_lifetime"), message, "set one, such as 90d")
    for name in sorted(registration.allowed_scopes & api_scope_names(file)):
        message = f"anybody can register and get a token with the API scope {name} for itself"
        hint = "set initial_access_token_sha256"
        yield warning(("registration", "allowed_scopes", name), message, hint)


def third_parties_start_logins_safely(client: ClientEntry) -> Iterator[Finding]:
    """initiate_login_uri is https, or loopback, and takes parameters in its query (OIDC Core §4)."""
    uri = client.initiate_login_uri
    parts = split_uri(uri) if uri is not None else None
    if parts is None:
        return
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        yield Finding(("initiate_login_uri",), "must be https, except on loopback (OIDC Core §4)")
    if parts.fragment:
        yield Finding(("initiate_login_uri",), "has no fragment")
