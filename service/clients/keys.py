"""Verifies, signs, encrypts and decrypts with a client's published keys or its secret (OIDC Core §10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from service.clients.published_keys import PublishedKeys
from service.clock import clock
from service.keys import jose, jwe
from service.keys.foreign_keys import UnknownKey, accepted_header
from service.keys.jose import MAC_ALGORITHMS, JwtRefused, Key, VerifiedClaims
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.errors import UnauthorizedClient


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKeys:
    """A secret is a key only if the registration has its value."""

    ring: KeyRing
    published: PublishedKeys

    async def verify(
        self, token: str, client: Client, *, algorithms: Collection[str], typ: Collection[str]
    ) -> VerifiedClaims:
        """Return the claims of a JWT that this client signed; raise JwtRefused otherwise (RFC 7515 §5.2)."""
        header = accepted_header(token, algorithms=algorithms, typ=typ)
        alg = str(header["alg"])
        if alg in MAC_ALGORITHMS:
            return self._verify_by_secret(token, client, alg)
        keys = await self.published.find(client)
        try:
            return keys.verify(token, header)
        except UnknownKey:
            renewed = await self.published.find(client, renewed=True)
            if renewed == keys:
                raise
            return renewed.verify(token, header)

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
        if alg in jwe.SECRET_ALGORITHMS:
            key = next(self._keys_of_secrets(client, alg, enc), None)
        else:
            key = (await self.published.find(client)).find_recipient(alg)
            key = key or (await self.published.find(client, renewed=True)).find_recipient(alg)
        if key is None:
            raise UnauthorizedClient(f"the client has no key that {alg} can encrypt to")
        try:
            return jwe.encrypt(content, key, enc=enc, cty=cty)
        except ValueError as error:
            raise UnauthorizedClient(f"the client's key does not fit {alg}") from error

    async def decrypt(self, token: str, client: Client | None) -> str:
        """Decrypt by a key of the service or the client's secret; raise JwtRefused otherwise (OIDC Core §6.1, §10.2)."""
        alg, enc, kid = jwe.accepted_encryption_header(token)
        keys: Iterable[Key] = self.ring.decryption_keys(alg, kid)
        if alg in jwe.SECRET_ALGORITHMS:
            keys = self._keys_of_secrets(client, alg, enc) if client else ()
        for key in keys:
            with suppress(JwtRefused, UnicodeDecodeError):
                return (await jwe.decrypt(token, key)).decode()
        raise JwtRefused("no known key decrypts it")

    def _verify_by_secret(self, token: str, client: Client, alg: str) -> VerifiedClaims:
        for key in self._keys_of_secrets(client, alg):
            with suppress(JwtRefused):
                return jose.claims_signed_by(key, token)
        raise JwtRefused(f"no secret of the client that fits {alg} has signed it")

    def _keys_of_secrets(self, client: Client, alg: str, enc: str | None = None) -> Iterator[Key]:
        """Yield the keys of unexpired secrets in the order of the registration; `enc` if they encrypt."""
        for secret in client.client_secrets:
            is_expired = secret.expires_at is not None and secret.expires_at <= clock()
            if secret.value is None or is_expired:
                continue
            if enc is not None:
                yield jwe.encryption_key_of_secret(secret.value, alg, enc)
            elif len(secret.value.encode()) >= MAC_ALGORITHMS[alg]:
                yield Key.from_secret(secret.value, alg)


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
        encryption = list(jose.ENCRYPTION_ALGORITHMS if has_keys else ())
        encryption += jwe.SECRET_ALGORITHMS if longest else ()
        if not encryption:
            return signing
        return {
            **signing,
            f"{name}_encryption_alg_values_supported": encryption,
            f"{name}_encryption_enc_values_supported": list(jwe.CONTENT_ENCRYPTION),
        }
