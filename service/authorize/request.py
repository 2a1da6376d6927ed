"""An authorization request: every parameter read and understood (RFC 6749 §4.1.1, OIDC Core §3.1.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast
from urllib.parse import urlsplit

from service.authorize.asked_acr import AskedAcr, asked_acr
from service.authorize.asked_claims import AskedClaims, asked_claims
from service.authorize.reply_to import ReplyTo
from service.authorize.response_modes import RESPONSE_MODES
from service.model.client import Client
from service.model.registry import Registry, Tenant
from service.protocol.claims_request import ClaimsParameter, parse_claims
from service.protocol.errors import (
    InvalidRequest,
    InvalidScope,
    RegistrationNotSupported,
)
from service.protocol.params import Params
from service.protocol.pkce import CodeChallenge, parse_code_challenge
from service.protocol.prompt import parse_prompt
from service.protocol.refused_value import RefusedValue
from service.protocol.response_type import ResponseType, check_response_mode, parse_response_type
from service.protocol.scope import OFFLINE_ACCESS, parse_scope
from service.tokens.id_token_hint import IdTokenHints
from service.tokens.subject import NamedPerson

T = TypeVar("T")

_MAX_DIGITS = 12

IDP, TENANT = "idp:", "tenant:"
"""What an entry of acr_values may begin with, to mean more than a class of authentication."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizeRequest:
    """What the client asks for; the rules that tie parameters together are in `checks`."""

    client: Client
    reply_to: ReplyTo
    response_type: ResponseType
    scope: frozenset[str]
    resources: tuple[str, ...]
    code_challenge: CodeChallenge | None
    nonce: str | None
    prompt: frozenset[str]
    max_age: int | None
    named: tuple[NamedPerson, ...]
    """Whom the client names, in every way in which it does; nobody else will do."""
    login_hint: str | None
    ui_locales: str | None
    claims: AskedClaims
    acr: AskedAcr
    idp: str | None
    """The identity provider to go straight to, if the client allows it."""
    tenant: Tenant | None

    @property
    def unverified_client_host(self) -> str | None:
        """Where the answer to a client goes that registered itself: no operator knows it (RFC 7591 §5)."""
        return self.answer_host if self.client.dynamically_registered else None

    @property
    def answer_host(self) -> str:
        """The host that the answer goes to, or the scheme of an application on the person's device."""
        parts = urlsplit(self.reply_to.redirect_uri)
        return parts.hostname or f"{parts.scheme}:"


async def read_request(
    params: Params, reply_to: ReplyTo, registry: Registry, hints: IdTokenHints
) -> AuthorizeRequest:
    """Read every parameter; what cannot be understood is refused at the client."""
    params.refuse_repeated()
    params.refuse_too_long(except_for=frozenset({"redirect_uri", "client_id"}))
    _refuse_registration(params)
    response_type = parse_response_type(params.require("response_type"))
    mode = params.get("response_mode")
    if mode is not None:
        check_response_mode(mode, response_type, RESPONSE_MODES)
    scope = _scope(params, response_type)
    acr_values = _acr_values(params, reply_to.client)
    claims = parse_claims(params.get("claims"))
    return AuthorizeRequest(
        client=reply_to.client,
        reply_to=reply_to,
        response_type=response_type,
        scope=scope,
        resources=tuple(dict.fromkeys(params.every("resource"))),
        code_challenge=parse_code_challenge(
            params.get("code_challenge"), params.get("code_challenge_method")
        ),
        nonce=params.get("nonce"),
        prompt=parse_prompt(params.get("prompt")),
        max_age=_max_age(params, reply_to.client),
        named=await _named(params, claims, reply_to.client, hints),
        login_hint=params.get("login_hint"),
        ui_locales=params.get("ui_locales"),
        claims=asked_claims(params, claims, scope=scope, client=reply_to.client, registry=registry),
        acr=asked_acr([v for v in acr_values if not v.startswith((IDP, TENANT))], claims),
        idp=_after(IDP, acr_values, partial(_allowed_provider, reply_to.client, registry)),
        tenant=_after(TENANT, acr_values, registry.find_tenant),
    )


def _refuse_registration(params: Params) -> None:
    """A client cannot register in passing (OIDC Core §3.1.2.6, §7.2.1)."""
    if params.get("registration") is not None:
        raise RegistrationNotSupported("the registration parameter is not supported")


def _scope(params: Params, response_type: ResponseType) -> frozenset[str]:
    """The scope; offline_access means nothing where no code is issued (OIDC Core §11)."""
    text = params.get("scope")
    if text is None:
        raise InvalidScope("scope is missing")
    scope = parse_scope(text)
    return scope if response_type.code else scope - {OFFLINE_ACCESS}


def _max_age(params: Params, client: Client) -> int | None:
    """The shortest of what the request and the client's registration ask for, in seconds."""
    text = params.get("max_age")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS):
        raise InvalidRequest(
            "max_age is not a number of seconds", refused=RefusedValue("max_age", text)
        )
    asked = client.default_max_age if text is None else int(text)
    bounds = [bound for bound in (asked, client.user_sso_lifetime) if bound is not None]
    return min(bounds) if bounds else None


async def _named(
    params: Params, claims: ClaimsParameter, client: Client, hints: IdTokenHints
) -> tuple[NamedPerson, ...]:
    """Whom the claims parameter asks for, and an identity token of ours, expired or not (OIDC Core §3.1.2.2)."""
    named = [hints.identifiers.named(client, *subjects) for subjects in claims.subjects]
    text = params.get("id_token_hint")
    if text is not None:
        hint = await hints.read(text, sender=client)
        if hint is None:
            raise InvalidRequest("id_token_hint is not an identity token of this service")
        named.append(hint.person)
    return tuple(named)


def _acr_values(params: Params, client: Client) -> tuple[str, ...]:
    """Those of the request, else what the client registered (OpenID Connect Registration §2)."""
    text = params.get("acr_values")
    if text is not None:
        return tuple(text.split())
    registered = client.metadata.get("default_acr_values", ())
    return tuple(cast("Iterable[str]", registered))


def _after(prefix: str, acr_values: tuple[str, ...], find: Callable[[str], T | None]) -> T | None:
    """Return the first that is found by a name behind the prefix."""
    names = [value.removeprefix(prefix) for value in acr_values if value.startswith(prefix)]
    return next((found for name in names if (found := find(name)) is not None), None)


def _allowed_provider(client: Client, registry: Registry, name: str) -> str | None:
    """Return the name of an identity provider if the client allows it."""
    allowed = client.identity_provider_restrictions or registry.identity_providers
    return name if name in allowed and name in registry.identity_providers else None
