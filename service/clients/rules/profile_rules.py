"""The rules of the profiles: each finds what is weaker in a client, or in the rest of the file, than a profile demands.

OAuth 2.1 is draft-ietf-oauth-v2-1; FAPI 2.0 are its Security Profile and Message Signing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from service.clients.rules.grants_and_uris import MAX_CODE_LIFETIME
from service.config.problem import Finding
from service.config.registry import response_types
from service.config.schema.file import ConfigurationFile
from service.keys.algorithms import keys_in
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked
from service.model.profiles import FAPI2_ALGORITHMS, FAPI2_METHODS
from service.model.resources import ApiResourceEntry
from service.protocol.octets import decode_base64url
from service.protocol.uris import is_loopback, is_unencrypted, split_uri

_ALLOWED = "the profile allows PS256, ES256 and EdDSA"
_WEAK_CERTIFICATE = "the profile requires certificates with RSA keys of at least 2048 bits, EC keys of at least 224, or Ed25519"
_LEAST_SKEW, _MOST_SKEW = 10, 60
_MAX_PUSHED_LIFETIME = 599
_MIN_RSA_BYTES = 256

Clients = Iterable[ClientEntry]
"""Those that are held to the profile."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A demand of one or more profiles."""

    name: str
    says: str
    """With its place in the specification."""
    profiles: frozenset[str]
    of_client: Callable[[ClientEntry], Iterable[Finding]] | None = None
    of_file: Callable[[ConfigurationFile, Clients], Iterable[Finding]] | None = None
    whole_registry: bool = False
    """Whether it is for `check --profile` only."""
    enforced: tuple[str, ...] = ()
    """The files that enforce it at run time."""


def only_codes(client: ClientEntry) -> Iterator[Finding]:
    """No grant type and no response type but those of codes is one of a profile."""
    for name in sorted(client.allowed_grant_types & {"implicit", "password"}):
        message = f"{name} is not part of the profile"
        yield Finding(("allowed_grant_types", name), message, "OAuth 2.1 §10")
    for name in sorted(response_types(client) - {"code"}):
        message = f"{name} is not part of the profile"
        yield Finding(("allowed_response_types", name), message, "use code")


def only_s256(client: ClientEntry) -> Iterator[Finding]:
    """Every code has a challenge, which shows nothing of its verifier."""
    if "code" not in response_types(client):
        return
    if not client.require_pkce:
        yield Finding(("require_pkce",), "the profile requires PKCE", "set true")
    if client.allow_plain_text_pkce:
        yield Finding(("allow_plain_text_pkce",), "the profile allows S256 only", "set false")


def encrypted_redirect_uris(client: ClientEntry) -> Iterator[Finding]:
    """Nobody on the way sees a code; http is for loopback."""
    for at, uri in enumerate(client.redirect_uris):
        if is_unencrypted(uri):
            yield Finding(("redirect_uris", at), "the profile requires https")


def https_redirect_uris(client: ClientEntry) -> Iterator[Finding]:
    """A redirect URI is https, or loopback for a native app."""
    for at, uri in enumerate(client.redirect_uris):
        parts = split_uri(uri)
        on_device = client.application_type == "native" and is_loopback(
            (parts and parts.hostname) or ""
        )
        if parts is not None and parts.scheme != "https" and not on_device:
            yield Finding(("redirect_uris", at), "the profile requires https")


def noticed_thefts_of_refresh_tokens(client: ClientEntry) -> Iterator[Finding]:
    """A public client's refresh tokens rotate or are bound to a key."""
    bound = client.dpop_bound_access_tokens or client.tls_client_certificate_bound_access_tokens
    if not client.require_client_secret and client.refresh_token_usage == "reuse" and not bound:
        message = "a public client's refresh tokens must be one_time or bound to a key"
        yield Finding(("refresh_token_usage",), message, "OAuth 2.1 §4.3.1")


def confidential_client(client: ClientEntry) -> Iterator[Finding]:
    """The client can keep a key."""
    if not client.require_client_secret:
        yield Finding(("require_client_secret",), "the profile is for confidential clients")


def strong_authentication(client: ClientEntry) -> Iterator[Finding]:
    """The client authenticates by a key, which never leaves it."""
    if client.token_endpoint_auth_method not in FAPI2_METHODS:
        message = "the profile requires private_key_jwt or mutual TLS (FAPI 2.0 Security Profile §5.3.2.1)"
        yield Finding(
            ("token_endpoint_auth_method",), message, f"one of {', '.join(sorted(FAPI2_METHODS))}"
        )


def algorithms_of_the_client(client: ClientEntry) -> Iterator[Finding]:
    """No registered signature algorithm is a weaker one."""
    for name in marked(Mark.SIGNATURE):
        algorithm: str | None = getattr(client, name)
        if algorithm is not None and algorithm not in FAPI2_ALGORITHMS:
            yield Finding((name,), _ALLOWED)


def algorithms_of_the_service(file: ConfigurationFile, clients: Clients) -> Iterator[Finding]:
    """The service can sign what the client gets, and no API demands a weaker signature."""
    if FAPI2_ALGORITHMS.isdisjoint(file.signing.algorithms):
        yield Finding(("signing", "algorithms"), _ALLOWED, "add ES256")
    for at, api in _apis_of(file, clients):
        algorithm = api.access_token_signing_algorithm
        if algorithm is not None and algorithm not in FAPI2_ALGORITHMS:
            yield Finding(("api_resources", at, "access_token_signing_algorithm"), _ALLOWED)


