"""What the service itself asks a provider: tokens for a code, and claims of the user (OIDC Core §3.1.3, §5.3)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote_plus

import msgspec
import orjson

from service.identity.providers.failures import ProviderRefused, ProviderUnavailable, printable
from service.identity.providers.metadata import ProviderMetadata
from service.model.outgoing import HttpAnswer, HttpClient, Unreachable
from service.model.registry import IdentityProvider

OK, BAD_REQUEST, SERVER_ERROR = 200, 400, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTokens:
    """The token response (OIDC Core §3.1.3.3)."""

    id_token: str
    access_token: str | None = None
    token_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Error:
    error: str


async def redeem(
    http: HttpClient,
    metadata: ProviderMetadata,
    provider: IdentityProvider,
    form: Mapping[str, str],
) -> ProviderTokens:
    """Exchange a code as the client that this service is there (RFC 6749 §4.1.3)."""
    authorization, credentials = _authentication(metadata, provider)
    grant = {"grant_type": "authorization_code", **form, **credentials}
    try:
        answer = await http.post(metadata.token_endpoint, grant, authorization=authorization)
    except Unreachable as error:
        raise ProviderUnavailable(f"its token endpoint: {error}") from error
    if BAD_REQUEST <= answer.status < SERVER_ERROR:
        raise ProviderRefused(f"its token endpoint: {_error_of(answer)}")
    if answer.status != OK:
        raise ProviderUnavailable(f"its token endpoint: status {answer.status}")
    try:
        return msgspec.convert(orjson.loads(answer.body), ProviderTokens)
    except ValueError as error:
        raise ProviderRefused("its token endpoint sent no identity token") from error


async def fetch_userinfo(
    http: HttpClient, endpoint: str, tokens: ProviderTokens, *, sub: object
) -> Mapping[str, object]:
    """The claims of the user, and of nobody else (OIDC Core §5.3.2)."""
    try:
        answer = await http.get(endpoint, authorization=f"Bearer {tokens.access_token}")
    except Unreachable as error:
        raise ProviderUnavailable(f"its userinfo endpoint: {error}") from error
    if answer.status != OK:
        raise ProviderUnavailable(f"its userinfo endpoint: status {answer.status}")
    try:
        claims = msgspec.convert(orjson.loads(answer.body), dict[str, object])
    except ValueError as error:
        raise ProviderRefused("its userinfo endpoint sent no claims") from error
    if claims.get("sub") != sub:
        raise ProviderRefused("its userinfo endpoint told of somebody else")
    return claims


def _authentication(
    metadata: ProviderMetadata, provider: IdentityProvider
) -> tuple[str | None, Mapping[str, str]]:
    """The Authorization header or the form's members, as the provider takes them (RFC 6749 §2.3.1)."""
    offered = metadata.token_endpoint_auth_methods_supported
    if not provider.client_secret:
        return None, {"client_id": provider.client_id}
    if "client_secret_basic" in offered:
        pair = f"{quote_plus(provider.client_id)}:{quote_plus(provider.client_secret)}"
        return f"Basic {b64encode(pair.encode()).decode()}", {}
    if "client_secret_post" in offered:
        return None, {"client_id": provider.client_id, "client_secret": provider.client_secret}
    raise ProviderUnavailable("it takes no client secret by Basic or in the form")


def _error_of(answer: HttpAnswer) -> str:
    try:
        return printable(msgspec.convert(orjson.loads(answer.body), _Error).error)
    except ValueError:
        return f"status {answer.status}"
