"""Rules on secrets, passwords, and the keys that a client's algorithms need (OIDC Core §10, §16.19, RFC 9101 §10.5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, cast

from service.clients.rules.mutual_tls import holds_certificate
from service.config.problem import Finding, Location, warning
from service.config.registry import response_types
from service.config.schema.file import ConfigurationFile
from service.keys.algorithms import (
    MAC_ALGORITHMS,
    PRIVATE_MEMBERS,
    PUBLIC_MEMBERS,
    SECRET_ALGORITHMS,
    SIGNING_ALGORITHMS,
    keys_in,
    uses_secret,
)
from service.model.catalogue import Catalogue, Credential
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked
from service.model.password_hash import UnusableHash, parse_hash
from service.model.profiles import CERTIFICATE_SUBJECTS
from service.model.resources import ApiResourceEntry
from service.model.secret import Secret
from service.protocol.params import MAX_LENGTH

_REQUEST_OBJECTS = "request_object_encryption_alg"
_USUAL = ("RSA-OAEP-256", "ECDH-ES")
"""The algorithms of a key file with use: enc that names none."""
_SECRET_BYTES = 32
"""The shortest secret that a key can be made of."""
_NOTHING_TO_SIGN_WITH = "this client has no key, and no secret with its value, to sign with"
_ADD_KEYS = "add jwks or jwks_uri"
_SECRETS = (("clients", "client_secrets"), ("api_resources", "secrets"), ("api_scopes", "secrets"))
_TWICE = "jwks is given too; only one may be (RFC 7591 §2)"
_FORMS = ("sha256", "sha512", "hash", "value")
_LONGEST = MAX_LENGTH["client_secret"]
_WRITE_HASH = "write sha256 in its place, which `token-service hash-secret` makes"


def _knows_secret(client: ClientEntry) -> bool:
    return any(secret.value for secret in client.client_secrets)


def _has_certificate_subject(client: ClientEntry) -> bool:
    return any(getattr(client, name) for name in CERTIFICATE_SUBJECTS)


_IS_REGISTERED: Mapping[Credential, Callable[[ClientEntry], object]] = {
    Credential.SECRET: lambda client: client.client_secrets,
    Credential.SECRET_VALUE: _knows_secret,
    Credential.KEYS: lambda client: client.has_keys,
    Credential.CERTIFICATE_SUBJECT: _has_certificate_subject,
    Credential.CERTIFICATE: holds_certificate,
    Credential.RULE: lambda _: True,  # the rules on these rules see to it
    Credential.NOTHING: lambda _: True,
}


class HasKeys(Protocol):
    """A party whose public keys may be in its entry."""

    @property
    def jwks(self) -> Mapping[str, object] | None: ...


def auth_method_fits_the_credentials(
    client: ClientEntry, catalogue: Catalogue
) -> Iterator[Finding]:
    """The client has the credential that its authentication method needs (RFC 7591 §2)."""
    method = client.token_endpoint_auth_method
    needed = catalogue.client_auth_methods.get(method or "")
    if needed is None:
        return
    location = ("token_endpoint_auth_method",)
    if (needed is Credential.NOTHING) is client.require_client_secret:
        other = "false" if client.require_client_secret else "true"
        yield Finding(location, f"{method} needs require_client_secret: {other}")
    elif not _IS_REGISTERED[needed](client):
        yield Finding(location, f"{method} needs {needed.value}")


def jwks_holds_public_keys(
    owner: HasKeys,
) -> Iterator[Finding]:
    """A JWK set is a list of whole keys, and private keys stay with their owner (RFC 7517 §4, §5)."""
    if owner.jwks is None:
        return
    keys = owner.jwks.get("keys")
    if not isinstance(keys, list):
        yield Finding(("jwks",), 'expected a JWK set, {"keys": [...]} (RFC 7517 §5)')
        return
    if not keys:
        yield warning(
            ("jwks", "keys"), "is empty: nothing can be verified or encrypted", "add a key"
        )
    for at, key in enumerate(cast("list[object]", keys)):
        location = ("jwks", "keys", at)
        if not isinstance(key, dict):
            yield Finding(location, "expected a JSON Web Key (RFC 7517 §4)")
            continue
        members = cast("dict[str, object]", key)
        wanted = ("kty", *PUBLIC_MEMBERS.get(str(members.get("kty")), ()))
        missing = [name for name in wanted if not members.get(name)]
        if PRIVATE_MEMBERS & members.keys():
            yield Finding(location, "this key is private or symmetric; register the public part")
        elif missing:
            message = f"this key cannot be used: {', '.join(missing)} missing"
            yield Finding(location, message, "copy the whole public key (RFC 7517 §4)")


def _algorithms(client: ClientEntry) -> dict[str, str]:
    """Return the algorithms that may compute with the client's secret, by their keys; empty texts for those that are not set."""
    return {
        key: getattr(client, key) or "" for key in (*marked(Mark.HMAC), *marked(Mark.ENCRYPTION))
    }


