"""The requests that are sent to an identity provider (OIDC Core §3.1.2.1, §3.1.3, §5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

import msgspec

from service.identity.providers.client_authentication import OwnCredentials
from service.identity.providers.provider import (
    ProviderFailed,
    ProviderMetadata,
    ProviderRefused,
    parse_body,
    printable,
    read_body,
)
from service.model.identity_provider import IdentityProvider
from service.model.outgoing import HttpClient, HttpRequest
from service.model.session import PendingSignIn
from service.protocol.authorization_request import PROMPTS
from service.protocol.pkce import S256, s256
from service.protocol.redirect_uri import with_query


class ProviderTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The token response (OIDC Core §3.1.3.3)."""

    id_token: str | None = None
    """Required of an OpenID provider."""
    access_token: str | None = None
    token_type: str = "Bearer"
    error: str | None = None
    """GitHub refuses with status 200."""


class ProviderWishes(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of the client's request, or of our own page's, that are passed on to the provider."""

    prompt: frozenset[str] = frozenset()
    max_age: int | None = None
    login_hint: str | None = None
    ui_locales: str | None = None


def authorization_url(
    metadata: ProviderMetadata,
    provider: IdentityProvider,
    pending: PendingSignIn,
    wishes: ProviderWishes,
    *,
    redirect_uri: str,
    state: str,
) -> str:
    """Return the URL of an authorization request, bound by state, nonce and PKCE (RFC 9700 §2.1.1)."""
    prompts = wishes.prompt | provider.prompt
    parameters: dict[str, str | None] = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_uri,
        "scope": " ".join(provider.scopes),
        "state": state,
        "nonce": pending.nonce if provider.is_openid else None,
        "code_challenge": s256(pending.code_verifier),
        "code_challenge_method": S256,
        "prompt": " ".join(one for one in PROMPTS if one in prompts) or None,
        "acr_values": " ".join(provider.acr_values) or None,
        "max_age": _max_age(provider, wishes),
        "login_hint": wishes.login_hint,
        "ui_locales": wishes.ui_locales,
    }
    endpoint, _, _ = metadata.authorization_endpoint.partition("#")
    sent = {name: value for name, value in parameters.items() if value is not None}
    return with_query(endpoint, sent)


def _max_age(provider: IdentityProvider, wishes: ProviderWishes) -> str | None:
    """Return what the client wishes; with prompt=login alone 0, so that the ID token has auth_time (OIDC Core §3.1.2.1)."""
    if wishes.max_age is not None:
        return str(wishes.max_age)
    return "0" if "login" in wishes.prompt and provider.is_openid else None


async def redeem_code(
    http: HttpClient,
    credentials: OwnCredentials,
    metadata: ProviderMetadata,
    provider: IdentityProvider,
    form: Mapping[str, str],
) -> ProviderTokens:
    """Exchange a code as the client that this service is at the provider (RFC 6749 §4.1.3)."""
    authorization, own = await credentials.present(metadata, provider)
    grant = {"grant_type": "authorization_code", **form, **own}
    request = HttpRequest(metadata.token_endpoint, grant, authorization=authorization)
    body = await read_body(http.fetch(request), "token endpoint", may_refuse=True)
    without = ProviderRefused("its token endpoint sent no tokens")
    if not provider.is_openid and not body.lstrip().startswith(b"{"):
        tokens = _read_form(body, without)
    else:
        tokens = parse_body(body, ProviderTokens, without)
    if tokens.error is not None:
        raise ProviderRefused(f"its token endpoint: {printable(tokens.error)}")
    return tokens


def _read_form(body: bytes, failure: ProviderFailed) -> ProviderTokens:
    """Read a token response as authorization servers sent it before RFC 6749 §5.1 asked for JSON; GitHub still does."""
    try:
        return msgspec.convert(dict(parse_qsl(body.decode(), max_num_fields=100)), ProviderTokens)
    except ValueError as error:
        raise failure from error


async def fetch_userinfo(
    http: HttpClient, endpoint: str, access_token: str
) -> Mapping[str, object]:
    """Return what the endpoint says about the user of the access token (OIDC Core §5.3.2)."""
    request = HttpRequest(endpoint, authorization=f"Bearer {access_token}")
    body = await read_body(http.fetch(request), "userinfo endpoint")
    none = ProviderRefused("its userinfo endpoint sent no claims")
    return parse_body(body, dict[str, object], none)