def algorithms_of_everybody(file: ConfigurationFile, _: Clients) -> Iterator[Finding]:
    """The service has no key for a weaker signature at all."""
    for at, algorithm in enumerate(file.signing.algorithms):
        if algorithm not in FAPI2_ALGORITHMS:
            yield Finding(("signing", "algorithms", at), _ALLOWED)


def long_keys(client: ClientEntry) -> Iterator[Finding]:
    """An RSA key has 2048 bits at least, an EC key 224, and EdDSA is by Ed25519; in certificates, too."""
    from service.model.certificate import der_in_pem, der_in_x5c, has_fapi_key  # noqa: PLC0415 - X.509, for few clients

    for at, key in keys_in(client.jwks):
        modulus, certificate = key.get("n"), der_in_x5c(key.get("x5c"))
        if isinstance(modulus, str) and 0 < _length(modulus) < _MIN_RSA_BYTES:
            message = "the profile requires RSA keys of at least 2048 bits"
            yield Finding(("jwks", "keys", at), message)
        elif certificate is not None and not has_fapi_key(certificate):
            yield Finding(("jwks", "keys", at), _WEAK_CERTIFICATE)
    for at, text in enumerate(client.self_signed_certificates):
        certificate = der_in_pem(text)
        if certificate is not None and not has_fapi_key(certificate):
            yield Finding(("self_signed_certificates", at), _WEAK_CERTIFICATE)


def bound_tokens(client: ClientEntry) -> Iterator[Finding]:
    """A stolen token is of no use without the client's key."""
    if not (client.dpop_bound_access_tokens or client.tls_client_certificate_bound_access_tokens):
        message = "the profile requires tokens that are bound by DPoP or mutual TLS"
        hint = "set true, or tls_client_certificate_bound_access_tokens"
        yield Finding(("dpop_bound_access_tokens",), message, hint)


def pushed_requests(client: ClientEntry) -> Iterator[Finding]:
    """The browser carries no authorization request, only its name for a few minutes."""
    location = ("require_pushed_authorization_requests",)
    if "code" in response_types(client) and not client.require_pushed_authorization_requests:
        yield Finding(location, "the profile requires pushed requests", "set true")
    if client.pushed_authorization_lifetime > _MAX_PUSHED_LIFETIME:
        message = "the profile allows less than 600 seconds"
        yield Finding(("pushed_authorization_lifetime",), message)


def no_codes(client: ClientEntry) -> Iterator[Finding]:
    """A client that sends browsers here needs the rules for that."""
    if "authorization_code" in client.allowed_grant_types:
        message = "authorization_code is not part of the profile"
        hint = "remove it, or use fapi2_security, which has the rules of CIBA, too"
        yield Finding(("allowed_grant_types", "authorization_code"), message, hint)


def short_codes(client: ClientEntry) -> Iterator[Finding]:
    """A code is redeemed within a minute."""
    if client.authorization_code_lifetime > MAX_CODE_LIFETIME:
        yield Finding(("authorization_code_lifetime",), "the profile allows 60 seconds at most")


def lasting_refresh_tokens(client: ClientEntry) -> Iterator[Finding]:
    """A refresh token that is bound to its client does not rotate."""
    if client.allow_offline_access and client.refresh_token_usage != "reuse":
        yield Finding(("refresh_token_usage",), "the profile forbids rotation", "set reuse")


def clock_skew(file: ConfigurationFile, _: Clients) -> Iterator[Finding]:
    """JWTs of 10 seconds from the future are accepted, and none of more than 60."""
    if not _LEAST_SKEW <= file.server.clock_skew <= _MOST_SKEW:
        yield Finding(("server", "clock_skew"), "the profile allows 10 to 60 seconds")


def encrypted_issuer(file: ConfigurationFile, _: Clients) -> Iterator[Finding]:
    """The issuer is https, even on loopback."""
    if not file.issuer.startswith("https:"):
        yield Finding(("issuer",), "the profile requires https")


def signed_requests(client: ClientEntry) -> Iterator[Finding]:
    """No request counts that the client has not signed."""
    if "code" in response_types(client) and not client.require_signed_request_object:
        message = "the profile requires signed requests"
        yield Finding(("require_signed_request_object",), message, "set true")


def signed_responses(client: ClientEntry) -> Iterator[Finding]:
    """Authorization responses are JWTs by default (JARM)."""
    mode, options = client.default_response_mode or "", client.profile_options
    if "code" not in response_types(client) or (options and options.response == "plain"):
        return
    if mode.rpartition(".")[2] != "jwt":
        message = "the profile requires signed responses (JARM)"
        hint = "set jwt, or profile_options: {response: plain}"
        yield Finding(("default_response_mode",), message, hint)


def signed_introspection(file: ConfigurationFile, clients: Clients) -> Iterator[Finding]:
    """The APIs of the client's scopes get signed introspection responses (RFC 9701)."""
    for at, api in _apis_of(file, clients):
        if not api.introspection_signed_response:
            message = "the profile of a client with its scopes requires signed introspection"
            yield Finding(
                ("api_resources", at, "introspection_signed_response"), message, "set true"
            )


def _apis_of(file: ConfigurationFile, clients: Clients) -> Iterator[tuple[int, ApiResourceEntry]]:
    scope = frozenset[str]().union(*(client.allowed_scopes for client in clients))
    for at, api in enumerate(file.api_resources):
        if scope & (frozenset({api.name}) if api.scopes is None else api.scopes):
            yield at, api


def _length(modulus: str) -> int:
    """Return the number of bytes of a number in base64url; 0 if it is not one."""
    try:
        return len(decode_base64url(modulus).lstrip(b"\0"))
    except ValueError:
        return 0