def computes_with_secret(client: ClientEntry) -> bool:
    """Return whether an algorithm of the client needs the secret itself, not its hash (OIDC Core §10)."""
    if client.token_endpoint_auth_method == "client_secret_jwt":
        return True
    if any(uses_secret(alg) for alg in _algorithms(client).values()):
        return True
    return client.require_signed_request_object and not client.has_keys


def symmetric_algorithms_know_the_secret(client: ClientEntry) -> Iterator[Finding]:
    """HMAC needs the secret itself, not its hash (OIDC Core §10.1)."""
    for name in () if _knows_secret(client) else marked(Mark.HMAC):
        algorithm: str = getattr(client, name) or ""
        if algorithm.startswith("HS"):
            message = f"{algorithm} needs a client secret with its value (OIDC Core §10.1)"
            yield Finding((name,), message)


def secrets_are_long_enough(client: ClientEntry) -> Iterator[Finding]:
    """A secret that serves as a key has the length of one (RFC 7518 §3.2, OIDC Core §16.19)."""
    lengths = [len(secret.value.encode()) for secret in client.client_secrets if secret.value]
    if not lengths:
        return
    named = _algorithms(client)
    if client.token_endpoint_auth_method == "client_secret_jwt":
        named["token_endpoint_auth_method"] = client.token_endpoint_auth_signing_alg or "HS256"
    for name, alg in named.items():
        least = MAC_ALGORITHMS.get(alg, _SECRET_BYTES)
        if uses_secret(alg) and max(lengths) < least:
            message = f"{alg} needs a client secret of at least {least} bytes (OIDC Core §16.19)"
            yield Finding((name,), message, "openssl rand -base64 48")


def encryption_has_an_algorithm_and_a_key(client: ClientEntry) -> Iterator[Finding]:
    """No `enc` is without its `alg`, and for each there is a key of the client, or its secret (OIDC Core §10.2)."""
    for enc in marked(Mark.CONTENT_ENCRYPTION):
        alg_name = f"{enc.removesuffix('_enc')}_alg"
        if getattr(client, enc) and not getattr(client, alg_name):
            yield Finding((enc,), f"{alg_name} is missing (OpenID Connect Registration §2)")
    for name in marked(Mark.ENCRYPTION):
        alg: str | None = getattr(client, name)
        if alg in SECRET_ALGORITHMS:
            if not _knows_secret(client):
                message = f"{alg} needs a client secret with its value (OIDC Core §10.2)"
                yield Finding((name,), message)
        elif alg is not None and name != _REQUEST_OBJECTS and not _publishes_key(client, alg):
            message = f"{alg} needs a key for it in jwks, or jwks_uri (OIDC Core §10.2)"
            yield Finding((name,), message)


def _publishes_key(owner: ClientEntry | ApiResourceEntry, alg: str) -> bool:
    if owner.jwks is None:
        return owner.jwks_uri is not None
    kty = "RSA" if alg.startswith("RSA") else "EC"
    return any(
        key.get("kty") == kty and key.get("use", "enc") == "enc" and key.get("alg", alg) == alg
        for _, key in keys_in(owner.jwks)
    )


