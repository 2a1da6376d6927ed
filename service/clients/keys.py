"""What a client signs or encrypts, and what it is sent: by its published keys, or by its secret (OIDC Core §10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import orjson

from service.clients.http import ClientHttp
from service.clients.published_keys import PublishedKeys
from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.foreign_keys import ForeignKeys, UnknownKey, accepted_header, verify_foreign
from service.keys.jose import JwtRefused, Key, VerifiedClaims, claims_signed_by
from service.keys.jwe import (
    SECRET_ALGORITHMS,
    accepted_encryption_header,
    decrypt,
    encrypt,
    encryption_key_of_secret,
)
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.protocol.errors import UnauthorizedClient

_NO_KEYS = ForeignKeys(())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKeys:
    """Knows the keys of every client; its secret is a key only where its value is registered."""

    ring: KeyRing
    published: PublishedKeys
    http: ClientHttp
    now: Callable[[], int]

    async def verify(
        self, token: str, client: Client, *, algorithms: Collection[str], typ: Collection[str]
    ) -> VerifiedClaims:
        """The claims of a JWT that this client signed, or JwtRefused (RFC 7515 §5.2)."""
        alg = str(accepted_header(token, algorithms=algorithms, typ=typ)["alg"])
        if alg in MAC_ALGORITHMS:
            return self._verify_by_secret(token, client, alg)
        keys = await self._keys_of(client)
        try:
            return verify_foreign(token, keys, algorithms=algorithms, typ=typ)
        except UnknownKey:
            renewed = await self._renewed_keys_of(client)
            if renewed == keys:
                raise
            return verify_foreign(token, renewed, algorithms=algorithms, typ=typ)

    def signing_key(self, client: Client, alg: str | None) -> Key:
        """The key for what this client reads: the service's own, or the client's secret (OIDC Core §10.1).

        UnauthorizedClient where the secret is no key for this algorithm.
        """
        if alg is None or alg not in MAC_ALGORITHMS:
            return self.ring.signing_key(alg)
        key = next(self._secret_keys(client, alg), None)
        if key is None:
            raise UnauthorizedClient(f"the client has no secret that can be a key for {alg}")
        return key

    async def encrypt(
        self, content: bytes, client: Client, *, alg: str, enc: str, cty: str | None
    ) -> str:
        """A JWE that only this client can read; UnauthorizedClient where it has no key (OIDC Core §10.2)."""
        if alg in SECRET_ALGORITHMS:
            key = next(self._secret_encryption_keys(client, alg, enc), None)
        else:
            keys = await self._keys_of(client)
            key = keys.find_recipient(alg)
            key = key or (await self._renewed_keys_of(client)).find_recipient(alg)
        if key is None:
            raise UnauthorizedClient(f"the client has no key that {alg} can encrypt to")
        try:
            return encrypt(content, key, enc=enc, cty=cty)
        except ValueError as error:
            raise UnauthorizedClient(f"the client's key is none that {alg} can use") from error

    async def decrypt(self, token: str, client: Client | None) -> str:
        """What was encrypted to the service, or by this client's secret, or JwtRefused (OIDC Core §6.1, §10.2)."""
        header = accepted_encryption_header(token)
        keys: Iterable[Key] = self.ring.decryption_keys(header.alg, header.kid)
        if header.alg in SECRET_ALGORITHMS:
            keys = self._secret_encryption_keys(client, header.alg, header.enc)
        for key in keys:
            try:
                return (await decrypt(token, key)).decode()
            except (JwtRefused, UnicodeDecodeError):
                continue
        raise JwtRefused("no key at hand decrypts it")

    def _secret_encryption_keys(self, client: Client | None, alg: str, enc: str) -> Iterator[Key]:
        for secret in self._secrets(client) if client else ():
            yield encryption_key_of_secret(secret, alg, enc)

    def _verify_by_secret(self, token: str, client: Client, alg: str) -> VerifiedClaims:
        for key in self._secret_keys(client, alg):
            try:
                return claims_signed_by(key, token)
            except JwtRefused:
                continue
        raise JwtRefused(f"no secret of the client that is good for {alg} has signed it")

    def _secret_keys(self, client: Client, alg: str) -> Iterator[Key]:
        for secret in self._secrets(client):
            if len(secret.encode()) >= MAC_ALGORITHMS[alg]:
                yield Key.of_secret(secret, alg)

    def _secrets(self, client: Client) -> Iterator[str]:
        """The values of the secrets that have not expired, the first registered first."""
        for secret in client.client_secrets:
            fresh = secret.expires_at is None or self.now() < secret.expires_at
            if secret.value is not None and fresh:
                yield secret.value

    async def _keys_of(self, client: Client) -> ForeignKeys:
        """The keys in the registration, or behind its link; none where there are none."""
        if client.jwks is not None:
            return _registered_keys(json.dumps(client.jwks))
        if client.jwks_uri is None:
            return _NO_KEYS
        return await self.published.find(client.jwks_uri, self.http.for_(client)) or _NO_KEYS

    async def _renewed_keys_of(self, client: Client) -> ForeignKeys:
        if client.jwks is not None or client.jwks_uri is None:
            return await self._keys_of(client)
        http = self.http.for_(client)
        return await self.published.find_renewed(client.jwks_uri, http) or _NO_KEYS


@lru_cache(maxsize=500)  # so that a key is read once, however often its client signs
def _registered_keys(jwks: str) -> ForeignKeys:
    try:
        return ForeignKeys.of(orjson.loads(jwks))
    except ValueError:
        return _NO_KEYS
