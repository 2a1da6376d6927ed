"""Authenticates this service at a provider's token endpoint (RFC 6749 §2.3.1, RFC 7523 §2.2, OIDC Core §9)."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from secrets import token_urlsafe
from urllib.parse import quote_plus

import msgspec
import orjson

from service.clock import clock
from service.config.schema.server import SigningKey
from service.identity.providers.provider import ProviderMetadata, ProviderUnavailable
from service.keys.jose import Key
from service.keys.key_source import read_key_file
from service.keys.keyring import KeyRing
from service.keys.schedule import KeyFileError
from service.model.identity_provider import PRIVATE_KEY_JWT, IdentityProvider
from service.protocol.token_types import CLIENT_ASSERTION

LIFETIME = 60
"""Seconds that a client assertion lasts; it is sent at once."""


class OwnCredentials(msgspec.Struct, frozen=True, kw_only=True):
    """The client secrets, and the keys that sign client assertions."""

    ring: KeyRing

    async def present(
        self, metadata: ProviderMetadata, provider: IdentityProvider
    ) -> tuple[str | None, Mapping[str, str]]:
        """Return the Authorization header and the form's members; raise ProviderUnavailable without a common method."""
        client_id, secret = provider.client_id, provider.client_secret
        match provider.token_endpoint_auth_method or _find_method(metadata, provider):
            case "private_key_jwt":
                return None, await self._sign_assertion(metadata, provider)
            case "client_secret_basic":
                pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
                return f"Basic {b64encode(pair.encode()).decode()}", {}
            case "client_secret_post":
                return None, {"client_id": client_id, "client_secret": secret}
            case _:
                return None, {"client_id": client_id}

    async def public_jwks(self, provider: IdentityProvider) -> bytes | None:
        """Return the keys that verify its client assertions; None if this service authenticates in another way."""
        if provider.token_endpoint_auth_method != PRIVATE_KEY_JWT:
            return None
        key = await _read_own_key(provider)
        return self.ring.public_jwks if key is None else orjson.dumps({"keys": [key.public_jwk]})

    async def _sign_assertion(
        self, metadata: ProviderMetadata, provider: IdentityProvider
    ) -> Mapping[str, str]:
        """Return the members of the form; the audience is one value (draft-ietf-oauth-rfc7523bis §4)."""
        now, client_id = clock(), provider.client_id
        claims = {
            "iss": client_id,
            "sub": client_id,
            "aud": provider.client_assertion_audience or metadata.issuer or metadata.token_endpoint,
            "jti": token_urlsafe(16),
            "iat": now,
            "exp": now + LIFETIME,
        }
        key = await _read_own_key(provider)
        key = key or self.ring.signing_key(self._find_algorithm(metadata, provider))
        assertion = await key.sign(claims, typ="JWT")
        return {
            "client_id": client_id,
            "client_assertion_type": CLIENT_ASSERTION,
            "client_assertion": assertion,
        }

    def _find_algorithm(self, metadata: ProviderMetadata, provider: IdentityProvider) -> str | None:
        """Return the algorithm for the service's own keys; None for the default one."""
        accepted = metadata.token_endpoint_auth_signing_alg_values_supported
        if provider.token_endpoint_auth_signing_alg or not accepted:
            return provider.token_endpoint_auth_signing_alg
        common = [alg for alg in self.ring.algorithms if alg in accepted]
        if not common:
            raise ProviderUnavailable("it takes client assertions by none of signing.algorithms")
        return common[0]


async def _read_own_key(provider: IdentityProvider) -> Key | None:
    """Return the key of `private_key`, as the file is now; ProviderUnavailable if it holds none."""
    path, alg = provider.private_key, provider.token_endpoint_auth_signing_alg
    if path is None or alg is None:
        return None
    try:
        return await asyncio.to_thread(read_key_file, SigningKey(path=path, algorithm=alg))
    except KeyFileError as error:
        raise ProviderUnavailable("this service's private_key for it cannot be used") from error


def _find_method(metadata: ProviderMetadata, provider: IdentityProvider) -> str:
    """Return the method for the client secret that the provider takes (RFC 6749 §2.3.1)."""
    if not provider.client_secret:
        return "none"
    offered = metadata.token_endpoint_auth_methods_supported
    for method in ("client_secret_basic", "client_secret_post"):
        if method in offered:
            return method
    raise ProviderUnavailable("it takes no client secret by Basic or in the form")
