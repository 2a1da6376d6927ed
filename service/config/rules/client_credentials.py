"""Rules on how a client proves who it is, and on its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from service.config.problem import Finding, warning
from service.config.rules.registered_client import ENCRYPTED, SIGNED, SYMMETRIC
from service.config.rules.supported import AUTH_METHODS
from service.config.schema.client import ClientEntry
from service.model.catalogue import Catalogue, Credential

_ENCRYPTIONS = tuple(
    (name, name.removesuffix("_enc") + "_alg")
    for name in ClientEntry.model_fields
    if name.endswith("_enc")
)
_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
_PUBLIC_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("n", "e"),
    "EC": ("crv", "x", "y"),
    "OKP": ("crv", "x"),
}
"""What makes up a public key of each type (RFC 7518 §6.2.1, §6.3.1, RFC 8037 §2)."""


def _has_keys(client: ClientEntry) -> bool:
    return client.jwks is not None or client.jwks_uri is not None


def _has_certificate_subject(client: ClientEntry) -> bool:
    return any(
        (
            client.tls_client_auth_subject_dn,
            client.tls_client_auth_san_dns,
            client.tls_client_auth_san_uri,
            client.tls_client_auth_san_ip,
            client.tls_client_auth_san_email,
        )
    )


def confidential_client_has_a_credential(client: ClientEntry) -> Iterator[Finding]:
    """Who must authenticate has something to do it with (RFC 6749 §2.3)."""
    if not client.require_client_secret or client.allowed_grant_types <= {"implicit"}:
        return
    has_certificate = _has_certificate_subject(client) or client.self_signed_certificates
    if not (client.client_secrets or _has_keys(client) or has_certificate):
        message = "this client must authenticate, but has no secret, key or certificate"
        hint = (
            "`python -m service hash-secret`, or require_client_secret: false for a public client"
        )
        yield Finding(("client_secrets",), message, hint)


def public_client_has_no_secret(client: ClientEntry) -> Iterator[Finding]:
    """A public client's secret is never asked for (RFC 6749 §2.1)."""
    if not client.require_client_secret and client.client_secrets:
        message = "a public client's secrets are not asked for"
        yield warning(("client_secrets",), message, "set require_client_secret: true")


_IS_THERE: Mapping[Credential, Callable[[ClientEntry], bool]] = {
    Credential.SECRET: lambda client: bool(client.client_secrets),
    Credential.SECRET_VALUE: lambda client: any(one.value for one in client.client_secrets),
    Credential.KEYS: _has_keys,
    Credential.CERTIFICATE_SUBJECT: _has_certificate_subject,
    Credential.CERTIFICATE: lambda c: bool(c.self_signed_certificates) or _has_keys(c),
    Credential.NOTHING: lambda _: True,
}


def auth_method_fits_the_credentials(
    client: ClientEntry, catalogue: Catalogue
) -> Iterator[Finding]:
    """The one method that a client may use finds what it needs (RFC 7591 §2)."""
    method = client.token_endpoint_auth_method
    needed = {**AUTH_METHODS, **catalogue.client_auth_methods}.get(method or "")
    if needed is None:
        return
    location = ("token_endpoint_auth_method",)
    if (method == "none") is client.require_client_secret:
        other = "false" if client.require_client_secret else "true"
        yield Finding(location, f"{method} needs require_client_secret: {other}")
        return
    if not _IS_THERE[needed](client):
        yield Finding(location, f"{method} needs {needed.value}")


def keys_are_given_once(client: ClientEntry) -> Iterator[Finding]:
    """jwks and jwks_uri exclude each other (RFC 7591 §2)."""
    if client.jwks is not None and client.jwks_uri is not None:
        yield Finding(("jwks_uri",), "jwks is given too; only one may be (RFC 7591 §2)")


def jwks_holds_public_keys(client: ClientEntry) -> Iterator[Finding]:
    """A JWK set has a list of keys, each of them whole, and the client's private ones stay with the client (RFC 7517 §5)."""
    if client.jwks is None:
        return
    keys = client.jwks.get("keys")
    if not isinstance(keys, list):
        yield Finding(("jwks",), 'expected a JWK set, {"keys": [...]} (RFC 7517 §5)')
        return
    for at, key in enumerate(cast("list[object]", keys)):
        location = ("jwks", "keys", at)
        if not isinstance(key, dict):
            yield Finding(location, "expected a JSON Web Key (RFC 7517 §4)")
            continue
        members = cast("dict[str, object]", key)
        if _PRIVATE_MEMBERS & members.keys():
            yield Finding(location, "this key is private or symmetric; register the public part")
        elif missing := _missing_members(members):
            message = f"this key cannot be used: {', '.join(missing)} missing"
            yield Finding(location, message, "copy the whole public key (RFC 7517 §4)")


def _missing_members(key: Mapping[str, object]) -> list[str]:
    """Without them it verifies nothing; who reads a JWK set leaves such a key out (RFC 7517 §5)."""
    wanted = ("kty", *_PUBLIC_MEMBERS.get(str(key.get("kty")), ()))
    return [name for name in wanted if not key.get(name)]


def computes_with_secret(client: ClientEntry) -> bool:
    """Whether an algorithm of the client needs the secret itself, not its hash (OIDC Core §10)."""
    if client.token_endpoint_auth_method == "client_secret_jwt":
        return True
    named = [getattr(client, name) or "" for name in (*SIGNED, *ENCRYPTED)]
    if any(alg.startswith("HS") or alg in SYMMETRIC for alg in named):
        return True
    return client.require_signed_request_object and not _has_keys(client)


def symmetric_algorithms_know_the_secret(client: ClientEntry) -> Iterator[Finding]:
    """HMAC needs the secret itself, not its hash (OIDC Core §10.1)."""
    if any(secret.value for secret in client.client_secrets):
        return
    for name in SIGNED:
        algorithm: str | None = getattr(client, name)
        if algorithm is not None and algorithm.startswith("HS"):
            yield Finding(
                (name,), f"{algorithm} needs a client secret with its value (OIDC Core §10.1)"
            )


def signed_requests_can_be_verified(client: ClientEntry) -> Iterator[Finding]:
    """Who has to sign its requests has something to do it with (RFC 9101 §10.5)."""
    if not client.require_signed_request_object:
        return
    if client.request_object_signing_alg == "none":
        yield Finding(
            ("request_object_signing_alg",), "require_signed_request_object leaves no room for none"
        )
    if not _has_keys(client) and not any(secret.value for secret in client.client_secrets):
        message = "this client has no key, and no secret with its value, to sign with"
        yield Finding(("require_signed_request_object",), message, "add jwks or jwks_uri")


def encryption_has_an_algorithm(client: ClientEntry) -> Iterator[Finding]:
    """An `enc` without its `alg` encrypts nothing (OpenID Connect Registration §2)."""
    for enc, alg in _ENCRYPTIONS:
        if getattr(client, enc) and not getattr(client, alg):
            yield Finding((enc,), f"{alg} is missing (OpenID Connect Registration §2)")