def request_objects_can_be_decrypted(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's keys include one for each algorithm that request objects are encrypted by (OIDC Core §6.1)."""
    if file.signing.source != "files":
        return
    files = [key for key in file.signing.keys if key.use == "enc"]
    held = {alg for key in files for alg in ([key.algorithm] if key.algorithm else _USUAL)}
    for place, configured in enumerate(file.signing.encryption_algorithms):
        if configured not in held:
            message = f"{configured} needs a key with use: enc in signing.keys"
            yield Finding(("signing", "encryption_algorithms", place), message)
    for at, client in enumerate(file.clients):
        alg = client.request_object_encryption_alg
        if alg is not None and alg not in SECRET_ALGORITHMS and alg not in held:
            message = f"{alg} needs a key with use: enc in signing.keys"
            yield Finding(("clients", at, _REQUEST_OBJECTS), message)


def api_resources_can_decrypt(file: ConfigurationFile) -> Iterator[Finding]:
    """An API whose introspection responses are encrypted publishes a key for that, once (RFC 9701 §6)."""
    for at, api in enumerate(file.api_resources):
        for finding in (*jwks_holds_public_keys(api), *_judge_keys_of_api(api)):
            yield finding.below("api_resources", at)


def _judge_keys_of_api(api: ApiResourceEntry) -> Iterator[Finding]:
    alg = api.introspection_encrypted_response_alg
    if api.jwks is not None and api.jwks_uri is not None:
        yield Finding(("jwks_uri",), _TWICE)
    if alg is not None and not _publishes_key(api, alg):
        message = f"{alg} needs a key for it in jwks, or jwks_uri (RFC 9701 §6)"
        yield Finding(("introspection_encrypted_response_alg",), message)


def keys_can_be_used(client: ClientEntry) -> Iterator[Finding]:
    """Keys are given once (RFC 7591 §2), and signed requests can be verified (RFC 9101 §10.5)."""
    if client.jwks is not None and client.jwks_uri is not None:
        yield Finding(("jwks_uri",), _TWICE)
    if not client.require_signed_request_object:
        return
    if client.request_object_signing_alg == "none":
        message = "none is not possible with require_signed_request_object"
        yield Finding(("request_object_signing_alg",), message)
    if not client.has_keys and not _knows_secret(client):
        yield Finding(("require_signed_request_object",), _NOTHING_TO_SIGN_WITH, _ADD_KEYS)


def assertions_can_be_verified(client: ClientEntry) -> Iterator[Finding]:
    """A client that authenticates by a key has one for an algorithm that it may use (RFC 7518 §3.1, FAPI 2.0 Security Profile §5.4.1)."""
    keys = [key for _, key in keys_in(client.jwks)]
    if not keys or not _authenticates_by_key(client):
        return
    from service.keys.foreign_keys import ForeignKeys  # noqa: PLC0415 - JOSE, for few clients

    registered = client.token_endpoint_auth_signing_alg
    allowed = client.accepted_algorithms(SIGNING_ALGORITHMS, registered=registered)
    accepted = [alg for alg in SIGNING_ALGORITHMS if alg in allowed]
    usable = (ForeignKeys((dict(key),)).find(None, alg) for key in keys for alg in accepted)
    if accepted and not any(usable):  # another rule judges the algorithm that is registered
        message = f"no key in it can verify an assertion by {', '.join(accepted)}"
        hint = "add a public key for one of these, without use or with use: sig; RSA has 2048 bits or more"
        yield Finding(("jwks",), message, hint)


def _authenticates_by_key(client: ClientEntry) -> bool:
    if client.token_endpoint_auth_method is not None:
        return client.token_endpoint_auth_method == "private_key_jwt"
    has_other = client.client_secrets or _has_certificate_subject(client)
    return client.require_client_secret and not (has_other or holds_certificate(client))


def all_clients_can_sign(file: ConfigurationFile) -> Iterator[Finding]:
    """If every authorization request must be signed, each client that sends one can sign it (RFC 9101 §10.5)."""
    for at, client in enumerate(file.clients if file.require_signed_request_object else ()):
        judged = client.require_signed_request_object or not response_types(client)
        if not judged and not client.has_keys and not _knows_secret(client):
            yield Finding(("clients", at), _NOTHING_TO_SIGN_WITH, _ADD_KEYS)


def confidential_clients_have_credentials(file: ConfigurationFile) -> Iterator[Finding]:
    """A client that must authenticate has a credential, and a public one has none (RFC 6749 §2.1, §2.3)."""
    by_rule = file.clients_by_rule
    for at, client in enumerate(file.clients):
        has_other = client.template or client.client_id in by_rule
        for finding in _judge_credentials(client, has_other=has_other):
            yield finding.below("clients", at)


def _judge_credentials(client: ClientEntry, *, has_other: bool) -> Iterator[Finding]:
    if not client.require_client_secret and client.client_secrets:
        message = "a public client's secrets are not asked for"
        yield warning(("client_secrets",), message, "set require_client_secret: true")
    if not client.require_client_secret and client.may_revoke_subjects:
        message = "is not for public clients: anyone could send their requests"
        yield Finding(("may_revoke_subjects",), message, "remove it, or give the client a secret")
    has_credential = client.client_secrets or client.has_keys or _has_certificate_subject(client)
    needs_none = not client.require_client_secret or client.allowed_grant_types <= {"implicit"}
    if not (needs_none or has_credential or has_other or client.self_signed_certificates):
        message = "this client must authenticate, but has no secret, key or certificate"
        hint = "`token-service hash-secret`, or require_client_secret: false if it is public"
        yield Finding(("client_secrets",), message, hint)


def secrets_are_hashed_and_valid(file: ConfigurationFile) -> Iterator[Finding]:
    """A secret is given by its hash, or by its value where an algorithm needs that, and is still valid; an API has one (RFC 7662 §2.1)."""
    for place, secret in secrets_of(file):
        section, at, *_ = place
        for finding in _judge_secret(secret, getattr(file, str(section))[at]):
            yield finding.below(*place)
    by_rule = file.apis_by_rule
    for at, resource in enumerate(file.api_resources):
        if not resource.secrets and resource.name not in by_rule:
            message = "is empty, so this API cannot introspect tokens"
            hint = "`token-service new-secret` makes one"
            yield warning(("api_resources", at, "secrets"), message, hint)


def secrets_of(file: ConfigurationFile) -> Iterator[tuple[Location, Secret]]:
    """Yield every secret of clients and APIs with its place."""
    for section, key in _SECRETS:
        for at, entry in enumerate[object](getattr(file, section)):
            for index, secret in enumerate[Secret](getattr(entry, key)):
                yield (section, at, key, index), secret


def _judge_secret(secret: Secret, of: object) -> Iterator[Finding]:
    given = [each for each in _FORMS if getattr(secret, each) is not None]
    if len(given) != 1:
        hint = "`token-service hash-secret` makes sha256"
        yield Finding((), f"expected one of {', '.join(_FORMS)}", hint)
    if secret.hash is not None:
        yield from _judge_slow_hash(secret)
    if secret.expires_at is not None and secret.expires_at <= time.time():
        yield warning(("expires_at",), "this secret has expired and is not accepted", "remove it")
    if secret.value is not None and not (isinstance(of, ClientEntry) and computes_with_secret(of)):
        yield _judge_needless_value(secret.value, of)


def _judge_needless_value(value: str, of: object) -> Finding:
    message, hint = "an API needs the hash of its secret only", _WRITE_HASH
    if isinstance(of, ClientEntry):
        message = "no algorithm of this client needs the secret itself"
        hint = f"{_WRITE_HASH}; or set token_endpoint_auth_method: client_secret_jwt"
    if len(value) > _LONGEST:
        message = f"is longer than the {_LONGEST} characters that a request may send"
        hint = "`token-service new-secret` makes one"
    return warning(("value",), message, hint)


def _judge_slow_hash(secret: Secret) -> Iterator[Finding]:
    try:
        parse_hash(secret.hash or "")
    except UnusableHash as error:
        yield Finding(("hash",), str(error), "`token-service new-secret` makes a new secret")
        return
    if secret.expires_at is None:
        message = "a slow hash is for the time after a migration: nothing says until when"
        hint = "add a new secret with sha256, and expires_at here: the day by which its client has the new one"
    else:
        day = time.strftime("%Y-%m-%d", time.gmtime(secret.expires_at))
        message = f"a slow hash: its client needs a secret with sha256 until {day}"
        hint = "`token-service new-secret` makes one"
    yield warning(("hash",), message, hint)
