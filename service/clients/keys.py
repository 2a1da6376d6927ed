"""Verifies, signs, encrypts and decrypts with a client's published keys or its secret (OIDC Core §10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import orjson

from service.clients.client_http import ClientHttp
from service.clients.published_keys import PublishedKeys
from service.keys.algorithms import ENCRYPTION_ALGORITHMS, MAC_ALGORITHMS
from service.keys.foreign_keys import ForeignKeys, UnknownKey, accepted_header, verify_foreign
from service.keys.jose import JwtRefused, Key, VerifiedClaims, claims_signed_by
from service.keys.jwe import (
    CONTENT_ENCRYPTION,
    SECRET_ALGORITHMS,
    accepted_encryption_header,
    decrypt,
    encrypt,
    encryption_key_of_secret,
)
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.errors import UnauthorizedClient

_NO_KEYS = ForeignKeys(())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKeys:
    """A secret is a key only if the registration has its value."""

    ring: KeyRing
    published: PublishedKeys
    http: ClientHttp
    now: Callable[[], int]

    async def verify(
        self, token: str, client: Client, *, algorithms: Collection[str], typ: Collection[str]
    ) -> VerifiedClaims:
        """Return the claims of a JWT that this client signed; raise JwtRefused otherwise (RFC 7515 §5.2)."""
        alg = str(accepted_header(token, algorithms=algorithms, typ=typ)["alg"])
        if alg in MAC_ALGORITHMS:
            return self._verify_by_secret(token, client, alg)
        keys = await self._find_keys(client)
        try:
            return verify_foreign(token, keys, algorithms=algorithms, typ=typ)
        except UnknownKey:
            renewed = await self._find_keys(client, renewed=True)
            if renewed == keys:
                raise
            return verify_foreign(token, renewed, algorithms=algorithms, typ=typ)

    def signing_key(self, client: Client, alg: str | None) -> Key:
        """Return the key to sign for this client: the service's own, or the client's secret (OIDC Core §10.1)."""
        if alg is None or alg not in MAC_ALGORITHMS:
            return self.ring.signing_key(alg)
        key = next(self._keys_of_secrets(client, alg), None)
        if key is None:
            raise UnauthorizedClient(f"the client has no secret that can be a key for {alg}")
        return key

    async def encrypt(
        self, content: bytes, client: Client, *, alg: str, enc: str, cty: str | None
    ) -> str:
        """Return a JWE for this client; raise UnauthorizedClient if it has no key (OIDC Core §10.2)."""
        if alg in SECRET_ALGORITHMS:
            key = next(self._encryption_keys_of_secrets(client, alg, enc), None)
        else:
            keys = await self._find_keys(client)
            key = keys.find_recipient(alg)
            key = key or (await self._find_keys(client, renewed=True)).find_recipient(alg)
        if key is None:
            raise UnauthorizedClient(f"the client has no key that {alg} can encrypt to")
        try:
            return encrypt(content, key, enc=enc, cty=cty)
        except ValueError as error:
            raise UnauthorizedClient(f"the client's key does not fit {alg}") from error

    async def decrypt(self, token: str, client: Client | None) -> str:
        """Decrypt by a key of the service or the client's secret; raise JwtRefused otherwise (OIDC Core §6.1, §10.2)."""
        header = accepted_encryption_header(token)
        keys: Iterable[Key] = self.ring.decryption_keys(header.alg, header.kid)
        if header.alg in SECRET_ALGORITHMS:
            keys = self._encryption_keys_of_secrets(client, header.alg, header.enc)
        for key in keys:
            try:
                return (await decrypt(token, key)).decode()
            except (JwtRefused, UnicodeDecodeError):
                continue
        raise JwtRefused("no known key decrypts it")

    def _encryption_keys_of_secrets(
        self, client: Client | None, alg: str, enc: str
    ) -> Iterator[Key]:
        for secret in self._secret_values(client) if client else ():
            yield encryption_key_of_secret(secret, alg, enc)

    def _verify_by_secret(self, token: str, client: Client, alg: str) -> VerifiedClaims:
        for key in self._keys_of_secrets(client, alg):
            try:
                return claims_signed_by(key, token)
            except JwtRefused:
                continue
        raise JwtRefused(f"no secret of the client that fits {alg} has signed it")

    def _keys_of_secrets(self, client: Client, alg: str) -> Iterator[Key]:
        for secret in self._secret_values(client):
            if len(secret.encode()) >= MAC_ALGORITHMS[alg]:
                yield Key.from_secret(secret, alg)

    def _secret_values(self, client: Client) -> Iterator[str]:
        """Yield the values of unexpired secrets in the order of the registration."""
        for secret in client.client_secrets:
            is_expired = secret.expires_at is not None and secret.expires_at <= self.now()
            if secret.value is not None and not is_expired:
                yield secret.value

    async def _find_keys(self, client: Client, *, renewed: bool = False) -> ForeignKeys:
        if client.jwks is not None:
            return _parse_registered_keys(json.dumps(client.jwks))
        if client.jwks_uri is None:
            return _NO_KEYS
        find = self.published.find_renewed if renewed else self.published.find
        return await find(client.jwks_uri, self.http.choose(client)) or _NO_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAlgorithms:
    ring: KeyRing
    registry: LiveRegistry
    registration: bool
    """Whether clients may register, with any keys."""

    def metadata(self, name: str) -> Mapping[str, object]:
        """Return those of `id_token` or `userinfo`; encryption only if some client can decrypt."""
        clients = self.registry.current.clients.values()
        secrets = [secret.value or "" for client in clients for secret in client.client_secrets]
        longest = max((len(secret.encode()) for secret in secrets), default=0)
        if self.registration:  # the service generates secrets that are long enough for all
            longest = max(MAC_ALGORITHMS.values())
        macs = [alg for alg, length in MAC_ALGORITHMS.items() if length <= longest]
        signing = {f"{name}_signing_alg_values_supported": [*self.ring.algorithms, *macs]}
        has_keys = self.registration or any(client.jwks or client.jwks_uri for client in clients)
        encryption = [
            *(ENCRYPTION_ALGORITHMS if has_keys else ()),
            *(SECRET_ALGORITHMS if longest else ()),
        ]
        if not encryption:
            return signing
        return {
            **signing,
            f"{name}_encryption_alg_values_supported": encryption,
            f"{name}_encryption_enc_values_supported": list(CONTENT_ENCRYPTION),
        }


@lru_cache(maxsize=500)  # parsing keys is slow
def _parse_registered_keys(jwks: str) -> ForeignKeys:
    try:
        return ForeignKeys.from_jwks(orjson.loads(jwks))
    except ValueError:
        return _NO_KEYS
