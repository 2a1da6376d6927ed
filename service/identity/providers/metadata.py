"""What a provider says of itself (OpenID Connect Discovery §3, §4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec
import orjson

from service.identity.providers.failures import ProviderUnavailable
from service.keys.algorithms import SIGNING_ALGORITHMS

WELL_KNOWN = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    """The members that matter to who signs in there."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    @property
    def algorithms(self) -> frozenset[str]:
        """How its identity tokens may be signed: as it says, and by nothing weak (RFC 8725 §3.1)."""
        return frozenset(self.id_token_signing_alg_values_supported) & frozenset(SIGNING_ALGORITHMS)


def parse_metadata(body: bytes, *, issuer: str) -> ProviderMetadata:
    """The metadata, if it is the issuer's own and leads nowhere less safe than the issuer is."""
    try:
        metadata = msgspec.convert(orjson.loads(body), ProviderMetadata)
    except ValueError as error:
        raise ProviderUnavailable("its metadata cannot be understood") from error
    if metadata.issuer != issuer:
        raise ProviderUnavailable("its metadata is that of another issuer")
    safe = ("https", "http") if urlsplit(issuer).scheme == "http" else ("https",)
    for url in _urls(metadata):
        if not url.startswith(tuple(f"{scheme}://" for scheme in safe)):
            raise ProviderUnavailable("its metadata holds a URL that is not https")
    return metadata


def _urls(metadata: ProviderMetadata) -> tuple[str, ...]:
    needed = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri)
    return (*needed, metadata.userinfo_endpoint) if metadata.userinfo_endpoint else needed
