"""An authorization request: every parameter read and understood (RFC 6749 §4.1.1, OIDC Core §3.1.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.authorize.reply_to import ReplyTo
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.model.registry import Registry
from service.protocol.claims_request import essential_acr
from service.protocol.errors import (
    InvalidRequest,
    InvalidScope,
    RegistrationNotSupported,
    RequestNotSupported,
    RequestUriNotSupported,
)
from service.protocol.params import Params
from service.protocol.pkce import CodeChallenge, parse_code_challenge
from service.protocol.prompt import parse_prompt
from service.protocol.response_type import ResponseType, parse_response_mode, parse_response_type
from service.protocol.scope import OFFLINE_ACCESS, parse_scope
from service.tokens.id_token import read_id_token_hint

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
    hinted_subject: str | None
    """Whom the id_token_hint names."""
    login_hint: str | None
    ui_locales: str | None
    acr_values: tuple[str, ...]
    acr_is_essential: bool
    idp: str | None
    """The identity provider to go straight to, if the client allows it."""
    tenant: str | None


def read_request(
    params: Params, reply_to: ReplyTo, registry: Registry, keys: KeyRing
) -> AuthorizeRequest:
    """Read every parameter; what cannot be understood is refused at the client."""
    params.refuse_repeated()
    params.refuse_too_long(except_for=frozenset({"redirect_uri", "client_id"}))
    _refuse_request_objects(params)
    response_type = parse_response_type(params.require("response_type"))
    mode = params.get("response_mode")
    if mode is not None:
        parse_response_mode(mode, response_type)
    scope = _scope(params, response_type)
    acr_values = tuple((params.get("acr_values") or "").split())
    preferred = tuple(v for v in acr_values if not v.startswith((IDP, TENANT)))
    essential = essential_acr(params.get("claims"))
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
        hinted_subject=_hinted_subject(params, keys, reply_to.issuer),
        login_hint=params.get("login_hint"),
        ui_locales=params.get("ui_locales"),
        acr_values=preferred if essential is None else essential,
        acr_is_essential=essential is not None,
        idp=_named(acr_values, IDP, lambda name: _may_use(name, reply_to.client, registry)),
        tenant=_named(acr_values, TENANT, lambda name: name in registry.tenants),
    )


def _refuse_request_objects(params: Params) -> None:
    """Parameters that pass other parameters are not served (OIDC Core §3.1.2.6)."""
    if params.get("request") is not None:
        raise RequestNotSupported("the request parameter is not supported")
    if params.get("request_uri") is not None:
        raise RequestUriNotSupported("the request_uri parameter is not supported")
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
        raise InvalidRequest("max_age is not a number of seconds")
    asked = client.default_max_age if text is None else int(text)
    bounds = [bound for bound in (asked, client.user_sso_lifetime) if bound is not None]
    return min(bounds) if bounds else None


def _hinted_subject(params: Params, keys: KeyRing, issuer: str) -> str | None:
    """Whom an identity token of ours names; it may have expired (OIDC Core §3.1.2.1)."""
    hint = params.get("id_token_hint")
    if hint is None:
        return None
    claims = read_id_token_hint(hint, keys, issuer)
    if claims is None:
        raise InvalidRequest("id_token_hint is not an identity token of this service")
    return str(claims["sub"])


def _named(acr_values: tuple[str, ...], prefix: str, allowed: Callable[[str], bool]) -> str | None:
    """The first name behind a prefix, dropped where it is not allowed."""
    names = (value.removeprefix(prefix) for value in acr_values if value.startswith(prefix))
    return next((name for name in names if allowed(name)), None)


def _may_use(name: str, client: Client, registry: Registry) -> bool:
    allowed = client.identity_provider_restrictions
    return name in registry.identity_providers and (not allowed or name in allowed)
