"""Rules on the keys that a client's algorithms need, at the client and here (OIDC Core §10, §16.19)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from service.config.problem import Finding
from service.config.rules.registered_client import ENCRYPTED, SIGNED, SYMMETRIC
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile

_TO_US = "request_object_encryption_alg"
_USUAL = ("RSA-OAEP-256", "ECDH-ES")
"""What a key file with use: enc is for that does not say it."""

_SECRET_BYTES = 32
"""The least for a key that is made of a secret."""


def secrets_are_long_enough(client: ClientEntry) -> Iterator[Finding]:
    """A secret that is a key has the length of one (RFC 7518 §3.2, OIDC Core §16.19)."""
    lengths = [len(secret.value.encode()) for secret in client.client_secrets if secret.value]
    named: dict[str, str] = {name: getattr(client, name) or "" for name in (*SIGNED, *ENCRYPTED)}
    if client.token_endpoint_auth_method == "client_secret_jwt":
        named["token_endpoint_auth_method"] = client.token_endpoint_auth_signing_alg or "HS256"
    for name, alg in named.items():
        symmetric = alg.startswith("HS") or alg in SYMMETRIC
        least = int(alg[2:]) // 8 if alg.startswith("HS") else _SECRET_BYTES
        if symmetric and lengths and max(lengths) < least:
            message = f"{alg} needs a client secret of at least {least} bytes (OIDC Core §16.19)"
            yield Finding((name,), message, "openssl rand -base64 48")


def encryption_has_a_key(client: ClientEntry) -> Iterator[Finding]:
    """What only the client shall read is encrypted to its key, or by its secret (OIDC Core §10.2)."""
    for name in ENCRYPTED:
        alg: str | None = getattr(client, name)
        if alg in SYMMETRIC:
            if not any(secret.value for secret in client.client_secrets):
                message = f"{alg} needs a client secret with its value (OIDC Core §10.2)"
                yield Finding((name,), message)
        elif alg is not None and name != _TO_US and not _publishes_key(client, alg):
            message = f"{alg} needs a key for it in jwks, or jwks_uri (OIDC Core §10.2)"
            yield Finding((name,), message)


def _publishes_key(client: ClientEntry, alg: str) -> bool:
    if client.jwks is None:
        return client.jwks_uri is not None
    kty, keys = "RSA" if alg.startswith("RSA") else "EC", client.jwks.get("keys")
    listed = cast("list[object]", keys) if isinstance(keys, list) else []
    known = [cast("dict[str, object]", key) for key in listed if isinstance(key, dict)]
    return any(
        key.get("kty") == kty and key.get("use", "enc") == "enc" and key.get("alg", alg) == alg
        for key in known
    )


def request_objects_can_be_decrypted(file: ConfigurationFile) -> Iterator[Finding]:
    """Among the operator's own keys is one for each algorithm that a client encrypts to us with (OIDC Core §6.1)."""
    if file.signing.source != "files":
        return
    files = [key for key in file.signing.keys if key.use == "enc"]
    held = {alg for key in files for alg in ([key.algorithm] if key.algorithm else _USUAL)}
    for at, client in enumerate(file.clients):
        alg = client.request_object_encryption_alg
        if alg is not None and alg not in SYMMETRIC and alg not in held:
            message = f"{alg} needs a key with use: enc in signing.keys"
            yield Finding(("clients", at, _TO_US), message)
