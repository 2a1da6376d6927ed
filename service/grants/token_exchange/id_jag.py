"""Issues ID-JAGs: grants by which a client acts for the user at another authorization server (draft-ietf-oauth-identity-assertion-authz-grant §4.3)."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from service.clock import clock
from service.grants.token_exchange.parameters import ExchangeRequest
from service.grants.token_exchange.results import AllowedExchange
from service.grants.token_exchange.subject_tokens import Subject, SubjectTokens
from service.model.registry import Registry
from service.model.token_exchange import ExchangeRule, IdJagTarget
from service.protocol.errors import InvalidRequest, InvalidScope, InvalidTarget, RefusedValue
from service.protocol.scope import format_scope
from service.protocol.token_types import ID_JAG_TYP, uri_of
from service.protocol.uris import normalize_url
from service.tokens.granting import ExchangedGrant, SignedClaims

LIFETIME = 300
"""Seconds."""

REQUESTED_TYPE = "id_jag"

_IDENTITY_ASSERTIONS = frozenset({"id_token", "refresh_token"})


def metadata(registry: Registry) -> Mapping[str, object]:
    """Return that ID-JAGs are issued, if a rule says so (§7, draft-ietf-oauth-identity-chaining §2.1)."""
    issues = any(REQUESTED_TYPE in rule.requested_token_types for rule in registry.token_exchange)
    types = [uri_of(REQUESTED_TYPE)]
    return {"identity_chaining_requested_token_types_supported": types} if issues else {}


async def allow_id_jag(
    asked: ExchangeRequest, rule: ExchangeRule, tokens: SubjectTokens
) -> AllowedExchange:
    """Return the exchange with the claims of the ID-JAG; what the rule's targets do not allow is refused."""
    client = asked.token_request.client
    if not client.require_client_secret:
        raise InvalidRequest("an ID-JAG is for clients that authenticate")  # §8.1
    if asked.subject.type not in _IDENTITY_ASSERTIONS:
        raise InvalidRequest("subject_token_type is not id_token or refresh_token")
    if asked.actor is not None:
        raise InvalidRequest("an ID-JAG names no actor_token")
    target = _find_target(asked, rule)
    scope = asked.token_request.scope or target.scopes
    _check_scope(scope, target)
    resources = _find_resources(asked, target)
    subject = await tokens.verify_subject(asked, rule)
    now = clock()
    claims: dict[str, object] = {
        "iss": tokens.issuer,
        "sub": _find_sub(subject, target, asked, tokens),
        "aud": target.issuer,
        "client_id": target.client_ids.get(client.client_id, client.client_id),
        "jti": secrets.token_urlsafe(16),
        "iat": now,
        "exp": _find_end(subject, now),
        **_optional_claims(subject, asked, scope, resources),
    }
    allowed = (target.issuer,)
    return AllowedExchange(
        asked=asked, subject=subject, scope=scope, resources=allowed, act=None, claims=claims
    )


def grant_id_jag(exchange: AllowedExchange) -> ExchangedGrant:
    return ExchangedGrant(
        authorization=exchange.begin_authorization(exchange.subject.authorization.amr),
        origin=exchange.subject.authorization,
        token=SignedClaims(claims=exchange.claims, typ=ID_JAG_TYP),
        expires_at=int(str(exchange.claims["exp"])),
        members={"issued_token_type": uri_of(REQUESTED_TYPE)},
    )


def _find_target(asked: ExchangeRequest, rule: ExchangeRule) -> IdJagTarget:
    audiences = asked.token_request.params.every("audience")
    if not audiences:
        raise InvalidRequest("audience is missing")
    for target in rule.targets:
        if audiences == (target.issuer,):
            return target
    message = "audience is not the issuer of one target of the rule of token_exchange"
    raise InvalidTarget(message, refused=RefusedValue("audience", audiences[0]))


def _check_scope(scope: Collection[str], target: IdJagTarget) -> None:
    for value in sorted(scope):
        if value not in target.scopes:
            message = "scope holds a value that the target of the rule does not allow"
            raise InvalidScope(message, refused=RefusedValue("scope", value))


def _find_resources(asked: ExchangeRequest, target: IdJagTarget) -> tuple[str, ...]:
    """Return the resources as the rule spells them, which is what the other server knows (RFC 3986 §6.2)."""
    allowed = {normalize_url(name) or name: name for name in target.resources}
    allowed |= {name: name for name in target.resources}
    resources: list[str] = []
    for name in asked.token_request.params.every("resource"):
        spelled = allowed.get(name) or allowed.get(normalize_url(name) or "")
        if spelled is None:
            message = "resource is not one that the target of the rule allows"
            raise InvalidTarget(message, refused=RefusedValue("resource", name))
        resources.append(spelled)
    return tuple(dict.fromkeys(resources)) or target.resources


def _find_sub(
    subject: Subject, target: IdJagTarget, asked: ExchangeRequest, tokens: SubjectTokens
) -> str:
    """Return the user's identifier; a client with pairwise ones sees one that is the target's own (§5)."""
    user, client = str(subject.authorization.subject), asked.token_request.client
    identifiers = tokens.id_tokens.identifiers
    if client.subject_type == "public":
        return user
    return identifiers.find_pairwise_sub(f"host:{urlsplit(target.issuer).hostname}", user)


def _find_end(subject: Subject, now: int) -> int:
    """Return the end of its life; the end of a refresh token's family limits it, the end of an ID token does not: its session decides."""
    limit = now + LIFETIME
    return limit if subject.source.is_session else min(limit, subject.source.expires_at)


def _optional_claims(
    subject: Subject, asked: ExchangeRequest, scope: frozenset[str], resources: tuple[str, ...]
) -> Mapping[str, object]:
    """Return what was granted, how the user authenticated, who acts already, and the key that the client has proven (§8.6.1.1)."""
    origin, cnf = subject.authorization, asked.token_request.cnf
    claims: tuple[tuple[str, object], ...] = (
        ("resource", resources[0] if len(resources) == 1 else list(resources)),
        ("scope", format_scope(scope)),
        ("auth_time", origin.auth_time),
        ("amr", list(origin.amr)),
        ("acr", subject.claims.get("acr") if subject.source.is_session else origin.acr),
        ("act", subject.claims.get("act")),
        ("cnf", cnf.as_claim() if cnf is not None and cnf.method == "jkt" else None),
    )
    return {name: value for name, value in claims if value}
