"""Reads every parameter of an authorization request (RFC 6749 §4.1.1, OIDC Core §3.1.2.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from service.authorize.acr import AskedAcr, combine_acr, find_required_acr
from service.authorize.response_modes import choose_response_mode
from service.identity.accepted_users import AcceptedUsers, find_accepted_users
from service.keys.jose import JwtRefused
from service.model.authentication_context import IDP, names_context
from service.model.authorization import Confirmation
from service.model.client import Client
from service.model.registry import Registry
from service.model.types import LinkName
from service.model.user import LOCAL
from service.protocol import errors
from service.protocol.authorization_details import Detail
from service.protocol.authorization_request import (
    NO_RESPONSE,
    ResponseType,
    parse_prompt,
    parse_response_type,
)
from service.protocol.claims import (
    NO_CLAIMS,
    ClaimsParameter,
    ClaimsRequest,
    parse_claims,
    parse_locales,
)
from service.protocol.params import Params
from service.protocol.pkce import CodeChallenge, parse_code_challenge
from service.protocol.scope import OFFLINE_ACCESS, OPENID, parse_scope
from service.tokens.claims import askable, claims_of_scope
from service.tokens.id_token import IdTokens
from service.tokens.requested_access import requested_details
from service.tokens.subject import RequestedUser

_MAX_DIGITS = 12
_THUMBPRINT = re.compile("[A-Za-z0-9_-]{43}")


class AskedClaims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims about the user, as far as the client may ask for them."""

    request: ClaimsRequest | None = None
    """The claims that the authorization has to keep; mostly none."""
    beyond_scope: frozenset[str] = frozenset()
    """The names of those that no scope value of the request stands for."""
    at_userinfo: bool
    """Whether any at all are asked for there."""


NO_ASKED_CLAIMS = AskedClaims(at_userinfo=False)


class AuthorizeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A client's request, each parameter understood; `checks` has the rules that tie them together."""

    client: Client
    response_type: ResponseType
    scope: frozenset[str]
    resources: tuple[str, ...]
    authorization_details: tuple[Detail, ...]
    code_challenge: CodeChallenge | None
    nonce: str | None
    cnf: Confirmation | None
    """The key that the code is bound to (RFC 9449 §10)."""
    prompt: frozenset[str]
    max_age: int | None
    named: tuple[RequestedUser, ...]
    """The user that the client names, in every way in which it does; no other user will do."""
    login_hint: str | None
    ui_locales: str | None
    claims: AskedClaims
    acr: AskedAcr
    idp: str | None
    """The identity provider to go straight to, if the client allows it."""
    users: AcceptedUsers
    """Those that may answer it."""

    def accepts_users_of(self, idp: str, registry: Registry) -> bool:
        """Return whether users who sign in at this provider, or by a password here, may answer the request."""
        if not registry.permissions_of(self.client).accepts_users_of(idp):
            return False
        return idp == LOCAL or self.users.may_come_from(idp, registry)

    def find_register_link(self, links: Mapping[LinkName, str]) -> str | None:
        """Return the page of the tenant that the request is for where users register, else the operator's."""
        own = self.users.tenant.links if self.users.tenant else links
        return own.get("register") or links.get("register")


async def read_request(
    params: Params, client: Client, registry: Registry, id_tokens: IdTokens, *, has_response: bool
) -> AuthorizeRequest:
    """Read every parameter; `has_response` if the answer travels through the browser."""
    sent = params.first_of_each()
    if "registration" in sent:  # OIDC Core §3.1.2.6, §7.2.1
        raise errors.RegistrationNotSupported("the registration parameter is not supported")
    response_type = NO_RESPONSE
    if has_response:
        response_type = parse_response_type(params.require("response_type"))
    if "response_mode" in sent:
        choose_response_mode(sent["response_mode"], response_type, client)
    details = requested_details(params, client, registry)
    scope = _read_scope(sent.get("scope"), response_type, client, may_be_missing=bool(details))
    resources = registry.spell(params.every("resource")) if "resource" in params.values else ()
    acr_values = _read_acr_values(sent.get("acr_values"), client)
    users = find_accepted_users(acr_values, client, registry)
    claims, hint = parse_claims(sent.get("claims")), sent.get("id_token_hint")
    required = find_required_acr(client, registry, scope, resources, details)
    names_user = hint is not None or claims is not NO_CLAIMS
    return AuthorizeRequest(
        client=client,
        response_type=response_type,
        scope=scope,
        resources=resources,
        authorization_details=details,
        code_challenge=parse_code_challenge(
            sent.get("code_challenge"), sent.get("code_challenge_method")
        ),
        nonce=sent.get("nonce"),
        cnf=_read_dpop_jkt(sent.get("dpop_jkt")),
        prompt=parse_prompt(sent.get("prompt")),
        max_age=_read_max_age(sent.get("max_age"), client),
        named=await _read_named(hint, claims, client, id_tokens) if names_user else (),
        login_hint=sent.get("login_hint"),
        ui_locales=sent.get("ui_locales"),
        claims=_limit_claims(sent.get("claims_locales"), claims, scope, client, registry),
        acr=combine_acr(tuple(filter(names_context, acr_values)), claims, required),
        idp=_find_provider(acr_values, client, registry, users),
        users=users,
    )


