"""Verifies, signs, encrypts and decrypts with a client's published keys or its secret (OIDC Core §10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

import msgspec

from service.clients.published_keys import PublishedKeys
from service.clock import clock
from service.keys import jose, jwe
from service.keys.algorithms import (
    ENCRYPTION_ALGORITHMS,
    MAC_ALGORITHMS,
    SECRET_ALGORITHMS,
    SIGNING_ALGORITHMS,
)
from service.keys.foreign_keys import accepted_header
from service.keys.jose import JwtRefused, Key, VerifiedClaims
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.model.registry import KeyOwner, LiveRegistry
from service.model.secret import Secret
from service.protocol.errors import UnauthorizedClient


class Recipient(msgspec.Struct, frozen=True, kw_only=True):
    """A client's or API's key, with the algorithm for the content that is encrypted to it."""

    key: Key
    enc: str

    def encrypt(self, content: bytes, *, cty: str | None) -> str:
        """Return a JWE; raise UnauthorizedClient if the key turns out to be unusable."""
        try:
            return jwe.encrypt(content, self.key, enc=self.enc, cty=cty)
        except ValueError as error:
            raise UnauthorizedClient(f"the client's key does not fit {self.key.alg}") from error


class ClientKeys(msgspec.Struct, frozen=True, kw_only=True):
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
        return await self.published.verify(token, header, client)

    def signing_key(self, client: Client, alg: str | None) -> Key:
        """Return the key to sign for this client: the service's own, or the client's secret (OIDC Core §10.1)."""
        if alg is None or alg not in MAC_ALGORITHMS:
            return self.ring.signing_key(alg)
        key = next(self._keys_of_secrets(client, alg), None)
        if key is None:
            raise UnauthorizedClient(f"the client has no secret that can be a key for {alg}")
        return key

    async def find_recipient(self, owner: KeyOwner, *, alg: str, enc: str) -> Recipient:
        """Return the key to encrypt to; raise UnauthorizedClient if the client or API has none (OIDC Core §10.2)."""
        if alg in SECRET_ALGORITHMS:
            secrets = self._keys_of_secrets(owner, alg, enc) if isinstance(owner, Client) else ()
            key = next(iter(secrets), None)
        else:
            key = (await self.published.find(owner)).find_recipient(alg)
            key = key or (await self.published.find(owner, renewed=True)).find_recipient(alg)
        if key is None:
            raise UnauthorizedClient(f"the client has no key that {alg} can encrypt to")
        return Recipient(key=key, enc=enc)

    async def encrypt(
        self, content: bytes, owner: KeyOwner, *, alg: str, enc: str, cty: str | None
    ) -> str:
        """Return a JWE for this client or API; raise UnauthorizedClient if it has no key (OIDC Core §10.2)."""
        recipient = await self.find_recipient(owner, alg=alg, enc=enc)
        return recipient.encrypt(content, cty=cty)

    async def decrypt(self, token: str, client: Client | None) -> str:
        """Decrypt by a key of the service or the client's secret; raise JwtRefused otherwise (OIDC Core §6.1, §10.2)."""
        alg, enc, kid = jwe.accepted_encryption_header(token)
        keys: Iterable[Key] = self.ring.decryption_keys(alg, kid)
        if alg in SECRET_ALGORITHMS:
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

    def find_secret(self, token: str, client: Client) -> Secret | None:
        """Return the secret by which a JWT is signed that has been verified; it is verified again where there are several."""
        usable = [one for one in client.client_secrets if one.value and one.is_valid(clock())]
        if len(usable) == 1:
            return usable[0]
        alg = str(jose.unverified_header(token).get("alg"))
        for secret in usable:
            with suppress(JwtRefused, ValueError):
                jose.claims_signed_by(Key.from_secret(str(secret.value), alg), token)
                return secret
        return None

    def _keys_of_secrets(self, client: Client, alg: str, enc: str | None = None) -> Iterator[Key]:
        """Yield the keys of unexpired secrets in the order of the registration; `enc` if they encrypt."""
        for secret in client.client_secrets:
            if secret.value is None or not secret.is_valid(clock()):
                continue
            if enc is not None:
                yield jwe.encryption_key_of_secret(secret.value, alg, enc)
            elif len(secret.value.encode()) >= MAC_ALGORITHMS[alg]:
                yield Key.from_secret(secret.value, alg)


class ClientAlgorithms(msgspec.Struct, frozen=True, kw_only=True):
    ring: KeyRing
    registry: LiveRegistry
    registration: bool
    """Whether clients may register, with any keys."""

    def metadata(self, name: str) -> Mapping[str, object]:
        """Return those of `id_token` or `userinfo`, which a client's secret may sign, too."""
        return {
            f"{name}_signing_alg_values_supported": [*self.ring.algorithms, *self.find_macs()],
            **self._encryption(name, self.registry.current.clients.values()),
        }

    def request_metadata(self) -> Mapping[str, object]:
        """Return those of request objects, which clients sign and encrypt."""
        algorithms = [*self.ring.encryption_algorithms, *self._find_secret_algorithms()]
        return {
            "request_object_signing_alg_values_supported": [*SIGNING_ALGORITHMS, *self.find_macs()],
            **_encryption_metadata("request_object", algorithms),
        }

    def response_metadata(self, name: str) -> Mapping[str, object]:
        """Return those of `authorization` or `introspection` responses, which the service's own keys sign."""
        registry = self.registry.current
        owners = [*registry.clients.values()]
        apis = registry.api_resources.values() if name == "introspection" else ()
        return {
            f"{name}_signing_alg_values_supported": list(self.ring.algorithms),
            **self._encryption(name, [*owners, *apis]),
        }

    def _encryption(self, name: str, owners: Iterable[KeyOwner]) -> Mapping[str, object]:
        """Return the algorithms of encryption, only if somebody can decrypt."""
        has_keys = self.registration or any(owner.jwks or owner.jwks_uri for owner in owners)
        algorithms = [*(ENCRYPTION_ALGORITHMS if has_keys else ())]
        return _encryption_metadata(name, [*algorithms, *self._find_secret_algorithms()])

    def find_macs(self) -> tuple[str, ...]:
        """Return the algorithms for which a secret is long enough that is known by its value."""
        longest = self._longest_secret()
        return tuple([alg for alg, length in MAC_ALGORITHMS.items() if length <= longest])

    def _find_secret_algorithms(self) -> tuple[str, ...]:
        """Return the algorithms of encryption by a secret, if one is known by its value."""
        return SECRET_ALGORITHMS if self._longest_secret() else ()

    def _longest_secret(self) -> int:
        """Return the bytes of the longest secret that is known by its value."""
        if self.registration:  # the service generates secrets that are long enough for all
            return max(MAC_ALGORITHMS.values())
        clients = self.registry.current.clients.values()
        secrets = [secret.value or "" for client in clients for secret in client.client_secrets]
        return max((len(secret.encode()) for secret in secrets), default=0)


def _encryption_metadata(name: str, algorithms: list[str]) -> Mapping[str, object]:
    if not algorithms:
        return {}
    return {
        f"{name}_encryption_alg_values_supported": algorithms,
        f"{name}_encryption_enc_values_supported": list(jwe.CONTENT_ENCRYPTION),
    }
