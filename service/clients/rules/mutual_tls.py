"""Rules on client certificates: how they reach the service, and which clients need them (RFC 8705)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile, Settings
from service.keys.algorithms import keys_in
from service.model.client_entry import ClientEntry
from service.model.profiles import CERTIFICATE_SUBJECTS
from service.protocol.uris import is_unencrypted

CA_METHOD = "tls_client_auth"
SELF_SIGNED_METHOD = "self_signed_tls_client_auth"
_BOUND = "tls_client_certificate_bound_access_tokens"
_NO_PROXY = "the service's own TLS takes certificates of server.tls.client_ca only"
_SET_HEADER = "set server.client_certificate_header, behind a proxy that passes certificates on"


def methods_without_evidence(settings: Settings) -> frozenset[str]:
    """Return the authentication methods that no client can use with these settings."""
    server = settings.server
    without: set[str] = set()
    if not server.takes_certificates or settings.client_ca is None:
        without.add(CA_METHOD)
    if server.client_certificate_header is None:
        without.add(SELF_SIGNED_METHOD)
    return frozenset(without)


def certificates_reach_the_service(client: ClientEntry, settings: Settings) -> Iterator[Finding]:
    """A client that needs a certificate can show one (RFC 8705 §2, §3)."""
    server, method = settings.server, client.token_endpoint_auth_method
    needed = [(_BOUND, "true")] if client.tls_client_certificate_bound_access_tokens else []
    if method in {CA_METHOD, SELF_SIGNED_METHOD}:
        needed.insert(0, ("token_endpoint_auth_method", method))
    for name, value in needed:
        if not server.takes_certificates:
            message = f"{value} needs certificates of clients, and none can reach this service"
            yield Finding((name,), message, f"{_SET_HEADER}; or server.tls.mtls_port")
        elif value == CA_METHOD and settings.client_ca is None:
            message = f"{CA_METHOD} needs mtls.client_ca, the authorities whose certificates count"
            yield Finding((name,), message)
        elif server.client_certificate_header is None and value == SELF_SIGNED_METHOD:
            yield Finding((name,), f"{SELF_SIGNED_METHOD} needs a proxy: {_NO_PROXY}", _SET_HEADER)
        elif server.client_certificate_header is None and method != CA_METHOD:
            message = f"self-signed certificates need a proxy: {_NO_PROXY}"
            yield warning((name,), message, _SET_HEADER)


def each_certificate_reaches_the_service(file: ConfigurationFile) -> Iterator[Finding]:
    """The same for the clients of the file."""
    for at, client in enumerate(file.clients):
        for finding in certificates_reach_the_service(client, file):
            yield finding.below("clients", at)


def certificate_names_are_one(client: ClientEntry) -> Iterator[Finding]:
    """A client has one name in certificates (RFC 8705 §2.1.2), and its tokens one kind of key."""
    given = [name for name in CERTIFICATE_SUBJECTS if getattr(client, name)]
    for name in given[1:]:
        message = f"{given[0]} is given too; only one may be (RFC 8705 §2.1.2)"
        yield Finding((name,), message)
    if client.dpop_bound_access_tokens and client.tls_client_certificate_bound_access_tokens:
        message = "tokens cannot be bound to a certificate and, by dpop_bound_access_tokens, a key"
        yield Finding((_BOUND,), message, "choose one")


def holds_certificate(client: ClientEntry) -> bool:
    """Return whether a self-signed certificate of the client is registered, or may be behind jwks_uri."""
    if client.self_signed_certificates or client.jwks_uri is not None:
        return True
    from service.model.certificate import der_in_x5c  # noqa: PLC0415 - X.509, for few clients

    return any(der_in_x5c(key.get("x5c")) is not None for _, key in keys_in(client.jwks))


def own_tls_asks_for_certificates(file: ConfigurationFile) -> Iterator[Finding]:
    """The port for certificates is one of its own, and knows the authorities."""
    tls, server = file.server.tls, file.server
    if tls is None:
        return
    at = ("server", "tls", "mtls_port")
    if tls.mtls_port is not None and tls.client_ca is None:
        yield Finding(at, "needs client_ca, the authorities whose certificates it asks for")
    if tls.mtls_port and tls.mtls_port in {server.port, server.management_port}:
        message = "is another port of this service, which must not ask browsers for certificates"
        yield Finding(at, message)
    if tls.client_ca is not None and not server.takes_certificates:
        message = "has no effect without mtls_port: no certificate is asked for"
        yield warning(("server", "tls", "client_ca"), message)


def certificate_settings_are_used(file: ConfigurationFile) -> Iterator[Finding]:
    """Settings on certificates have an effect, and clients reach the aliases over TLS (RFC 8705 §5)."""
    server, at = file.server, ("server", "mtls_base_url")
    if file.mtls.client_ca is not None and not server.takes_certificates:
        message = "has no effect, because no certificates of clients can reach this service"
        yield warning(("mtls", "client_ca"), message, _SET_HEADER)
    if server.mtls_base_url is None:
        return
    if is_unencrypted(server.mtls_base_url):
        yield Finding(at, "must be https, except on loopback")
    if "?" in server.mtls_base_url or "#" in server.mtls_base_url:
        yield Finding(at, "has neither query nor fragment")
    if not server.takes_certificates:
        message = "is published, but no certificates of clients can reach this service"
        yield warning(at, message, _SET_HEADER)


FILE_RULES = (
    each_certificate_reaches_the_service,
    own_tls_asks_for_certificates,
    certificate_settings_are_used,
)