def _read_dpop_jkt(thumbprint: str | None) -> Confirmation | None:
    if thumbprint is None:
        return None
    if not _THUMBPRINT.fullmatch(thumbprint):
        refused = errors.RefusedValue("dpop_jkt", thumbprint)
        raise errors.InvalidRequest(
            "dpop_jkt is not the SHA-256 thumbprint of a key", refused=refused
        )
    return Confirmation("jkt", thumbprint)


def _limit_claims(
    locales: str | None,
    sent: ClaimsParameter,
    scope: frozenset[str],
    client: Client,
    registry: Registry,
) -> AskedClaims:
    """Return the claims that the client may know; without openid the parameter means nothing."""
    if sent is NO_CLAIMS and locales is None:
        return NO_ASKED_CLAIMS
    at_userinfo = bool(sent.userinfo)
    request = ClaimsRequest(
        id_token=askable(registry, client, sent.id_token),
        userinfo=askable(registry, client, sent.userinfo),
        locales=parse_locales(locales),
    )
    if OPENID not in scope or request == ClaimsRequest():
        return AskedClaims(at_userinfo=at_userinfo)
    beyond_scope = request.names.difference(claims_of_scope(registry, scope))
    return AskedClaims(request=request, beyond_scope=beyond_scope, at_userinfo=at_userinfo)


def _read_scope(
    text: str | None, response_type: ResponseType, client: Client, *, may_be_missing: bool
) -> frozenset[str]:
    """Return the scope, with what the client gets unasked; offline_access means nothing without a code (OIDC Core §11)."""
    if text is None and may_be_missing:  # RFC 9396 §3.1
        return frozenset()
    if text is None:
        raise errors.InvalidScope("scope is missing")
    scope = parse_scope(text)
    has_code = response_type.code or not response_type.from_front_channel
    if has_code or response_type.token:
        scope |= client.added_scopes
    return scope if has_code else scope - {OFFLINE_ACCESS}


def _read_max_age(text: str | None, client: Client) -> int | None:
    """Return the shorter one of the request's and the registration's, in seconds."""
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS):
        raise errors.InvalidRequest(
            "max_age is not a number of seconds", refused=errors.RefusedValue("max_age", text)
        )
    asked = client.default_max_age if text is None else int(text)
    bounds = [bound for bound in (asked, client.user_sso_lifetime) if bound is not None]
    return min(bounds) if bounds else None


async def _read_named(
    text: str | None, claims: ClaimsParameter, client: Client, id_tokens: IdTokens
) -> tuple[RequestedUser, ...]:
    """Return the user in the claims parameter and in id_token_hint, which may have expired (OIDC Core §3.1.2.2)."""
    named = [
        RequestedUser(client=client, subs=frozenset(subs), identifiers=id_tokens.identifiers)
        for subs in claims.subjects
    ]
    if text is not None:
        try:
            hint = await id_tokens.read_hint(text, sender=client)
        except JwtRefused as refused:
            raise errors.InvalidRequest(f"id_token_hint {refused}") from refused
        named.append(hint.user)
    return tuple(named)


def _read_acr_values(text: str | None, client: Client) -> tuple[str, ...]:
    """Return those of the request, else those of the registration (OpenID Connect Registration §2)."""
    return (client.default_acr_values or ()) if text is None else tuple(text.split())


def _find_provider(
    acr_values: tuple[str, ...], client: Client, registry: Registry, users: AcceptedUsers
) -> str | None:
    """Return the first identity provider that is named, and that the client and its users' tenant allow."""
    if not acr_values:
        return None
    known = registry.identity_providers
    allowed = client.identity_provider_restrictions or known
    names = (value.removeprefix(IDP) for value in acr_values if value.startswith(IDP))
    usable = (name for name in names if name in allowed and name in known)
    return next((name for name in usable if users.may_come_from(name, registry)), None)
